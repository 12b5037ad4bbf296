/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the waves that bring nothing, but for those that need not say that there is nothing. */
#include "consumers/watch/ending.h"

/* One may have been asked for just before the last tuple was written: twice, to be sure. */
#define QUIET_WAVES 2u

bool ending_reached(struct ending *ending, struct evspace_client *client, bool any)
{
	const struct evspace_wave *w = evspace_wave(client);
	struct evspace_counts n;
	uint64_t passed_by;

	evspace_counts(client, &n);
	/* What was filtered out of a stream was read all the same: there may be more behind it. */
	passed_by = n.read + n.lost + n.discarded;
	any = any || (evspace_is_stream(client) && passed_by != ending->passed_by);
	ending->passed_by = passed_by;
	ending->lived |= w->processes > 0;
	if (any || !w->sure || w->n_missing || w->processes ||
	    (w->elements == 0 && w->unreadable == 0))
		ending->quiet = 0;
	else
		ending->quiet++;
	return ending->quiet >= QUIET_WAVES && n.owing == 0;
}

bool ending_is_meant(const struct ending *ending, bool until_end, bool limited)
{
	return until_end || (!ending->lived && !limited);
}
