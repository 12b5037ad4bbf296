/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what meetings say of clocks: with planted offsets, what is said is true, surer than before,
 * and faults are found where there are some. */
#include "tests/random.h"
#include "tests/tap.h"

#include <math.h>

#include "consumers/analysis/crossing.h"
#include "tree/data/op-table.h"

#define HOSTS	 3u
#define MEMBERS	 12u
#define MEETINGS 500u
#define INSIDE	 20000 /* ns from the last start to the last end */

/* Times as they are, and as the clocks of hosts show them. */
struct planted {
	struct arrival shown[MEMBERS];
	int64_t starts[MEMBERS]; /* true ones, by process */
	struct meeting meeting;
};

static int64_t below(uint64_t *seed, uint64_t n)
{
	return (int64_t)random_below(seed, n);
}

/* Members come within @spread_ns; all leave when the last one has come. */
static void plant(struct planted *p, uint64_t *seed, const int64_t *off_ns, double error_ns,
		  int64_t spread_ns)
{
	const int64_t now = INT64_C(1700000000000000000);
	int64_t last = 0;

	for (uint32_t i = 0; i < MEMBERS; i++) {
		p->starts[i] = now + below(seed, (uint64_t)spread_ns);
		last = p->starts[i] > last ? p->starts[i] : last;
	}
	for (uint32_t i = 0; i < MEMBERS; i++) {
		p->shown[i] = (struct arrival){
			.start_ns = p->starts[i] + off_ns[i % HOSTS],
			.end_ns = last + 1000 + below(seed, INSIDE) + off_ns[i % HOSTS],
			.error_ns = error_ns,
			.process = i,
			.host = i % HOSTS,
			.place = (int32_t)i,
			.op = OP_MPI_BARRIER,
		};
	}
	p->meeting = (struct meeting){.key = {1, 1, MEMBERS, -1, false},
				      .op = OP_MPI_BARRIER,
				      .n = MEMBERS,
				      .arrivals = p->shown};
	meeting_sort(&p->meeting);
}

/* Differences of two members' times that are off by more than is said. */
static unsigned wrong(const struct planted *p)
{
	unsigned n = 0;

	for (size_t i = 0; i < MEMBERS; i++) {
		for (size_t k = 0; k < MEMBERS; k++) {
			const struct arrival *a = &p->shown[i], *b = &p->shown[k];
			int64_t truth = p->starts[a->process] - p->starts[b->process];

			/* moved by whole ns */
			n += fabs((double)(a->start_ns - b->start_ns - truth)) >
			     arrival_bound(a, b) + 2;
		}
	}
	return n;
}

static void offsets_any(uint64_t *seed, int64_t *off_ns, int64_t error_ns)
{
	for (uint32_t i = 0; i < HOSTS; i++)
		off_ns[i] = below(seed, (uint64_t)(2 * error_ns + 1)) - error_ns;
}

/* Whatever clocks are off within their bounds. */
static void what_is_said_is_true(void)
{
	static const int64_t errors[] = {10, 1000, 20000, 1000000, 100000000};
	uint64_t seed = 1;

	for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
		struct crossings *c = crossings_new();
		const struct crossing_counts *n = crossings_counts(c);

		for (unsigned k = 0; k < MEETINGS; k++) {
			int64_t off_ns[HOSTS];
			struct planted p;

			offsets_any(&seed, off_ns, errors[e]);
			plant(&p, &seed, off_ns, (double)errors[e], k % 2 ? 50000 : 3000000);
			CU_ASSERT_EQUAL(wrong(&p), 0);
			crossings_take(c, &p.meeting);
			CU_ASSERT_EQUAL(wrong(&p), 0);
			for (size_t i = 1; i < MEMBERS; i++)
				CU_ASSERT(p.shown[i].start_ns >= p.shown[i - 1].start_ns);
		}
		CU_ASSERT_EQUAL(n->meetings, MEETINGS);
		CU_ASSERT_EQUAL(n->faults, 0);
		CU_ASSERT(n->bound_ns <= n->was_ns);
		/* bounds below what the operation takes cannot become smaller, far larger ones
		 * must */
		CU_ASSERT(errors[e] > 10 || n->corrected == 0);
		CU_ASSERT(errors[e] < 1000000 || n->corrected > MEETINGS / 3);
		CU_ASSERT(errors[e] < 100000000 || n->bound_ns < n->was_ns / 20);
		crossings_free(c);
	}
}

/* One clock is off by more than it says: named is a pair with it, and with how much. */
static void faults_are_found(void)
{
	uint64_t seed = 7;

	for (unsigned k = 0; k < MEETINGS; k++) {
		struct crossings *c = crossings_new();
		const struct crossing_counts *n = crossings_counts(c);
		uint32_t bad = (uint32_t)below(&seed, HOSTS);
		int64_t off_ns[HOSTS] = {0}, step = 5000000 + below(&seed, 1000000);
		struct planted p;

		off_ns[bad] = k % 2 ? step : -step;
		plant(&p, &seed, off_ns, 10000, 30000);
		crossings_take(c, &p.meeting);
		CU_ASSERT_EQUAL(n->faults, 1);
		CU_ASSERT(n->worst.left == bad || n->worst.came == bad);
		CU_ASSERT((k % 2 ? n->worst.came : n->worst.left) == bad);
		CU_ASSERT(n->worst.ns <= (double)step && n->worst.ns > (double)step - 60000);
		CU_ASSERT_EQUAL(n->worst.error_ns, 20000);
		CU_ASSERT_EQUAL(n->worst.op, OP_MPI_BARRIER);
		/* events alone say what is true */
		CU_ASSERT(n->corrected == 0 || wrong(&p) == 0);
		crossings_free(c);
	}
}

/* Only whole ones in which everybody has to wait say anything. */
static void others_say_nothing(void)
{
	struct crossings *c = crossings_new();
	int64_t off_ns[HOSTS] = {0, 50000000, 0};
	uint64_t seed = 9;
	struct planted p;

	plant(&p, &seed, off_ns, 10000, 30000);
	p.meeting.op = OP_MPI_REDUCE;
	crossings_take(c, &p.meeting);
	/* without data */
	p.meeting.op = OP_MPI_ALLREDUCE;
	crossings_take(c, &p.meeting);
	p.meeting.op = OP_MPI_BARRIER;
	p.meeting.gap = MEETING_LOST;
	crossings_take(c, &p.meeting);
	p.meeting.gap = MEETING_WHOLE;
	p.meeting.mixed = true;
	crossings_take(c, &p.meeting);
	p.meeting.mixed = false;
	p.shown[3].host = CROSSING_HOSTS;
	crossings_take(c, &p.meeting);
	for (size_t i = 0; i < MEMBERS; i++)
		p.shown[i].host = 1;
	crossings_take(c, &p.meeting);
	CU_ASSERT_EQUAL(crossings_counts(c)->meetings, 0);
	CU_ASSERT_EQUAL(crossings_counts(c)->faults, 0);
	crossings_free(c);
}

static CU_TestInfo crossing_cases[] = {
	{"what is said is true, and surer than before", what_is_said_is_true},
	{"faults are found, and where", faults_are_found},
	{"others say nothing", others_say_nothing},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static CU_SuiteInfo suites[] = {
		{"crossing", NULL, NULL, NULL, NULL, crossing_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
