/* SPDX-License-Identifier: BSD-3-Clause */
/* When a plan that is in effect should change, as frequencies drift. Pure. */
#ifndef EVSPACE_DRIFT_H
#define EVSPACE_DRIFT_H

#include <stdbool.h>

/** A plan above the budget by more than this share of it is changed at once. */
#define DRIFT_OVER_SHARE 0.05

/** Another plan must tell more by this share, DRIFT_PATIENCE looks in a row. Each time that such a
 * one is then above the budget, or none keeps it any more, twice as many, so that plans do not
 * alternate. */
#define DRIFT_GAIN	    0.1
#define DRIFT_PATIENCE	    2u
#define DRIFT_PATIENCE_MOST 128u

/** What is remembered between looks; begins as zero. */
struct drift {
	unsigned better;   /* looks in a row at which another plan told enough more */
	unsigned patience; /* that it takes; 0: DRIFT_PATIENCE */
	bool risen;	   /* the last change was for a plan that tells more */
	bool none;	   /* no plan kept the budget */
};

/** One look at the plan in effect, by the frequencies of now. */
struct drift_look {
	double budget, used; /* seconds of each second; used by what is traced */
	double now, best;    /* information of the plan in effect, and of the best one */
	bool fresh;	     /* there are classes that it is not about */
	bool strayed;	     /* it is not in effect everywhere */
	bool none;	     /* no plan keeps the budget: the best one is the cheapest */
};

/** What to do, and why. */
enum drift_why {
	DRIFT_STAYS,
	DRIFT_NONE,
	DRIFT_FRESH,
	DRIFT_STRAYED,
	DRIFT_OVER,
	DRIFT_BETTER,
	DRIFT_PROBE
};

/** Should a probe that looks @now_hz times a second look @may_hz times, as the budget allows by
 * now? Less at once, more if it is twice as often. */
bool drift_probe(double now_hz, double may_hz);

/** Decide, and remember. Never DRIFT_PROBE, which is what
 * drift_probe() says. After all but DRIFT_STAYS the best plan is to be in effect. */
enum drift_why drift_step(struct drift *drift, const struct drift_look *look);

#endif
