/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the program what a client with a budget spends. */
#include "consumers/client/client-told.h"

#include <math.h>

#include "consumers/client/client.h"
#include "consumers/client/evspace-control.h"
#include "tree/data/clock.h"

/* It is said so often, and holds for so long, and for so many waves. */
#define TELL_NS	 UINT64_C(1000000000)
#define HOLDS_MS 5000u
#define WAVES	 3

static void told_answered(const struct evspace_reply *reply, void *arg)
{
	struct evspace_client *c = arg;

	c->told.question = NULL;
	/* a lost connection is made again */
	c->told.refused = reply->failure == EVSPACE_WRONG;
}

void client_told_wave(struct evspace_client *c)
{
	const struct evspace_among among = {.run = c->opened_run, .deadline_ms = c->deadline_ms};
	struct evspace_spending s;
	struct evspace_tale tale;
	uint64_t now;

	if (c->told.refused || c->told.question || !evspace_spending(c, &s))
		return;
	now = clock_mono_ns();
	if (now - c->told.last_ns < TELL_NS)
		return;
	c->told.last_ns = now;
	tale = (struct evspace_tale){
		.budget = s.budget,
		/* of the first pairs alone nothing is known */
		.slowdown = isfinite(s.high) ? s.slowdown + s.collecting : NAN,
		.low = s.low + s.collecting,
		.high = s.high + s.collecting,
		.rate_hz = s.rate_hz,
		.for_ms = HOLDS_MS,
	};
	if (s.rate_hz > 0 && WAVES * 1e3 / s.rate_hz > HOLDS_MS)
		tale.for_ms = (unsigned)fmin(WAVES * 1e3 / s.rate_hz, 3600e3);
	c->told.question = evspace_tell(c->connection, &among, &tale, told_answered, c);
}

void client_told_end(struct evspace_client *c)
{
	evspace_cancel(c->told.question);
}
