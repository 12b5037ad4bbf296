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

/* Most waves of a host that count, most hosts, and views on them. */
#define WAVES_MOST 4096u
#define HOSTS_MOST 4096u
#define PATHS_MOST 65536u

/* Of one host. */
struct bracket_host {
	char name[NAME_MAX_];
	size_t n;
	double ns[WAVES_MOST];
	UT_hash_handle hh;
};

/* Of one view there, whose stages are a thread of its agent's. */
struct bracket_path {
	char name[NAME_MAX_];
	uint32_t wave; /* that is looked at */
	int32_t seen;  /* collectors of it, from place 0 on, without another stage between them */
	int64_t first_end_ns;
	struct bracket_host *host;
	UT_hash_handle hh;
};

struct brackets {
	struct bracket_host *hosts;
	struct bracket_path *paths;
};

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The first @parts parts of a name. Returns false if they are too long. */
static bool name_take(char to[NAME_MAX_], const char *name, unsigned parts)
{
	const char *end = name;

	for (; *end && (*end != '/' || parts-- > 0); end++)
		;
	return snprintf(to, NAME_MAX_, "%.*s", (int)(end - name), name) < NAME_MAX_;
}

static struct bracket_host *host_of(struct brackets *b, const char *event)
{
	struct bracket_host *host;
	char name[NAME_MAX_];

	if (!name_take(name, event, 2))
		return NULL;
	HASH_FIND_STR(b->hosts, name, host);
	if (!host && HASH_COUNT(b->hosts) < HOSTS_MOST) {
		host = memory_new(1, sizeof(*host));
		memcpy(host->name, name, sizeof(name));
		HASH_ADD_STR(b->hosts, name, host);
	}
	return host;
}

static struct bracket_path *path_of(struct brackets *b, const char *event)
{
	struct bracket_host *host = host_of(b, event);
	struct bracket_path *path;
	char name[NAME_MAX_];

	if (!host || !name_take(name, event, 4))
		return NULL;
	HASH_FIND_STR(b->paths, name, path);
	if (!path && HASH_COUNT(b->paths) < PATHS_MOST) {
		path = memory_new(1, sizeof(*path));
		memcpy(path->name, name, sizeof(name));
		path->host = host;
		HASH_ADD_STR(b->paths, name, path);
	}
	return path;
}

/* "/CLUSTER/NODE/agent/tN/stage" was at its place in wave seq_or_tag. */
static void stage_take(struct brackets *b, const struct evspace_event *event)
{
	struct bracket_path *path = path_of(b, event->name);

	if (!path)
		return;
	if (event->peer == 0 || path->wave != event->seq_or_tag) {
		path->wave = event->seq_or_tag;
		path->seen = 0;
	}
	if (event->op_number != OP_EVSPACE_COLLECTOR || event->peer != path->seen)
		return;
	if (path->seen++ == 0)
		path->first_end_ns = event->end_ns;
	if (path->seen == 3 && event->start_ns >= path->first_end_ns && path->host->n < WAVES_MOST)
		path->host->ns[path->host->n++] = (double)(event->start_ns - path->first_end_ns);
}

static void waves_take(struct brackets *b, struct evspace_client *watch)
{
	struct evspace_event event;

	while (evspace_event(watch, &event))
		stage_take(b, &event);
}

/* Waves of both in turn. Returns the exit code. */
static int both_look(struct brackets *b, const struct common *common, struct evspace_client *watch,
		     struct evspace_client *look)
{
	const uint64_t within = common->duration_ns ? common->duration_ns : WITHIN_NS;
	const uint64_t begin = clock_mono_ns();
	int more = 1;

	while (more >= 0 && !options_interrupted() && clock_mono_ns() - begin < within) {
		more = evspace_next(look, WAIT_MS);
		if (evspace_next(watch, WAIT_MS) == 1)
			waves_take(b, watch);
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
	struct bracket_path *path, *next_path;
	struct bracket_host *host, *next;
	struct brackets b = {NULL, NULL};
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
		code = both_look(&b, common, watch, look);
	}
	if (code == EXIT_FINE && b.hosts) {
		print(b.hosts, common->json);
	} else if (code == EXIT_FINE) {
		fprintf(stderr, COMMAND ": no host has recorded a wave: look for longer "
					"(--duration)\n");
		code = EXIT_BAD_NEWS;
	}
	options_close(&to, look);
	options_close(&of, watch);
	HASH_ITER(hh, b.paths, path, next_path)
	{
		HASH_DEL(b.paths, path);
		free(path);
	}
	HASH_ITER(hh, b.hosts, host, next)
	{
		HASH_DEL(b.hosts, host);
		free(host);
	}
	return code;
}
