/* SPDX-License-Identifier: BSD-3-Clause */
/* Records for tests of columns: of all kinds, and like real ones. */
#ifndef EVSPACE_TESTS_COLUMNS_RECORDS_H
#define EVSPACE_TESTS_COLUMNS_RECORDS_H

#include <string.h>

#include "tests/random.h"
#include "tree/data/meet.h"
#include "tree/data/tuple.h"

static uint64_t seed = 1;

static inline uint64_t special(void)
{
	static const uint64_t values[] = {0,	      1,	 UINT64_MAX,
					  INT64_MAX,  INT32_MAX, (uint64_t)INT64_MIN,
					  UINT32_MAX, 0x80000000};

	return values[random_below(&seed, 8)];
}

/* Words of all kinds: how they are differs from one column to the next. */
static inline void records_make(unsigned char *records, size_t n, size_t record)
{
	for (size_t at = 0; at < record; at += 4) {
		uint64_t how = random_below(&seed, 7), now = random_below(&seed, UINT64_MAX);
		uint64_t most = UINT64_C(1) << random_below(&seed, 64);

		for (size_t i = 0; i < n; i++) {
			uint64_t value = how == 0   ? special()
					 : how == 1 ? random_below(&seed, UINT64_MAX)
					 : how == 2 ? now
					 : how == 3 ? now + random_below(&seed, most)
					 : how == 4 ? (now += random_below(&seed, most))
					 : how == 5 ? now + i / 200 * most
						    : i % 2;

			memcpy(records + i * record + at, &value, 4);
		}
	}
}

/* As a thread makes them: one after the other, of a few kinds and sizes. */
static inline void tuples_like_real_ones(struct tuple *tuples, size_t n)
{
	uint64_t now = UINT64_C(123456789012345);

	for (size_t i = 0; i < n; i++) {
		now += 2000 + random_below(&seed, 3000);
		tuples[i] = (struct tuple){
			.start = now,
			.end = now + 500 + random_below(&seed, 1000),
			.bytes = 8192,
			.peer = i % 2 ? 3 : 5,
			.seq_or_tag = (uint32_t)i,
			.comm = 0xdeadbeef,
			.op = (uint16_t)(10 + i % 4),
		};
		now = tuples[i].end;
	}
}

/* Members of collectives that follow each other. */
static inline void meets_like_real_ones(struct meet *meets, size_t n)
{
	uint64_t now = UINT64_C(123456789012345);

	for (size_t i = 0; i < n; i++) {
		uint64_t spread = random_below(&seed, 2000), start = now += 5000 + spread;

		meets[i] = (struct meet){
			.start = start,
			.before = start + spread / 2,
			.last = start + spread,
			.end = start + spread + random_below(&seed, 500),
			.last_end = start + spread + 500 + random_below(&seed, 500),
			.waited = spread * 2,
			.bytes = i % 3 * 64,
			.comm = 0xdeadbeef,
			.number = (uint32_t)i,
			.count = 4,
			.who = (uint32_t)random_below(&seed, 4),
			.signature = -1,
			.op = (uint16_t)(200 + i % 3),
			.magnitude = (uint8_t)(i % 3 * 5),
			.flags = (uint8_t)random_below(&seed, 4),
		};
	}
}

#endif
