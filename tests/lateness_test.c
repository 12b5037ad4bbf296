/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests who is said to be late: planted lateness is found, and noise is not taken for it. */
#include "tests/random.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/analysis/lateness.h"
#include "consumers/analysis/evenness.h"
#include "consumers/analysis/tail.h"
#include "tree/data/op.h"

#define RANKS	 16u
#define MEETINGS 1000u
#define MS	 1e6

/* A program whose ranks come to barriers with some noise, and are planted to be late. */
struct plant {
	uint64_t seed;
	unsigned ranks;
	double noise_ns; /* median */
	double shape;	 /* of the noise's tail: 1 is exponential, less is heavier */
	double late_ns;	 /* of one rank in a meeting now and then */
	unsigned every;
	double often_ns; /* of rank 3 */
	double often;	 /* in this share of meetings */
	double error_ns; /* of clocks; ranks are on two hosts */
	uint32_t lives;	 /* operations of each communicator; 0: one has all */
	bool planted[MEETINGS][RANKS];
	unsigned n_planted, n_often, found, other;
	double worst_ns; /* of what was found: off from what was planted */
};

static double uniform(struct plant *p)
{
	return ((double)random_below(&p->seed, 1u << 30) + 0.5) / (1u << 30);
}

static void take(void *arg, const struct late_once *late)
{
	struct plant *p = arg;

	if (p->planted[late->number][late->process]) {
		p->found++;
		p->worst_ns = fmax(p->worst_ns, fabs(late->late_ns - p->late_ns));
	} else {
		p->other++;
	}
	CU_ASSERT(late->confidence >= 0.99 && late->late_ns > late->error_ns);
}

static int compare(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void meet(struct plant *p, struct lateness *l, uint32_t number, int64_t *now)
{
	struct arrival arrivals[RANKS] = {0};
	struct meeting m = {.key = {p->lives ? 1 + number / p->lives : 1, number, p->ranks, -1},
			    .n = p->ranks,
			    .arrivals = arrivals};
	unsigned late = p->every && number % p->every == 7
				? (unsigned)random_below(&p->seed, p->ranks)
				: RANKS;
	int64_t last = 0;

	m.op = op_find("MPI_Allreduce");
	for (unsigned i = 0; i < p->ranks; i++) {
		double ns = p->noise_ns * pow(-log(uniform(p)) / log(2), 1 / p->shape);

		p->planted[number][i] = i == late;
		p->n_planted += i == late;
		ns += i == late ? p->late_ns : 0;
		if (i == 3 && i != late && uniform(p) < p->often) {
			ns += p->often_ns;
			p->n_often++;
		}
		arrivals[i] = (struct arrival){.start_ns = *now + (int64_t)ns,
					       .between_ns = number ? (int64_t)ns : -1,
					       .bytes = 8,
					       .process = i,
					       .host = i % 2,
					       .place = (int32_t)i,
					       .op = m.op,
					       .error_ns = p->error_ns};
		last = arrivals[i].start_ns > last ? arrivals[i].start_ns : last;
	}
	for (unsigned i = 0; i < p->ranks; i++)
		arrivals[i].end_ns = last + 1000;
	qsort(arrivals, p->ranks, sizeof(*arrivals), compare);
	lateness_add(l, &m);
	*now = last + 1000000;
}

static struct lateness *run(struct plant *p)
{
	struct lateness *l = lateness_new(0.99, take, p);
	int64_t now = 1000;

	p->ranks = p->ranks ? p->ranks : RANKS;
	for (uint32_t k = 0; k < MEETINGS; k++)
		meet(p, l, k, &now);
	lateness_end(l);
	return l;
}

static void late_once_is_found(void)
{
	struct plant p = {
		.seed = 1, .noise_ns = 0.05 * MS, .shape = 1, .late_ns = 3 * MS, .every = 20};
	struct lateness *l = run(&p);
	struct late_often often[4];

	CU_ASSERT_EQUAL(p.n_planted, 50);
	CU_ASSERT_EQUAL(p.found, 50);
	CU_ASSERT_EQUAL(p.other, 0);
	CU_ASSERT(p.worst_ns < 0.5 * MS);
	CU_ASSERT_EQUAL(lateness_often(l, 0, often, 4), 0);
	lateness_free(l);
}

/* Two threads of each process meet on communicators of their own, beside each other: the process
 * has waited once. */
static void threads_wait_once(void)
{
	struct plant p = {0};
	struct lateness *l = lateness_new(0.99, take, &p);
	const struct lateness_class *const *classes;
	double waited = 0;

	/* the second thread's operations are told after those of the first */
	for (uint32_t i = 0; i < 20; i++) {
		int64_t now = 1000 + 100 * (i % 10);
		struct arrival arrivals[] = {
			{.start_ns = now, .end_ns = now + 80, .process = 0, .place = 0},
			{.start_ns = now + 60, .end_ns = now + 80, .process = 1, .place = 1}};
		struct meeting m = {.key = {1 + i / 10, i % 10, 2, -1},
				    .op = op_find("MPI_Allreduce"),
				    .n = 2,
				    .arrivals = arrivals};

		arrivals[0].op = arrivals[1].op = m.op;
		lateness_add(l, &m);
	}
	CU_ASSERT_EQUAL_FATAL(lateness_classes(l, &classes), 2);
	for (unsigned i = 0; i < 2; i++)
		waited += classes[i]->waited_ns;
	CU_ASSERT_EQUAL(waited, 600);
	CU_ASSERT(lateness_share(l, waited) < 0.5);
	lateness_free(l);
}

/* Of a communicator's @n operations those come for which @comes says so, in no order. */
static bool is_fair(uint32_t n, uint64_t seed,
		    bool (*comes)(uint64_t *seed, uint32_t k, uint32_t n))
{
	struct evenness *s = evenness_new();
	uint32_t came = 0;
	bool fair;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (i * 7919u) % n;

		if (!comes(&seed, k, n))
			continue;
		evenness_add(s, 5, k - 100);
		came++;
	}
	fair = evenness_is_fair(s, 5, came / (double)n);
	CU_ASSERT(!evenness_is_fair(s, 6, 1));
	evenness_free(s);
	return fair;
}

static bool one_in_eight(uint64_t *seed, uint32_t k, uint32_t n)
{
	(void)k;
	(void)n;
	return random_below(seed, 8) == 0;
}

static bool the_later_half(uint64_t *seed, uint32_t k, uint32_t n)
{
	(void)seed;
	return k > n / 2;
}

static bool but_the_middle(uint64_t *seed, uint32_t k, uint32_t n)
{
	(void)seed;
	return k < n / 3 || k > 2 * n / 3;
}

static bool first_more_than_then(uint64_t *seed, uint32_t k, uint32_t n)
{
	return random_below(seed, k < n / 2 ? 2 : 8) == 0;
}

static void samples_are_fair_or_not(void)
{
	unsigned fair = 0;

	for (uint64_t seed = 1; seed <= 100; seed++)
		fair += is_fair(1009, seed, one_in_eight);
	CU_ASSERT_EQUAL(fair, 100);
	CU_ASSERT(!is_fair(1009, 1, the_later_half));
	CU_ASSERT(!is_fair(1009, 1, but_the_middle));
	CU_ASSERT(!is_fair(1009, 1, first_more_than_then));
	/* too few to say */
	CU_ASSERT(!is_fair(7, 1, the_later_half));
}

static void late_often_is_found(void)
{
	struct plant p = {.seed = 2,
			  .noise_ns = 0.05 * MS,
			  .shape = 1,
			  .late_ns = 9 * MS,
			  .every = 50,
			  .often_ns = 3.1 * MS,
			  .often = 0.94,
			  .error_ns = 2000};
	struct lateness *l = run(&p);
	const struct lateness_class *const *classes;
	struct late_often often[4];

	CU_ASSERT_EQUAL(lateness_often(l, 0, often, 4), 1);
	CU_ASSERT_EQUAL(often->member->process, 3);
	CU_ASSERT(fabs(often->share.share - p.n_often / (double)MEETINGS) < 0.02);
	CU_ASSERT(often->share.low < 0.94 && often->share.high > 0.9);
	CU_ASSERT(fabs(often->late_ns - 3.1 * MS) < 0.05 * MS);
	CU_ASSERT(fabs(often->mean_ns - 3.1 * MS) < 0.3 * MS);
	CU_ASSERT_EQUAL(often->error_ns, 4000);
	/* 15 of 16 wait for 3.1 of about 4.2 ms */
	CU_ASSERT(often->cost > 0.55 && often->cost < 0.75);
	CU_ASSERT_EQUAL(p.found, p.n_planted);
	CU_ASSERT_EQUAL(lateness_classes(l, &classes), 1);
	CU_ASSERT_EQUAL(classes[0]->meetings, MEETINGS);
	CU_ASSERT_EQUAL(classes[0]->bytes, MEETINGS * RANKS * 8);
	CU_ASSERT(classes[0]->busiest_ns > 1.5 * classes[0]->between_ns);
	CU_ASSERT_STRING_EQUAL(wait_name(classes[0]->kind), "Wait at NxN");
	lateness_free(l);
}

/* Of a hundred programs with noise alone, with tails of all kinds, nearly none has anyone late. */
/* Communicators that come and go are one class, in which rank 3 is found; one that stays is its
 * own, however many have been before. */
static void communicators_come_and_go(void)
{
	for (uint32_t lives = 1; lives <= 4; lives++) {
		struct plant p = {.seed = 20 + lives,
				  .noise_ns = 0.05 * MS,
				  .shape = 1,
				  .often_ns = 3 * MS,
				  .often = 0.9,
				  .lives = lives};
		struct lateness *l = run(&p);
		const struct lateness_class *const *classes;
		struct late_often often[4];
		size_t n = lateness_classes(l, &classes);
		uint64_t meetings = 0;

		CU_ASSERT_EQUAL(n, 17);
		for (size_t i = 0; i < n; i++)
			meetings += classes[i]->meetings;
		CU_ASSERT_EQUAL(meetings, MEETINGS);
		CU_ASSERT_EQUAL(classes[n - 1]->comm, 0);
		CU_ASSERT_EQUAL_FATAL(lateness_often(l, 0.01, often, 4), 1);
		CU_ASSERT_EQUAL(often->member->process, 3);
		CU_ASSERT_EQUAL(often->member->of, classes[n - 1]);
		CU_ASSERT_EQUAL(often->meetings, MEETINGS - 16 * lives);
		CU_ASSERT_EQUAL(lateness_left_out(l), 0);
		lateness_free(l);
	}
}

/* One that has had many operations is its own, and makes room for another. */
static void communicators_grow_up(void)
{
	struct plant p = {.seed = 31, .noise_ns = 0.05 * MS, .shape = 1, .lives = 10};
	struct lateness *l = run(&p);
	const struct lateness_class *const *classes;

	CU_ASSERT_EQUAL(lateness_classes(l, &classes), MEETINGS / 10);
	for (size_t i = 0; i < MEETINGS / 10; i++)
		CU_ASSERT_EQUAL(classes[i]->meetings, 10);
	lateness_free(l);
}

/* Many communicators of four ranks each, as the rows of a grid: shares are of the operations that a
 * rank was in. */
static void grids_have_rows(void)
{
	struct plant p = {.seed = 1};
	struct lateness *l = lateness_new(0.99, take, &p);
	struct late_often often[100];
	uint64_t said[40] = {0};
	size_t n;

	for (uint32_t k = 0; k < 30 * 40; k++) {
		const uint32_t row = k % 40;
		struct arrival arrivals[4] = {{0}};
		struct meeting m = {.key = {1 + row, k / 40, 4, -1},
				    .op = op_find("MPI_Barrier"),
				    .n = 4,
				    .arrivals = arrivals};

		for (uint32_t i = 0; i < 4; i++)
			arrivals[i] = (struct arrival){.start_ns = (int64_t)k * 10000000 +
								   (i == 3 ? 1000000 : i * 100),
						       .end_ns = (int64_t)k * 10000000 + 1001000,
						       .process = 4 * row + i,
						       .op = m.op};
		lateness_add(l, &m);
	}
	n = lateness_often(l, 0, often, 100);
	CU_ASSERT(n < 100);
	for (size_t i = 0; i < n; i++) {
		CU_ASSERT_EQUAL(often[i].member->process % 4, 3);
		CU_ASSERT_EQUAL(often[i].meetings, often[i].member->times);
		said[often[i].member->process / 4] += often[i].meetings;
	}
	/* some have had their first ones among the others */
	for (uint32_t row = 0; row < 40; row++)
		CU_ASSERT(said[row] >= 14);
	lateness_free(l);
}

/* Each of four members has a line of its own for the same operation, and is last in turn: sums know
 * but the line of the last one. */
static void sites_make_nobody_late(void)
{
	struct plant p = {.seed = 1};
	struct lateness *l = lateness_new(0.99, take, &p);
	const struct lateness_class *const *classes;
	struct late_often often[4];

	for (uint32_t k = 0; k < 400; k++) {
		struct arrival a[4] = {{0}};
		struct meeting m = {
			.key = {3, k, 4, -1}, .op = op_find("MPI_Barrier"), .n = 4, .arrivals = a};
		struct meeting_sum sum;

		for (uint32_t i = 0; i < 4; i++)
			a[i] = (struct arrival){.start_ns = k * INT64_C(1000000) +
							    (i == 3 ? 500000 : i),
						.end_ns = k * INT64_C(1000000) + 500100,
						.process = (i + k) % 4,
						.site = 1 + (i + k) % 4,
						.op = m.op};
		sum = meeting_sum_of(&m);
		lateness_add_sum(l, &sum);
	}
	CU_ASSERT_EQUAL(lateness_classes(l, &classes), 1);
	CU_ASSERT_EQUAL(classes[0]->meetings, 400);
	CU_ASSERT_EQUAL(lateness_often(l, 0, often, 4), 0);
	lateness_free(l);
}

static void noise_is_not_late(void)
{
	unsigned runs = 0, often_runs = 0;

	for (unsigned i = 0; i < 100; i++) {
		struct plant p = {.seed = i + 10,
				  .ranks = 2 + i % (RANKS - 1),
				  .noise_ns = 0.05 * MS,
				  .shape = i % 3 == 0	? 1
					   : i % 3 == 1 ? 0.7
							: 0.5};
		struct lateness *l = run(&p);
		struct late_often often[1];

		runs += p.other > 0;
		often_runs += lateness_often(l, 0, often, 1) > 0;
		lateness_free(l);
	}
	tap_note("%u of 100 have one that is late once, %u often", runs, often_runs);
	CU_ASSERT(runs <= 4);
	CU_ASSERT(often_runs <= 4);
}

/* Exactly, by the binomial distribution: how often the interval holds the true share. */
static void proportions_are_covered(void)
{
	static const double shares[] = {0.02, 0.1, 0.5, 0.94};

	for (unsigned s = 0; s < 4; s++) {
		double p = shares[s], covered = 0;
		const unsigned n = 500;

		for (unsigned k = 0; k <= n; k++) {
			struct proportion i = proportion_of(k, n, proportion_deviations(0.95));
			double log_p = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) +
				       k * log(p) + (n - k) * log(1 - p);

			CU_ASSERT(i.low >= 0 && i.low <= i.share && i.share <= i.high &&
				  i.high <= 1);
			if (i.low <= p && p <= i.high)
				covered += exp(log_p);
		}
		CU_ASSERT(covered > 0.93 && covered < 0.98);
	}
	CU_ASSERT_EQUAL(proportion_of(0, 0, 2).high, 1);
}

/* The tail says how many of a thousand exponential values may be so large, and is not moved far by
 * a twentieth of them that is much larger. */
static void tails_are_of_the_usual(void)
{
	struct tail *t = calloc(1, sizeof(*t));
	struct plant p = {.seed = 5};
	double expected;

	CU_ASSERT_EQUAL(tail_expected(t, 1e9), 0);
	for (unsigned i = 0; i < 1000; i++)
		tail_add(t, i % 20 ? -log(uniform(&p)) * 1e5 : 1e8);
	expected = tail_expected(t, 5e5);
	CU_ASSERT(expected > 1000 * exp(-5) / 2 && expected < 1000 * exp(-3));
	CU_ASSERT(tail_expected(t, 1e8) < 1e-9);
	CU_ASSERT_EQUAL(tail_expected(t, 0), 1000);
	free(t);
}

/* Of values that come in any order, about the median. */
static void the_middle_is_the_median(void)
{
	struct plant p = {.seed = 7};
	struct middle few = {0}, many = {0}, heavy = {0}, mixed = {0}, later = {0};

	CU_ASSERT_EQUAL(middle_value(&few), 0);
	middle_add(&few, 5);
	middle_add(&few, 1);
	CU_ASSERT(fabs(middle_value(&few) - 3) < 1e-9);
	middle_add(&few, 2);
	CU_ASSERT(fabs(middle_value(&few) - 2) < 1e-9);
	for (unsigned i = 0; i < 5000; i++) {
		middle_add(&many, uniform(&p));
		middle_add(&heavy, 1 / uniform(&p));
	}
	CU_ASSERT(fabs(middle_value(&many) - 0.5) < 0.03);
	CU_ASSERT(fabs(middle_value(&heavy) - 2) < 0.2);
	/* three of ten are of another size */
	for (unsigned i = 0; i < 50; i++)
		middle_add(&mixed, (i % 10 < 7 ? 1e4 : 1e6) * (0.5 + uniform(&p)));
	CU_ASSERT(middle_value(&mixed) > 0.5e4 && middle_value(&mixed) < 1.5e4);
	/* it changes in the course of time */
	for (int i = 0; i < 400; i++)
		middle_add(&later, i < 100 ? 1000 - i : i < 201 ? 2000 + i : 9000 + i);
	CU_ASSERT(fabs(middle_value(&later) / 2200 - 1) < 0.011);
	middle_fini(&few);
	middle_fini(&many);
	middle_fini(&heavy);
	middle_fini(&mixed);
	middle_fini(&later);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"who is late once is found, and by how much", late_once_is_found},
		{"who is late often is found, with its share, and what it costs",
		 late_often_is_found},
		{"threads of a process wait once", threads_wait_once},
		{"samples are fair, or not", samples_are_fair_or_not},
		{"communicators that come and go are one class", communicators_come_and_go},
		{"those that stay are their own", communicators_grow_up},
		{"shares are of what a rank was in", grids_have_rows},
		{"call sites make nobody late", sites_make_nobody_late},
		{"noise is not taken for lateness", noise_is_not_late},
		{"intervals of proportions hold what they should", proportions_are_covered},
		{"tails are those of what is usual", tails_are_of_the_usual},
		{"the middle of a stream is about its median", the_middle_is_the_median},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {{"lateness", NULL, NULL, NULL, NULL, cases}, CU_SUITE_INFO_NULL};

	return tap_run(suites);
}
