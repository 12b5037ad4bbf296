/* SPDX-License-Identifier: BSD-3-Clause */
/* Has the file of probes written by copies of this process. */
#include "consumers/mir/probe-keeper.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "tree/link/worker.h"

static const struct worker_limits limits = {.ms = 60 * 1000, .bytes = sizeof(struct error)};

/* What one has to know. */
struct keeper_work {
	const struct probe_keeper *keeper;
	const struct probes *probes;
};

static bool file_write(void *arg, FILE *out)
{
	const struct keeper_work *work = arg;
	struct error e;

	if (probe_file_write(work->keeper->path, work->keeper->owners, work->probes, &e) == 0)
		return false;
	fputs(e.text, out);
	return true;
}

static void failure_tell(const char *why, size_t n)
{
	fprintf(stderr, "evspace mir: probes are not kept: %.*s\n", (int)n, why);
}

/* Returns whether one still writes. */
static bool worker_goes_on(struct probe_keeper *k, struct probes *probes)
{
	const char *text, *why;
	bool wrong;
	size_t n;

	if (!k->worker)
		return false;
	if (!worker_ended(k->worker, &text, &n, &wrong, &why))
		return true;
	if (why || wrong)
		failure_tell(why ? why : text, why ? strlen(why) : n);
	worker_free(k->worker);
	k->worker = NULL;
	probes->kept = k->changes;
	return false;
}

void probe_keeper_run(struct probe_keeper *keeper, struct probes *probes)
{
	struct keeper_work work = {keeper, probes};

	if (!keeper->path)
		probes->kept = probes->changes;
	if (worker_goes_on(keeper, probes) || probes->kept == probes->changes)
		return;
	keeper->changes = probes->changes;
	keeper->worker = worker_new(keeper->base, &limits, file_write, &work, NULL, NULL);
	if (!keeper->worker)
		probe_keeper_end(keeper, probes);
}

void probe_keeper_end(struct probe_keeper *keeper, struct probes *probes)
{
	struct error e;

	while (worker_goes_on(keeper, probes))
		event_base_loop(keeper->base, EVLOOP_ONCE);
	if (keeper->path && probes->kept != probes->changes &&
	    probe_file_write(keeper->path, keeper->owners, probes, &e) < 0)
		failure_tell(e.text, strlen(e.text));
	probes->kept = probes->changes;
}
