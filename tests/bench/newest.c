/* SPDX-License-Identifier: BSD-3-Clause */
/* A writer and a reader that take turns over the rings of one segment. */
#include "tests/bench/newest.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/source/source.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pathmap.h"
#include "tests/bench/bench.h"
#include "tests/bench/figures.h"
#include "tests/bench/space.h"

#define RUN	 "newest"
#define CAPACITY 200u
#define PASSES	 4000u

/* How far ahead the bare loop fetches heads and slots. */
#define AHEAD_HEAD 16u
#define AHEAD_SLOT 8u

/* What writer and reader share: whose turn it is. */
struct turn {
	_Atomic int writer;
};

/* What is read, and by what. */
struct reader {
	struct space space;
	struct store store;
	struct pathmap *map;
	struct source_host host;
	struct clock_host clock;
	struct names *names;
	struct stage *source;
	struct batch batch;
	const struct element_ring *rings[NEWEST_ELEMENTS];
	struct tuple out[NEWEST_ELEMENTS];
	struct turn *turn;
	pid_t writer;
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void pause_a_bit(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static _Noreturn void write_in_turn(const struct reader *r)
{
	struct element_writer *writers = memory_new(NEWEST_ELEMENTS, sizeof(*writers));
	struct tuple tuple = {.peer = 1, .bytes = 8};

	pin(1);
	for (size_t i = 0; i < NEWEST_ELEMENTS; i++)
		element_writer_init(&writers[i], (void *)(uintptr_t)r->rings[i], CAPACITY);
	for (;;) {
		while (!atomic_load_explicit(&r->turn->writer, memory_order_acquire))
			pause_a_bit();
		tuple.start++;
		for (size_t i = 0; i < NEWEST_ELEMENTS; i++)
			element_write(&writers[i], &tuple);
		atomic_store_explicit(&r->turn->writer, 0, memory_order_release);
	}
}

static void let_write(const struct reader *r)
{
	atomic_store_explicit(&r->turn->writer, 1, memory_order_release);
	while (atomic_load_explicit(&r->turn->writer, memory_order_acquire))
		pause_a_bit();
}

/* ---- two ways to read ---- */

static const struct tuple *newest(const struct element_ring *ring)
{
	return &ring->slots[(element_head(ring) - 1) % CAPACITY];
}

/* Copies, and looks whether the writer has come by meanwhile: no less can be right. */
static void read_bare(struct reader *r)
{
	for (size_t i = 0; i < NEWEST_ELEMENTS; i++) {
		const struct element_ring *ring = r->rings[i];
		uint64_t head;

		if (i + AHEAD_HEAD < NEWEST_ELEMENTS)
			__builtin_prefetch(r->rings[i + AHEAD_HEAD]);
		if (i + AHEAD_SLOT < NEWEST_ELEMENTS) {
			const char *slot = (const char *)newest(r->rings[i + AHEAD_SLOT]);

			__builtin_prefetch(slot);
			__builtin_prefetch(slot + sizeof(struct tuple) - 1);
		}
		do {
			head = element_head(ring);
			r->out[i] = ring->slots[(head - 1) % CAPACITY];
			atomic_thread_fence(memory_order_acquire);
		} while (atomic_load_explicit(&ring->head, memory_order_relaxed) - head >=
			 CAPACITY - 1);
	}
}

static int read_source(struct reader *r, uint64_t wave, struct error *e)
{
	const struct ask ask = {.wave = wave};

	while (!r->source->ops->take(r->source))
		;
	if (r->source->ops->read(r->source, &ask, &r->batch, NULL) == 0 &&
	    r->batch.bytes > NEWEST_ELEMENTS * sizeof(struct tuple))
		return 0;
	return errorf(e, "the source gives %zu bytes", r->batch.bytes);
}

static int measure(struct reader *r, double seconds, struct newest_cost *cost, struct error *e)
{
	double *bare = memory_new(PASSES, sizeof(*bare)), *source, until, at;
	size_t n = 0;
	int result = 0;

	source = memory_new(PASSES, sizeof(*source));
	until = bench_seconds() + seconds;
	for (; n < PASSES && result == 0 && (n < 3 || bench_seconds() < until); n++) {
		let_write(r);
		at = bench_seconds();
		read_bare(r);
		bare[n] = bench_seconds() - at;
		let_write(r);
		at = bench_seconds();
		result = read_source(r, n + 1, e);
		source[n] = bench_seconds() - at;
	}
	cost->floor_ns = figures_median(bare, n) * 1e9 / NEWEST_ELEMENTS;
	cost->source_ns = figures_median(source, n) * 1e9 / NEWEST_ELEMENTS;
	free(bare);
	free(source);
	return result;
}

/* ---- life ---- */

static int reader_rings(struct reader *r, const char *base, struct error *e)
{
	const unsigned elements[] = {NEWEST_ELEMENTS};
	const struct segment *s;

	if (mkdir(base, 0700) < 0)
		return errorf(e, "cannot make the folder %s: %s", base, strerror(errno));
	if (space_make(&r->space, base, RUN, 1, elements, CAPACITY, e) < 0)
		return -1;
	s = &r->space.segments[0];
	for (uint32_t i = 0; i < NEWEST_ELEMENTS; i++)
		r->rings[i] = segment_ring(s, segment_element(s, i));
	return 0;
}

static int reader_source(struct reader *r, const char *base, struct error *e)
{
	static char node[] = "here", cluster[] = "", holds[] = "0", all[] = "/**", run[] = RUN;
	static unsigned char id[16];
	static char *select[] = {all};
	static struct plan_place place = {
		.node = node, .cluster = cluster, .leaf = true, .placed = true, .holds = holds};
	static Evspace__Open open = EVSPACE__OPEN__INIT;

	if (store_init(&r->store, base, false, e) < 0)
		return -1;
	open.id.data = id;
	open.id.len = sizeof(id);
	open.run = run;
	open.reading = READ_LATEST;
	open.select = select;
	open.n_select = 1;
	r->map = pathmap_local(node, NULL);
	clock_host_init(&r->clock);
	r->host = (struct source_host){
		.store = &r->store, .node = node, .map = r->map, .clock = &r->clock};
	r->names = names_new(0);
	r->source = source_new(&r->host, &open, &place, r->names, e);
	return r->source ? 0 : -1;
}

static void reader_fini(struct reader *r)
{
	bench_end(r->writer, SIGKILL);
	source_free(r->source, false);
	batch_fini(&r->batch);
	names_free(r->names);
	store_fini(&r->store);
	pathmap_free(r->map);
	space_fini(&r->space);
	if (r->turn)
		munmap(r->turn, sizeof(*r->turn));
	free(r);
}

int newest_measure(const char *base, double seconds, struct newest_cost *cost, struct error *e)
{
	const size_t bytes = sizeof(struct turn);
	struct reader *r = memory_new(1, sizeof(*r));
	cpu_set_t before;
	int result = -1;

	batch_init(&r->batch);
	/* cppcheck-suppress invalidFunctionArg ; anonymous memory has descriptor -1 */
	r->turn = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r->turn == MAP_FAILED)
		abort();
	if (reader_rings(r, base, e) == 0 && reader_source(r, base, e) == 0) {
		r->writer = bench_fork();
		if (r->writer == 0)
			write_in_turn(r);
		sched_getaffinity(0, sizeof(before), &before);
		pin(0);
		result = r->writer < 0 ? errorf(e, "cannot fork: %s", strerror(errno))
				       : measure(r, seconds, cost, e);
		sched_setaffinity(0, sizeof(before), &before);
	}
	reader_fini(r);
	return result;
}
