/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the probe with the least error, which grows with its age. */
#include "tree/scope/probe.h"

#include <math.h>

/* Bound of the drift between clocks of two hosts. */
#define DRIFT_PPM 50.0

double probe_error_ns(const struct probe *p, uint64_t now_ns)
{
	return p->error_ns + (double)(now_ns - p->taken_ns) * DRIFT_PPM * 1e-6;
}

void probe_take(struct probe *p, uint64_t asked_ns, uint64_t began_ns, uint64_t sent_ns,
		uint64_t now_ns)
{
	double now = (double)now_ns, asked = (double)asked_ns;
	double began = (double)began_ns, sent = (double)sent_ns;
	double error = ((now - asked) - (sent - began)) / 2, offset, known;

	if (began_ns == 0 || error < 0)
		return;
	offset = ((began - asked) + (sent - now)) / 2;
	known = probe_error_ns(p, now_ns);
	/* if they contradict each other, one of the hosts was suspended meanwhile */
	if (!p->valid || error < known || fabs(offset - p->offset_ns) > error + known)
		*p = (struct probe){true, offset, error, now_ns};
}
