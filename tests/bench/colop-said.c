/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases that another bench runs: what it says with --json is read, and said again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/colop.h"

/* Room for a word of a line. */
#define WORD 32

/* Say again what is in a line. Returns 1; 0: it is of another case; or -1: it lacks something. */
typedef int say_line(const char *line, bool json);

/* The number after "@name": in @line; -1: it has none. */
static double number_in(const char *line, const char *name)
{
	char key[WORD];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\":", name);
	at = strstr(line, key);
	return at ? strtod(at + strlen(key), NULL) : -1;
}

/* The text after "@name": there; "" if it has none. */
static const char *text_in(const char *line, const char *name, char text[WORD])
{
	char key[WORD];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\":\"", name);
	at = strstr(line, key);
	snprintf(text, WORD, "%.*s", at ? (int)strcspn(at + strlen(key), "\"") : 0,
		 at ? at + strlen(key) : "");
	return text;
}

static bool is_case(const char *line, const char *name)
{
	char text[WORD];

	return strcmp(text_in(line, "case", text), name) == 0;
}

/* Say again what is in the file @path. Returns how many lines, or -1 with @e. */
static int lines_say(const char *path, say_line *say, bool json, struct error *e)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int n = 0, said = 0;

	while (said >= 0 && file && getline(&line, &size, file) > 0) {
		said = say(line, json);
		n += said;
	}
	if (said < 0)
		errorf(e, "not understood: %s", line);
	free(line);
	if (file)
		fclose(file);
	return said < 0 ? -1 : n;
}

/* Run @program with --json, and say its lines again. */
static int bench_say(char *program, say_line *say, const struct bench_options *o, struct error *e)
{
	char path[] = "/dev/shm/colop-said.XXXXXX", json[] = "--json", quick[] = "--quick";
	char *argv[] = {program, json, o->quick ? quick : NULL, NULL};
	int file = mkstemp(path), n = -1;

	if (file < 0)
		return errorf(e, "cannot make %s", path);
	close(file);
	if (bench_run(argv, path, e) == 0)
		n = lines_say(path, say, o->json, e);
	unlink(path);
	if (n == 0)
		return errorf(e, "%s has said nothing of it", program);
	return n < 0 ? -1 : 0;
}

/* ---- the cases ---- */

/* Two lines of that bench are one of ours. */
static int say_element(const char *line, bool json)
{
	static double ns = -1;
	double ratio = number_in(line, "ratio");

	if (is_case(line, "element"))
		ns = number_in(line, "ns");
	if (!is_case(line, "wake"))
		return 0;
	printf(json ? "{\"case\":\"element\",\"ns\":%.2f,\"wake_ratio\":%.3f}\n"
		    : "element: a write of 16 bytes %.1f ns; waking a reader %.2f times a bare "
		      "futex\n",
	       ns, ratio);
	return ns < 0 || ratio < 0 ? -1 : 1;
}

int colop_element(const struct bench_options *o, struct error *e)
{
	char path[4096];

	bench_built("tests/bench/element", path, sizeof(path));
	return bench_say(path, say_element, o, e);
}

static int say_planted(const char *line, bool json)
{
	double planted = number_in(line, "planted"), found = number_in(line, "found");
	double wrong = number_in(line, "false"), noise = number_in(line, "noise");
	double off_us = number_in(line, "off_us"), beyond = number_in(line, "beyond");
	double hosts = number_in(line, "hosts");

	if (!is_case(line, "planted"))
		return 0;
	printf(json ? "{\"case\":\"planted\",\"planted\":%.0f,\"found\":%.0f,\"false\":%.0f,"
		      "\"noise\":%.0f,\"off_us\":%.1f,\"beyond\":%.0f,\"hosts\":%.0f}\n"
		    : "planted: %.0f late ranks, %.0f found, %.0f falsely named; %.0f times the "
		      "machine made one late; lateness off by %.1f us at most, %.0f times by more "
		      "than clocks, on %.0f hosts\n",
	       planted, found, wrong, noise, off_us, beyond, hosts);
	return planted < 0 || found < 0 || wrong < 0 ? -1 : 1;
}

int colop_planted(const struct bench_options *o, struct error *e)
{
	char path[4096];

	bench_source("tests/bench/planted.sh", path, sizeof(path));
	return bench_say(path, say_planted, o, e);
}

static int say_allreduce(const char *line, bool json)
{
	double bytes = number_in(line, "bytes"), ours_us = number_in(line, "ours_us");
	double best_us = number_in(line, "best_mpi_us"), default_us = number_in(line, "default_us");
	char placement[WORD], best[WORD];

	if (is_case(line, "lead")) {
		printf(json ? "{\"case\":\"lead\",\"without_us\":%.1f,\"with_us\":%.1f}\n"
			    : "allreduce: after the last rank, which is late, it takes %.1f us; if "
			      "that rank leads, %.1f us\n",
		       number_in(line, "without_us"), number_in(line, "with_us"));
		return 1;
	}
	if (!is_case(line, "allreduce"))
		return 0;
	printf(json ? "{\"case\":\"allreduce\",\"placement\":\"%s\",\"best\":\"%s\",\"bytes\":%.0f,"
		      "\"ours_us\":%.1f,\"best_mpi_us\":%.1f,\"default_us\":%.1f}\n"
		    : "allreduce: ranks placed %s, best of the MPI %s: %.0f bytes take %.1f us "
		      "along "
		      "the tree, %.1f by the best, %.1f by its default\n",
	       text_in(line, "placement", placement), text_in(line, "best", best), bytes, ours_us,
	       best_us, default_us);
	return bytes < 0 || ours_us < 0 || best_us < 0 || default_us < 0 ? -1 : 1;
}

int colop_allreduce(const struct bench_options *o, struct error *e)
{
	char path[4096];

	bench_source("tests/bench/steer.sh", path, sizeof(path));
	return bench_say(path, say_allreduce, o, e);
}
