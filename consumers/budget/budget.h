/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a budget: a pure controller from measurements of a slowdown to levers. */
#ifndef EVSPACE_BUDGET_H
#define EVSPACE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "consumers/budget/effect.h"
#include "consumers/budget/levers.h"

/** What is to be kept. */
struct budget_plan {
	double share;	/* of the program's time: 0.01 is 1 % */
	double total;	/* that it is a part of, for all consumers together; 0: none */
	double part;	/* so much processor time of agents the entry lets through; 0: any */
	double most_hz; /* what the consumer would ask for; 0: as often as possible */
	bool urgency;	/* of agents may be moved: the user has not said it */
	bool collect;	/* less of the program may be recorded */
};

/** What is known otherwise than by the experiment. */
struct budget_direct {
	double collecting; /* share of the program's time that events cost it, by its own measure;
			    * of a part of a total, as large a part of that */
	double wave_s;	   /* processor time of a host's agents for one wave; 0: unknown */
	double latency_s;  /* of a wave */
	double late;	   /* share of waves that lack hosts */
	bool alone;	   /* there is no experiment: this is all that is known */
	bool unsettled;	   /* collecting was changed, and is not measured since */
};

/** Why the levers are where they are. */
enum budget_why {
	BUDGET_BEGINS,	  /* by direct cost: nothing is measured yet */
	BUDGET_ROOM,	  /* the upper bound leaves room */
	BUDGET_OVER,	  /* the upper bound is above the budget */
	BUDGET_SURGE,	  /* all of the last pairs together are: load has changed */
	BUDGET_WANTED,	  /* all that is wanted fits */
	BUDGET_IDLE,	  /* collecting alone costs it: the least rate */
	BUDGET_UNCERTAIN, /* what is spent cannot be told from more than the budget: the least rate
			   */
	BUDGET_MEEK,	  /* less is seen than is wanted: agents leave cores to the program */
	BUDGET_LATE,	  /* agents that do so miss deadlines */
	BUDGET_LATENCY,	  /* waves take so long */
	BUDGET_SHARED,	  /* consumers have come or gone, or their total is another one */
	BUDGET_HELD,	  /* its part lets no more through at the entry */
	BUDGET_THINNED,	  /* collecting takes more than half of it: less is recorded */
	BUDGET_FULLER,	  /* it takes so little that more can be recorded */
};

/** The cost of a wave is taken to be so many times its processor time at most, until pairs say
 * better: one rank that is held up holds up all. */
#define BUDGET_DIRECT_MOST 4.0

/** The last pairs, which a change of load is seen by. */
#define BUDGET_RECENT 8u

/** By its own estimate it is over the budget for no more pairs than that, one after the other. */
#define BUDGET_OVER_MOST 16u

/**
 * A model of what looking costs: a factor that grows with the rate, slowdown = cost x rate, fitted
 * to the pairs of blocks with and without looking at whatever rates they had, older ones counting
 * less. Plain data.
 */
struct budget {
	struct budget_plan plan;
	double share; /* the plan's at the last step */
	struct levers levers;
	enum budget_why why;
	unsigned moved; /* in the last step: a bit for each enum lever */
	bool was_late;	/* idle agents are too late here */
	/* sums over pairs, with weights that halve in 256 of them: count, rate^2, rate x log
	 * factor, log factor^2 */
	double n, rr, rd, dd;
	uint64_t pairs, quiet; /* all; and since the last move */
	bool rose;	       /* in the last move of the rate by pairs */
	unsigned turns;	       /* so often it had to fall after that */
	double recent[BUDGET_RECENT], recent_hz[BUDGET_RECENT];
	struct budget_direct direct;
};

/** Begin with @plan, whose share is above 0. */
void budget_begin(struct budget *budget, const struct budget_plan *plan,
		  const struct budget_direct *direct);

/** A pair of blocks, with looks at @rate_hz and without any, of which the first took exp(@log)
 * times as long. */
void budget_pair(struct budget *budget, double log, double rate_hz);

/** What looking at @rate_hz costs, with the bound that holds at all times; infinite while there are
 * fewer than EFFECT_PAIRS_LEAST pairs. */
struct effect_interval budget_effect(const struct budget *budget, double rate_hz);

/**
 * Where the levers should be now. Returns whether they moved; then budget->why says why. The rate
 * is the one whose upper bound, with @direct's collecting, is the budget: down at once, up by half
 * at most and never by less than an eighth; and each time that it has to fall again it waits twice
 * as long for the next rise, so that it does not oscillate. When plan.share has changed it changes
 * as much, at once. If collecting may be changed, it gets half of the budget: what is recorded is
 * halved until it takes no more. If that is less than is wanted, agents become idle, for good
 * unless they are late.
 */
bool budget_step(struct budget *budget, const struct budget_direct *direct);

/** What there is for a consumer with a budget of its own @own (0: none), and a @part of a @total of
 * all consumers (0: none), where events cost @collecting: that of both which leaves less for
 * looking goes into @plan and @direct. What events cost is deducted from the total once. */
void budget_shared(double own, double total, double part, double collecting,
		   struct budget_plan *plan, struct budget_direct *direct);

/** Is as much seen as is wanted? */
bool budget_fits(const struct budget *budget);

/** The step in words, for people: "budget 1 %: up to 12 waves a second, which slow down by 0.41 %
 * (0.1 to 0.8): there is room". Returns @buf (of @n bytes). */
const char *budget_words(const struct budget *budget, char *buf, size_t n);

#endif
