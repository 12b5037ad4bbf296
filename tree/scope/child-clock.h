/* SPDX-License-Identifier: BSD-3-Clause */
/* How a child's clock relates to ours: asked for by pings while there is a connection, one answer
 * for all scopes. */
#ifndef EVSPACE_CHILD_CLOCK_H
#define EVSPACE_CHILD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/clock-fit.h"
#include "tree/wire/wire.h"

struct event;
struct event_base;
struct link;

struct child_clock {
	struct clock_fit fit; /* theirs to ours; goes on with the next connection */
	struct link *link;    /* NULL: there is none */
	struct event *ask;    /* pending until the next ping */
	unsigned pause_ms;    /* before the next one but one */
	uint64_t asked_ns;    /* by our clock, in the ping that is under way; 0: none is */
	bool same_host;	      /* it says so, and shares our clock unless probes say otherwise */
	bool mute;	      /* it answers pings without times: an older release */
};

/** All else is 0. Aborts without memory. */
void child_clock_init(struct child_clock *clock, struct event_base *base);
void child_clock_fini(struct child_clock *clock);

/** Connected: ask at once, soon again, and then each second. */
void child_clock_begin(struct child_clock *clock, struct link *link);

/** Not any more. What was learnt stays. */
void child_clock_end(struct child_clock *clock);

/** Send a ping, also to see whether the child is there. */
void child_clock_ask(struct child_clock *clock);

/** A ping was answered. */
void child_clock_answer(struct child_clock *clock, const Evspace__Ping *ping);

/** Other times that were exchanged with it: they count if it says none in pings. */
void child_clock_hear(struct child_clock *clock, const struct clock_probe *probe);

/** How far the child's CLOCK_MONOTONIC is ahead of ours: by nothing if it is the same; with an
 * error of DBL_MAX if nothing is known. */
struct clock_offset child_clock_offset(const struct child_clock *clock);

#endif
