/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace runs: lists the runs whose elements this host holds. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "consumers/command.h"
#include "consumers/unit.h"
#include "node-agent/store.h"
#include "tree/clock.h"
#include "tree/track.h"

#define RUNS_SCHEMA 1

static const char runs_help[] =
	"usage: evspace runs [--json]\n"
	"\n"
	"List the runs of yours whose trace elements this host holds, oldest first: those under\n"
	"way, and those that are over and not yet purged.\n"
	"\n"
	"  RUN        the name, for --run and evspace purge\n"
	"  STATE      running; finished (all processes came through MPI_Finalize); died (not all\n"
	"             did); mirrored (of processes elsewhere, fetched to here); refused (no "
	"process\n"
	"             could be collected: the reasons are below)\n"
	"  PROCESSES  collected here, of how many in the program\n"
	"  ALIVE      of these, still running\n"
	"  EVENTS     recorded since the program began, read or not\n"
	"  SIZE       of shared memory\n"
	"  AGE        since the first process began\n"
	"\n"
	"The run evspace, listed last, is no program's: agents and consumers that are looked at\n"
	"themselves (evspace view rates --of evspace).\n"
	"\n"
	"  --json     one object a line, with \"schema\": 1\n"
	"  --help     this text\n"
	"\n"
	"examples:\n"
	"  evspace runs\n"
	"  evspace runs --json | jq -r 'select(.state == \"died\").run'\n";

static const char *state_of(const struct store_run *run)
{
	if (run->alive)
		return "running";
	if (!run->processes)
		return run->mirrors ? "mirrored" : "refused";
	return run->finished == run->processes ? "finished" : "died";
}

static uint64_t age_of(const struct store_run *run)
{
	int64_t now = clock_real_ns();

	return run->born_real_ns && now > run->born_real_ns ? (uint64_t)(now - run->born_real_ns)
							    : 0;
}

static void print_refusals(const struct store *store, const char *run)
{
	const struct store_refusal *r;

	TAILQ_FOREACH (r, &store->refusals, link)
		if (!strcmp(r->run, run))
			printf("  %s\n", r->text);
}

/* As wide as the longest name, within reason. */
static int name_width(const struct store_run *runs, size_t n)
{
	size_t width = strlen("RUN");

	for (size_t i = 0; i < n; i++)
		if (strlen(runs[i].name) > width)
			width = strlen(runs[i].name);
	return (int)width;
}

static void print_table(const struct store *store, const struct store_run *runs, size_t n)
{
	char events[UNIT_TEXT], size[UNIT_TEXT], age[UNIT_TEXT], processes[UNIT_TEXT];
	int width = name_width(runs, n);

	printf("%-*s  %-8s  %9s  %5s  %15s  %8s  %8s  PROGRAM\n", width, "RUN", "STATE",
	       "PROCESSES", "ALIVE", "EVENTS", "SIZE", "AGE");
	for (size_t i = 0; i < n; i++) {
		const struct store_run *r = &runs[i];

		/* nobody knows how many tasks of PVM there will be */
		if (r->world_size)
			snprintf(processes, sizeof(processes), "%u/%d", r->processes,
				 r->world_size);
		else
			snprintf(processes, sizeof(processes), "%u", r->processes);
		printf("%-*s  %-8s  %9s  %5u  %15s  %8s  %8s  %s\n", width, r->name, state_of(r),
		       processes, r->alive, unit_count(events, r->events),
		       unit_bytes(size, r->bytes), unit_duration(age, age_of(r)), r->program);
		print_refusals(store, r->name);
	}
}

static json_t *json_refusals(const struct store *store, const char *run)
{
	const struct store_refusal *r;
	json_t *array = json_array();

	TAILQ_FOREACH (r, &store->refusals, link)
		if (!strcmp(r->run, run))
			json_array_append_new(array, json_string(r->text));
	return array;
}

static void print_json(const struct store *store, const struct store_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct store_run *r = &runs[i];
		json_t *object =
			json_pack("{s:i,s:s,s:s,s:s,s:i,s:i,s:i,s:i}", "schema", RUNS_SCHEMA, "run",
				  r->name, "state", state_of(r), "program", r->program, "processes",
				  (int)r->processes, "alive", (int)r->alive, "finished",
				  (int)r->finished, "world", (int)r->world_size);

		json_object_update_new(
			object,
			json_pack("{s:I,s:i,s:I,s:I,s:I,s:I,s:o,s:b}", "events",
				  (json_int_t)r->events, "mirrors", (int)r->mirrors, "overflowed",
				  (json_int_t)r->overflowed, "bytes", (json_int_t)r->bytes,
				  "age_ns", (json_int_t)age_of(r), "idle_ns",
				  (json_int_t)r->idle_ns, "refused", json_refusals(store, r->name),
				  "monitors", strcmp(r->name, TRACK_RUN) == 0));
		json_dumpf(object, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(object);
	}
}

/* Returns 1 for JSON, 0 for a table, -1 for neither. */
static int runs_options_parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c, json = 0;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			json = 1;
			break;
		case 'h':
			fputs(runs_help, stdout);
			exit(EXIT_FINE);
		default:
			fputs("try 'evspace runs --help'\n", stderr);
			return -1;
		}
	}
	if (optind == argc)
		return json;
	fprintf(stderr, "evspace runs: '%s' is not wanted here; try --help\n", argv[optind]);
	return -1;
}

int runs_main(int argc, char **argv)
{
	int json = runs_options_parse(argc, argv);
	struct store_run *runs;
	char base[200];
	struct error e = {""};
	struct store store;
	size_t n;

	if (json < 0)
		return EXIT_USAGE;
	if (!store_base(base, sizeof(base), &e) || store_init(&store, base, false, &e)) {
		fprintf(stderr, "evspace runs: %s\n", e.text);
		return EXIT_BAD_NEWS;
	}
	n = store_runs(&store, &runs);
	if (json)
		print_json(&store, runs, n);
	else if (n)
		print_table(&store, runs, n);
	else
		fprintf(stderr, "no runs in %s; start one: evspace run -- mpirun -np 8 ./app\n",
			base);
	free(runs);
	store_fini(&store);
	return EXIT_FINE;
}
