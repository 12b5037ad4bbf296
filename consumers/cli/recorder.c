/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the monitor of a client, in the folder of all runs of this host. */
#include "consumers/cli/recorder.h"

#include "node-agent/store/monitor.h"
#include "pathmap/base/folder-base.h"
#include "tree/data/process.h"

static struct monitor *recorder_begin(const char *host, struct error *e)
{
	char base[FOLDER_BASE];
	const struct monitor_plan plan = {
		.base = base, .process = PROCESS_CONSUMER, .host = host, .keep = true};
	struct monitor *monitor;

	if (!folder_base_path(base, sizeof(base), e))
		return NULL;
	monitor = monitor_new(&plan);
	if (monitor_want(monitor, e) == 0)
		return monitor;
	monitor_free(monitor);
	return NULL;
}

const struct client_recorder recorder = {
	.begin = recorder_begin,
	.tracer = monitor_tracer,
	.end = monitor_free,
};
