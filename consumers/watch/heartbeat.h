/* SPDX-License-Identifier: BSD-3-Clause */
/* The heartbeat monitor's state, shared by looking (heartbeat.c), words (heartbeat-words.c) and
 * display (heartbeat-show.c). */
#ifndef EVSPACE_HEARTBEAT_H
#define EVSPACE_HEARTBEAT_H

#include <stdio.h>

#include "consumers/cli/options.h"
#include "consumers/cli/toll.h"
#include "consumers/watch/disagreement.h"
#include "consumers/watch/thread-states.h"
#include "consumers/watch/standing.h"
#include "consumers/watch/stall.h"
#include "consumers/cli/words.h"

struct heartbeat {
	struct common common;
	struct evspace_client *client;
	bool check, redraw, colour;
	bool silent; /* the last look of a check was not answered at all */
	bool timed;  /* no --count or --duration: a check ends by itself */
	int64_t stuck_after_ns;
	uint64_t end_ns; /* CLOCK_MONOTONIC, 0: no limit */
	uint64_t passed; /* waves before the awaited run */
	struct thread_states thread_states;
	struct stall *stall;
	struct agreement *agreement;
	const struct disagreement *found; /* who calls other collectives than the others */
	size_t n_found;
	struct standing standing;
	const char *run;	      /* from standing_run() */
	struct toll *toll;	      /* what looking costs */
	int code;		      /* exit code of an early end, -1: none */
	size_t stuck;		      /* threads of the last wave */
	size_t dead;		      /* of these: their processes ended without finishing */
	bool begun;		      /* the run was seen */
	bool none_yet;		      /* a look has shown that it was not there */
	uint64_t begun_ns, looked_ns; /* first and last look; CLOCK_MONOTONIC */
	uint64_t stuck_ns;	      /* the first of the looks that found somebody stuck */
	bool ended; /* all hosts answered, and no process of the run is alive, … */
	bool left;  /* … unless more of an archive comes */
	/* of the last table */
	int lines;
	uint64_t shown_ns;
	size_t shown_stuck;
	/* of the wave before, for rates */
	int64_t last_ns;
	uint64_t last_written, last_cpu_us;
	double written_rate, cost_share, cpu_share; /* -1: not known yet */
};

/** No threads yet; the caller sets `common` and what else it wants otherwise. */
void heartbeat_init(struct heartbeat *h);
void heartbeat_fini(struct heartbeat *h);

/** Take a wave: every thread's last event, how old it is, who waits for whom. */
void heartbeat_take(struct heartbeat *h);

/** Is known who is to be looked at? Threads that wait for each other become stuck one after the
 * other: that takes a moment, after which it is not known better. */
bool heartbeat_is_told(const struct heartbeat *h);

/** Write "in MPI_Recv from rank 3 (tag 7)", "MPI_Barrier #17 on the world". Returns @buf. */
const char *heartbeat_doing(const struct heartbeat *h, const struct thread_state *p,
			    char buf[WORDS_TEXT]);

/** Write the program's name for what the thread is in (evspace.h): "region exchange", "" if
 * nothing. Returns @buf. */
const char *heartbeat_region(const struct heartbeat *h, const struct thread_state *p,
			     char buf[WORDS_TEXT]);

/** Write "waits for rank 3, in the end for rank 7, outside any operation"; "" if it does not wait.
 * Returns @buf. */
const char *heartbeat_waits(const struct heartbeat *h, const struct thread_state *p,
			    char buf[WORDS_TEXT]);

/** Do the members disagree about the collective that it is in? */
bool heartbeat_is_mismatch(const struct heartbeat *h, const struct thread_state *p);

/** Does it wait for a run (--wait) of which no live process was seen yet? */
bool heartbeat_is_waiting(const struct heartbeat *h);

/** Were the live processes watched long enough to know which are stuck? */
bool heartbeat_is_known(const struct heartbeat *h);

/** Say on @out that they were not. */
void heartbeat_unknown(const struct heartbeat *h, FILE *out);

/** How many are stuck because of a thread that is in no operation. */
size_t heartbeat_awaited(const struct heartbeat *h);

/** Print on stdout who is stuck, a line each, or that nobody is. */
void heartbeat_verdict(const struct heartbeat *h);

/** Write on @out whose calls of which collectives differ, and who holds up whom and is stuck, the
 * one to look at first. */
void heartbeat_say_disagreements(const struct heartbeat *h, FILE *out);
void heartbeat_say_stuck(const struct heartbeat *h, FILE *out);

/** Show the last wave: as a table, or as JSON. Returns 0, or -1 if the reader has closed the
 * pipe. */
int heartbeat_show(struct heartbeat *h);

/** Write the wave on @out as JSON objects: one for the wave, one for each disagreement and thread.
 */
void heartbeat_json(const struct heartbeat *h, FILE *out);

/** Say on stderr how many looks there were, and what they cost. */
void heartbeat_summary(const struct heartbeat *h);

#endif
