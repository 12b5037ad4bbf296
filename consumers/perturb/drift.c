/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan that costs too much goes at once; one that tells less has to do so for some time. */
#include "consumers/perturb/drift.h"

/* A rate that is too high by less is left alone. */
#define PROBE_OVER 1.25
#define PROBE_MORE 2.0

bool drift_probe(double now_hz, double may_hz)
{
	return may_hz * PROBE_OVER < now_hz || may_hz > now_hz * PROBE_MORE;
}

enum drift_why drift_step(struct drift *drift, const struct drift_look *look)
{
	unsigned patience = drift->patience ? drift->patience : DRIFT_PATIENCE;
	enum drift_why why = DRIFT_STAYS;

	drift->better = look->best > look->now * (1 + DRIFT_GAIN) ? drift->better + 1 : 0;
	if (look->none && !drift->none)
		why = DRIFT_NONE;
	else if (look->fresh)
		why = DRIFT_FRESH;
	else if (look->strayed)
		why = DRIFT_STRAYED;
	else if (look->used > look->budget * (1 + DRIFT_OVER_SHARE))
		why = DRIFT_OVER;
	else if (drift->better >= patience)
		why = DRIFT_BETTER;
	drift->none = look->none;
	if (why == DRIFT_STAYS)
		return why;
	if ((why == DRIFT_OVER || why == DRIFT_NONE) && drift->risen &&
	    patience < DRIFT_PATIENCE_MOST)
		drift->patience = 2 * patience;
	drift->risen = why == DRIFT_BETTER;
	drift->better = 0;
	return why;
}
