/* SPDX-License-Identifier: BSD-3-Clause */
/* When a stream's first wave is asked for, and how often from then on. */
#include "consumers/client/client.h"

#include "tree/data/clock.h"

/* A stream begins with what comes in so long, rather than with nothing. */
#define FIRST_NS 20000000u

void client_tempo_begin(struct evspace_client *c)
{
	double base_s = c->rate_hz > 0 ? 1 / c->rate_hz : 0;
	uint64_t wait = base_s * 1e9 < FIRST_NS ? (uint64_t)(base_s * 1e9) : FIRST_NS;

	c->hurry = c->hurry && c->reading == READ_STREAM;
	tempo_begin(&c->tempo, base_s);
	if (c->reading == READ_STREAM && !c->backlog)
		c->due_ns = clock_mono_ns() + wait;
}

/* The next wave is due as the tempo has it now, however it was when the last one was asked for. */
static void hurry(struct evspace_client *c)
{
	uint64_t due_ns = c->asked_ns + (uint64_t)(c->tempo.interval_s * 1e9);

	if (due_ns < c->due_ns)
		c->due_ns = due_ns;
	if (!c->window_said)
		c->window = c->tempo.window;
}

void client_tempo(struct evspace_client *c, struct client_answer *a, uint32_t cpu_us)
{
	struct tempo_wave w = {
		.latency_s = a->wave.latency_s,
		.cpu_s = cpu_us * 1e-6,
		.fill = a->fill * 1e-3,
		.read = a->sums.read,
		.lost = a->sums.lost,
	};

	if (c->reading != READ_STREAM || a->wave.again)
		return;
	/* What was overwritten before anybody looked is nobody's fault. */
	if (c->judged_ns == 0 && c->backlog)
		w.lost = 0;
	if (c->judged_ns && a->asked_ns > c->judged_ns)
		w.apart_s = (double)(a->asked_ns - c->judged_ns) * 1e-9;
	c->judged_ns = a->asked_ns;
	tempo_wave(&c->tempo, &w);
	if (c->hurry)
		hurry(c);
	a->wave.read = w.read;
	a->wave.lost = w.lost;
	a->wave.rate_hz = c->hurry ? 1 / c->tempo.interval_s : c->rate_hz;
	a->wave.needed_hz = c->tempo.needed_s > 0 ? 1 / c->tempo.needed_s : 0;
	a->wave.held_back = c->hurry && c->tempo.held_back;
}
