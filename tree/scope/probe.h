/* SPDX-License-Identifier: BSD-3-Clause */
/* A probe: how another host's clock relates to ours, by the times in asks and answers. */
#ifndef EVSPACE_PROBE_H
#define EVSPACE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/** What is known so far: our CLOCK_MONOTONIC = theirs - offset_ns, within error_ns at that time. */
struct probe {
	bool valid;
	double offset_ns, error_ns;
	uint64_t taken_ns;
};

/**
 * We asked at @asked_ns; they began to answer at @began_ns and sent it at @sent_ns by their clock
 * (0: not said); it came at @now_ns. The offset lies where its interval and @p's by now meet: their
 * asymmetric delays differ, so that is less than either. NTP's arithmetic (RFC 5905, section 8).
 */
void probe_take(struct probe *p, uint64_t asked_ns, uint64_t began_ns, uint64_t sent_ns,
		uint64_t now_ns);

/** Its error at @now_ns, in ns, which grows as clocks drift apart. */
double probe_error_ns(const struct probe *p, uint64_t now_ns);

#endif
