/* SPDX-License-Identifier: BSD-3-Clause */
/* Riding: which waves of a trunk begin when, and which asks of its riders each of them answers
 * (docs/decisions/0029-same-question-one-tree.md). Neither clocks nor links are here. */
#ifndef EVSPACE_RIDING_H
#define EVSPACE_RIDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "pathmap/base/error.h"

/** Most waves that one rider may be without, as no consumer has more under way. */
#define RIDING_WAVES 64u

/** Longest that an ask waits for others. */
#define RIDING_WAIT_NS UINT64_C(1000000000)

/** One who asks. Plain data of its owner, filled in here. */
struct rider {
	TAILQ_ENTRY(rider) entry;
	uint64_t every_ns;    /* how often it asks; 0: as fast as it can */
	uint64_t asked_ns;    /* when it did last, 0: never */
	uint32_t deadline_ms; /* of that */
	uint64_t rest_ns;     /* when the last answer left that it waited for, 0: never */
	unsigned waiting;     /* waves that it has asked for, and that have not begun */
	unsigned seats;	      /* waves that have */
	unsigned boarding;    /* waves that are to begin for it now */
};

/** What is asked for. */
struct ride {
	uint64_t wave; /* the first, by who asks or begins it */
	uint32_t count, deadline_ms;
	uint64_t every_ns; /* as in struct rider */
};

struct riding_ask;
struct riding_seat;

/** Plain data of a trunk. */
struct riding {
	TAILQ_HEAD(, rider) riders;
	TAILQ_HEAD(, riding_ask) asks;
	TAILQ_HEAD(, riding_seat) seats;
	unsigned n; /* riders */
	struct riding_slots {
		uint64_t busy; /* a bit for each that has seats */
		unsigned seats[RIDING_WAVES];
	} slots[2];	  /* of the numbers of waves that somebody waits for; of riding_alone() */
	bool timed;	  /* deadlines run while asks wait, as those who ask wait for an answer */
	bool brief;	  /* asks wait for half as long, as rings fill; the owner's to set */
	uint64_t last;	  /* number of the last wave that has begun */
	uint64_t took_ns; /* how long the last wave took that has ended */
	uint64_t began_ns, every_ns; /* when one began last, and how often they are asked for */
};

/** @timed: those who ask, agents, count the time that their asks wait. */
void riding_init(struct riding *r, bool timed);

/** Leave before @rider is freed. */
void riding_join(struct riding *r, struct rider *rider);
void riding_leave(struct riding *r, struct rider *rider);

/** Its waves @ride are to be answered. They begin as there is room: no wave gets a number that is
 * RIDING_WAVES, or a multiple of it, behind that of one under way, and no rider has so many under
 * way that others must wait for these. Returns 0, or -1 with EPROTO and @e: too many are waited for
 * already. */
int riding_ask(struct riding *r, struct rider *rider, const struct ride *ride, uint64_t now,
	       struct error *e);

/** The same for waves that begin now, and that nobody else rides on: numbers them @number (and
 * following). */
int riding_alone(struct riding *r, struct rider *rider, const struct ride *ride, uint64_t *number,
		 struct error *e);

/** Nothing that waits now waits for others any more. */
void riding_hurry(struct riding *r);

/** When waves are to begin, with @under_way of them: at @now or later; UINT64_MAX: not before
 * somebody asks, a wave ends, or a rider leaves. */
uint64_t riding_due(const struct riding *r, unsigned under_way, uint64_t now);

/** Until when what waits may wait; UINT64_MAX: nothing does. */
uint64_t riding_patience(const struct riding *r, unsigned under_way);

/** When waves will begin again, if asks come as they did so far, from @now to @due; the time when
 * they surely have. 0: not then. */
uint64_t riding_expected(const struct riding *r, uint64_t now, uint64_t due);

/** If waves are to begin @now, seat who rides on them, and say in @ride which they are. */
bool riding_begin(struct riding *r, unsigned under_way, uint64_t now, struct ride *ride);

/** How many ride on wave @number; @alone: one of riding_alone(). */
unsigned riding_seated(const struct riding *r, uint64_t number, bool alone);

/** Wave @number has ended, which took @took_ns; @alone: one of riding_alone(). Calls @answer for
 * each rider, with its number of that wave. */
void riding_end(struct riding *r, uint64_t number, bool alone, uint64_t now, uint64_t took_ns,
		void (*answer)(void *arg, struct rider *rider, uint64_t wave), void *arg);

#endif
