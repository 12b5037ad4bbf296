/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many instructions an agent takes for a wave: one agent of a tree runs under valgrind's
 * callgrind, which counts those of the process, not the kernel's. Load does not change the counts.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/grove.h"

/* What an agent does once is much the same in two lives of it; what is left is that of so many
 * waves. With several under way more come before the tree is whole. */
#define WAVES_FEW  500u
#define WAVES_MANY 2000u
#define MANIFOLD   5u
#define WAVES_S	   100
#define LIVES	   10u

/* The limit of instructions for a leaf of 31 elements; for the others none is set. */
#define LEAF_MOST 8000u

static const char about[] =
	"usage: instructions [options]\n"
	"\n"
	"Instructions that one agent of a tree takes for a wave, counted by callgrind (valgrind "
	"has\n"
	"to be in PATH). TLS on all connections. Shape 8x2: the entry has 8 children, which have "
	"2\n"
	"leaves each. Window: waves under way.\n"
	"\n"
	"  leaf        a leaf of 31 elements, the newest tuple of each; limit 8,000\n"
	"  inner       who joins 8 such leaves\n"
	"  entry       who joins 8 leaves of 248 elements\n"
	"  reduced     the entry, when each host passes on the newest tuple of all below it only\n"
	"\n"
	"What is printed is the difference of two runs of the agent, which --seconds and --rounds "
	"do\n"
	"not change.\n";

/* An agent that is looked at. */
static const struct looked_at {
	const char *name, *view, *node;
	enum grove_run run;
	unsigned window, nodes; /* of each cluster that the view is of, at least */
	unsigned most;		/* instructions, 0: no limit is set */
} looked_at[] = {
	{"leaf", "leaves16", "c0n0", GROVE_EVEN, 1, 2, LEAF_MOST},
	{"inner", "leaves64", "g0", GROVE_EVEN, 1, 8, 0},
	{"inner", "leaves64", "g0", GROVE_EVEN, 16, 8, 0},
	{"entry", "eight", "front", GROVE_EIGHT, 1, 1, 0},
	{"reduced", "reduced16", "front", GROVE_EVEN, 1, 2, 0},
	{"reduced", "reduced128", "front", GROVE_EVEN, 1, 16, 0},
	{"reduced", "reduced16", "front", GROVE_EVEN, 64, 2, 0},
	{"reduced", "reduced32", "front", GROVE_EVEN, 64, 4, 0},
	{"reduced", "reduced64", "front", GROVE_EVEN, 64, 8, 0},
	{"reduced", "reduced128", "front", GROVE_EVEN, 64, 16, 0},
};
#define LOOKED_AT (sizeof(looked_at) / sizeof(looked_at[0]))

static struct trees grove;

static bool is_wanted(const struct bench_options *o, const struct looked_at *at)
{
	return !o->only || strcmp(o->only, at->name) == 0 || strcmp(o->only, at->view) == 0;
}

/* ---- counting ---- */

/* How many waves are waited for. */
struct awaited {
	const struct tally *tally;
	uint64_t waves;
};

static bool have_come(void *arg)
{
	const struct awaited *a = arg;

	return tally_failed(a->tally) || atomic_load(&a->tally->waves) >= a->waves;
}

/* Forget what was counted: how many attempts it takes until the tree is there is chance. */
static int count_anew(const struct looked_at *at, struct error *e)
{
	char log[sizeof(grove.bed.dir) + 32], pid[16];
	const char *const argv[] = {"/usr/bin/env", "callgrind_control", "-z", pid, NULL};

	snprintf(pid, sizeof(pid), "%d", (int)bed_agent(&grove.bed, at->node)->pid);
	snprintf(log, sizeof(log), "%s/control.log", grove.bed.dir);
	return bench_run((char *const *)(uintptr_t)argv, log, e);
}

/* Have at least @waves come after the first that is whole, from where on is counted. *@came: how
 * many did. */
static int waves_pull(const struct looked_at *at, uint64_t waves, uint64_t *came, struct error *e)
{
	struct puller_options o = bed_puller(&grove.bed, at->view, grove_run_name(at->run));
	struct awaited awaited = {tally_new(), 1};
	uint64_t before = 0;
	pid_t consumer;
	int rc = -1;

	o.window = at->window;
	/* an agent that is counted is slow: not all are there from the beginning */
	o.hosts = GROVE_CLUSTERS * at->nodes;
	consumer = puller_start(&o, (struct tally *)awaited.tally, e);
	if (consumer > 0)
		rc = bench_until(have_come, &awaited, WAVES_S, "a whole wave", e);
	if (rc == 0 && !tally_failed(awaited.tally))
		rc = count_anew(at, e);
	before = atomic_load(&awaited.tally->waves);
	awaited.waves = before + waves;
	if (rc == 0)
		rc = bench_until(have_come, &awaited, WAVES_S, "the waves", e);
	bench_end(consumer, SIGKILL);
	*came = atomic_load(&awaited.tally->waves) - before;
	if (tally_failed(awaited.tally))
		rc = errorf(e, "the consumer: %s", awaited.tally->why);
	tally_free((struct tally *)awaited.tally);
	return rc;
}

struct instructions {
	uint64_t all, tls; /* those within OpenSSL's libraries */
};

/* Objects that callgrind numbers: more than a program has. */
#define OBJECTS 1000u

/* The object of a line "ob=(3) /usr/lib/libssl.so.3" or, as one that is called, "cob=(3) ...",
 * which is (3) alone from then on. */
static bool object_is_tls(const char *line, bool *known)
{
	unsigned number = 0;

	if (sscanf(strchr(line, '='), "=(%u)", &number) != 1 || number >= OBJECTS)
		return false;
	if (strchr(line, '/'))
		known[number] = strstr(line, "/libssl") || strstr(line, "/libcrypto");
	return known[number];
}

/* A line of costs is a position and a number; behind calls=, it is of what was called. */
static int instructions_sum(FILE *file, struct instructions *sum)
{
	bool is_tls = false, is_call = false, known[OBJECTS] = {false};
	uint64_t cost;
	char line[4096];

	*sum = (struct instructions){0, 0};
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "ob=", 3) == 0)
			is_tls = object_is_tls(line, known);
		else if (strncmp(line, "cob=", 4) == 0)
			(void)object_is_tls(line, known);
		else if (strchr("0123456789+-*", line[0]) && !is_call &&
			 sscanf(line, "%*s %" SCNu64, &cost) == 1)
			sum->tls += is_tls ? cost : 0;
		is_call = strncmp(line, "calls=", 6) == 0;
		if (sscanf(line, "totals: %" SCNu64, &sum->all) == 1)
			return 0;
	}
	return -1;
}

/* What callgrind has written when the agent ended. */
static int instructions_read(const char *path, struct instructions *sum, struct error *e)
{
	FILE *file = fopen(path, "re");
	int rc = file ? instructions_sum(file, sum) : -1;

	if (file)
		fclose(file);
	return rc == 0 ? 0 : errorf(e, "callgrind has not written how much it counted");
}

/* All instructions of the agent's life, in which at least @waves came. */
static int life_count(const struct looked_at *at, uint64_t waves, uint64_t *came,
		      struct instructions *instructions, struct error *e)
{
	char out[sizeof(grove.bed.dir) + 64], option[sizeof(out) + 32];
	const char *const by[] = {"/usr/bin/env", "valgrind", "--tool=callgrind", option, NULL};

	snprintf(out, sizeof(out), "%s/callgrind.out.%" PRIu64, grove.bed.dir, waves);
	snprintf(option, sizeof(option), "--callgrind-out-file=%s", out);
	if (bed_stop(&grove.bed, at->node, SIGTERM, e) < 0 ||
	    bed_restart(&grove.bed, at->node, by, e) < 0 || waves_pull(at, waves, came, e) < 0 ||
	    bed_stop(&grove.bed, at->node, SIGTERM, e) < 0 ||
	    instructions_read(out, instructions, e) < 0)
		return -1;
	return bed_restart(&grove.bed, at->node, NULL, e);
}

/* An agent that is counted is slow, on a busy machine so slow that others give it up for a while.
 * What it does to be connected again is not counted as that of waves: then it lives once more. */
static int whole_life_count(const struct looked_at *at, uint64_t waves, uint64_t *came,
			    struct instructions *instructions, struct error *e)
{
	int rc = -1;

	for (unsigned life = 0; life < LIVES && rc < 0; life++) {
		rc = life_count(at, waves, came, instructions, e);
		if (rc < 0 && !strstr(e->text, "lacks"))
			break;
	}
	return rc;
}

/* Of a wave. */
struct counted {
	double all, tls;
};

static int count(const struct looked_at *at, struct counted *wave, struct error *e)
{
	const unsigned times = at->window > 1 ? MANIFOLD : 1;
	struct instructions of[2];
	uint64_t came[2];
	double waves;

	if (whole_life_count(at, times * WAVES_FEW, &came[0], &of[0], e) < 0 ||
	    whole_life_count(at, times * WAVES_MANY, &came[1], &of[1], e) < 0)
		return error_prefix(e, "%s %s", at->name, at->view);
	waves = (double)came[1] - (double)came[0];
	wave->all = ((double)of[1].all - (double)of[0].all) / waves;
	wave->tls = ((double)of[1].tls - (double)of[0].tls) / waves;
	return 0;
}

/* ---- what came out ---- */

static void print(const struct bench_options *o, const struct looked_at *at, struct counted n)
{
	char limit[64] = "";

	if (o->json && at->most)
		snprintf(limit, sizeof(limit), ",\"limit\":%u,\"ratio\":%.2f", at->most,
			 n.all / at->most);
	else if (at->most)
		snprintf(limit, sizeof(limit), "; limit %u: %.2f times", at->most,
			 n.all / at->most);
	printf(o->json ? "{\"bench\":\"instructions\",\"case\":\"%s\",\"view\":\"%s\","
			 "\"window\":%u,\"instructions_per_wave\":%.0f,\"of_openssl\":%.0f%s}\n"
		       : "%-8s %-11s %2u under way: %.0f instructions a wave, %.0f of them "
			 "OpenSSL's%s\n",
	       at->name, at->view, at->window, n.all, n.tls, limit);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 1, .rounds = 1};
	struct bench_options o = {.seconds = 1, .rounds = 1};
	struct error e = {""};
	unsigned nodes = 0;
	struct counted n = {0, 0};
	int rc;

	bench_parse(argc, argv, &o, &quick, about);
	if (system("command -v valgrind >/dev/null") != 0) {
		fprintf(stderr, "instructions: there is no valgrind in PATH to count them "
				"(Debian: apt-get install valgrind)\n");
		return 1;
	}
	for (size_t i = 0; i < LOOKED_AT; i++) {
		if (is_wanted(&o, &looked_at[i]) && looked_at[i].nodes > nodes)
			nodes = looked_at[i].nodes;
	}
	bench_begin();
	rc = grove_plant(&grove, nodes, false, &e);
	for (size_t i = 0; rc == 0 && i < LOOKED_AT; i++) {
		if (!is_wanted(&o, &looked_at[i]))
			continue;
		rc = count(&looked_at[i], &n, &e);
		if (rc == 0)
			print(&o, &looked_at[i], n);
	}
	if (rc < 0)
		fprintf(stderr, "instructions: %s\n", e.text);
	grove_fell(&grove);
	return rc < 0 ? 1 : 0;
}
