/* SPDX-License-Identifier: BSD-3-Clause */
/* A probe: how another host's clock relates to ours, by the times that ride on asks and answers. */
#ifndef EVSPACE_PROBE_H
#define EVSPACE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/** The best one so far: our CLOCK_MONOTONIC = theirs - offset_ns, right within error_ns then. */
struct probe {
	bool valid;
	double offset_ns, error_ns;
	uint64_t taken_ns;
};

/**
 * We asked at @asked_ns, they began to answer at @began_ns and sent it at @sent_ns by their clock
 * (0: they do not say), it came at @now_ns: kept if it says more than @p does by now. NTP's
 * arithmetic (RFC 5905, section 8).
 */
void probe_take(struct probe *p, uint64_t asked_ns, uint64_t began_ns, uint64_t sent_ns,
		uint64_t now_ns);

/** What it may be wrong by at @now_ns, in ns: clocks drift apart. */
double probe_error_ns(const struct probe *p, uint64_t now_ns);

#endif
