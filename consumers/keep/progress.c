/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows progress in the status line. */
#include "consumers/keep/progress.h"

#include <stdio.h>

#include "consumers/cli/status-line.h"
#include "consumers/client/client-replay.h"
#include "pathmap/base/quantity.h"
#include "tree/data/clock.h"

#define SHOW_NS UINT64_C(300000000)

void progress_show(struct read_progress *p, const struct evspace_client *client, uint64_t events)
{
	uint64_t now = clock_mono_ns();
	double share = client_replay_share(client), seconds;
	char count[UNIT_TEXT], left[UNIT_TEXT], text[160];
	size_t n;

	if (!status_line_is_possible())
		return;
	if (!p->begun_ns)
		p->begun_ns = p->said_ns = now;
	if (now - p->said_ns < SHOW_NS)
		return;
	p->said_ns = now;
	seconds = (double)(now - p->begun_ns) * 1e-9;
	n = (size_t)snprintf(text, sizeof(text), "%s events read, %.0f a second",
			     unit_count(count, events), (double)events / seconds);
	if (share > 0 && n < sizeof(text))
		snprintf(text + n, sizeof(text) - n, ", %.0f %%, %s left", 100 * share,
			 unit_duration(left, (uint64_t)(1e9 * seconds * (1 - share) / share)));
	status_line_show(text);
}
