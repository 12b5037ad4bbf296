/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that sends and receives are only paired that belong together, whatever is missing. */
#include "consumers/keep/pairing.h"

#include <string.h>

#include "tests/random.h"
#include "tests/tap.h"

#define RANKS	 3u
#define TAGS	 2u
#define SIDES	 400u
#define CHANNELS (RANKS * RANKS * TAGS)

/* One side of a message, as its rank has recorded it. */
struct made {
	struct pairing_side side;
	unsigned rank, channel;
	uint64_t message; /* the n-th of its channel */
	uint64_t number;  /* that it gets */
	bool missing;
};

static struct made all[SIDES];
static uint64_t sent[CHANNELS], received[CHANNELS];

static void side_make(struct made *m, unsigned i, unsigned channel, bool is_receive)
{
	unsigned from = channel / TAGS / RANKS, to = channel / TAGS % RANKS;

	*m = (struct made){.channel = channel, .rank = is_receive ? to : from};
	m->side = (struct pairing_side){.channel = {(int32_t)from, (int32_t)to, channel % TAGS, 7},
					.ns = 10 * i,
					.thread = m->rank,
					.received = is_receive};
	m->message = is_receive ? received[channel]++ : sent[channel]++;
}

/* Several messages are on their way at most times; in the end none, unless the program dies. */
static unsigned program_run(uint64_t *seed, bool dies)
{
	unsigned n = 0;

	memset(sent, 0, sizeof(sent));
	memset(received, 0, sizeof(received));
	while (n < SIDES / 2) {
		unsigned channel = (unsigned)random_below(seed, CHANNELS);
		bool is_receive = random_below(seed, 9) < 4;

		if (!is_receive || received[channel] < sent[channel]) {
			side_make(&all[n], n, channel, is_receive);
			n++;
		}
	}
	for (unsigned channel = 0; channel < CHANNELS && !dies; channel++) {
		while (received[channel] < sent[channel]) {
			side_make(&all[n], n, channel, true);
			n++;
		}
	}
	return n;
}

/* What a rank has done is missing from one place to another; @end: perhaps also its last. */
static void hole_make(struct pairing *p, uint64_t *seed, unsigned n, bool end)
{
	unsigned rank = (unsigned)random_below(seed, RANKS), at[SIDES], n_at = 0, from, to;

	for (unsigned i = 0; i < n; i++)
		if (all[i].rank == rank)
			at[n_at++] = i;
	if (n_at < 2)
		return;
	from = (unsigned)random_below(seed, n_at - 1);
	to = from + 1 + (unsigned)random_below(seed, 9);
	to = to < n_at - !end ? to : n_at - !end;
	for (unsigned i = from; i < to; i++)
		all[at[i]].missing = true;
	pairing_hole(p, (int32_t)rank, from > 0 ? all[at[from - 1]].side.ns : INT64_MIN,
		     to < n_at ? all[at[to]].side.ns : INT64_MAX);
}

/* Sides that have the number of one of another message. */
static unsigned wrong_pairs(unsigned n)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < i; k++)
			wrong += !all[i].missing && !all[k].missing &&
				 all[i].channel == all[k].channel &&
				 all[i].number < PAIRING_UNKNOWN &&
				 all[i].number == all[k].number && all[i].message != all[k].message;
	}
	return wrong;
}

/* Returns how many sides have numbers. */
static unsigned numbers_make(struct pairing *p, unsigned n)
{
	unsigned known = 0;

	for (unsigned i = 0; i < n; i++)
		if (!all[i].missing)
			pairing_count(p, &all[i].side);
	for (unsigned i = 0; i < n; i++) {
		all[i].number = all[i].missing ? PAIRING_ALONE : pairing_number(p, &all[i].side);
		known += all[i].number < PAIRING_UNKNOWN;
	}
	return known;
}

static unsigned programs_run(unsigned holes, bool dies)
{
	unsigned known = 0, wrong = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		uint64_t state = seed;
		unsigned n = program_run(&state, dies);
		struct pairing *p = pairing_new();

		for (unsigned rank = 0; rank < RANKS && !dies; rank++)
			pairing_end(p, (int32_t)rank);
		for (unsigned i = 0; i < holes; i++)
			hole_make(p, &state, n, dies);
		known += numbers_make(p, n);
		wrong += wrong_pairs(n);
		pairing_free(p);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	tap_note("%u holes, %s: %u sides have numbers", holes, dies ? "killed" : "ended", known);
	return known;
}

static void nothing_is_missing(void)
{
	unsigned ended = programs_run(0, false), dead = programs_run(0, true);

	/* all of both sides; without those that are on their way */
	CU_ASSERT(ended >= 300 * SIDES / 2 && dead > 300 * SIDES / 4 && dead < ended);
}

static void something_is_missing(void)
{
	unsigned one = programs_run(1, false), four = programs_run(4, false);

	CU_ASSERT(one > 300 * SIDES / 4 && four > 300 * SIDES / 40 && four < one);
	CU_ASSERT(programs_run(1, true) > 0);
	CU_ASSERT(programs_run(4, true) > 0);
}

/* A receive more than there are sends, and nobody has a hole: something was not recorded. */
static void what_cannot_be(void)
{
	static const struct pairing_side sides[] = {
		{{0, 1, 5, 7}, 10, 0, false},
		{{0, 1, 5, 7}, 20, 1, true},
		{{0, 1, 5, 7}, 30, 1, true},
		{{0, 2, 5, 7}, 40, 0, false},
	};
	struct pairing *p = pairing_new();

	for (unsigned i = 0; i < 4; i++)
		pairing_count(p, &sides[i]);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT(pairing_number(p, &sides[i]) == PAIRING_UNKNOWN);
	CU_ASSERT(pairing_number(p, &sides[3]) == PAIRING_ALONE);
	pairing_free(p);
}

/* Four receives that an MPI_Waitall has ended at once, of which the second is missing: none of them
 * is known by its place. */
static void ended_at_once(void)
{
	struct pairing *p = pairing_new();

	for (uint32_t i = 0; i < 4; i++) {
		all[i].side = (struct pairing_side){{0, 1, 5, 7}, 10 * i, 0, false};
		all[4 + i].side = (struct pairing_side){{0, 1, 5, 7}, 100, 1, true};
		all[i].message = all[4 + i].message = i;
		all[i].channel = all[4 + i].channel = 0;
		all[i].missing = false;
		all[4 + i].missing = i == 1;
	}
	pairing_hole(p, 1, 100, 100);
	pairing_end(p, 0);
	pairing_end(p, 1);
	numbers_make(p, 8);
	CU_ASSERT_EQUAL(wrong_pairs(8), 0);
	pairing_free(p);
}

static CU_TestInfo cases[] = {
	{"where nothing is missing all messages are paired", nothing_is_missing},
	{"where something is, none but those that belong together", something_is_missing},
	{"what cannot be is not known", what_cannot_be},
	{"a hole within receives that have ended at once", ended_at_once},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "pairing", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
