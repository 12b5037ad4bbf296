/* SPDX-License-Identifier: BSD-3-Clause */
/* Has the file of probes written by copies of this process. */
#include "consumers/mir/probe-keeper.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/link/worker.h"

/* When to try again what could not be written. */
#define AGAIN_NS (UINT64_C(5) * 1000000000)

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

/* A copy has ended, or there could be none: @e says why nothing is written; NULL: all is. Who waits
 * for it is answered in any case. */
static void keeper_wrote(struct probe_keeper *k, struct probes *probes, const struct error *e)
{
	if (e && k->again_ns == 0)
		fprintf(stderr, "evspace mir: probes are not kept so far: %s\n", e->text);
	else if (!e && k->again_ns > 0)
		fputs("evspace mir: probes are kept again\n", stderr);
	k->again_ns = e ? clock_mono_ns() + AGAIN_NS : 0;
	probes->kept = k->changes;
}

/* Returns whether one still writes. */
static bool worker_goes_on(struct probe_keeper *k, struct probes *probes)
{
	const char *text, *why;
	struct error e;
	bool wrong;
	size_t n;

	if (!k->worker)
		return false;
	if (!worker_ended(k->worker, &text, &n, &wrong, &why))
		return true;
	if (why)
		errorf(&e, "%s", why);
	else if (wrong)
		errorf(&e, "%.*s", (int)n, text ? text : "");
	worker_free(k->worker);
	k->worker = NULL;
	keeper_wrote(k, probes, why || wrong ? &e : NULL);
	return false;
}

/* In how many ms there is something to write; -1: never. */
static int keeper_due(const struct probe_keeper *k, const struct probes *probes)
{
	uint64_t now = clock_mono_ns();

	if (probes->kept != probes->changes)
		return 0;
	if (k->again_ns == 0)
		return -1;
	return k->again_ns > now ? (int)((k->again_ns - now) / 1000000) + 1 : 0;
}

int probe_keeper_begin(struct probe_keeper *keeper, struct error *e)
{
	char *beside = memory_format("%s.lock", keeper->path);
	int rc = 0;

	config_folders_make(keeper->path);
	keeper->lock = open(beside, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (keeper->lock < 0)
		rc = errorf(e, "%.200s: %s", beside, strerror(errno));
	else if (flock(keeper->lock, LOCK_EX | LOCK_NB) < 0)
		rc = errorf(e, "%.200s: %s; another evspace mir keeps its probes there", beside,
			    strerror(errno));
	free(beside);
	return rc;
}

void probe_keeper_run(struct probe_keeper *keeper, struct probes *probes)
{
	struct keeper_work work = {keeper, probes};
	struct error e;

	if (!keeper->path)
		probes->kept = probes->changes;
	if (!keeper->path || worker_goes_on(keeper, probes) || keeper_due(keeper, probes) != 0)
		return;
	keeper->changes = probes->changes;
	keeper->worker = worker_new(keeper->base, &limits, file_write, &work, NULL, NULL);
	if (keeper->worker)
		return;
	if (probe_file_write(keeper->path, keeper->owners, probes, &e) < 0)
		keeper_wrote(keeper, probes, &e);
	else
		keeper_wrote(keeper, probes, NULL);
}

int probe_keeper_timeout(const struct probe_keeper *keeper, const struct probes *probes)
{
	/* one that writes wakes up the loop */
	return keeper->path && !keeper->worker ? keeper_due(keeper, probes) : -1;
}

void probe_keeper_end(struct probe_keeper *keeper, struct probes *probes)
{
	/* at once */
	if (keeper->again_ns > 0)
		keeper->again_ns = 1;
	probe_keeper_run(keeper, probes);
	while (keeper->worker) {
		event_base_loop(keeper->base, EVLOOP_ONCE);
		probe_keeper_run(keeper, probes);
	}
	if (keeper->path)
		close(keeper->lock);
}
