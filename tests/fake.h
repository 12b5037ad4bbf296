/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake agent, a process of its own: a tree of leaves that write, remember, fail and come back by
 * dice, or by a script. */
#ifndef EVSPACE_TESTS_FAKE_H
#define EVSPACE_TESTS_FAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tree/link/listener.h"

#define FAKE_LEAVES   3
#define FAKE_ELEMENTS 2
#define FAKE_ASKS     4096

/** What the agent did, in memory that both processes see. */
struct fake_report {
	unsigned connections, opens, closes, asks, under_way_most;
	bool same_id;	     /* all opens had the same scope id, run and view */
	unsigned violations; /* asks that no client may make */
	char violation[200]; /* the last one */
	uint64_t written[FAKE_LEAVES][FAKE_ELEMENTS];
};

/** How often things go wrong, in percent of the answers. */
struct fake_odds {
	unsigned late;	      /* a leaf has read the wave, but its part comes too late */
	unsigned late_again;  /* the same when it is asked for again */
	unsigned down;	      /* a leaf goes away, for a few waves */
	unsigned cut;	      /* the connection breaks, what was sent last is lost */
	unsigned twice;	      /* an answer is sent twice */
	unsigned held;	      /* an answer is sent behind the next one */
	unsigned overwritten; /* what is asked for again is not there any more, in part */
};

/** What the fake does. The functions may be NULL; they run in the fake's process. */
struct fake_script {
	uint64_t seed;
	struct fake_odds odds;
	uint64_t waves;	   /* after so many nothing goes wrong and nothing is written any more */
	unsigned again_ms; /* what is asked for again is late within less */
	bool latest;
	bool lone;	 /* there is only the first leaf */
	unsigned window; /* most waves under way that its map allows; 0: any */
	/* Instead of opening, or answering: return true when that is done. */
	bool (*open)(struct link *link, const Evspace__Open *open);
	bool (*ask)(struct link *link, const Evspace__Ask *ask);
	/* The same for any frame, of any connection. */
	bool (*frame)(struct link *link, const Evspace__Frame *frame);
};

/** Start it. Returns its process, listening at *@address already, a static text. */
pid_t fake_start(const struct fake_script *script, const char **address);

/** Kill it. Its socket stays, for a restart at the same address. */
void fake_stop(pid_t pid);

/** What the fake started last did; zeroed by fake_start(). */
const struct fake_report *fake_report(void);

/** Remove the folder of the socket. A CUnit clean-up function. */
int fake_clean(void);

/** Send an answer with one leaf's @n tuples in one element; for scripts. */
void fake_answer(struct link *link, uint64_t wave, uint64_t first, uint32_t n);

/** Close the connection, behind what was sent; for scripts. */
void fake_cut(void);

#endif
