/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace perturb --collector: opens a view with three collectors in a row, and looks at what they
 * record: from the end of the first to the start of the third is what the second one takes, its
 * record included (the paper's 6.1). */
#include "consumers/perturb/bracket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"
#include "tree/data/op-table.h"
#include "tree/data/span.h"

#define COMMAND	  "evspace perturb"
#define VIEW	  "node collector; node collector; node collector"
#define WITHIN_NS (2 * UINT64_C(1000000000))
#define RATE_HZ	  50
#define WAIT_MS	  200
#define NAME_MAX_ 200

/* Most waves of a host that count, and most hosts. */
#define WAVES_MOST 4096u
#define HOSTS_MOST 4096u

/* Of one host. */
struct bracket_host {
	char name[NAME_MAX_];
	uint32_t wave, comm; /* that the times are of, and its view */
	int64_t first_end_ns;
	size_t n;
	double ns[WAVES_MOST];
	UT_hash_handle hh;
};

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void collector_take(struct bracket_host **hosts, const struct evspace_event *event)
{
	struct bracket_host *host;
	char name[NAME_MAX_];
	const char *end = event->name;

	/* "/CLUSTER/NODE", of "/CLUSTER/NODE/agent/…" */
	for (int i = 0; i < 2 && end; i++)
		end = strchr(end + 1, '/');
	if (event->op_number != OP_EVSPACE_COLLECTOR || !end ||
	    (size_t)(end - event->name) >= sizeof(name))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(end - event->name), event->name);
	HASH_FIND_STR(*hosts, name, host);
	if (!host && HASH_COUNT(*hosts) == HOSTS_MOST)
		return;
	if (!host) {
		host = memory_new(1, sizeof(*host));
		snprintf(host->name, sizeof(host->name), "%s", name);
		HASH_ADD_STR(*hosts, name, host);
	}
	if (event->peer == 0) {
		host->wave = event->seq_or_tag;
		host->comm = event->comm;
		host->first_end_ns = event->end_ns;
	} else if (event->peer == 2 && host->first_end_ns && host->wave == event->seq_or_tag &&
		   host->comm == event->comm && event->start_ns >= host->first_end_ns &&
		   host->n < WAVES_MOST) {
		host->ns[host->n++] = (double)(event->start_ns - host->first_end_ns);
	}
}

static void waves_take(struct bracket_host **hosts, struct evspace_client *watch)
{
	struct evspace_event event;

	while (evspace_event(watch, &event))
		collector_take(hosts, &event);
}

/* Waves of both in turn. Returns the exit code. */
static int both_look(struct bracket_host **hosts, const struct common *common,
		     struct evspace_client *watch, struct evspace_client *look)
{
	const uint64_t within = common->duration_ns ? common->duration_ns : WITHIN_NS;
	const uint64_t begin = clock_mono_ns();
	int more = 1;

	while (more >= 0 && !options_interrupted() && clock_mono_ns() - begin < within) {
		more = evspace_next(look, WAIT_MS);
		if (evspace_next(watch, WAIT_MS) == 1)
			waves_take(hosts, watch);
	}
	return more < 0 ? options_ended(COMMAND, look) : EXIT_FINE;
}

static void print(struct bracket_host *hosts, bool json)
{
	static const char *const heads[] = {"", "a collector", "half from", "to", "waves"};
	char text[3][UNIT_TEXT];
	struct table table;

	if (!json)
		table_heads(&table, NULL, heads, 5);
	for (struct bracket_host *h = hosts; h; h = h->hh.next) {
		const double *ns = h->ns;

		if (h->n == 0)
			continue;
		qsort(h->ns, h->n, sizeof(*ns), by_size);
		if (json) {
			json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "type", "collector",
					     "host", json_text(h->name), "ns",
					     json_figure(ns[h->n / 2]), "low",
					     json_figure(ns[h->n / 4]), "high",
					     json_figure(ns[h->n - 1 - h->n / 4]), "waves",
					     json_count(h->n)),
				   stdout);
			continue;
		}
		table_cell(&table, "%s", h->name);
		table_cell(&table, "%s", unit_duration(text[0], (uint64_t)ns[h->n / 2]));
		table_cell(&table, "%s", unit_duration(text[1], (uint64_t)ns[h->n / 4]));
		table_cell(&table, "%s", unit_duration(text[2], (uint64_t)ns[h->n - 1 - h->n / 4]));
		table_cell(&table, "%zu", h->n);
	}
	if (json)
		return;
	table_print(&table, stdout);
	table_fini(&table);
}

int bracket_run(const struct common *common)
{
	static const char *const stages[] = {"/**/stage"};
	struct common of = *common, to = *common;
	struct bracket_host *hosts = NULL, *host, *next;
	struct evspace_client *watch, *look = NULL;
	int code = EXIT_FINE;

	of.look.run = SPAN_RUN;
	of.look.view = "events";
	of.look.select = stages;
	of.look.n_select = 1;
	of.look.rate_hz = RATE_HZ;
	to.look.define = VIEW;
	to.look.rate_hz = RATE_HZ;
	to.look.wait = 1; /* a tree without a program has waves, too */
	watch = options_open(COMMAND, &of, &code);
	if (watch)
		look = options_open(COMMAND, &to, &code);
	if (look) {
		options_catch_signals(look);
		code = both_look(&hosts, common, watch, look);
	}
	if (code == EXIT_FINE && hosts) {
		print(hosts, common->json);
	} else if (code == EXIT_FINE) {
		fprintf(stderr, COMMAND ": no host has recorded a wave: look for longer "
					"(--duration)\n");
		code = EXIT_BAD_NEWS;
	}
	options_close(&to, look);
	options_close(&of, watch);
	HASH_ITER(hh, hosts, host, next)
	{
		HASH_DEL(hosts, host);
		free(host);
	}
	return code;
}
