/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows progress in the status line. */
#include "consumers/keep/progress.h"

#include <stdio.h>

#include "consumers/cli/status-line.h"
#include "pathmap/base/quantity.h"
#include "tree/data/clock.h"

#define SHOW_NS UINT64_C(300000000)

void progress_show(struct read_progress *p, const char *done, uint64_t n, double share)
{
	uint64_t now = clock_mono_ns();
	double seconds;
	char count[UNIT_TEXT], left[UNIT_TEXT], text[160];
	size_t at;

	if (!status_line_is_possible())
		return;
	if (p->done != done) {
		p->done = done;
		p->begun_ns = p->said_ns = now;
	}
	if (now - p->said_ns < SHOW_NS)
		return;
	p->said_ns = now;
	seconds = (double)(now - p->begun_ns) * 1e-9;
	at = (size_t)snprintf(text, sizeof(text), "%s %s, %.0f a second", unit_count(count, n),
			      done, (double)n / seconds);
	if (share > 0 && at < sizeof(text))
		snprintf(text + at, sizeof(text) - at, ", %.0f %%, %s left", 100 * share,
			 unit_duration(left, (uint64_t)(1e9 * seconds * (1 - share) / share)));
	status_line_show(text);
}
