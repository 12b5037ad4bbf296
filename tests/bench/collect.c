/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What collecting costs: one event over two bare reads of the clock, alone, with a reader beside it
 * (read), and as what a wrapper adds to an MPI call (mpi); the newest tuples of many elements over
 * copying them (latest). Pairs are interleaved; medians.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/collect/collect.h"
#include "tree/op-table.h"

/* Short runs, many of them: most fit between two interruptions by others. */
enum { PAIRS = 401, QUICK = 51, EVENTS = 5000, ELEMENTS = 1948, CAPACITY = 200, TURNS = 3 };

static volatile uint64_t sink;
static bool json;
static int n_pairs = PAIRS;
static char base[] = "/dev/shm/evspace-bench-XXXXXX", run[64];

/** A reader of the writer's element on the other core. */
struct reader {
	pthread_t thread;
	_Atomic bool stop;
	const struct element_ring *ring;
	uint64_t delivered, lost;
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* What a wrapper does, without the real call in it. */
static __attribute__((noinline)) uint64_t event(int peer, uint32_t tag, uint64_t bytes)
{
	struct tuple t;

	if (collect_enter(&collect_none, CHANNEL_P2P) != COLLECT_RECORD)
		return 0;
	t = (struct tuple){
		.op = OP_MPI_SEND,
		.peer = peer,
		.seq_or_tag = tag,
		.bytes = bytes,
		.comm = 1,
	};
	collect_begin(&t);
	__asm__ volatile("" ::: "memory");
	t.end = collect_now();
	collect_end(&t, &collect_none, CHANNEL_P2P);
	return t.end;
}

/* The limit: what no collector can do without, a start and an end. */
static double bare_run(void)
{
	uint64_t ns = clock_mono_ns();

	for (int i = 0; i < EVENTS; i++) {
		uint64_t start = clock_ticks(CLOCK_TICKS_TSC);

		sink = start;
		sink = clock_ticks(CLOCK_TICKS_TSC) - start;
	}
	return (double)(clock_mono_ns() - ns) / EVENTS;
}

static double event_run(void)
{
	uint64_t ns = clock_mono_ns();

	for (int i = 0; i < EVENTS; i++)
		sink = event(i & 7, (uint32_t)i, 8);
	return (double)(clock_mono_ns() - ns) / EVENTS;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), compare);
	return values[n / 2];
}

static void report(const char *name, double ns, double limit, double ratio)
{
	if (json)
		printf("{\"bench\":\"collect\",\"case\":\"%s\",\"ns\":%.2f,\"limit_ns\":%.2f,"
		       "\"ratio\":%.3f}\n",
		       name, ns, limit, ratio);
	else
		printf("%-8s %9.2f ns %9.2f ns %7.3f\n", name, ns, limit, ratio);
	fflush(stdout);
}

/* Interleaved pairs of @what and its limit. */
static void pairs(const char *name, double (*what)(void), double (*limit)(void))
{
	static double ns[PAIRS], limits[PAIRS], ratios[PAIRS];

	what();
	limit();
	for (int i = 0; i < n_pairs; i++) {
		limits[i] = limit();
		ns[i] = what();
		ratios[i] = ns[i] / limits[i];
	}
	report(name, median(ns, n_pairs), median(limits, n_pairs), median(ratios, n_pairs));
}

static void *reader_run(void *arg)
{
	struct reader *r = arg;
	struct timespec pause = {.tv_nsec = 1000000};
	struct tuple tuples[CAPACITY];
	struct element_range range;
	uint64_t from = element_head(r->ring);

	pin(0);
	while (!atomic_load(&r->stop)) {
		element_read(r->ring, CAPACITY, from, UINT64_MAX, tuples, CAPACITY, &range);
		r->delivered += range.count;
		r->lost += range.lost;
		from = range.first + range.count;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void with_reader(void)
{
	struct reader r = {.ring = collect_self.writers[CHANNEL_P2P].ring};

	if (pthread_create(&r.thread, NULL, reader_run, &r))
		return;
	pairs("read", event_run, bare_run);
	atomic_store(&r.stop, true);
	pthread_join(r.thread, NULL);
	if (!json)
		printf("         (read %llu, overwritten %llu)\n", (unsigned long long)r.delivered,
		       (unsigned long long)r.lost);
}

static struct element_ring *rings[ELEMENTS];
static struct tuple newest[ELEMENTS];

static double latest_run(void)
{
	uint64_t ns = clock_mono_ns(), number;

	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i < ELEMENTS; i++)
			element_latest(rings[i], CAPACITY, &newest[i], &number);
	return (double)(clock_mono_ns() - ns) / (TURNS * ELEMENTS);
}

/* The limit: where it is and what it is, without asking whether it is being overwritten. */
static double copy_run(void)
{
	uint64_t ns = clock_mono_ns();

	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i < ELEMENTS; i++) {
			uint64_t head = element_head(rings[i]);

			memcpy(&newest[i], &rings[i]->slots[(head - 1) % CAPACITY],
			       sizeof(newest[i]));
		}
	return (double)(clock_mono_ns() - ns) / (TURNS * ELEMENTS);
}

static void latest(void)
{
	size_t bytes = element_ring_bytes(CAPACITY);
	char *memory = aligned_alloc(64, ELEMENTS * bytes);

	if (!memory)
		return;
	memset(memory, 0, ELEMENTS * bytes);
	for (int i = 0; i < ELEMENTS; i++) {
		struct element_writer w;
		struct tuple t = {.bytes = (uint64_t)i};

		rings[i] = (struct element_ring *)(void *)(memory + (size_t)i * bytes);
		element_writer_init(&w, rings[i], CAPACITY);
		for (int k = 0; k <= i % 400; k++)
			element_write(&w, &t);
	}
	pairs("latest", latest_run, copy_run);
	free(memory);
}

/* In an MPI program, with what `make` has built. Without mpirun or the library there is no result.
 */
static void mpi(void)
{
	const char *built = getenv("top_builddir");
	double ns, limit, ratio;
	char command[1024];
	FILE *out;

	snprintf(command, sizeof(command),
		 "EVSPACE_DIR=%s EVSPACE_RUN=mpi timeout 120 mpirun -np 1 -x LD_PRELOAD="
		 "$(realpath %s/.libs/libevspace-mpi.so) %s/tests/bench/barrier",
		 base, built ? built : ".", built ? built : ".");
	out = popen(command, "r");
	if (!out)
		return;
	if (fscanf(out, "%lf %lf %lf", &ns, &limit, &ratio) == 3)
		report("mpi", ns, limit, ratio);
	pclose(out);
}

static void folder_remove(const char *name)
{
	char path[128];
	DIR *dir;
	const struct dirent *entry;

	snprintf(path, sizeof(path), "%s/%s", base, name);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

static void options_read(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0) {
			json = true;
		} else if (strcmp(argv[i], "--quick") == 0) {
			n_pairs = QUICK;
		} else {
			bool help = strcmp(argv[i], "--help") == 0;

			fprintf(help ? stdout : stderr, "usage: collect [--json] [--quick]\n"
							"What collecting an event costs.\n");
			exit(help ? 0 : 2);
		}
	}
}

int main(int argc, char **argv)
{
	struct segment_plan plan = {.dir = run, .run = "bench", .world_size = 1, .world = 1};
	struct error e;

	options_read(argc, argv);
	if (!mkdtemp(base))
		return perror(base), 1;
	snprintf(run, sizeof(run), "%s/run", base);
	mkdir(run, 0700);
	pin(1);
	if (collect_start(&plan, &e) < 0) {
		fprintf(stderr, "collect: %s\n", e.text);
		return 1;
	}
	if (!json)
		printf("%-8s %12s %12s %7s\n", "case", "", "limit", "ratio");
	pairs("event", event_run, bare_run);
	with_reader();
	mpi();
	latest();
	collect_stop();
	folder_remove("run");
	folder_remove("mpi");
	rmdir(base);
	return 0;
}
