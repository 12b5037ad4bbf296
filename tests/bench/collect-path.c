/* SPDX-License-Identifier: BSD-3-Clause */
/* An event on the collector's path: alone, beside another thread, beside a reader. */
#include "tests/bench/collect-path.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "node-agent/collect/core/collect-swift.h"
#include "node-agent/segment/segment-read.h"
#include "tests/bench/collect-case.h"
#include "tree/data/op-table.h"

/** Short runs, many of them: most fit between two interruptions by others. A reader comes once a
 * millisecond: runs of some milliseconds meet it. */
enum { EVENTS = 5000, LONG = 40 };

static volatile uint64_t sink;

int path_start(struct error *e)
{
	static char run[128];
	struct segment_plan plan = {.dir = run, .run = "bench", .world_size = 1, .world = 1};

	collect_pin(1);
	if (collect.segment->header)
		return 0;
	snprintf(run, sizeof(run), "%s/path", collect_bench.base);
	if (mkdir(run, 0700) < 0 && errno != EEXIST)
		return errorf(e, "cannot make the folder %s: %s", run, strerror(errno));
	return collect_start(&plan, e);
}

/* Here the real call would be. */
static inline void real_call(void)
{
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) uint64_t event_slow(struct collect_classes *classes, uint32_t tag,
						     uint64_t bytes)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t;

	if (collect_enter(caller, classes, CHANNEL_P2P) != COLLECT_RECORD)
		return 0;
	collect_fill(&t, OP_MPI_SEND, classes->comm, 1, tag, bytes);
	collect_begin(&t);
	real_call();
	collect_stamp(&t);
	collect_end(caller, &t, classes, CHANNEL_P2P);
	return 1;
}

static __attribute__((noinline)) uint64_t event_swift(struct collect_classes *classes, uint32_t tag,
						      uint64_t bytes)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t;

	collect_swift_enter(caller);
	if (!collect_swift_room(CHANNEL_P2P)) {
		collect_swift_leave();
		return event_slow(classes, tag, bytes);
	}
	collect_fill(&t, OP_MPI_SEND, classes->comm, 1, tag, bytes);
	collect_swift_begin(&t);
	real_call();
	collect_swift_stamp(&t);
	collect_swift_end(caller, &t, classes, CHANNEL_P2P);
	return 1;
}

/* As a generated wrapper (node-agent/collect/gen/mpi.awk). */
__attribute__((noinline)) uint64_t path_event(struct collect_classes *classes, uint32_t tag,
					      uint64_t bytes)
{
	switch (collect_way(classes, CHANNEL_P2P)) {
	case COLLECT_SWIFTLY:
		return event_swift(classes, tag, bytes);
	case COLLECT_NOT:
		return 0;
	default:
		return event_slow(classes, tag, bytes);
	}
}

static double events(int n)
{
	uint64_t ns = clock_mono_ns();

	for (int i = 0; i < n; i++)
		sink = path_event(&collect_none, (uint32_t)i, 8);
	return (double)(clock_mono_ns() - ns) / n;
}

double path_events(void)
{
	return events(EVENTS);
}

static double many_events(void)
{
	return events(LONG * EVENTS);
}

/* Nanoseconds of two bare clock reads: what no collector can do without, a start and an end. */
static double path_clocks(void)
{
	uint64_t ns = clock_mono_ns();

	for (int i = 0; i < EVENTS; i++) {
		uint64_t start = clock_ticks(CLOCK_TICKS_TSC);

		sink = start;
		sink = clock_ticks(CLOCK_TICKS_TSC) - start;
	}
	return (double)(clock_mono_ns() - ns) / EVENTS;
}

int collect_event_case(const struct collect_case *c, struct error *e)
{
	if (path_start(e) < 0)
		return -1;
	collect_report(c, NULL, pairs_measure(path_events, path_clocks, collect_pairs()));
	return 0;
}

/* ---- beside somebody on the other core ---- */

/** Who does something there when told to. */
static struct beside {
	void (*step)(void);
	_Atomic bool wanted, busy, over;
} beside;

static void *beside_run(void *arg)
{
	static const struct timespec pause = {.tv_nsec = 20000};

	(void)arg;
	collect_pin(0);
	while (!atomic_load(&beside.over)) {
		bool wanted = atomic_load(&beside.wanted);

		atomic_store(&beside.busy, wanted);
		if (wanted)
			beside.step();
		else
			nanosleep(&pause, NULL);
	}
	return NULL;
}

static void beside_tell(bool wanted)
{
	atomic_store(&beside.wanted, wanted);
	while (atomic_load(&beside.busy) != wanted)
		;
}

static double events_beside(void)
{
	double ns;

	beside_tell(true);
	ns = many_events();
	beside_tell(false);
	return ns;
}

static int beside_case(const struct collect_case *c, void (*step)(void), struct error *e)
{
	pthread_t thread;
	int error;

	if (path_start(e) < 0)
		return -1;
	beside = (struct beside){.step = step};
	error = pthread_create(&thread, NULL, beside_run, NULL);
	if (error)
		return errorf(e, "no thread: %s", strerror(error));
	collect_report(c, NULL, pairs_measure(events_beside, many_events, PAIRS_QUICK));
	atomic_store(&beside.over, true);
	pthread_join(thread, NULL);
	return 0;
}

static void some_events(void)
{
	for (int i = 0; i < 100; i++)
		path_event(&collect_none, (uint32_t)i, 8);
}

int collect_threads_case(const struct collect_case *c, struct error *e)
{
	return beside_case(c, some_events, e);
}

/* Every ring of the segment, what is new in it, once a millisecond. */
static void rings_read(void)
{
	static const struct timespec pause = {.tv_nsec = 1000000};
	static struct tuple tuples[SEGMENT_CAPACITY];
	static uint64_t from[64];
	const struct segment *s = collect.segment;

	for (uint32_t i = 0; i < segment_elements(s) && i < 64; i++) {
		const struct segment_element *entry = segment_element(s, i);
		const struct element_ring *ring = entry ? segment_ring(s, entry) : NULL;
		struct element_range range;

		if (!ring || entry->capacity > SEGMENT_CAPACITY)
			continue;
		element_read(ring, entry->capacity, from[i], UINT64_MAX, tuples, SEGMENT_CAPACITY,
			     &range);
		from[i] = range.first + range.count;
	}
	nanosleep(&pause, NULL);
}

int collect_read_case(const struct collect_case *c, struct error *e)
{
	return beside_case(c, rings_read, e);
}
