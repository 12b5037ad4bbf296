/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts with clocks of their own (tests/preload/skew.c): their events say when they were. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/bed.h"
#include "tests/bench/colop.h"
#include "tests/stamps.h"

#define STAMPS_HZ 50.0

/* A child that says nothing at first: its first answer is late. */
#define STOPPED_S 0.8

/* The hosts of ranks 0 to 3; a0 has the entry's clock. */
static const char *const hosts[STAMPS_RANKS] = {"a0", "a1", "b0", "b1"};

struct clock_bed {
	struct bed bed;
	pid_t ranks[STAMPS_RANKS];
	char skew[160], preload[4096]; /* "SKEW=…", "LD_PRELOAD=…" of the host that starts */
};

/* Write the clock of @node, from T on, for @seconds, if it is not this machine's. */
static int skew_write(const struct clock_bed *b, const char *node, double t, double seconds,
		      struct error *e)
{
	double slew = t + seconds * 1e9 / 3, slewed = slew + 2e9, step = t + seconds * 1e9 / 1.5;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/skew.%s", b->bed.dir, node);
	file = fopen(path, "we");
	if (!file)
		return errorf(e, "cannot write %s: %s", path, strerror(errno));
	if (strcmp(node, "a1") == 0)
		fprintf(file, "0 3000000000 200");
	else if (strcmp(node, "gb") == 0)
		fprintf(file, "0 500000000 -50");
	else
		/* 500 ppm more for two seconds; then a step */
		fprintf(file,
			"0 %.0f -200, %.0f -2000000000 300, %.0f -1999400000 -200, "
			"%.0f -1700000000 -200",
			-2e9 + slew * 200e-6, slew, slewed, step);
	fprintf(file, "%256s", "");
	return fclose(file) == 0 ? 0 : errorf(e, "cannot write %s: %s", path, strerror(errno));
}

/* The command that runs something on @node, ended by NULL. */
static void node_command(struct clock_bed *b, const char *node, const char *by[4])
{
	char path[128], library[4000];

	by[0] = NULL;
	snprintf(path, sizeof(path), "%s/skew.%s", b->bed.dir, node);
	if (access(path, F_OK) < 0)
		return;
	snprintf(b->skew, sizeof(b->skew), "SKEW=%s", path);
	snprintf(b->preload, sizeof(b->preload), "LD_PRELOAD=%s",
		 bench_built("tests/preload/.libs/skew.so", library, sizeof(library)));
	by[0] = "/usr/bin/env";
	by[1] = b->skew;
	by[2] = b->preload;
	by[3] = NULL;
}

static int rank_start(struct clock_bed *b, int rank, const char *const *by, double seconds,
		      struct error *e)
{
	char program[4096], folder[160], number[16], all[16], hz[16], lasts[16], log[160];
	const char *const own[] = {program, folder, number, all, hz, lasts, NULL};
	const char *argv[16];
	size_t n = 0;

	bench_built("tests/stamper", program, sizeof(program));
	snprintf(folder, sizeof(folder), "%s/run", b->bed.space);
	snprintf(number, sizeof(number), "%d", rank);
	snprintf(all, sizeof(all), "%d", STAMPS_RANKS);
	snprintf(hz, sizeof(hz), "%g", STAMPS_HZ);
	snprintf(lasts, sizeof(lasts), "%g", seconds + 60);
	snprintf(log, sizeof(log), "%s/rank%d.log", b->bed.dir, rank);
	while (*by)
		argv[n++] = *by++;
	memcpy(&argv[n], own, sizeof(own));
	b->ranks[rank] = bench_start((char *const *)(uintptr_t)argv, log, e);
	return b->ranks[rank] < 0 ? -1 : 0;
}

static int bed_make(struct clock_bed *b, double seconds, struct error *e)
{
	static const char *const skewed[] = {"a1", "gb", "b0"};
	double t = (double)stamps_kernel_ns();
	char folder[160];
	const char *by[4];

	if (bed_begin(&b->bed, e) < 0 || bed_clusters(&b->bed, 2, e) < 0 ||
	    bed_map(&b->bed, "application.map", e, "application stamps { ranks rank[0-3]; }\n") <
		    0 ||
	    bed_start(&b->bed, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(skewed) / sizeof(skewed[0]); i++) {
		if (skew_write(b, skewed[i], t, seconds, e) < 0)
			return -1;
		node_command(b, skewed[i], by);
		if (bed_stop(&b->bed, skewed[i], SIGTERM, e) < 0 ||
		    bed_restart(&b->bed, skewed[i], by, e) < 0)
			return -1;
	}
	snprintf(folder, sizeof(folder), "%s/run", b->bed.space);
	mkdir(folder, 0700);
	for (int i = 0; i < STAMPS_RANKS; i++) {
		node_command(b, hosts[i], by);
		if (rank_start(b, i, by, seconds, e) < 0)
			return -1;
	}
	return 0;
}

/* It goes on when a process of its own says so, as this one looks. */
static pid_t stop_for_a_while(pid_t pid)
{
	pid_t waker;

	kill(pid, SIGSTOP);
	waker = bench_fork();
	if (waker != 0)
		return waker;
	usleep((useconds_t)(STOPPED_S * 1e6));
	kill(pid, SIGCONT);
	pause();
	_exit(0);
}

static void print(const struct stamps stamps[STAMPS_RANKS], bool json)
{
	uint64_t n = 0, within = 0;
	double off = 0;

	for (int i = 1; i < STAMPS_RANKS; i++) {
		n += stamps[i].n;
		within += stamps[i].within;
		off = fmax(off, stamps[i].off_ns);
	}
	printf(json ? "{\"case\":\"clock\",\"within\":%.5f,\"bound_us\":%.2f,\"through_us\":%.2f,"
		      "\"off_us\":%.1f,\"events\":%llu}\n"
		    : "clock: %.5f within their bound, %.2f us, through two connections %.2f us; "
		      "the others off by %.1f us at most; %llu events\n",
	       (double)within / (double)n, stamps[1].bound_ns / 1000,
	       fmax(stamps[2].bound_ns, stamps[3].bound_ns) / 1000, off / 1000,
	       (unsigned long long)n);
}

int colop_clock(const struct bench_options *o, struct error *e)
{
	struct stamps stamps[STAMPS_RANKS];
	struct clock_bed b = {.ranks = {0}};
	int rc = bed_make(&b, o->seconds, e);
	pid_t waker = 0;

	if (rc == 0) {
		const struct puller_options pull = bed_puller(&b.bed, "events", "run");
		const struct evspace_options look = {.connect = pull.connect,
						     .tls = pull.tls,
						     .identity = pull.name,
						     .run = pull.run,
						     .view = pull.view,
						     .rate_hz = 20};

		waker = stop_for_a_while(bed_agent(&b.bed, "gb")->pid);
		rc = stamps_check(&look, o->seconds, stamps, e);
	}
	if (rc == 0)
		print(stamps, o->json);
	for (int i = 0; i < STAMPS_RANKS; i++)
		if (b.ranks[i] > 0)
			bench_end(b.ranks[i], SIGTERM);
	if (waker > 0)
		bench_end(waker, SIGKILL);
	bed_end(&b.bed);
	return rc;
}
