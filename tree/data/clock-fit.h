/* SPDX-License-Identifier: BSD-3-Clause */
/* How another clock relates to ours, by two-way probes: offset, drift, and the bound of the error
 * that they leave. Arrays in, numbers out. */
#ifndef EVSPACE_CLOCK_FIT_H
#define EVSPACE_CLOCK_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/clock.h"

/** A question and its answer: asked and came by our clock, got and sent by theirs. */
struct clock_probe {
	uint64_t asked_ns, got_ns, sent_ns, came_ns;
};

/** What is known of their clock: at our time at_ns + t it shows that + ahead_ns + drift * t. */
struct clock_offset {
	uint64_t at_ns;
	int64_t ahead_ns;
	double drift;	    /* 1e-6: it gains one microsecond each second */
	double error_ns;    /* bound of the error of ahead_ns */
	double error_drift; /* by how much it grows for each ns before or after at_ns */
};

/** Probes that are remembered. */
#define CLOCK_FIT_PROBES 64u

/** Until probes say more, and the most that a line may have: what adjtime(3) slews by on two hosts,
 * and their crystals. */
#define CLOCK_DRIFT_MOST 1100e-6

/** By how much a drift changes while it is measured, as temperature and NTP do it: probes say less
 * by that for each ns of their age. */
#define CLOCK_DRIFT_WANDER 1e-6

/** What probes have shown. All 0 at first. */
struct clock_fit {
	struct clock_probe kept[CLOCK_FIT_PROBES]; /* a ring: probe i, from 0, at i % PROBES */
	uint64_t probes;			   /* taken so far */
	uint32_t n;		    /* the newest ones that fit one line; 0: nothing is known */
	uint32_t steps;		    /* how often one did not fit those before it */
	bool apart;		    /* one has shown that this is not the very clock that is ours */
	struct clock_offset offset; /* by those that fit; valid if there are any */
};

/**
 * Take a probe, which must be younger than those before. No message is received before it is sent,
 * so each says that their clock's lead is at most got - asked when we asked, and at least sent -
 * came when the answer came. The lines that pass all of these gates may be the truth, and are
 * within the bound (Duda and others, "Estimating global time in distributed systems", 1987): slow
 * probes count for what they exclude. As no clock is a line, old probes are forgotten when they
 * leave much less room than the fastest one; the bound is at least half of that one's delay there
 * and back (RFC 5905), and grows by CLOCK_DRIFT_WANDER. If no line passes, a clock has stepped, is
 * slewed, or slept, and the newest probe alone counts.
 *
 * A probe whose times contradict themselves is dropped. Returns whether it is the first, or others
 * were forgotten: then more of them soon would help.
 */
bool clock_fit_take(struct clock_fit *fit, const struct clock_probe *probe);

/** The bound of the error of @offset at our time @ns. */
double clock_offset_error_ns(const struct clock_offset *offset, uint64_t ns);

/** What their clock shows more than ours, at our time @ns, rounded down. */
int64_t clock_offset_ahead_ns(const struct clock_offset *offset, uint64_t ns);

/**
 * Move @line from a clock with this @offset to ours: event-space time at CLOCK_MONOTONIC 0 is
 * @theirs_ns there, and @ours_ns here. All but @ours_ns may come from a peer: the base stays within
 * CLOCK_BASE_MOST, and the error finite.
 */
void clock_offset_move(const struct clock_offset *offset, struct clock_line *line,
		       int64_t theirs_ns, int64_t ours_ns);

#endif
