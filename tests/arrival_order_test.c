/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is said of how long threads were in no collective: it is true, or not known, of
 * threads with several elements whose calls come in parts, and get lost. */
#include "tests/random.h"
#include "tests/tap.h"

#include <string.h>

#include "consumers/analysis/arrival-order.h"

#define THREADS	 3u
#define ELEMENTS 4u
#define CALLS	 600u
#define STEP	 30u

/* Threads whose calls are in one of their elements each, and what came of them. */
struct past {
	uint64_t seed;
	unsigned lose;	/* one in so many; 0: none */
	uint32_t first; /* what was before has come to nobody */
	bool split;
	int64_t start_ns[THREADS][CALLS], end_ns[THREADS][CALLS];
	uint32_t element[THREADS][CALLS];
	uint64_t number[THREADS][CALLS];
	bool lost[THREADS][CALLS];
	unsigned n, known, wrong, came[THREADS][CALLS];
	int64_t last_ns; /* start of who came last */
};

static uint32_t roll(struct past *p, uint32_t below)
{
	return (uint32_t)random_below(&p->seed, below);
}

static void past_make(struct past *p)
{
	uint64_t next[THREADS][ELEMENTS] = {{0}};

	for (uint32_t t = 0; t < THREADS; t++) {
		int64_t now = roll(p, 100);

		for (uint32_t i = 0; i < CALLS; i++) {
			now += roll(p, 50);
			p->start_ns[t][i] = now;
			now += 1 + roll(p, 20);
			p->end_ns[t][i] = now;
			p->element[t][i] = p->split ? roll(p, ELEMENTS) : 0;
			p->number[t][i] = next[t][p->element[t][i]]++;
			p->lost[t][i] = i < p->first;
		}
	}
}

/* What is overwritten comes before others of its element. */
static void past_lose(struct past *p, uint32_t t, uint32_t from)
{
	bool more[ELEMENTS] = {false};

	for (uint32_t i = from + STEP; i-- > from;) {
		p->lost[t][i] |= more[p->element[t][i]] && p->lose && roll(p, p->lose) == 0;
		more[p->element[t][i]] = true;
	}
}

static void take(void *arg, const struct meeting_key *key, const struct arrival *a)
{
	struct past *p = arg;
	const uint32_t t = a->process, i = key->number;

	p->n++;
	p->came[t][i]++;
	p->wrong += a->start_ns < p->last_ns;
	p->last_ns = a->start_ns;
	if (a->between_ns < 0)
		return;
	p->known++;
	p->wrong += i == 0 || a->between_ns != p->start_ns[t][i] - p->end_ns[t][i - 1];
}

/* Those of some calls that are in one element. */
static void element_comes(struct past *p, struct arrival_order *o, uint32_t t, uint32_t element,
			  uint32_t from)
{
	for (uint32_t i = from; i < from + STEP; i++) {
		const struct arrival_call call = {
			.key = {.comm = 1, .number = i},
			.arrival = {.start_ns = p->start_ns[t][i],
				    .end_ns = p->end_ns[t][i],
				    .process = t},
			.number = p->number[t][i],
			.thread = t,
			.element = t * ELEMENTS + element,
			.split = p->split,
			.joined = i % 7 != 0,
		};

		if (p->element[t][i] == element && !p->lost[t][i])
			arrival_order_add(o, &call);
	}
}

static void run(struct past *p, size_t most)
{
	struct arrival_order *o = arrival_order_new(most, take, p);

	past_make(p);
	for (uint32_t from = 0; from < CALLS; from += STEP) {
		const uint32_t turn = roll(p, ELEMENTS);

		for (uint32_t t = 0; t < THREADS; t++)
			past_lose(p, t, from);
		for (uint32_t e = 0; e < ELEMENTS; e++)
			for (uint32_t t = 0; t < THREADS; t++)
				element_comes(p, o, t, (e + turn) % ELEMENTS, from);
		arrival_order_turn(o);
		p->last_ns = 0;
	}
	arrival_order_free(o);
	CU_ASSERT_EQUAL(p->wrong, 0);
	for (uint32_t t = 0; t < THREADS; t++)
		for (uint32_t i = 0; i < CALLS; i++)
			CU_ASSERT_EQUAL(p->came[t][i], !p->lost[t][i] && i % 7 != 0);
}

static void all_is_known(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct past p = {.seed = seed, .split = seed % 2};

		run(&p, CALLS * THREADS);
		/* the first one of each is not joined */
		CU_ASSERT_EQUAL(p.known, p.n);
	}
}

static void begins_are_not_known(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct past p = {.seed = seed, .split = true, .first = 100};

		run(&p, CALLS * THREADS);
		CU_ASSERT(p.known < p.n);
		CU_ASSERT(p.known > p.n * 9 / 10);
	}
}

static void losses_are_not_bridged(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct past p = {.seed = seed, .split = seed % 2, .lose = 20};

		run(&p, CALLS * THREADS);
		CU_ASSERT(p.known > p.n / 3);
		CU_ASSERT(p.known < p.n);
	}
}

/* Too many have come to be kept: of threads with one element all is known nevertheless. */
static void crowds_are_not_known(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct past p = {.seed = seed, .split = seed % 2};
		struct arrival_order *o = arrival_order_new(50, take, &p);

		past_make(&p);
		for (uint32_t t = 0; t < THREADS; t++) {
			for (uint32_t e = 0; e < ELEMENTS; e++)
				for (uint32_t from = 0; from < CALLS; from += STEP) {
					element_comes(&p, o, t, e, from);
					p.last_ns = INT64_MIN;
				}
		}
		arrival_order_turn(o);
		arrival_order_free(o);
		CU_ASSERT(p.split ? p.known < p.n / 2 : p.known == p.n);
	}
}

/* Nobody says which of an element's calls have come. */
static void filters_leave_nothing_known(void)
{
	struct past p = {.seed = 3};
	struct arrival_order *o = arrival_order_new(CALLS, take, &p);

	past_make(&p);
	for (uint32_t i = 0; i < CALLS; i++)
		p.number[0][i] = UINT64_MAX;
	for (uint32_t from = 0; from < CALLS; from += STEP)
		element_comes(&p, o, 0, 0, from);
	arrival_order_turn(o);
	arrival_order_free(o);
	CU_ASSERT(p.n > 0);
	CU_ASSERT_EQUAL(p.known, 0);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"what a thread did before each of its calls is known", all_is_known},
		{"... not where looking begins", begins_are_not_known},
		{"... nor where calls were lost", losses_are_not_bridged},
		{"... nor where too many come, and some of a thread's elements later",
		 crowds_are_not_known},
		{"... nor where some are left out", filters_leave_nothing_known},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {{"arrival_order", NULL, NULL, NULL, NULL, cases},
				 CU_SUITE_INFO_NULL};

	return tap_run(suites);
}
