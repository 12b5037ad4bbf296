/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests who waits for whom in a collective: random times, against the definitions word by word. */
#include "tests/random.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>

#include "consumers/analysis/wait.h"
#include "tree/data/op.h"

#define MOST 9u

static int compare(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static double off(const struct arrival *a, const struct arrival *b)
{
	return a->host == b->host ? 0 : a->error_ns + b->error_ns;
}

static bool counts_for(enum wait_kind kind, const struct arrival *who, const struct arrival *whom,
		       int32_t root)
{
	switch (kind) {
	case WAIT_BARRIER:
	case WAIT_NXN:
		return true;
	case WAIT_BROADCAST:
		return whom->place == root;
	case WAIT_REDUCE:
		return who->place == root && whom->place != root;
	case WAIT_SCAN:
		return whom->place < who->place;
	default:
		return false;
	}
}

/* How long @who waits: from its start to the last start of whom it needs, but not after its end. */
static double waited(const struct meeting *m, enum wait_kind kind, size_t who)
{
	const struct arrival *a = &m->arrivals[who], *last = NULL;
	double ns;

	for (size_t i = 0; i < m->n; i++) {
		const struct arrival *b = &m->arrivals[i];

		if (counts_for(kind, a, b, m->key.root) && (!last || b->start_ns >= last->start_ns))
			last = b;
	}
	if (!last || last == a)
		return 0;
	ns = fmin((double)last->start_ns, (double)a->end_ns) - (double)a->start_ns;
	return ns > off(a, last) ? ns : 0;
}

static double late(const struct meeting *m, size_t who)
{
	double starts[MOST];
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		if (i != who)
			starts[n++] = (double)m->arrivals[i].start_ns;
	}
	if (n == 0)
		return 0;
	return (double)m->arrivals[who].start_ns -
	       (n % 2 ? starts[n / 2] : (starts[n / 2 - 1] + starts[n / 2]) / 2);
}

static double late_error(const struct meeting *m, size_t who)
{
	double most = 0;

	for (size_t i = 0; i < m->n; i++)
		most = fmax(most, off(&m->arrivals[who], &m->arrivals[i]));
	return most;
}

static void make(uint64_t *seed, struct meeting *m, bool exact)
{
	static const char *const ops[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Bcast",
					  "MPI_Gatherv", "MPI_Exscan",	  "MPI_Neighbor_allgather"};
	size_t n = 1 + random_below(seed, MOST), turn = random_below(seed, n);

	m->n = n;
	m->op = op_find(ops[random_below(seed, 6)]);
	m->key.root = (int32_t)random_below(seed, n + 1) - 1;
	for (size_t i = 0; i < n; i++) {
		int64_t start = (int64_t)random_below(seed, 10000);

		m->arrivals[i] = (struct arrival){
			.start_ns = start,
			.end_ns = start + (int64_t)random_below(seed, 10000),
			.error_ns = exact ? 0 : (double)random_below(seed, 800),
			.process = (uint32_t)i,
			.host = (uint32_t)random_below(seed, 3),
			.place = (int32_t)((i + turn) % n),
		};
	}
	qsort(m->arrivals, n, sizeof(*m->arrivals), compare);
}

static void waits_are_those_of_the_definitions(void)
{
	uint64_t seed = 1;
	unsigned some = 0;

	for (unsigned turn = 0; turn < 20000; turn++) {
		struct arrival arrivals[MOST];
		struct meeting m = {.arrivals = arrivals};
		struct wait w[MOST];
		struct meeting_waits all;
		double sum = 0, caused = 0;

		make(&seed, &m, turn % 2);
		all = wait_find(&m, w);
		for (size_t i = 0; i < m.n; i++) {
			double ns = waited(&m, all.kind, i);

			CU_ASSERT_EQUAL(w[i].ns, ns);
			CU_ASSERT_EQUAL(w[i].ns > 0, w[i].cause != WAIT_NOBODY);
			CU_ASSERT_EQUAL(w[i].late_ns, late(&m, i));
			CU_ASSERT_EQUAL(w[i].error_ns, late_error(&m, i));
			CU_ASSERT(w[i].ns >= 0);
			sum += ns;
			caused += w[i].caused_ns;
		}
		CU_ASSERT_EQUAL(all.waited_ns, sum);
		CU_ASSERT_EQUAL(caused, sum);
		CU_ASSERT(all.inside_ns >= 0 && all.spread_ns >= 0);
		some += sum > 0;
	}
	CU_ASSERT(some > 5000);
}

static void patterns_have_their_names(void)
{
	CU_ASSERT_STRING_EQUAL(wait_name(wait_kind(op_find("MPI_Barrier"), false)),
			       "Wait at Barrier");
	CU_ASSERT_STRING_EQUAL(wait_name(wait_kind(op_find("MPI_Alltoallw"), false)),
			       "Wait at NxN");
	CU_ASSERT_STRING_EQUAL(wait_name(wait_kind(op_find("MPI_Reduce_scatter"), true)),
			       "Wait at NxN");
	CU_ASSERT_STRING_EQUAL(wait_name(wait_kind(op_find("MPI_Scatterv"), true)),
			       "Late Broadcast");
	CU_ASSERT_STRING_EQUAL(wait_name(wait_kind(op_find("MPI_Reduce"), true)), "Early Reduce");
	CU_ASSERT_STRING_EQUAL(wait_name(wait_kind(op_find("MPI_Reduce"), false)), "");
	CU_ASSERT_STRING_EQUAL(wait_name(wait_kind(op_find("MPI_Ireduce"), true)), "");
	CU_ASSERT_STRING_EQUAL(wait_name(wait_kind(op_find("MPI_Scan"), false)), "Early Scan");
}

/* Two hosts, whose clocks may be off by 100 each: 150 apart is nothing, 250 is something. */
static void doubt_is_no_wait(void)
{
	struct arrival a[] = {
		{.start_ns = 1000, .end_ns = 9000, .error_ns = 100, .process = 0, .host = 0},
		{.start_ns = 1150, .end_ns = 9000, .error_ns = 100, .process = 1, .host = 1},
	};
	struct meeting m = {.op = op_find("MPI_Barrier"), .n = 2, .arrivals = a};
	struct meeting_waits all;
	struct wait w[2];

	all = wait_find(&m, w);
	CU_ASSERT_EQUAL(w[0].ns, 0);
	CU_ASSERT(w[0].untold && !w[1].untold);
	CU_ASSERT_EQUAL(all.late, WAIT_NOBODY);
	a[1].start_ns = 1250;
	all = wait_find(&m, w);
	CU_ASSERT_EQUAL(w[0].ns, 250);
	CU_ASSERT_EQUAL(w[1].caused_ns, 250);
	CU_ASSERT_EQUAL(all.late, 1);
	CU_ASSERT_EQUAL(all.inside_ns, 7750);
	/* on one host there is no doubt */
	a[1].start_ns = 1001;
	a[1].host = 0;
	all = wait_find(&m, w);
	CU_ASSERT_EQUAL(w[0].ns, 1);
	CU_ASSERT_EQUAL(all.late, 1);
	/* those that call different operations do not wait for each other, as far as is known */
	m.mixed = true;
	all = wait_find(&m, w);
	CU_ASSERT_EQUAL(all.waited_ns, 0);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"waits and lateness are those of their definitions",
		 waits_are_those_of_the_definitions},
		{"patterns have the names that Scalasca gives them", patterns_have_their_names},
		{"what clocks cannot tell is no wait", doubt_is_no_wait},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {{"wait", NULL, NULL, NULL, NULL, cases}, CU_SUITE_INFO_NULL};

	return tap_run(suites);
}
