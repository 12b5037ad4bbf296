/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits: what the times of one meeting say, by the patterns of Scalasca (Geimer and others, The
 * Scalasca performance toolset architecture, 2010). Pure. */
#ifndef EVSPACE_WAIT_H
#define EVSPACE_WAIT_H

#include "consumers/analysis/meeting-sum.h"

struct overlaps;

/** Who waits for whom in an operation. */
enum wait_kind {
	WAIT_NONE,	/* nobody has to, or it is not known: a root, the neighbours */
	WAIT_BARRIER,	/* "Wait at Barrier": all for the last one */
	WAIT_NXN,	/* "Wait at NxN": likewise, as all need the data of all */
	WAIT_BROADCAST, /* "Late Broadcast": all for the root */
	WAIT_REDUCE,	/* "Early Reduce": the root for the last of the others */
	WAIT_SCAN,	/* "Early Scan": each for those before it, by rank */
	WAIT_KINDS
};

/** Its name: "Wait at Barrier"; "" for WAIT_NONE. */
const char *wait_name(enum wait_kind kind);

/** What kind of waiting there may be in @op, whose root is known or not. */
enum wait_kind wait_kind(uint16_t op, bool has_root);

/** No arrival. */
#define WAIT_NOBODY ((size_t)-1)

/** What a meeting was for one member. Times in ns; bounds are of what clocks may be off. */
struct wait {
	double ns;	  /* that it has waited; 0: not at all, or less than clocks can tell */
	size_t cause;	  /* index of whom it waited for; WAIT_NOBODY: nobody */
	bool untold;	  /* it may have waited, but for less than clocks can tell */
	double caused_ns; /* that others have waited for it */
	bool awaited;	  /* they may have to */
	double late_ns, error_ns; /* it started so long after the middle one of the others (the
				   * median), and the bound of that */
};

/** What it was for all. */
struct meeting_waits {
	enum wait_kind kind;
	double spread_ns, error_ns; /* from the first start to the last one, and its bound */
	size_t late; /* who came last of those that are awaited, a root later than the middle one of
		      * the others; WAIT_NOBODY: nobody, or clocks cannot tell */
	double inside_ns; /* from the last start to the last end */
	double waited_ns; /* by all together */
	uint64_t untold;  /* members that may have waited, but for less than clocks can tell */
};

/** Look at @meeting, of one member at least; @waits has room for meeting->n. */
struct meeting_waits wait_find(const struct meeting *meeting, struct wait *waits);

/** Threads of a process may wait beside each other: take from what wait_find() has found what
 * others have waited, as is in @counted, and add the rest to that. */
void wait_once(const struct meeting *meeting, struct wait *waits, struct meeting_waits *all,
	       struct overlaps *counted);

/**
 * The same as wait_find() of what is known of @sum: of whoever started last, in @last, with the
 * mean of the others for their median; `late` is 0 or WAIT_NOBODY. A sum does not tell who waits in
 * a reduction or a scan, nor in a broadcast whose root did not come last: then nobody is said to
 * have waited.
 */
struct meeting_waits wait_find_summed(const struct meeting_sum *sum, struct wait *last);

#endif
