/* SPDX-License-Identifier: BSD-3-Clause */
/* Urgency: in which scheduling class an agent answers, and when it must leave a meek one to keep a
 * deadline (docs/decisions/0031-urgency-by-scope.md). No clock and no system call is here. */
#ifndef EVSPACE_URGENCY_H
#define EVSPACE_URGENCY_H

#include <stdint.h>

#include "pathmap/base/error.h"

/** As on the wire; of the classes of sched(7) a later one is more urgent. */
enum urgency {
	URGENCY_UNSAID,
	URGENCY_IDLE,	/* only what programs leave over, and cores that are idle */
	URGENCY_BATCH,	/* its share of a core, but none is taken from a program at once */
	URGENCY_NORMAL, /* as any program */
};

/** If nobody says another one: costs least of those that keep the rate (docs/performance.md). */
#define URGENCY_DEFAULT URGENCY_BATCH

/** A class that was found too meek is tried again after this time; each time that it is found so
 * again, after twice as long, up to the most. */
#define URGENCY_HOLD_FIRST_NS UINT64_C(1000000000)
#define URGENCY_HOLD_MOST_NS  UINT64_C(64000000000)

/** An agent may wait for cores for this part of the time that a wave has: others on its way wait as
 * well, and each of them both on the way down and up. */
#define URGENCY_PART 10u

/** "idle", "batch", "normal"; "" for URGENCY_UNSAID. */
const char *urgency_word(enum urgency urgency);

/** Read one of these words. Returns 0, or -1 with @e, which says what is valid. */
int urgency_parse(const char *text, enum urgency *urgency, struct error *e);

/** What a frame says: the default if nothing, or something that this release does not know. */
enum urgency urgency_asked(uint32_t said);

/** By how many classes an agent is lifted above what is asked of it. Plain data, zeroed at first.
 */
struct urgency_lift {
	unsigned steps;
	uint64_t hold_ns, until_ns; /* how long the last lift holds, and until when; 0: none yet */
};

/** What is so when an ask comes. */
struct urgency_seen {
	enum urgency asked, ceiling; /* the most urgent of all scopes; what the agent may take */
	uint64_t waited_ns;	     /* for cores, since the last time */
	uint64_t patience_ns;	     /* of that is tolerable */
	uint64_t now_ns;
};

/** The class to be in from now on. */
enum urgency urgency_decide(struct urgency_lift *lift, const struct urgency_seen *seen);

#endif
