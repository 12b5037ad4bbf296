/* SPDX-License-Identifier: BSD-3-Clause */
/* The sieve: which samples of a thread are kept, and when to take the next (Özmen: An Entropy-Based
 * Algorithm for Time-Driven Software Instrumentation in Parallel Systems, sections 3 and 5). Pure.
 */
#ifndef EVSPACE_SIEVE_H
#define EVSPACE_SIEVE_H

#include "pathmap/model/sampling.h"
#include "tree/data/entropy-window.h"
#include "tree/data/run.h"
#include "tree/data/tuple.h"

/** A sample is kept at the latest after so many that were not: so counts are not far behind. */
#define SIEVE_LEFT_MOST 1000u

/** The share of a core that taking samples may use: the interval grows until that is so. */
#define SIEVE_SHARE 0.05

/** What all threads have in common. */
struct sieve_rule {
	struct entropy_table table;
	double p, threshold;
};

/** Of one thread. Zeroed: no sample yet. */
struct sieve {
	struct entropy_window window;
	struct tuple last; /* the newest sample; if it was left out, one of: */
	uint32_t left;	   /* that were left out since one was kept */
};

/** By what is asked for; @events can happen, unless that says how many. */
void sieve_rule_init(struct sieve_rule *rule, const struct sampling *sampling, unsigned events);

/**
 * Take a sample of what the window sees as @event. Returns how many tuples are to be kept, in
 * @keep: none; where something else begins, the last one before; and the sample, if its S is above
 * the threshold. In `bytes` each has how many samples of the same thing, taken
 * right before it, are left out for good. *@changed: it is not what the sample before was.
 */
unsigned sieve_take(struct sieve *sieve, const struct sieve_rule *rule, const struct tuple *sample,
		    uint32_t event, struct tuple keep[2], bool *changed);

/** The last sample, if it was left out: the thread has ended. Returns 1 with it in @keep, or 0. */
unsigned sieve_end(struct sieve *sieve, struct tuple *keep);

/** Add what @n kept samples say was left out, each SIEVE_LEFT_MOST at most, to @part, where it
 * counts as read and filtered, and to *@sampled, unless that is NULL. */
void sieve_count(const struct tuple *samples, uint32_t n, struct part *part, uint64_t *sampled);

/**
 * The interval to the next sample, in ns: half of @ns if something has changed, else a quarter
 * longer, within the bounds; but so long that rounds of samples of @runs, which cost @cost_ns each,
 * use no more than SIEVE_SHARE of a core together.
 */
uint64_t sieve_interval(const struct sampling *sampling, uint64_t ns, bool changed,
			uint64_t cost_ns, unsigned runs);

#endif
