/* SPDX-License-Identifier: BSD-3-Clause */
/* When waves are asked for: by the rate, faster while elements fill, slower for a budget. */
#include "consumers/client/client.h"
#include "consumers/client/client-pace.h"
#include "consumers/client/client-budget.h"
#include "consumers/client/client-told.h"
#include "tree/data/clock.h"

/* A stream waits this long for its first wave, so that it is not empty. */
#define FIRST_NS 20000000u

/* How long there is from one wave to the next. */
static uint64_t wave_ns(const struct evspace_client *c)
{
	double s = c->hurry ? c->tempo.interval_s : c->rate_hz > 0 ? 1 / c->rate_hz : 0;

	return (uint64_t)(1e9 * (c->limit_hz > 0 && s * c->limit_hz < 1 ? 1 / c->limit_hz : s));
}

/* Is there a rate, or is asked as often as possible? */
static bool is_paced(const struct evspace_client *c)
{
	return c->rate_hz > 0 || c->limit_hz > 0;
}

uint32_t client_every_us(const struct evspace_client *c)
{
	uint64_t us = is_paced(c) ? wave_ns(c) / 1000 : 0;

	return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

/* How many waves are due by the rate. Catches up, so that the rate holds on average; but when
 * behind by more than a window, goes on from now, not in a burst. */
static uint64_t due(struct evspace_client *c, uint64_t now)
{
	if (now > c->due_ns + c->window * wave_ns(c))
		c->due_ns = now;
	return now < c->due_ns ? 0 : (now - c->due_ns) / wave_ns(c) + 1;
}

void client_pace_rested(struct evspace_client *c, uint64_t since_ns)
{
	uint64_t now = clock_mono_ns();

	if (since_ns > 0)
		c->due_ns += now - since_ns;
	else if (c->due_ns < now)
		c->due_ns = now;
}

uint32_t client_due(struct evspace_client *c, uint64_t now)
{
	uint64_t under_way = c->next_ask - c->next_take, n;
	uint64_t room = under_way < c->window ? c->window - under_way : 0;

	if (client_room(c) < room)
		room = client_room(c);
	if (c->quiet)
		return 0;
	if (is_paced(c)) {
		n = due(c, now);
		return (uint32_t)(n < room ? n : room);
	}
	if (now < c->due_ns)
		return 0;
	/* refill by halves, so that one frame asks for many waves */
	return c->window == 1 || under_way <= c->window / 2 ? (uint32_t)room : 0;
}

void client_asked(struct evspace_client *c, uint32_t n)
{
	if (is_paced(c))
		c->due_ns += n * wave_ns(c);
	client_budget_asked(c, n);
}

void client_pace(struct evspace_client *c, uint64_t now)
{
	uint64_t left = c->due_ns > now ? c->due_ns - now : 0;
	struct timeval wait = {(time_t)(left / 1000000000u),
			       (suseconds_t)(left % 1000000000u / 1000u)};

	if (!c->quiet && (is_paced(c) || left > 0) && c->next_ask - c->next_take < c->window &&
	    client_room(c) > 0)
		evtimer_add(c->pace, &wait);
}

void client_tempo_begin(struct evspace_client *c)
{
	double base_s = c->rate_hz > 0 ? 1 / c->rate_hz : 0;
	uint64_t wait = base_s * 1e9 < FIRST_NS ? (uint64_t)(base_s * 1e9) : FIRST_NS;

	c->hurry = c->hurry && c->reading == READ_STREAM;
	tempo_begin(&c->tempo, base_s);
	if (c->reading == READ_STREAM && !c->backlog)
		c->due_ns = clock_mono_ns() + wait;
}

/* The next wave is due by the present tempo, not by that at the last ask. */
static void hurry(struct evspace_client *c)
{
	uint64_t due_ns = c->asked_ns + wave_ns(c);

	if (due_ns < c->due_ns)
		c->due_ns = due_ns;
	if (!c->window_said)
		client_window(c, c->tempo.window);
}

void client_judge(struct evspace_client *c, struct client_answer *a, uint32_t cpu_us)
{
	struct tempo_wave w = {
		.latency_s = a->wave.latency_s,
		.cpu_s = cpu_us * 1e-6,
		.fill = a->fill * 1e-3,
		.read = a->sums.read,
		.lost = a->sums.lost,
	};

	client_budget_wave(c, a);
	client_told_wave(c);
	if (c->reading != READ_STREAM || a->wave.again)
		return;
	/* tuples overwritten before the first look do not count */
	if (c->judged_ns == 0 && c->backlog)
		w.lost = 0;
	if (c->judged_ns && a->asked_ns > c->judged_ns)
		w.apart_s = (double)(a->asked_ns - c->judged_ns) * 1e-9;
	c->judged_ns = a->asked_ns;
	tempo_wave(&c->tempo, &w);
	if (c->hurry)
		hurry(c);
	a->wave.lost = w.lost;
	a->wave.rate_hz = is_paced(c) ? 1e9 / (double)wave_ns(c) : 0;
	a->wave.needed_hz = c->tempo.needed_s > 0 ? 1 / c->tempo.needed_s : 0;
	a->wave.held_back = c->hurry && c->tempo.held_back;
}
