/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the join of collectives: random programs whose tuples get lost, against what each member
 * was in. */
#include "tests/random.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/analysis/meeting.h"
#include "pathmap/base/memory.h"

#define COMMS	4u
#define MEMBERS 6u
#define NUMBERS 200u
#define FIRST	(UINT32_MAX - 50) /* numbers wrap */
#define ALL	1000000u

/* What there was, and what came of it. */
struct world {
	uint64_t seed;
	unsigned size[COMMS];
	bool sent[COMMS][MEMBERS][NUMBERS];
	unsigned next[COMMS][MEMBERS];
	unsigned taken[COMMS][NUMBERS]; /* times */
	unsigned wrong, mixed, arrivals;
	uint64_t came, gaps[MEETING_GAPS];
};

static uint32_t roll(struct world *w, uint32_t below)
{
	return (uint32_t)random_below(&w->seed, below);
}

static struct arrival arrival(unsigned process, int64_t start_ns)
{
	return (struct arrival){.start_ns = start_ns,
				.end_ns = start_ns + 5,
				.process = process,
				.place = (int32_t)process,
				.op = 200};
}

/* Why it lacks members, by all that was ever sent. */
static enum meeting_gap gap_of(const struct world *w, unsigned comm, unsigned number)
{
	bool lost = false, absent = false, before = false;

	for (unsigned i = 0; i < w->size[comm]; i++) {
		bool later = false, earlier = false;

		for (unsigned k = 0; k < NUMBERS; k++) {
			later = later || (k > number && w->sent[comm][i][k]);
			earlier = earlier || (k < number && w->sent[comm][i][k]);
		}
		if (w->sent[comm][i][number])
			continue;
		lost = lost || (earlier && later);
		absent = absent || !later;
		before = before || !earlier;
	}
	return lost	? MEETING_LOST
	       : absent ? MEETING_ABSENT
	       : before ? MEETING_BEFORE
			: MEETING_WHOLE;
}

static void take(void *arg, const struct meeting *m)
{
	struct world *w = arg;
	unsigned comm = m->key.comm - 1, number = m->key.number - FIRST;
	bool came[MEMBERS] = {false};

	w->came += m->n;
	w->taken[comm][number]++;
	for (size_t i = 0; i < m->n; i++) {
		unsigned process = m->arrivals[i].process;

		w->wrong += came[process] || !w->sent[comm][process][number];
		w->wrong += i > 0 && m->arrivals[i].start_ns < m->arrivals[i - 1].start_ns;
		came[process] = true;
	}
	w->wrong += m->gap != MEETING_CROWDED && m->gap != gap_of(w, comm, number);
	w->wrong += (m->gap == MEETING_WHOLE) != (m->n == w->size[comm]);
	w->gaps[m->gap]++;
}

static void take_count(void *arg, const struct meeting *m)
{
	struct world *w = arg;

	w->gaps[m->gap]++;
	w->mixed += m->mixed;
	w->arrivals += (unsigned)m->n;
}

/* Some tuples are lost, some members begin late or end early, in ranges. */
static void make(struct world *w)
{
	for (unsigned c = 0; c < COMMS; c++) {
		w->size[c] = 1 + roll(w, MEMBERS);
		for (unsigned i = 0; i < w->size[c]; i++) {
			unsigned from = roll(w, 2) ? 0 : roll(w, 40);
			unsigned to = roll(w, 3) ? NUMBERS : NUMBERS - roll(w, 40);
			unsigned hole = roll(w, NUMBERS), width = roll(w, 3) ? 0 : roll(w, 30);

			for (unsigned k = from; k < to; k++)
				w->sent[c][i][k] = k < hole || k >= hole + width;
		}
	}
}

/* A turn has some of what comes next of each member, in any order of members. */
static void turn(struct world *w, struct meetings *m, bool sized)
{
	for (unsigned at = 0; at < COMMS * MEMBERS; at++) {
		unsigned c = at / MEMBERS, i = at % MEMBERS, n = roll(w, 8);
		const struct meeting_key key = {
			.comm = c + 1, .size = sized ? w->size[c] : 0, .root = -1};

		for (unsigned *k = &w->next[c][i]; i < w->size[c] && n > 0 && *k < NUMBERS; ++*k) {
			struct meeting_key now = key;
			struct arrival a = arrival(i, (int64_t)*k * 10 + roll(w, 5));

			now.number = FIRST + *k;
			if (!w->sent[c][i][*k])
				continue;
			meetings_add(m, &now, &a);
			n--;
		}
	}
	meetings_turn(m);
}

static bool done(const struct world *w)
{
	for (unsigned c = 0; c < COMMS; c++)
		for (unsigned i = 0; i < w->size[c]; i++)
			if (w->next[c][i] < NUMBERS)
				return false;
	return true;
}

static void run(struct world *w, struct meetings *m, bool sized)
{
	make(w);
	while (!done(w))
		turn(w, m, sized);
	meetings_end(m);
}

static uint64_t sent(const struct world *w)
{
	uint64_t n = 0;

	for (unsigned c = 0; c < COMMS; c++)
		for (unsigned i = 0; i < MEMBERS; i++)
			for (unsigned k = 0; k < NUMBERS; k++)
				n += w->sent[c][i][k];
	return n;
}

/* Each meeting comes once, with all that came of it, and says why it lacks the others. */
static void meetings_are_joined(void)
{
	for (unsigned seed = 0; seed < 50; seed++) {
		struct world *w = memory_new(1, sizeof(*w));
		struct meetings *m = meetings_new(ALL, take, w);

		w->seed = seed;
		run(w, m, true);
		CU_ASSERT_EQUAL(w->wrong, 0);
		CU_ASSERT_EQUAL(w->came, sent(w));
		for (unsigned c = 0; c < COMMS; c++)
			for (unsigned k = 0; k < NUMBERS; k++)
				CU_ASSERT(w->taken[c][k] <= 1);
		for (unsigned g = 0; g < MEETING_GAPS; g++)
			CU_ASSERT_EQUAL(w->gaps[g], meetings_counts(m)->n[g]);
		CU_ASSERT_EQUAL(meetings_counts(m)->strays, 0);
		CU_ASSERT(w->gaps[MEETING_WHOLE] > 0);
		meetings_free(m);
		free(w);
	}
}

/* With little memory some are given up; what came is in one of them, or is counted. */
static void memory_is_bounded(void)
{
	for (unsigned seed = 0; seed < 50; seed++) {
		struct world *w = memory_new(1, sizeof(*w));
		struct meetings *m = meetings_new(60, take_count, w);
		const struct meetings_counts *n = meetings_counts(m);

		w->seed = seed;
		run(w, m, true);
		CU_ASSERT_EQUAL(w->arrivals + n->strays + n->refused, sent(w));
		CU_ASSERT(n->n[MEETING_CROWDED] > 0);
		meetings_free(m);
		free(w);
	}
}

/* Without a size those that were seen are all. */
static void sizes_may_be_unknown(void)
{
	struct world w = {0};
	struct meetings *m = meetings_new(ALL, take_count, &w);

	for (uint32_t k = 0; k < 100; k++) {
		struct meeting_key key = {.comm = 1, .number = k, .root = -1};

		for (unsigned i = 0; i < 3; i++) {
			struct arrival a = arrival(i, k);

			if (k != 50 || i != 1)
				meetings_add(m, &key, &a);
		}
		meetings_turn(m);
	}
	CU_ASSERT_EQUAL(w.gaps[MEETING_UNSIZED], 98);
	meetings_end(m);
	CU_ASSERT_EQUAL(w.gaps[MEETING_UNSIZED], 100);
	CU_ASSERT_EQUAL(w.gaps[MEETING_WHOLE], 0);
	meetings_free(m);
}

/* Two threads of a process take turns: their elements are read one after the other. */
static void threads_take_turns(void)
{
	struct world w = {0};
	struct meetings *m = meetings_new(ALL, take_count, &w);

	for (uint32_t wave = 0; wave < 20; wave++) {
		for (uint32_t at = 0; at < 20; at++) {
			uint32_t even = at < 10 ? 2 * at + 1 : 2 * (at - 10);
			struct meeting_key key = {1, wave * 20 + even, 2, -1, false};
			struct arrival a = arrival(0, even), b = arrival(1, at);

			meetings_add(m, &key, &a);
			key.number = wave * 20 + at;
			meetings_add(m, &key, &b);
		}
		meetings_turn(m);
	}
	CU_ASSERT_EQUAL(w.gaps[MEETING_WHOLE], 400);
	meetings_free(m);
}

/* Communicators come and go, and one comes again with the same id. */
static void communicators_come_and_go(void)
{
	struct world w = {0};
	struct meetings *m = meetings_new(100, take_count, &w);

	for (uint32_t k = 0; k < 10000; k++) {
		struct meeting_key key = {k < 5000 ? 7 : k, k < 5000 ? k % 10 : 0, 2, -1, false};

		for (unsigned i = 0; i < 2; i++) {
			struct arrival a = arrival(i, k);

			a.op = k == 17 && i ? 212 : 200;
			/* the number 5 lacks a member, each time */
			if (key.number != 5 || i == 0)
				meetings_add(m, &key, &a);
		}
	}
	meetings_end(m);
	CU_ASSERT_EQUAL(w.gaps[MEETING_WHOLE], 9500);
	CU_ASSERT_EQUAL(meetings_counts(m)->refused, 0);
	CU_ASSERT_EQUAL(w.mixed, 1);
	CU_ASSERT_EQUAL(meetings_counts(m)->mixed, 1);
	meetings_free(m);
}

/* Of a group that may have more members than are known yet, one is whole when none has come since a
 * turn; and each may be for another number of members. */
static void groups_grow(void)
{
	struct world w = {0};
	struct meetings *m = meetings_new(ALL, take_count, &w);
	struct meeting_key two = {1, 1, 2, -1, true}, three = {1, 1, 3, -1, true};
	struct meeting_key next = {1, 2, 2, -1, true};
	struct arrival a[] = {arrival(0, 10), arrival(1, 11), arrival(2, 12)};

	meetings_add(m, &two, &a[0]);
	meetings_add(m, &two, &a[1]);
	meetings_turn(m);
	CU_ASSERT_EQUAL(w.gaps[MEETING_WHOLE], 0);
	meetings_add(m, &three, &a[2]);
	meetings_turn(m);
	CU_ASSERT_EQUAL(w.gaps[MEETING_WHOLE], 0);
	meetings_turn(m);
	CU_ASSERT_EQUAL(w.gaps[MEETING_WHOLE], 1);
	CU_ASSERT_EQUAL(w.arrivals, 3);
	meetings_add(m, &next, &a[0]);
	meetings_add(m, &next, &a[2]);
	meetings_turn(m);
	meetings_turn(m);
	CU_ASSERT_EQUAL(w.gaps[MEETING_WHOLE], 2);
	meetings_free(m);
}

/* Times that no clock has are from a damaged ring. */
static void times_are_possible(void)
{
	struct world w = {0};
	struct meetings *m = meetings_new(ALL, take_count, &w);
	struct meeting_key key = {1, 1, 2, -1, false};
	struct arrival a[] = {arrival(0, INT64_MIN), arrival(0, INT64_MAX - 10), arrival(0, 10)};

	a[2].end_ns = 9;
	for (unsigned i = 0; i < 3; i++)
		meetings_add(m, &key, &a[i]);
	CU_ASSERT_EQUAL(meetings_counts(m)->refused, 3);
	meetings_end(m);
	CU_ASSERT_EQUAL(w.arrivals, 0);
	meetings_free(m);
}

static void take_root(void *arg, const struct meeting *m)
{
	*(int32_t *)arg = m->key.root;
}

/* Of an intercommunicator the root's group says none, and the other one its place there. */
static void roots_are_one(void)
{
	const struct arrival a = arrival(0, 10), b = arrival(1, 20);
	struct meeting_key key = {1, 1, 2, 1, false};
	int32_t root = -2;
	struct meetings *m = meetings_new(ALL, take_root, &root);

	meetings_add(m, &key, &a);
	meetings_add(m, &key, &b);
	CU_ASSERT_EQUAL(root, 1);
	key.number = 2;
	meetings_add(m, &key, &a);
	key.root = -1;
	meetings_add(m, &key, &b);
	CU_ASSERT_EQUAL(root, -1);
	key.number = 3;
	meetings_add(m, &key, &a);
	key.root = 1;
	meetings_add(m, &key, &b);
	CU_ASSERT_EQUAL(root, -1);
	meetings_free(m);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"each collective is joined once, and says why it lacks members",
		 meetings_are_joined},
		{"memory is bounded, and what that costs is counted", memory_is_bounded},
		{"of communicators of unknown size none is whole", sizes_may_be_unknown},
		{"threads of a process may take turns", threads_take_turns},
		{"groups may have more members than are known yet", groups_grow},
		{"communicators come and go, and ids are used again", communicators_come_and_go},
		{"impossible times are refused", times_are_possible},
		{"a root is what all members say", roots_are_one},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {{"meeting", NULL, NULL, NULL, NULL, cases}, CU_SUITE_INFO_NULL};

	return tap_run(suites);
}
