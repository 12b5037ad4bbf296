/* SPDX-License-Identifier: BSD-3-Clause */
/* More credit while waves come at once, less when they queue on their way. */
#include "consumers/credit.h"

/* What a slow connection is tried with, and what is left of it at least. */
#define CREDIT_SLOW  ((size_t)256 << 10)
#define CREDIT_LEAST ((size_t)64 << 10)
#define QUEUED_S     1.0
#define SOON_S	     0.5

void credit_begin(struct credit *c, bool slow)
{
	if (!c->bytes)
		c->bytes = CREDIT_MOST;
	if (slow && c->bytes > CREDIT_SLOW)
		c->bytes = CREDIT_SLOW;
}

void credit_wave(struct credit *c, uint64_t number, size_t bytes, double seconds, unsigned shares,
		 double deadline_s, uint64_t next)
{
	/* It says nothing of the credit that there is now. */
	if (number < c->since)
		return;
	if (seconds > deadline_s + QUEUED_S && c->bytes > CREDIT_LEAST) {
		c->bytes /= 2;
		c->since = next;
	} else if (seconds < SOON_S && bytes >= c->bytes / shares / 2 && c->bytes < CREDIT_MOST) {
		c->bytes *= 2;
		c->since = next;
	}
}
