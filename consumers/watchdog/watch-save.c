/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps what was known when something was seen: the elements are the flight recorder. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "consumers/watch/events.h"
#include "consumers/watchdog/watch.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/data/clock.h"

/* Time to read what elements hold. */
#define READ_WITHIN_NS UINT64_C(10000000000)
/* What goes wrong is kept so many times: a disk has an end. */
#define SAVED_MOST 20u

static bool folder_make(struct watch *w)
{
	if (w->folder)
		return true;
	w->folder = w->save ? memory_copy(w->save) : memory_format("evspace-watch-%s", w->name);
	if (mkdir(w->folder, 0777) == 0 || errno == EEXIST)
		return true;
	fprintf(stderr, "evspace watch: nothing can be kept: %s: %s\n", w->folder, strerror(errno));
	free(w->folder);
	w->folder = NULL;
	return false;
}

/* The file of this alarm, open for writing; NULL after a message. */
static FILE *file_open(const struct watch *w, const char *kind, const char *what)
{
	char *path = memory_format("%s/%u-%s-%s", w->folder, w->seen, kind, what);
	FILE *file = fopen(path, "we");

	if (!file)
		fprintf(stderr, "evspace watch: %s: %s\n", path, strerror(errno));
	free(path);
	return file;
}

static void file_close(FILE *file)
{
	bool failed = ferror(file);

	if (fclose(file) || failed)
		fprintf(stderr, "evspace watch: what was seen is not kept whole: %s\n",
			strerror(errno));
}

/* Write the events that elements hold and that ended after @from_ns. Returns how many there are. */
static uint64_t events_write(const struct watch *w, int64_t from_ns, FILE *out)
{
	struct evspace_options look = w->heartbeat.common.look;
	uint64_t until = clock_mono_ns() + READ_WITHIN_NS, n = 0;
	enum evspace_failure failure;
	struct events_order order = {0};
	struct evspace_client *client;
	char why[256];
	bool any = true;

	look.view = "events";
	look.backlog = 1;
	look.rate_hz = 0;
	look.budget = 0; /* once, for what is there */
	look.wait = 0;
	client = evspace_open(&look, &failure, why, sizeof(why));
	if (!client)
		fprintf(stderr, "evspace watch: no events are kept: %s\n", why);
	while (client && any && clock_mono_ns() < until && evspace_next(client, 1000) > 0) {
		events_order(&order, client);
		any = order.n > 0;
		for (size_t i = 0; i < order.n; i++) {
			if (order.items[i].event.end_ns < from_ns)
				continue;
			events_json.event(client, &order.items[i].event, 0, out);
			n++;
		}
	}
	free(order.items);
	evspace_close(client);
	return n;
}

void watch_save(struct watch *w, const char *kind, const char *text)
{
	int64_t now = evspace_wave(w->heartbeat.client)->taken_ns;
	char events[UNIT_TEXT], last[UNIT_TEXT];
	uint64_t n = 0;
	FILE *file;

	if (w->seen > SAVED_MOST || !folder_make(w))
		return;
	file = file_open(w, kind, "found.txt");
	if (file) {
		fputs(text, file);
		file_close(file);
	}
	file = file_open(w, kind, "threads.json");
	if (file) {
		heartbeat_json(&w->heartbeat, file);
		file_close(file);
	}
	file = w->stacks ? file_open(w, kind, "stacks.txt") : NULL;
	if (file) {
		watch_stacks(w, file);
		file_close(file);
	}
	file = file_open(w, kind, "events.json");
	if (file) {
		n = events_write(w, now - (int64_t)w->last_ns, file);
		file_close(file);
	}
	fprintf(stderr,
		"evspace watch: %s: kept in %s: what was found, all threads, %s event%s of the "
		"last %s\n",
		kind, w->folder, unit_count(events, n), plural(n, "s"),
		unit_duration(last, w->last_ns));
	if (w->seen == SAVED_MOST)
		fprintf(stderr,
			"evspace watch: that is %u times; from now on it is said, not kept\n",
			SAVED_MOST);
}
