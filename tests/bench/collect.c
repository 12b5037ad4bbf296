/* SPDX-License-Identifier: BSD-3-Clause */
/* What collecting costs, case by case: each against a limit that is measured in the same run. */
#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/collect-case.h"

static const struct collect_case cases[] = {
	{"event", 1.2, collect_event_case,
	 "an event (times, state line, counts, store) : two bare clock reads"},
	{"count", 0.25, collect_mode_case, "an event whose class is only counted : one traced"},
	{"time", 0, collect_mode_case, "one whose class is timed : one traced"},
	{"sample", 0, collect_mode_case, "one whose class is sampled : one traced"},
	{"1/1024", 0, collect_mode_case,
	 "one whose class records one in 1024 at random : one traced"},
	{"threads", 1.15, collect_threads_case, "an event while another thread has some : alone"},
	{"read", 1.02, collect_read_case,
	 "an event while another core reads every ring at 1 kHz : alone"},
	{"switch", 1, collect_switch_case,
	 "until the program sees a mode that another process has set : 5 us"},
	{"user", 1, collect_user_case, "a call of evspace.h when nobody is preloaded : 2 ns"},
	{"hooks", 1, collect_hooks_case,
	 "a hook of a function that is off, while 48 others are on : 2 ns"},
	{"elements", 0, collect_elements_case,
	 "an event on each of so many elements in turn : bare stores to as many places"},
	{"strides", 0, collect_strides_case,
	 "a tuple on each of so many rings in turn : the same, rings a power of two apart"},
	{"start", 1, collect_start_case,
	 "making a segment with 10,000 elements : 50 ms (and what memory they take : as computed)"},
	{"latest", 0, collect_latest_case,
	 "reading the newest tuple of each of 1,948 rings : copying it without a check"},
	{"mpi", 1.3, collect_solo_case,
	 "added to an MPI_Barrier of one process : two bare clock reads"},
	{"off", 1, collect_off_case,
	 "added by a class that is off to a preload that only forwards : 0.5 ns"},
	{"poll", 1, collect_solo_case, "added to an MPI_Test in vain : 2 ns"},
	{"receive", 1, collect_solo_case, "added to MPI_Waitall by each receive : 12 ns"},
	{"lttng", 1.0 / 6, collect_lttng_case,
	 "added to an MPI_Barrier : by LTTng-UST in overwrite mode"},
	{"pingpong", 1.06, collect_duo_case, "8 bytes to another rank and back : without"},
	{"allreduce", 1.05, collect_duo_case, "8 bytes reduced over two ranks : without"},
	{"pvm", 1.06, collect_pvm_case, "8 bytes to another PVM task and back, directly : without"},
	{"windtunnel", 1.005, collect_tunnel_case,
	 "a step of the wind tunnel, small, medium (1.01), large (1.01) : without"},
	{"hpcc", 1.01, collect_hpcc_case,
	 "hpcc on 4 ranks, an update of its MPIRandomAccess (1.05); alone: a rank a core : "
	 "without"},
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

struct collect_bench collect_bench;
static bool chosen[CASES], any_chosen;

/* ---- output ---- */

size_t collect_pairs(void)
{
	return collect_bench.quick ? PAIRS_QUICK : PAIRS_FULL;
}

static void table_row(const struct collect_case *c, const char *name, const struct pairs *p)
{
	static bool headed;

	if (!headed)
		printf("%-18s %12s %12s %8s %8s\n", "case", "ns", "limit ns", "ratio", "at most");
	headed = true;
	printf("%-18s %12.2f %12.2f %8.3f", name, p->ns, p->limit_ns, p->ratio);
	if (c->at_most > 0)
		printf(" %8.3f%s", c->at_most, p->ratio <= c->at_most ? "" : "  above");
	if (p->high > 0)
		printf("  95 %%: %.4f to %.4f", p->low, p->high);
	printf("\n");
}

void collect_report(const struct collect_case *c, const char *part, struct pairs p)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", c->name, part ? "-" : "", part ? part : "");
	if (!collect_bench.json) {
		table_row(c, name, &p);
	} else {
		printf("{\"bench\":\"collect\",\"case\":\"%s\",\"ns\":%.3f,\"limit_ns\":%.3f,"
		       "\"ratio\":%.4f",
		       name, p.ns, p.limit_ns, p.ratio);
		if (p.high > 0)
			printf(",\"low\":%.5f,\"high\":%.5f", p.low, p.high);
		if (c->at_most > 0)
			printf(",\"at_most\":%.4f", c->at_most);
		printf("}\n");
	}
	fflush(stdout);
}

void collect_report_bytes(const struct collect_case *c, const char *part, double bytes,
			  double expected)
{
	char name[64];

	snprintf(name, sizeof(name), "%s-%s", c->name, part);
	printf(collect_bench.json ? "{\"bench\":\"collect\",\"case\":\"%s\",\"bytes\":%.0f,"
				    "\"expected_bytes\":%.0f,\"ratio\":%.4f}\n"
				  : "%-18s %12.0f %12.0f %8.3f  bytes\n",
	       name, bytes, expected, bytes / expected);
	fflush(stdout);
}

/* Say on stderr what else is to be known of @c. */
static __attribute__((format(printf, 2, 3))) void collect_note(const struct collect_case *c,
							       const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", c->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* ---- what the cases share ---- */

void collect_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

void collect_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- options ---- */

static void help(void)
{
	printf("usage: collect [--json] [--quick] [--case NAME]...\n"
	       "What collecting costs. A line a case: nanoseconds, those of a limit that was "
	       "measured "
	       "in turn\n"
	       "with them, the ratio of the two, and what it shall be at most. Pairs take turns; "
	       "medians.\n"
	       "A busy machine disturbs: what counts is a run on an idle one.\n\n"
	       "  --json       one JSON object a line: case, ns, limit_ns, ratio (low, high: 95 %% "
	       "interval)\n"
	       "  --quick      fewer pairs and shorter runs: a first look, not a result\n"
	       "  --case NAME  only this one; can be given again\n"
	       "  --help       this text\n\n"
	       "Cases (what : against what; at most):\n");
	for (size_t i = 0; i < CASES; i++) {
		printf("  %-11s %s", cases[i].name, cases[i].about);
		if (cases[i].at_most > 0)
			printf("; %.3g", cases[i].at_most);
		printf("\n");
	}
}

static bool case_choose(const char *name)
{
	for (size_t i = 0; i < CASES; i++) {
		if (strcmp(cases[i].name, name) == 0)
			return any_chosen = chosen[i] = true;
	}
	fprintf(stderr, "collect: there is no case '%s'; try --help\n", name);
	return false;
}

static void options_read(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"quick", no_argument, NULL, 'q'},
		{"case", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'j') {
			collect_bench.json = true;
		} else if (c == 'q') {
			collect_bench.quick = true;
		} else if (c == 'h') {
			help();
			exit(0);
		} else if (c != 'c' || !case_choose(optarg)) {
			exit(2);
		}
	}
	if (optind == argc)
		return;
	fprintf(stderr, "collect: '%s' is not wanted here; try --help\n", argv[optind]);
	exit(2);
}

/* ---- the run ---- */

static int folders_make(struct error *e)
{
	struct collect_bench *b = &collect_bench;

	snprintf(b->base, sizeof(b->base), "/dev/shm/evspace-bench.XXXXXX");
	if (!mkdtemp(b->base)) {
		errorf(e, "cannot make the folder %s: %s", b->base, strerror(errno));
		b->base[0] = '\0';
		return -1;
	}
	snprintf(b->space, sizeof(b->space), "%.60s/space", b->base);
	if (mkdir(b->space, 0700) < 0)
		return errorf(e, "cannot make the folder %s: %s", b->space, strerror(errno));
	setenv("EVSPACE_DIR", b->space, 1);
	bench_mpi();
	return 0;
}

/* A case without a result is no reason to miss the others; being interrupted is. */
static int cases_run(void)
{
	int missing = 0;

	for (size_t i = 0; i < CASES; i++) {
		struct error e = {""};

		if (any_chosen && !chosen[i])
			continue;
		if (cases[i].run(&cases[i], &e) < 0) {
			collect_note(&cases[i], "no result: %s", e.text);
			missing = 1;
		}
		if (bench_wait(1e-4, &e) < 0 && errno == EINTR)
			return 1;
	}
	return missing;
}

int main(int argc, char **argv)
{
	struct error e = {""};
	int result = 1;

	options_read(argc, argv);
	bench_begin();
	if (folders_make(&e) < 0)
		fprintf(stderr, "collect: %s\n", e.text);
	else
		result = cases_run();
	if (collect_bench.base[0])
		collect_remove(collect_bench.base);
	return result;
}
