/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests elements against a model, and beside a writer that laps its readers all the time. Built a
 * second time under ThreadSanitizer (element_tsan_test).
 */
#include "node-agent/segment/element-writer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { MODEL_TUPLES = 4000, ROUNDS = 200, READERS = 2 };

static struct element_ring *ring_new(uint32_t capacity)
{
	size_t bytes = element_ring_bytes(capacity);
	struct element_ring *ring = aligned_alloc(64, bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(ring);
	memset(ring, 0, bytes);
	return ring;
}

/* Every word says which tuple it is of. */
static struct tuple tuple_of(uint64_t n)
{
	return (struct tuple){
		.start = n,
		.end = n * 3,
		.bytes = ~n,
		.peer = (int32_t)n,
		.seq_or_tag = (uint32_t)(n * 5),
		.comm = (uint32_t)(n * 7),
		.op = (uint16_t)n,
		.flags = (uint16_t)(n * 11),
	};
}

static bool tuple_is(const struct tuple *t, uint64_t n)
{
	struct tuple want = tuple_of(n);

	return memcmp(t, &want, sizeof(want)) == 0;
}

static uint64_t below(uint64_t *seed, uint64_t n)
{
	/* xorshift64 (Marsaglia 2003) */
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % n;
}

/* What a read must give when nobody writes meanwhile. */
static struct element_range model(uint32_t capacity, uint64_t head, uint64_t from, uint64_t to,
				  uint32_t max)
{
	uint64_t oldest = head >= capacity ? head - capacity + 1 : 0;
	uint64_t first = from;
	struct element_range range = {.first = from};

	if (to > head)
		to = head;
	if (from >= to)
		return range;
	if (first < oldest)
		first = oldest < to ? oldest : to;
	range.first = first;
	range.lost = first - from;
	range.count = to - first < max ? (uint32_t)(to - first) : max;
	return range;
}

static void read_and_compare(const struct element_ring *ring, uint32_t capacity, uint64_t head,
			     uint64_t *seed)
{
	static struct tuple out[MODEL_TUPLES];
	uint64_t from = below(seed, head + 3), to = below(seed, head + 10);
	uint32_t max = (uint32_t)below(seed, 2 * (uint64_t)capacity + 2);
	struct element_range got, want = model(capacity, head, from, to, max);
	int wrong = 0;

	element_read(ring, capacity, from, to, out, max, &got);
	CU_ASSERT_EQUAL(got.first, want.first);
	CU_ASSERT_EQUAL(got.count, want.count);
	CU_ASSERT_EQUAL(got.lost, want.lost);
	for (uint32_t i = 0; i < got.count; i++)
		wrong += !tuple_is(&out[i], got.first + i);
	CU_ASSERT_EQUAL(wrong, 0);
}

static void newest_and_compare(const struct element_ring *ring, uint32_t capacity, uint64_t head)
{
	struct tuple t;
	uint64_t number = 0;
	int found = element_latest(ring, capacity, element_inverse(capacity), &t, &number);

	CU_ASSERT_EQUAL(found, head > 0 && capacity > 1);
	if (found) {
		CU_ASSERT_EQUAL(number, head - 1);
		CU_ASSERT_TRUE(tuple_is(&t, head - 1));
	}
}

/* Random capacities, writes and reads; now and then the writer is a new one (a thread's successor).
 */
static void as_the_model(void)
{
	uint64_t seed = 88172645463325252;

	for (int round = 0; round < ROUNDS; round++) {
		uint32_t capacity = (uint32_t)below(&seed, round % 2 ? 6 : 400) + 1;
		struct element_ring *ring = ring_new(capacity);
		struct element_writer writer;
		uint64_t head = 0;

		element_writer_init(&writer, ring, capacity);
		while (head < 3 * (uint64_t)capacity) {
			for (uint64_t n = below(&seed, capacity + 2); n > 0; n--, head++) {
				struct tuple t = tuple_of(head);

				element_write(&writer, &t);
			}
			CU_ASSERT_EQUAL(element_head(ring), head);
			read_and_compare(ring, capacity, head, &seed);
			newest_and_compare(ring, capacity, head);
			if (below(&seed, 4) == 0)
				element_writer_init(&writer, ring, capacity);
		}
		free(ring);
	}
}

static void layout(void)
{
	for (uint32_t capacity = 1; capacity < 5000; capacity++) {
		size_t bytes = element_ring_bytes(capacity);

		CU_ASSERT_TRUE(bytes >= sizeof(struct element_ring) +
						(size_t)capacity * sizeof(struct tuple));
		/* an odd number of cache lines: no power of two stride */
		CU_ASSERT_EQUAL(bytes % 128, 64);
	}
	CU_ASSERT_TRUE(element_ring_bytes(UINT32_MAX) > UINT32_MAX * (uint64_t)40);
}

/* Heads that no writer made, as in a hostile file. */
static void any_head(void)
{
	static const uint64_t heads[] = {1, 7, 8, 9, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
	struct element_ring *ring = ring_new(8);
	struct element_range range;
	struct tuple out[8], t;
	uint64_t number;

	for (unsigned i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		atomic_store(&ring->head, heads[i]);
		element_read(ring, 8, 0, UINT64_MAX, out, 8, &range);
		CU_ASSERT_TRUE(range.count <= 7);
		CU_ASSERT_EQUAL(range.lost, range.first);
		element_read(ring, 0, 0, UINT64_MAX, out, 8, &range);
		CU_ASSERT_EQUAL(range.count, 0);
		element_latest(ring, 8, element_inverse(8), &t, &number);
	}
	free(ring);
}

/** A writer as fast as it can be, and what readers beside it get. */
struct race {
	struct element_ring *ring;
	uint32_t capacity;
	uint64_t tuples;
	_Atomic bool done;
	_Atomic uint64_t torn, delivered, lost, backwards;
	_Atomic int ready;
};

static void *race_write(void *arg)
{
	struct race *race = arg;
	struct element_writer w;

	while (atomic_load(&race->ready) < READERS)
		sched_yield();
	element_writer_init(&w, race->ring, race->capacity);
	for (uint64_t n = 0; n < race->tuples; n++) {
		struct tuple t = tuple_of(n);

		element_write(&w, &t);
	}
	atomic_store(&race->done, true);
	return NULL;
}

/* Reads on until the writer is done and nothing is left. */
static void *race_read(void *arg)
{
	struct race *race = arg;
	struct tuple *out = calloc(race->capacity, sizeof(*out)), newest;
	struct element_range range;
	uint64_t from = 0, number, seen = 0;
	bool last = false;

	atomic_fetch_add(&race->ready, 1);
	while (out && !last) {
		last = atomic_load(&race->done);
		do {
			element_read(race->ring, race->capacity, from, UINT64_MAX, out,
				     race->capacity, &range);
			for (uint32_t i = 0; i < range.count; i++)
				race->torn += !tuple_is(&out[i], range.first + i);
			race->delivered += range.count;
			race->lost += range.lost;
			race->backwards += range.first != from + range.lost;
			from = range.first + range.count;
		} while (last && range.count);
		if (element_latest(race->ring, race->capacity, element_inverse(race->capacity),
				   &newest, &number)) {
			race->torn += !tuple_is(&newest, number);
			race->backwards += number < seen;
			seen = number;
		}
	}
	free(out);
	return NULL;
}

static void race_run(uint32_t capacity, uint64_t tuples)
{
	struct race race = {.ring = ring_new(capacity), .capacity = capacity, .tuples = tuples};
	pthread_t writer, readers[READERS];

	pthread_create(&writer, NULL, race_write, &race);
	for (int i = 0; i < READERS; i++)
		pthread_create(&readers[i], NULL, race_read, &race);
	pthread_join(writer, NULL);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	CU_ASSERT_EQUAL(race.torn, 0);
	CU_ASSERT_EQUAL(race.backwards, 0);
	CU_ASSERT_EQUAL(race.delivered + race.lost, READERS * tuples);
	tap_note("capacity %u: %llu delivered, %llu lost", capacity,
		 (unsigned long long)race.delivered, (unsigned long long)race.lost);
	free(race.ring);
}

static void lapped(void)
{
	race_run(2, 200000);
	race_run(3, 200000);
	race_run(16, 300000);
}

static void sometimes_lapped(void)
{
	race_run(200, 300000);
	race_run(5000, 300000);
}

static CU_TestInfo element_cases[] = {
	{"reads as the model does", as_the_model},
	{"rings are laid out for the cache", layout},
	{"heads that no writer made", any_head},
	{"readers that are lapped all the time: nothing torn, all accounted for", lapped},
	{"readers that are lapped now and then", sometimes_lapped},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "element", .pTests = element_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
