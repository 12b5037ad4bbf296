/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace runs: lists the runs whose elements this host, or all hosts, hold. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/cli/command.h"
#include "consumers/cli/options.h"
#include "pathmap/base/quantity.h"
#include "consumers/cli/words.h"
#include "node-agent/store/store-run.h"
#include "node-agent/store/store.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"
#include "tree/data/span.h"

static const char runs_help[] =
	"usage: evspace runs [options]\n"
	"\n"
	"List the runs of yours whose trace elements this host holds, newest first: those\n"
	"under way, and those that are over and not yet purged. With --connect: those of\n"
	"all hosts of the entry agent's map, summed up; exit code 1 if one of them does\n"
	"not answer.\n"
	"\n"
	"  RUN        the name, for --run and evspace purge\n"
	"  STATE      running; finished (all processes came through MPI_Finalize); died\n"
	"             (not all did); mirrored (of processes elsewhere, fetched to here);\n"
	"             refused (no process could be collected: the reasons are below);\n"
	"             elements (of programs alone: evspace element list)\n"
	"  PROCESSES  collected here, of how many in the program\n"
	"  ALIVE      of these, still running\n"
	"  EVENTS     recorded since the program began, read or not\n"
	"  SIZE       of shared memory\n"
	"  AGE        since the first process began\n"
	"\n"
	"The run evspace, listed last, is not a program: it has agents and consumers that\n"
	"are looked at themselves (evspace view rates --of evspace).\n"
	"\n"
	"examples:\n"
	"  evspace runs\n"
	"  evspace runs --connect front:7440\n"
	"  evspace runs --json | jq -r 'select(.state == \"died\").run'\n";

struct runs {
	struct common common;
	struct store store; /* of this host, if `here` */
	bool here;	    /* look at this host */
	bool folder;	    /* asked only for the folder */
	struct store_run *list;
	size_t n;
	bool partial; /* a host has not answered */
};

static const char *state_of(const struct store_run *run)
{
	if (run->alive)
		return "running";
	if (!run->processes)
		return run->mirrors ? "mirrored" : run->elements ? "elements" : "refused";
	return run->finished == run->processes ? "finished" : "died";
}

static uint64_t age_of(const struct store_run *run)
{
	int64_t now = clock_real_ns();

	return run->born_real_ns && now > run->born_real_ns ? (uint64_t)(now - run->born_real_ns)
							    : 0;
}

static unsigned refusals_count(const struct runs *all, const char *run)
{
	const struct store_refusal *r;
	unsigned n = 0;

	if (!all->here)
		return 0;
	TAILQ_FOREACH (r, &all->store.refusals, link)
		n += strcmp(r->run, run) == 0;
	return n;
}

static void refusals_add(const struct runs *all, const char *run, struct table *t)
{
	const struct store_refusal *r;

	if (!all->here)
		return;
	TAILQ_FOREACH (r, &all->store.refusals, link)
		if (!strcmp(r->run, run))
			table_line(t, "  %s", r->text);
}

/* name and state are always shown */
static const struct table_column run_columns[] = {
	{.least = 12}, {.pad = -8},	      {.pad = 9, .drop = 4}, {.pad = 5, .drop = 1},
	{.pad = 15},   {.pad = 8, .drop = 3}, {.pad = 8, .drop = 2}, {.least = 7, .drop = 5},
};

static void run_add(struct table *t, const struct store_run *r, unsigned refused)
{
	char events[UNIT_TEXT], size[UNIT_TEXT], age[UNIT_TEXT];

	table_cell(t, "%s", r->name);
	table_cell(t, "%s", state_of(r));
	/* the final number of PVM tasks is unknown */
	if (r->world_size)
		table_cell(t, "%u/%d", r->processes, r->world_size);
	else if (!r->processes && refused)
		table_cell(t, "0/%u", refused);
	else
		table_cell(t, "%u", r->processes);
	table_cell(t, "%u", r->alive);
	table_cell(t, "%s", unit_count(events, r->events));
	table_cell(t, "%s", unit_bytes(size, r->bytes));
	table_cell(t, "%s", r->born_real_ns ? unit_duration(age, age_of(r)) : "-");
	table_cell(t, "%s", r->program);
}

static void print_table(const struct runs *all)
{
	static const char *const heads[] = {"RUN",    "STATE", "PROCESSES", "ALIVE",
					    "EVENTS", "SIZE",  "AGE",	    "PROGRAM"};
	struct table t;

	table_heads(&t, run_columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; i < all->n; i++) {
		run_add(&t, &all->list[i], refusals_count(all, all->list[i].name));
		refusals_add(all, all->list[i].name, &t);
	}
	table_print(&t, stdout);
	table_fini(&t);
}

static json_t *json_refusals(const struct runs *all, const char *run)
{
	const struct store_refusal *r;
	json_t *array = all->here ? json_array() : json_null();

	if (!all->here)
		return array;
	TAILQ_FOREACH (r, &all->store.refusals, link)
		if (!strcmp(r->run, run))
			json_array_append_new(array, json_text(r->text));
	return array;
}

static void print_json(const struct runs *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct store_run *r = &all->list[i];
		json_t *object = json_pack(
			"{s:o,s:s,s:o,s:i,s:i,s:i,s:o}", "run", json_text(r->name), "state",
			state_of(r), "program", json_text(r->program), "processes",
			(int)r->processes, "alive", (int)r->alive, "finished", (int)r->finished,
			"world", r->world_size ? json_integer(r->world_size) : json_null());

		json_object_update_new(
			object,
			json_pack("{s:I,s:i,s:i,s:I,s:I,s:o,s:I,s:o,s:b}", "events",
				  (json_int_t)r->events, "mirrors", (int)r->mirrors, "elements",
				  (int)r->elements, "overflowed", (json_int_t)r->overflowed,
				  "bytes", (json_int_t)r->bytes, "age_ns",
				  r->born_real_ns ? json_count(age_of(r)) : json_null(), "idle_ns",
				  (json_int_t)r->idle_ns, "refused", json_refusals(all, r->name),
				  "monitors", strcmp(r->name, SPAN_RUN) == 0));
		json_print(object, stdout);
	}
}

/* The newest first, and EventSpace's own last. */
static void runs_order(struct runs *r)
{
	size_t n = r->n;

	store_runs_sort(r->list, n);
	n -= n > 0 && strcmp(r->list[n - 1].name, SPAN_RUN) == 0;
	for (size_t i = 0; i < n / 2; i++) {
		struct store_run run = r->list[i];

		r->list[i] = r->list[n - 1 - i];
		r->list[n - 1 - i] = run;
	}
}

static void say_none(const struct runs *r)
{
	const char *connect = r->common.look.connect;

	if (r->here)
		fprintf(stderr, "no runs in %s; start one: evspace run -- mpirun -np 2 ./app\n",
			r->store.base);
	else if (strncmp(connect, "unix:", strlen("unix:")) == 0)
		fputs("no runs on the hosts of its map; start one: evspace run -- mpirun -np 2 "
		      "./app\n",
		      stderr);
	else
		fputs("no runs on the hosts of its map that this certificate may see (all, unless "
		      "it is limited to some runs or users)\n",
		      stderr);
}

static void print_runs(struct runs *r)
{
	runs_order(r);
	if (r->common.json)
		print_json(r);
	else if (r->n)
		print_table(r);
	else
		say_none(r);
}

/* ---- this host ---- */

static int runs_here(struct runs *r)
{
	char base[sizeof(r->store.base)];
	struct error e = {""};

	if (!folder_base_path(base, sizeof(base), &e) || store_init(&r->store, base, false, &e)) {
		fprintf(stderr, "evspace runs: %s\n", e.text);
		return EXIT_BAD_NEWS;
	}
	r->here = true;
	r->n = store_runs(&r->store, &r->list);
	print_runs(r);
	store_fini(&r->store);
	return EXIT_FINE;
}

/* ---- all hosts of a map ---- */

static struct store_run *runs_find(struct runs *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->list[i].name, name) == 0)
			return &r->list[i];
	}
	r->list = memory_room(r->list, r->n, sizeof(*r->list));
	r->list[r->n] = (struct store_run){.idle_ns = UINT64_MAX};
	snprintf(r->list[r->n].name, sizeof(r->list[r->n].name), "%s", name);
	return &r->list[r->n++];
}

static void runs_add(struct runs *r, Evspace__Run *m)
{
	struct store_run *sum;

	sum = runs_find(r, m->name);
	if (!sum->program[0])
		snprintf(sum->program, sizeof(sum->program), "%s", m->program);
	sum->processes += m->processes;
	sum->alive += m->alive;
	sum->finished += m->finished;
	sum->world_size = m->world > sum->world_size ? m->world : sum->world_size;
	sum->bytes += m->bytes;
	sum->events += m->events;
	sum->overflowed += m->overflowed;
	if (!sum->born_real_ns || m->born_ns < sum->born_real_ns)
		sum->born_real_ns = m->born_ns;
	sum->idle_ns = m->idle_ns < sum->idle_ns ? m->idle_ns : sum->idle_ns;
}

static void runs_miss(struct runs *r, Evspace__Status *status)
{
	r->partial = true;
	fprintf(stderr, "evspace runs: %s is not there: %s\n", status->node, status->text);
	if (r->common.json)
		json_print(json_pack("{s:s,s:o,s:o}", "type", "missing", "node",
				     json_text(status->node), "why", json_text(status->text)),
			   stdout);
}

/* Add an agent's runs, or note that it has not answered. */
static void runs_add_all(struct runs *r, Evspace__Status *status)
{
	if (status->why)
		runs_miss(r, status);
	for (size_t i = 0; i < status->n_runs; i++)
		runs_add(r, status->runs[i]);
}

static int runs_there(struct runs *r)
{
	Evspace__Frame *reply;
	Evspace__StatusAsk all = EVSPACE__STATUS_ASK__INIT;
	int code;

	all.all = true;
	reply = options_ask("evspace runs", &r->common.look,
			    &WIRE_FRAME(STATUS_ASK, status_ask, &all), EVSPACE__FRAME__KIND_STATUS,
			    &code);
	if (!reply)
		return code;
	runs_add_all(r, reply->status);
	for (size_t i = 0; i < reply->status->n_below; i++)
		runs_add_all(r, reply->status->below[i]);
	evspace__frame__free_unpacked(reply, NULL);
	print_runs(r);
	return r->partial ? EXIT_BAD_NEWS : EXIT_FINE;
}

/* ---- for scripts ---- */

static int runs_folder(bool json)
{
	struct error e;
	char base[sizeof(((struct store *)0)->base)];

	if (!folder_base_path(base, sizeof(base), &e)) {
		fprintf(stderr, "evspace runs: %s\n", e.text);
		return EXIT_BAD_NEWS;
	}
	if (json)
		json_print(json_pack("{s:o}", "folder", json_text(base)), stdout);
	else
		puts(base);
	return EXIT_FINE;
}

static const struct option_row runs_rows[] = {
	{"folder", .at = offsetof(struct runs, folder),
	 .help = "print the folder that they are in, and no more"},
	{0},
};

static const struct usage runs_usage = {
	.help = runs_help,
	.own = runs_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON,
	.live = "it asks agents; evspace archive info DIR tells of one"};

int runs_main(int argc, char **argv)
{
	struct runs r = {.n = 0};
	int code = options_parse(argc, argv, &runs_usage, &r, &r.common);

	if (code >= 0)
		return code;
	if (r.folder)
		return runs_folder(r.common.json);
	code = r.common.look.connect ? runs_there(&r) : runs_here(&r);
	free(r.list);
	return code;
}
