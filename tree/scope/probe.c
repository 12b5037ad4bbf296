/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps what all probes agree on: an interval, which widens as it ages. */
#include "tree/scope/probe.h"

#include <math.h>

/* Bound of the drift between clocks of two hosts: what adjtime(3) slews by, more than crystals
 * differ. */
#define DRIFT_PPM 500.0

double probe_error_ns(const struct probe *p, uint64_t now_ns)
{
	return p->error_ns + (double)(now_ns - p->taken_ns) * DRIFT_PPM * 1e-6;
}

void probe_take(struct probe *p, uint64_t asked_ns, uint64_t began_ns, uint64_t sent_ns,
		uint64_t now_ns)
{
	double now = (double)now_ns, asked = (double)asked_ns;
	double began = (double)began_ns, sent = (double)sent_ns;
	double error = ((now - asked) - (sent - began)) / 2, offset, known, low, high;

	if (began_ns == 0 || error < 0)
		return;
	offset = ((began - asked) + (sent - now)) / 2;
	low = offset - error;
	high = offset + error;
	known = probe_error_ns(p, now_ns);
	/* if they contradict each other, one of the hosts was suspended meanwhile */
	if (p->valid && fabs(offset - p->offset_ns) <= error + known) {
		low = fmax(low, p->offset_ns - known);
		high = fmin(high, p->offset_ns + known);
	}
	*p = (struct probe){true, (low + high) / 2, (high - low) / 2, now_ns};
}
