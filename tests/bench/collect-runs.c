/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole programs with the collector and without: hpcc in paired runs, the wind tunnel in stretches.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/collect-case.h"
#include "tests/bench/collect-mpi.h"

/* ---- the wind tunnel ---- */

enum { STRETCHES = 8000 };

static const struct tunnel {
	const char *size;
	double at_most; /* of the upper end of the interval for the two larger ones */
	const char *check, *seconds, *quick;
} tunnels[] = {
	{"small", 1.005, "41", "10", "3"},
	{"medium", 1.01, "13", "18", "3"},
	{"large", 1.01, "9", "55", "6"},
};

/* What tests/bench/alternate.c prints. */
static size_t stretches_read(double *with, double *without)
{
	char path[128], line[256];
	FILE *file = fopen(mpi_log(path, sizeof(path)), "re");
	size_t n = 0;

	while (file && n < STRETCHES && fgets(line, sizeof(line), file))
		n += sscanf(line, "stretches %lf %lf", &with[n], &without[n]) == 2;
	if (file)
		fclose(file);
	return n;
}

static int tunnel_measure(const struct collect_case *c, const struct tunnel *t, struct error *e)
{
	static double with[STRETCHES], without[STRETCHES];
	char program[4096], alternate[4096];
	const char *seconds = collect_bench.quick ? t->quick : t->seconds;
	const char *const args[] = {"--size",	 t->size, "--check", t->check,
				    "--seconds", seconds, NULL};
	struct mpi_run run = {
		.ranks = 2,
		.before = bench_built("tests/bench/.libs/alternate.so", alternate, 4096),
		.program = bench_built("tests/apps/windtunnel", program, 4096),
		.args = args,
	};
	struct collect_case as = *c;
	size_t n;

	if (mpi_run(&run, e) < 0)
		return -1;
	n = stretches_read(with, without);
	if (n == 0)
		return errorf(e, "size %s was too slow for a single pair of stretches", t->size);
	as.at_most = t->at_most;
	collect_report(&as, t->size, pairs_of(with, without, n));
	return 0;
}

int collect_tunnel_case(const struct collect_case *c, struct error *e)
{
	int result = 0;

	/* a machine that is too busy for one size may have time for another */
	for (size_t i = 0; i < sizeof(tunnels) / sizeof(tunnels[0]); i++)
		if (tunnel_measure(c, &tunnels[i], e) < 0)
			result = -1;
	return result;
}

/* ---- hpcc ---- */

#define HPCC_INPUT  "/usr/share/doc/hpcc/examples/_hpccinf.txt"
#define HPCC_OUTPUT "hpccoutf.txt"

/*
 * As the example has it, four ranks, of which two take turns on a core here; and one rank a core,
 * where every poll is in the program's way and nothing hides it: shown, not judged.
 */
static const struct hpcc {
	unsigned ranks;
	const char *rows, *size; /* as in its input: of the grid of ranks, and of the matrix */
	size_t pairs;
	double at_most, access_at_most;
	const char *whole, *access; /* what it is called in the report */
} hpccs[] = {
	{4, "2 Ps\n", "500 Ns\n", 16, 1.01, 1.05, NULL, "randomaccess"},
	{2, "1 Ps\n", "1000 Ns\n", 6, 0, 0, "alone", "alone-randomaccess"},
};

enum { HPCC_PAIRS = 16 };

static const char *hpcc_line(const struct hpcc *h, const char *line)
{
	if (strncmp(line, "1000 ", 5) == 0)
		return h->size;
	return strncmp(line, "2 ", 2) == 0 && strstr(line, " Ps") ? h->rows : line;
}

/* The example's problem. */
static int hpcc_input(const struct hpcc *h, const char *folder, struct error *e)
{
	char path[256], line[512];
	FILE *in = fopen(HPCC_INPUT, "re"), *out;

	if (!in)
		return errorf(e, "cannot read %s: %s (Debian: hpcc)", HPCC_INPUT, strerror(errno));
	snprintf(path, sizeof(path), "%s/hpccinf.txt", folder);
	out = fopen(path, "we");
	while (out && fgets(line, sizeof(line), in))
		fputs(hpcc_line(h, line), out);
	fclose(in);
	if (!out || fclose(out) != 0)
		return errorf(e, "cannot write %s: %s", path, strerror(errno));
	return 0;
}

/* "MPIRandomAccess_time=1.5" of its summary; 0: it did not come so far. */
static double hpcc_figure(const char *folder, const char *name)
{
	char path[256], line[512];
	size_t length = strlen(name);
	double value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/" HPCC_OUTPUT, folder);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, length) == 0 && line[length] == '=')
			value = strtod(line + length + 1, NULL);
	if (file)
		fclose(file);
	return value;
}

/* One run: nanoseconds of the whole, and of an update of MPIRandomAccess, which makes fewer when it
 * is slow. */
static int hpcc_run(const struct hpcc *h, const char *folder, bool alone, double *wall,
		    double *access, struct error *e)
{
	struct mpi_run run = {
		.ranks = h->ranks, .folder = folder, .program = "hpcc", .alone = alone};
	double since = bench_seconds(), updates;
	char output[256];

	/* it appends to what is there */
	snprintf(output, sizeof(output), "%s/" HPCC_OUTPUT, folder);
	remove(output);
	if (mpi_run(&run, e) < 0)
		return -1;
	*wall = (bench_seconds() - since) * 1e9;
	updates = hpcc_figure(folder, "MPIRandomAccess_ExeUpdates");
	*access = hpcc_figure(folder, "MPIRandomAccess_time") * 1e9 / (updates > 0 ? updates : 1);
	return *access > 0 ? 0 : errorf(e, "hpcc says nothing of MPIRandomAccess");
}

static int hpcc_measure(const struct collect_case *c, const struct hpcc *h, const char *folder,
			struct error *e)
{
	double wall[2][HPCC_PAIRS], access[2][HPCC_PAIRS];
	size_t n = collect_bench.quick ? 1 : h->pairs;
	struct collect_case whole = *c, random = *c;

	if (hpcc_input(h, folder, e) < 0)
		return -1;
	for (size_t i = 0; i < 2 * n; i++) {
		/* with, without, without, with: what drifts goes into both */
		size_t alone = (i ^ i >> 1) & 1;

		if (hpcc_run(h, folder, alone, &wall[alone][i / 2], &access[alone][i / 2], e) < 0)
			return -1;
	}
	whole.at_most = h->at_most;
	random.at_most = h->access_at_most;
	collect_report(&whole, h->whole, pairs_of(wall[0], wall[1], n));
	collect_report(&random, h->access, pairs_of(access[0], access[1], n));
	return 0;
}

int collect_hpcc_case(const struct collect_case *c, struct error *e)
{
	char folder[128];

	snprintf(folder, sizeof(folder), "%s/hpcc", collect_bench.base);
	if (mkdir(folder, 0700) < 0)
		return errorf(e, "cannot make the folder %s: %s", folder, strerror(errno));
	for (size_t i = 0; i < sizeof(hpccs) / sizeof(hpccs[0]); i++)
		if (hpcc_measure(c, &hpccs[i], folder, e) < 0)
			return -1;
	return 0;
}
