/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores: how fast each process is in each region of the program, relative to the best process and
 * to its own past. Pure. */
#ifndef EVSPACE_SCORE_H
#define EVSPACE_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Times of one region that count as the present: their median does. */
#define SCORE_TIMES 15

/** A region: what the program calls so, or what it computes before a collective. */
struct score_region {
	uint32_t comm; /* of the collective that ends it; 0: a region by its label */
	uint32_t what; /* that operation (tree/data/op.h), or the label */
};

/** What a thread does next. Times in ns, of its own host's clock. */
struct score_call {
	uint32_t process; /* rank in its world */
	uint64_t thread;  /* number of the caller's, its own in all processes */
	int64_t start_ns, end_ns;
	struct score_region ends; /* the region that this call ends; 0, 0: none */
};

/** A process is slower than it could be. */
struct score_slow {
	uint32_t process, best; /* the fastest one in this region */
	struct score_region region;
	double relative;	     /* time of the best process / of this one: 0 to 1 */
	double own;		     /* time that it has needed itself at best / now: 0 to 1 */
	double ns, best_ns, past_ns; /* these times, medians */
	double cost;		     /* how much of the time of this process that is, of 1 */
};

struct scores;

/** Nothing yet; @most pairs of a process and a region are kept. */
struct scores *scores_new(size_t most);

/** NULL is fine. */
void scores_free(struct scores *scores);

/** Take a call. Those of a thread come in order. What it computes is the time between calls: what
 * it waits in a call is nobody's. */
void scores_call(struct scores *scores, const struct score_call *call);

/** Take the time that @process was in @region, until @end_ns. */
void scores_add(struct scores *scores, uint32_t process, struct score_region region, double ns,
		int64_t end_ns);

/** Who is slow. */
struct score_wish {
	double below;	  /* who is slower than that times the best process, or than it was */
	double cost;	  /* and loses that share of its time by it */
	int64_t since_ns; /* in regions that it was in since then */
};

/** Find the @room processes that lose most. Returns how many there are in @found, who loses most
 * first. */
size_t scores_find(struct scores *scores, const struct score_wish *wish, struct score_slow *found,
		   size_t room);

#endif
