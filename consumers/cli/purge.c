/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace purge: removes runs that have ended, and frees their shared memory. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/cli/command.h"
#include "consumers/cli/options.h"
#include "pathmap/base/quantity.h"
#include "node-agent/store/store-run.h"
#include "node-agent/store/store.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* Most runs listed by name, and most runs removed between two scans of the store. */
#define NAMES_SHOWN 10u
#define AT_ONCE	    256u

#define TELL_NS 1000000000u

static const char purge_help[] =
	"usage: evspace purge [options] RUN...\n"
	"       evspace purge [options] --all\n"
	"\n"
	"Remove the trace elements of runs that are over, and say how much shared memory\n"
	"that gave back. evspace runs lists the runs.\n";

/* after its options */
static const char purge_more[] =
	"Exit code 1 when a run that was named does not exist or is living.\n"
	"\n"
	"examples:\n"
	"  evspace purge app-142305\n"
	"  evspace purge --all --older-than 1h\n";

struct purge {
	struct common common; /* its words: names of runs */
	bool all, force;
	uint64_t older_than_ns;
	struct store store;
	struct store_run *runs;
	size_t n_runs;
	const char **go; /* names of those to remove */
	size_t n_go;
	uint64_t freed;
	json_t *removed, *kept;
	bool bad_news;
};

static const struct option_row purge_rows[] = {
	{"all", .at = offsetof(struct purge, all), .help = "all runs that are over"},
	{"older-than", "TIME", OPTION_TIME, .at = offsetof(struct purge, older_than_ns),
	 .help = "only what was seen ended at least so long ago: 90s, 1h, 2d"},
	{"force", .at = offsetof(struct purge, force),
	 .help = "also runs with live processes, which go on undisturbed but can no longer be "
		 "looked at"},
	{0},
};

static const struct usage purge_usage = {
	.help = purge_help,
	.after = purge_more,
	.own = purge_rows,
	.takes = OPTIONS_JSON,
	.live = "it removes what a host holds of runs; archives are folders",
	.words_max = INT_MAX};

/* Either all runs, or some. */
static int purge_check(const struct purge *p)
{
	if ((p->common.n_words > 0) != p->all)
		return 0;
	fputs(p->all ? "evspace purge: --all or the names of runs, not both\n"
		     : "evspace purge: which run? name it (evspace runs lists them), or say "
		       "--all\n",
	      stderr);
	return -1;
}

static const struct store_run *find_run(const struct purge *p, const char *name)
{
	for (size_t i = 0; i < p->n_runs; i++)
		if (!strcmp(p->runs[i].name, name))
			return &p->runs[i];
	return NULL;
}

/* NAMES_SHOWN of @n names were printed. */
static void print_more(size_t n, FILE *out)
{
	char more[UNIT_TEXT];

	if (n > NAMES_SHOWN)
		fprintf(out, " and %s more", unit_count(more, n - NAMES_SHOWN));
}

/* Note that @run stays; frees @why. */
static void keep_run(struct purge *p, const char *run, char *why)
{
	json_array_append_new(p->kept, json_pack("{s:o,s:s}", "run", json_text(run), "why", why));
	if (!p->common.json && json_array_size(p->kept) <= NAMES_SHOWN)
		fprintf(stderr, "evspace purge: %s stays: %s\n", run, why);
	free(why);
}

/* Time since one of its elements was used; 0 while somebody has one open. */
static uint64_t elements_idle_ns(const struct purge *p, const struct store_run *run)
{
	const struct store_element *m;
	uint64_t least = UINT64_MAX;

	TAILQ_FOREACH (m, &p->store.elements, link) {
		uint64_t age =
			strcmp(m->run, run->name) == 0 ? store_element_age(&p->store, m) : least;

		if (age < least)
			least = age;
	}
	return least;
}

static void purge_run(struct purge *p, const struct store_run *run, bool named)
{
	uint64_t idle_ns = run->elements && !p->force ? elements_idle_ns(p, run) : UINT64_MAX;
	char age[UNIT_TEXT];

	if (run->alive && !p->force) {
		keep_run(p, run->name,
			 memory_format("%u of its processes %s living; end the program first, or "
				       "--force",
				       run->alive, run->alive == 1 ? "is" : "are"));
		p->bad_news |= named;
	} else if (run->mirrors_alive && !p->force) {
		keep_run(
			p, run->name,
			memory_copy("it has mirrors of processes that live on other nodes; end the "
				    "program first, or --force"));
		p->bad_news |= named;
	} else if (run->made && !p->force) {
		keep_run(
			p, run->name,
			memory_copy("the map has an agent keep elements of it; apply a map without "
				    "them, or --force"));
		p->bad_news |= named;
	} else if (idle_ns == 0) {
		keep_run(p, run->name,
			 memory_copy("a program has one of its elements open (evspace element "
				     "list); end that first, or --force"));
		p->bad_news |= named;
	} else if (idle_ns < p->older_than_ns) {
		keep_run(p, run->name,
			 memory_format("its elements were used %s ago",
				       unit_duration(age, idle_ns)));
	} else if ((run->processes || run->mirrors) && !run->alive &&
		   run->idle_ns < p->older_than_ns && !p->force) {
		keep_run(
			p, run->name,
			memory_format("first seen ended %s ago", unit_duration(age, run->idle_ns)));
	} else {
		p->go[p->n_go++] = run->name;
		json_array_append_new(p->removed, json_text(run->name));
	}
}

/* No run has this name: say which there are. */
static void unknown_run(struct purge *p, const char *name)
{
	p->bad_news = true;
	fprintf(stderr, "evspace purge: there is no run %s in %s", name, p->store.base);
	for (size_t i = 0; i < p->n_runs && i < NAMES_SHOWN; i++)
		fprintf(stderr, "%s%s", i ? ", " : "; there are ", p->runs[i].name);
	print_more(p->n_runs, stderr);
	fputs(p->n_runs ? "\n" : "; there are no runs\n", stderr);
}

/* Remove what was found; with many, report progress every second. */
static void purge_go(struct purge *p)
{
	uint64_t told_ns = clock_mono_ns();
	size_t n;

	for (size_t i = 0; i < p->n_go; i += n) {
		n = p->n_go - i < AT_ONCE ? p->n_go - i : AT_ONCE;
		p->freed += store_purge_runs(&p->store, p->go + i, n, p->older_than_ns, p->force);
		if (clock_mono_ns() - told_ns < TELL_NS)
			continue;
		told_ns = clock_mono_ns();
		fprintf(stderr, "evspace purge: %zu of %zu run%s\n", i + n, p->n_go,
			plural(p->n_go, "s"));
	}
	p->n_go = 0;
}

static void purge_all(struct purge *p)
{
	bool living = false;

	for (size_t i = 0; i < p->n_runs; i++) {
		purge_run(p, &p->runs[i], false);
		living |= p->runs[i].alive != 0;
	}
	purge_go(p);
	/* empty folders and incomplete segments belong to no run in the list */
	if (!living)
		p->freed += store_purge(&p->store, NULL, p->older_than_ns, p->force);
}

static void purge_print(const struct purge *p)
{
	char size[UNIT_TEXT];
	size_t i, n = json_array_size(p->removed);

	if (p->common.json) {
		json_print(json_pack("{s:I,s:O,s:O}", "freed_bytes", (json_int_t)p->freed,
				     "removed", p->removed, "kept", p->kept),
			   stdout);
		return;
	}
	if (p->bad_news && !n)
		return;
	printf("freed %s", unit_bytes(size, p->freed));
	for (i = 0; i < n && i < NAMES_SHOWN; i++)
		printf("%s%s", i ? ", " : ": ", json_string_value(json_array_get(p->removed, i)));
	print_more(n, stdout);
	putchar('\n');
}

int purge_main(int argc, char **argv)
{
	struct purge p = {.all = false};
	const struct store_run *run;
	struct error e = {""};
	char base[200];
	int code = options_parse(argc, argv, &purge_usage, &p, &p.common);

	if (code >= 0)
		return code;
	if (purge_check(&p) < 0)
		return EXIT_USAGE;
	if (!folder_base_path(base, sizeof(base), &e) || store_init(&p.store, base, false, &e)) {
		fprintf(stderr, "evspace purge: %s\n", e.text);
		return EXIT_BAD_NEWS;
	}
	p.n_runs = store_runs(&p.store, &p.runs);
	p.go = memory_new(p.n_runs + (size_t)p.common.n_words + 1, sizeof(*p.go));
	p.removed = json_array();
	p.kept = json_array();
	for (char **name = p.common.words; *name; name++) {
		run = find_run(&p, *name);
		if (run)
			purge_run(&p, run, true);
		else
			unknown_run(&p, *name);
	}
	if (p.all)
		purge_all(&p);
	purge_go(&p);
	if (!p.common.json && json_array_size(p.kept) > NAMES_SHOWN)
		fprintf(stderr, "evspace purge: %zu more runs stay\n",
			json_array_size(p.kept) - NAMES_SHOWN);
	purge_print(&p);
	json_decref(p.removed);
	json_decref(p.kept);
	free(p.go);
	free(p.runs);
	store_fini(&p.store);
	return p.bad_news ? EXIT_BAD_NEWS : EXIT_FINE;
}
