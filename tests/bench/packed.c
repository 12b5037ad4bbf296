/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program with its collector, and packs what its elements hold, over and over. */
#include "tests/bench/packed.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "node-agent/segment/segment-read.h"
#include "pathmap/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/figures.h"
#include "tree/data/columns.h"

/* Tuples of a run at most: what a source reads at once. */
#define RUN_MOST 1024u
#define PASSES	 2000u
#define LEVEL	 3

#define HPCC_INPUT "/usr/share/doc/hpcc/examples/_hpccinf.txt"

/* What the shell runs in the folder $0: $1 is evspace, $2 the wind tunnel. */
static const char *const commands[PACKED_PROGRAMS] = {
	[PACKED_WINDTUNNEL] = "cd \"$0\" && EVSPACE_DIR=$0 exec \"$1\" run --keep --run windtunnel "
			      "--no-summary -- "
			      "mpirun -np 4 \"$2\" --threads 2 --steps 300",
	[PACKED_HPCC] = "cd \"$0\" && sed 's/^1000\\( .*Ns\\)/500\\1/' " HPCC_INPUT
			" >hpccinf.txt && EVSPACE_DIR=$0 exec \"$1\" run --keep --run hpcc "
			"--no-summary -- mpirun -np 4 hpcc",
};

/* Tuples of all elements, and how many each run has. */
struct recorded {
	struct tuple *tuples;
	size_t n, *runs, n_runs;
};

const char *packed_name(enum packed_program program)
{
	if (program == PACKED_WINDTUNNEL)
		return "windtunnel";
	return access(HPCC_INPUT, R_OK) == 0 && access("/usr/bin/hpcc", X_OK) == 0 ? "hpcc" : NULL;
}

/* ---- recording ---- */

static int program_run(enum packed_program program, const char *dir, struct error *e)
{
	char evspace[4096], tunnel[4096], folder[200], log[256], command[400];
	char *argv[] = {
		(char[]){"/bin/sh"}, (char[]){"-c"}, command, folder, evspace, tunnel, NULL};

	bench_mpi();
	snprintf(command, sizeof(command), "%s", commands[program]);
	snprintf(folder, sizeof(folder), "%s", dir);
	snprintf(log, sizeof(log), "%s/%s.log", dir, packed_name(program));
	bench_built("evspace", evspace, sizeof(evspace));
	bench_built("tests/apps/windtunnel", tunnel, sizeof(tunnel));
	return bench_run(argv, log, e);
}

static void element_take(struct recorded *to, const struct segment *s,
			 const struct segment_element *element)
{
	const struct element_ring *ring = segment_ring(s, element);
	struct element_range got = {0, 0, 0};

	to->tuples = reallocarray(to->tuples, to->n + element->capacity, sizeof(*to->tuples));
	to->runs = reallocarray(to->runs, to->n_runs + element->capacity / RUN_MOST + 1,
				sizeof(*to->runs));
	if (!to->tuples || !to->runs)
		abort();
	if (ring)
		element_read(ring, element->capacity, 0, element_head(ring), to->tuples + to->n,
			     element->capacity, &got);
	to->n += got.count;
	for (size_t left = got.count, some; left > 0; left -= some) {
		some = left < RUN_MOST ? left : RUN_MOST;
		to->runs[to->n_runs++] = some;
	}
}

static int folder_take(struct recorded *to, const char *folder, struct error *e)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	struct segment s;

	while (dir && (entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcmp(dot, SEGMENT_SUFFIX) != 0 ||
		    segment_open(&s, folder, entry->d_name, e) < 0)
			continue;
		for (uint32_t i = 0; i < segment_elements(&s); i++)
			if (segment_element(&s, i))
				element_take(to, &s, segment_element(&s, i));
		segment_close(&s);
	}
	if (dir)
		closedir(dir);
	return to->n > 0 ? 0 : errorf(e, "no tuples in %s", folder);
}

/* ---- measuring ---- */

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Where things are put, with room for all as columns. */
struct room {
	unsigned char *packed, *compressed;
	struct tuple *back;
	size_t packed_bytes, bytes;
};

enum { PACK, UNPACK, COPY, WAYS };

static void pass_pack(const struct recorded *r, struct room *to)
{
	const struct tuple *from = r->tuples;
	size_t at = 0;

	for (size_t i = 0; i < r->n_runs; from += r->runs[i++])
		at += columns_put(RUN_TUPLES, from, r->runs[i], to->packed + at);
	to->packed_bytes = at;
}

/* The same bytes are a run each: as in a batch, their lengths are known. */
static void pass_unpack(const struct recorded *r, const struct room *from, const size_t *lengths)
{
	struct tuple *to = from->back;
	struct columns what;
	size_t at = 0;

	for (size_t i = 0; i < r->n_runs; at += lengths[i], to += r->runs[i++])
		if (columns_get(from->packed + at, lengths[i], &what, to, NULL) < 0)
			abort();
}

static void lengths_find(const struct recorded *r, const struct room *room, size_t *lengths)
{
	const struct tuple *from = r->tuples;

	for (size_t i = 0; i < r->n_runs; from += r->runs[i++])
		lengths[i] = columns_put(RUN_TUPLES, from, r->runs[i], room->compressed);
}

static void passes_measure(const struct recorded *r, struct room *room, double seconds,
			   struct packed_cost *cost)
{
	double *values[WAYS], until = bench_seconds() + seconds, began;
	size_t *lengths = memory_new(r->n_runs, sizeof(*lengths)), n = 0;

	lengths_find(r, room, lengths);
	for (unsigned way = 0; way < WAYS; way++)
		values[way] = memory_new(PASSES, sizeof(double));
	do {
		began = cpu_seconds();
		pass_pack(r, room);
		values[PACK][n] = cpu_seconds() - began;
		began = cpu_seconds();
		pass_unpack(r, room, lengths);
		values[UNPACK][n] = cpu_seconds() - began;
		began = cpu_seconds();
		memcpy(room->back, r->tuples, r->n * sizeof(*r->tuples));
		values[COPY][n] = cpu_seconds() - began;
	} while (++n < PASSES && bench_seconds() < until);
	cost->pack_ns = figures_median(values[PACK], n) * 1e9 / (double)r->n;
	cost->unpack_ns = figures_median(values[UNPACK], n) * 1e9 / (double)r->n;
	cost->memcpy_ns = figures_median(values[COPY], n) * 1e9 / (double)r->n;
	for (unsigned way = 0; way < WAYS; way++)
		free(values[way]);
	free(lengths);
}

static void zstd_measure(const struct recorded *r, const struct room *room,
			 struct packed_cost *cost)
{
	size_t plain = r->n * sizeof(*r->tuples), bytes;
	double began = cpu_seconds(), per = 1e9 / (double)r->n;

	bytes = ZSTD_compress(room->compressed, room->bytes, r->tuples, plain, LEVEL);
	cost->zstd_ns = (cpu_seconds() - began) * per;
	cost->zstd_bytes = (double)bytes / (double)r->n;
	began = cpu_seconds();
	ZSTD_decompress(room->back, plain, room->compressed, bytes);
	cost->unzstd_ns = (cpu_seconds() - began) * per;
	bytes = ZSTD_compress(room->compressed, room->bytes, room->packed, room->packed_bytes,
			      LEVEL);
	cost->both_bytes = (double)bytes / (double)r->n;
}

int packed_measure(enum packed_program program, const char *dir, double seconds,
		   struct packed_cost *cost, struct error *e)
{
	struct recorded r = {NULL, 0, NULL, 0};
	struct room room = {NULL, NULL, NULL, 0, 0};
	char folder[256];
	int result;

	snprintf(folder, sizeof(folder), "%.200s/%s", dir, packed_name(program));
	result = program_run(program, dir, e);
	if (result == 0)
		result = folder_take(&r, folder, e);
	if (result == 0) {
		room.bytes = r.n * sizeof(struct tuple) +
			     r.n_runs * (columns_room(RUN_TUPLES, RUN_MOST) -
					 RUN_MOST * sizeof(struct tuple));
		room.packed = memory_new(room.bytes, 1);
		room.compressed = memory_new(room.bytes, 1);
		room.back = memory_new(r.n, sizeof(struct tuple));
		cost->tuples = r.n;
		passes_measure(&r, &room, seconds, cost);
		if (memcmp(room.back, r.tuples, r.n * sizeof(struct tuple)) != 0)
			abort();
		cost->bytes = (double)room.packed_bytes / (double)r.n;
		zstd_measure(&r, &room, cost);
	}
	free(room.packed);
	free(room.compressed);
	free(room.back);
	free(r.tuples);
	free(r.runs);
	return result;
}
