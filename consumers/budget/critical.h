/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of the collectors' own time was on the rank that all others waited for: what a rank
 * takes before it arrives last in a collective delays everybody, on others it is waiting time that
 * was spent otherwise. Pure. */
#ifndef EVSPACE_CRITICAL_H
#define EVSPACE_CRITICAL_H

#include <stddef.h>
#include <stdint.h>

/** An event that was recorded. */
struct critical_event {
	int64_t start_ns;
	double error_ns; /* bound of its error, compared with other hosts */
	double cost_ns;	 /* the collector's own time for it */
	uint32_t rank;	 /* 0 to ranks - 1 */
	uint32_t host;	 /* clocks of one host agree; 0 to ranks - 1 */
	uint32_t number; /* of a collective that all ranks enter before any can leave it */
	int collective;	 /* it is one; else the number means nothing */
};

/** A time in which events are missing, on any rank. */
struct critical_hole {
	int64_t from_ns, to_ns;
};

/** Collectives before there is an interval. */
#define CRITICAL_LEAST 20u

/** What came out. Shares are of the collectors' time of all ranks. */
struct critical_share {
	uint64_t
		collectives; /* that all ranks have entered, nothing missing since the one before */
	uint64_t told;	     /* of these, the clocks say on which host the last one arrived */
	double estimate;     /* by the clocks as they are; NAN: no collective, or no time */
	double low, high;    /* holds it with 95 %, wherever clocks may be wrong; 0 and 1: cannot
			      * tell */
	double delay;	     /* the estimate as a share of the time that passed; NAN likewise */
};

/**
 * Find the share in the @n events of @ranks ranks, with the @n_holes, all of which are put into
 * another order. What counts for a collective is what a rank's collector took since it entered the
 * one before, so that must have come from all ranks, too. The interval is by batch means, of the
 * shares with the least and with the most of those ranks that may have been last.
 */
struct critical_share critical_share(struct critical_event *events, size_t n, uint32_t ranks,
				     struct critical_hole *holes, size_t n_holes);

#endif
