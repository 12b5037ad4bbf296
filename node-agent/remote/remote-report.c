/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes through the processes whose elements are remote, and through the mirrors. */
#include "node-agent/remote/remote-report.h"

#include <stdlib.h>
#include <string.h>

#include "node-agent/source/row.h"
#include "pathmap/base/memory.h"

static void add(struct remote_report *report, char *text)
{
	report->texts = memory_room(report->texts, report->n, sizeof(char *));
	report->texts[report->n++] = text;
}

/* Is @node named for a channel before @channel? */
static bool is_said(const struct pathmap *map, const char *const *channels, size_t channel)
{
	const char *node = pathmap_recording(map, channels[channel])->remote;

	for (size_t i = 0; i < channel; i++) {
		if (strcmp(pathmap_recording(map, channels[i])->remote, node) == 0)
			return true;
	}
	return false;
}

/* The channels that @node fetches: "p2p wait", the caller's to free. */
static char *channels_of(const struct pathmap *map, const char *node)
{
	const char *const *channels;
	size_t n = pathmap_channels(&channels);
	char *text = memory_copy("");

	for (size_t i = 0; i < n; i++) {
		char *longer;

		if (strcmp(pathmap_recording(map, channels[i])->remote, node) != 0)
			continue;
		longer = memory_format("%s%s%s", text, *text ? " " : "", channels[i]);
		free(text);
		text = longer;
	}
	return text;
}

static void add_process(struct remote_report *report, const struct source_host *host,
			const struct store_segment *s, const char *node)
{
	char *channels = channels_of(host->map, node);
	uint64_t got, written;

	if (rows_fetched(host, s, node, &got, &written))
		add(report, memory_format("run %s, %s: %s drained to %s, at %llu of %llu", s->run,
					  s->name, channels, node, (unsigned long long)got,
					  (unsigned long long)written));
	else
		add(report,
		    memory_format("run %s, %s: %s kept for %s, which does not fetch at present",
				  s->run, s->name, channels, node));
	free(channels);
}

static void add_mirrors(struct remote_report *report, const struct source_host *host)
{
	const struct store_mirror *m;

	TAILQ_FOREACH (m, &host->store->mirrors, link) {
		if (strcmp(m->mirror.holder, host->node) != 0)
			continue;
		add(report, memory_format("run %s, %s/%s: from %s, pid %d there%s, at %llu",
					  m->mirror.origin.run, m->mirror.origin.process,
					  m->mirror.origin.rest, m->mirror.origin.node,
					  (int)m->mirror.origin.pid,
					  mirror_died(&m->mirror) ? ", not seen alive" : "",
					  (unsigned long long)mirror_head(&m->mirror)));
	}
}

void remote_report_init(struct remote_report *report, const struct source_host *host)
{
	const char *const *channels;
	size_t n = pathmap_channels(&channels);
	const struct store_segment *s;

	*report = (struct remote_report){0};
	for (size_t i = 0; i < n; i++) {
		const char *node = pathmap_recording(host->map, channels[i])->remote;

		if (!*node || strcmp(node, host->node) == 0 || is_said(host->map, channels, i))
			continue;
		TAILQ_FOREACH (s, &host->store->segments, link) {
			if (source_holds(host, NULL, s))
				add_process(report, host, s, node);
		}
	}
	add_mirrors(report, host);
}

void remote_report_fini(struct remote_report *report)
{
	for (size_t i = 0; i < report->n; i++)
		free(report->texts[i]);
	free(report->texts);
}
