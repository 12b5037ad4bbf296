/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests plans under a budget: the use case of the paper, and random ones against trying all. */
#include "tests/random.h"
#include "tests/tap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "consumers/perturb/knapsack.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

#define PLANS 5u

/* Near enough for sums that were added up in another order. */
static bool same(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* ---- the paper's table 1 ---- */

#define SERVERS 5u

enum server { FILE_SERVER = 1, WINDOW = 2, KERNEL = 4, FONT = 8, OTHERS = 16 };

static const struct use_case {
	double max_hz, weight[SERVERS];
	unsigned traced; /* enum server bits */
	double information, greedy;
} use_cases[] = {
	{925, {1, 1, 1, 1, 1}, 0, 925, 925},
	{925, {2, 1, 1, 1, 1}, FILE_SERVER | WINDOW | FONT, 1256.48, 1202.5},
	{925, {2, 2, 2, 2, 1}, FILE_SERVER | WINDOW | FONT, 1783.35, 1600.25},
	{925, {1, 1, 3, 1, 1}, KERNEL | FILE_SERVER | FONT, 1191.5, 1161.52},
	{641, {2, 1, 1, 1, 1}, FILE_SERVER | WINDOW, 950.71, 950.71},
};

static void servers(struct event_class classes[SERVERS], const double *weights)
{
	static const double hz[SERVERS] = {359, 189, 153, 334, 630};
	static const double duty[SERVERS] = {.30, .23, .09, .11, .27};

	for (unsigned i = 0; i < SERVERS; i++)
		classes[i] = (struct event_class){hz[i], weights[i], duty[i], 1, 0, 0, 0};
}

static void the_paper_is_right(void)
{
	for (size_t k = 0; k < sizeof(use_cases) / sizeof(use_cases[0]); k++) {
		const struct use_case *u = &use_cases[k];
		const struct plan_budget budget = {.share = u->max_hz, .t_sampling = 1};
		struct probing_plan *plans = knapsack_plans_new(PLANS + 1, SERVERS);
		struct event_class classes[SERVERS];
		double bound;

		servers(classes, u->weight);
		CU_ASSERT_EQUAL_FATAL(
			knapsack_probing(classes, SERVERS, &budget, plans, PLANS, &bound), PLANS);
		CU_ASSERT(bound <= plans[PLANS - 1].information);
		CU_ASSERT(same(plans[0].information, u->information));
		for (unsigned i = 0; i < SERVERS; i++)
			CU_ASSERT_EQUAL(plans[0].traced[i], (u->traced >> i & 1) != 0);
		CU_ASSERT(knapsack_greedy(classes, SERVERS, &budget, &plans[PLANS]));
		CU_ASSERT(same(plans[PLANS].information, u->greedy));
		knapsack_plans_free(plans);
	}
}

/* Problem 3: what is always there is sampled. */
static void what_is_always_there_is_sampled(void)
{
	const double weights[SERVERS] = {5, 1, 4, 0.5, 2};
	const struct plan_budget budget = {.share = 925, .t_sampling = 1};
	struct probing_plan *plans = knapsack_plans_new(1, SERVERS);
	struct event_class classes[SERVERS];
	double bound;

	servers(classes, weights);
	for (unsigned i = 0; i < SERVERS; i++)
		classes[i].duty = 1;
	CU_ASSERT_EQUAL(knapsack_probing(classes, SERVERS, &budget, plans, 1, &bound), 1);
	CU_ASSERT(bound <= plans[0].information);
	CU_ASSERT(same(plans[0].information, 925 * 12.5));
	for (unsigned i = 0; i < SERVERS; i++)
		CU_ASSERT_FALSE(plans[0].traced[i]);
	knapsack_plans_free(plans);
}

/* ---- random ones ---- */

static double random_share(uint64_t *seed)
{
	return (double)random_below(seed, 1000001) / 1e6;
}

/* @n classes and a budget for some of them; those of even seeds as the paper's base has them, of
 * equal cost and without minimums. */
static struct plan_budget random_classes(struct event_class *classes, size_t n, uint64_t *seed)
{
	bool plain = *seed % 2 == 0;
	double all = 0;

	for (size_t i = 0; i < n; i++) {
		struct event_class *c = &classes[i];

		*c = (struct event_class){1 + (double)random_below(seed, 1000),
					  (double)random_below(seed, 12) / 2,
					  random_share(seed),
					  plain ? 1 : 0.5 + random_share(seed),
					  plain || random_below(seed, 4) ? 0
									 : random_share(seed) * 50,
					  0,
					  0};
		if (plain)
			c->duty *= pow(10, -(double)random_below(seed, 4));
		all += c->frequency * c->t_trace;
	}
	return (struct plan_budget){.share = all * (0.01 + random_share(seed)),
				    .t_sampling = plain ? 1 : 0.2 + 2 * random_share(seed)};
}

/* What the plan tells that traces the classes whose bits are set; below 0: it is not allowed. */
static double told_by(const struct event_class *classes, size_t n, const struct plan_budget *budget,
		      uint32_t traced)
{
	double used = 0, told = 0, hits = 0, least = 0, probing;

	for (size_t i = 0; i < n; i++) {
		const struct event_class *c = &classes[i];
		bool is = traced >> i & 1;

		used += c->frequency * (is ? c->t_trace : c->t_detect);
		told += is ? c->frequency * c->weight : 0;
		hits += is ? 0 : c->duty * c->weight;
		least = is ? least : fmax(least, c->minimum);
	}
	probing = (budget->share - used) / budget->t_sampling;
	if (probing < 0 && -probing * budget->t_sampling < budget->share * KNAPSACK_ROUNDING)
		probing = 0;
	return probing < least ? -1 : told + probing * hits;
}

/* What the best PLANS of all plans tell; -1: there are fewer. */
static void try_all(const struct event_class *classes, size_t n, const struct plan_budget *budget,
		    double best[PLANS + 1])
{
	for (size_t i = 0; i <= PLANS; i++)
		best[i] = -1;
	for (uint32_t traced = 0; traced < UINT32_C(1) << n; traced++) {
		double told = told_by(classes, n, budget, traced);
		size_t at = PLANS;

		if (told < 0)
			continue;
		for (; at > 0 && best[at - 1] < told; at--)
			best[at] = best[at - 1];
		best[at] = told;
	}
}

static void random_is_right(size_t n, uint64_t *seed)
{
	struct probing_plan *plans = knapsack_plans_new(PLANS + 1, n);
	struct event_class classes[20];
	bool plain = *seed % 2 == 0;
	struct plan_budget budget = random_classes(classes, n, seed);
	double best[PLANS + 1], bound;
	size_t found;

	/* what is not traced has to be detected, at a price */
	for (size_t i = 0; i < n && !plain; i++)
		if (random_below(seed, 2))
			classes[i].t_detect = classes[i].t_trace * random_share(seed) * 0.5;
	found = knapsack_probing(classes, n, &budget, plans, PLANS, &bound);
	try_all(classes, n, &budget, best);
	for (size_t i = 0; i < PLANS; i++)
		CU_ASSERT_EQUAL_FATAL(i < found, best[i] >= 0);
	for (size_t i = 0; i < found; i++)
		if (plans[i].information >= bound)
			CU_ASSERT(same(plans[i].information, best[i]));
	if (found > 0)
		CU_ASSERT(fmax(bound, plans[0].information) >= best[0] * (1 - 1e-12));
	if (n <= 12)
		CU_ASSERT(found == 0 || bound <= plans[found - 1].information);
	if (plain) {
		CU_ASSERT_FATAL(knapsack_greedy(classes, n, &budget, &plans[PLANS]));
		CU_ASSERT(plans[PLANS].information >= best[0] / 2);
	}
	knapsack_plans_free(plans);
}

static void random_ones_are_right(void)
{
	for (uint64_t i = 1; i <= 1000; i++) {
		uint64_t seed = i;

		random_is_right(1 + i % 12, &seed);
	}
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t seed = i;

		random_is_right(20, &seed);
	}
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Instances that are hard for branch and bound (Pisinger: Where are the hard knapsack problems?,
 * 2005), and random ones. */
enum hard {
	RANDOM,
	NEARLY_EQUAL,	      /* in all, by one in a thousand */
	EQUAL_BUT_FREQUENCY,  /* by one in a hundred */
	STRONGLY_CORRELATED,  /* what a class tells is its cost, and the same for each */
	INVERSELY_CORRELATED, /* or less that */
	ALMOST_CORRELATED,
	SUBSET_SUM, /* what a class tells is its cost */
	EVEN_ODD,   /* the same, and the budget cannot be met */
	SIMILAR_COSTS,
	HARD
};

static const char *const hard_names[HARD] = {
	"random",
	"nearly equal",
	"equal but frequencies",
	"strongly correlated",
	"inversely correlated",
	"almost strongly correlated",
	"subset sum",
	"even and odd",
	"similar costs",
};

static double near(uint64_t *seed, double x, double share)
{
	return x * (1 + share * (2 * random_share(seed) - 1));
}

static struct event_class hard_class(enum hard hard, uint64_t *seed)
{
	double hz = 1 + (double)random_below(seed, 1000), told = hz;

	switch (hard) {
	case NEARLY_EQUAL:
		return (struct event_class){near(seed, 100, 1e-3),
					    near(seed, 1, 1e-3),
					    near(seed, 1.0 / 64, 1e-3),
					    1,
					    0,
					    0,
					    0};
	case EQUAL_BUT_FREQUENCY:
		return (struct event_class){near(seed, 100, 1e-2), 1, 1.0 / 64, 1, 0, 0, 0};
	case STRONGLY_CORRELATED:
		told = hz + 100;
		break;
	case INVERSELY_CORRELATED:
		hz = told + 100;
		break;
	case ALMOST_CORRELATED:
		told = hz + 98 + (double)random_below(seed, 5);
		break;
	case EVEN_ODD:
		hz = told = 2 * hz;
		break;
	case SIMILAR_COSTS:
		hz = 10000 + (double)random_below(seed, 101);
		told = 1 + (double)random_below(seed, 1000);
		break;
	default:
		break;
	}
	return (struct event_class){hz, told / hz, *seed % 2 ? random_share(seed) / 640 : 0, 1, 0,
				    0,	0};
}

static struct plan_budget hard_classes(enum hard hard, uint64_t run, struct event_class *classes,
				       size_t n)
{
	uint64_t seed = run;
	double all = 0;

	if (hard == RANDOM) {
		struct plan_budget budget = random_classes(classes, n, &seed);

		for (size_t i = 0; i < n; i++)
			classes[i].duty /= 32;
		return budget;
	}
	for (size_t i = 0; i < n; i++) {
		classes[i] = hard_class(hard, &seed);
		all += classes[i].frequency;
	}
	/* odd */
	return (struct plan_budget){.share = 2 * floor(all * (double)(1 + run) / 44) + 1,
				    .t_sampling = 1};
}

/* The gap that is proven is small; the time is said. */
static void sixty_four_in_time(void)
{
	for (unsigned hard = 0; hard < HARD; hard++) {
		double ms[20], worst = 0;
		unsigned exact = 0;

		for (uint64_t i = 0; i < 20; i++) {
			struct probing_plan *plans = knapsack_plans_new(PLANS, 64);
			struct event_class classes[64];
			struct plan_budget budget = hard_classes(hard, i, classes, 64);
			uint64_t start = clock_cpu_us();
			double bound;

			CU_ASSERT_FATAL(
				knapsack_probing(classes, 64, &budget, plans, PLANS, &bound) > 0);
			ms[i] = (double)(clock_cpu_us() - start) / 1e3;
			exact += bound <= plans[0].information;
			worst = fmax(worst, bound / plans[0].information - 1);
			knapsack_plans_free(plans);
		}
		qsort(ms, 20, sizeof(*ms), compare_doubles);
		tap_note("64 classes, %s: %.1f ms, the longest %.1f; %u of 20 proven best, gap at "
			 "most %.2g",
			 hard_names[hard], ms[10], ms[19], exact, worst);
		CU_ASSERT(worst < 0.001);
	}
}

/* ---- problem 1 ---- */

/* The same by sorting. */
static double by_sorting(const struct event_class *classes, size_t n, double room)
{
	double told = 0, least = -1;

	for (size_t i = 0; i < n; i++) {
		double lowest = fmin(classes[i].minimum, classes[i].frequency);

		told += lowest * classes[i].weight;
		room -= lowest * classes[i].t_trace;
	}
	for (double last = DBL_MAX; room > 0; last = least) {
		least = -1;
		for (size_t i = 0; i < n; i++) {
			double density = classes[i].weight / classes[i].t_trace;

			if (density < last && density > least)
				least = density;
		}
		if (least < 0)
			break;
		for (size_t i = 0; i < n; i++) {
			const struct event_class *c = &classes[i];
			double more = c->frequency - fmin(c->minimum, c->frequency);
			double fits = fmin(more, fmax(room, 0) / c->t_trace);

			if (c->weight / c->t_trace != least)
				continue;
			told += fits * c->weight;
			room -= fits * c->t_trace;
		}
	}
	return told;
}

static void reduced_is_right(void)
{
	for (uint64_t i = 1; i <= 2000; i++) {
		struct event_class classes[50];
		size_t n = 1 + i % 50;
		uint64_t seed = i;
		struct plan_budget budget = random_classes(classes, n, &seed);
		struct reduced_plan plan;
		double hz[50], used = 0, told = 0, all = 0;

		if (knapsack_reduced(classes, n, &budget, hz, &plan)) {
			CU_ASSERT(plan.used > budget.share);
			continue;
		}
		for (size_t k = 0; k < n; k++) {
			CU_ASSERT(hz[k] >= fmin(classes[k].minimum, classes[k].frequency) - 1e-9);
			CU_ASSERT(hz[k] <= classes[k].frequency);
			used += hz[k] * classes[k].t_trace;
			told += hz[k] * classes[k].weight;
			all += classes[k].frequency * classes[k].t_trace;
		}
		CU_ASSERT(used <= budget.share * (1 + 1e-9));
		CU_ASSERT(same(used, plan.used) && same(told, plan.information));
		CU_ASSERT(same(used, fmin(all, budget.share)));
		CU_ASSERT(same(told, by_sorting(classes, n, budget.share)));
	}
}

/* Detecting has its price, and what is too dear is said. */
static void detecting_is_paid(void)
{
	struct event_class classes[2] = {{1000, 1, 0, 1e-5, 0, 1e-6, 0},
					 {1000, 2, 0, 1e-5, 0, 1e-6, 0}};
	struct plan_budget budget = {.share = 0.012, .t_sampling = 1e-5};
	struct reduced_plan plan;
	double hz[2];

	CU_ASSERT_EQUAL(knapsack_reduced(classes, 2, &budget, hz, &plan), 0);
	CU_ASSERT(same(hz[1], 1000) && hz[0] < 1e-6);
	CU_ASSERT(same(plan.used, 0.012));
	classes[0].t_detect = 4e-6;
	classes[1].t_detect = 10e-6;
	CU_ASSERT_EQUAL(knapsack_reduced(classes, 2, &budget, hz, &plan), -1);
	CU_ASSERT(same(plan.used, 0.014));
	classes[0].t_detect = classes[1].t_detect = 0;
	classes[0].minimum = 500;
	CU_ASSERT_EQUAL(knapsack_reduced(classes, 2, &budget, hz, &plan), 0);
	CU_ASSERT(same(hz[0], 500) && same(hz[1], 700));
	classes[1].minimum = 800;
	CU_ASSERT_EQUAL(knapsack_reduced(classes, 2, &budget, hz, &plan), -1);
}

/* What a program can be switched to: all, halves of halves, nothing. */
static void halves_fit(void)
{
	const struct event_class c = {.frequency = 1000, .weight = 1, .t_trace = 1};
	const struct event_class seen = {.frequency = 1000, .minimum = 100, .t_trace = 1};
	const struct event_class most = {.frequency = 1000, .minimum = 600, .t_trace = 1};
	const struct event_class rare = {.frequency = 1000, .minimum = 1e-9, .t_trace = 1};

	CU_ASSERT_EQUAL(knapsack_halvings(&c, 1000), 0);
	CU_ASSERT_EQUAL(knapsack_halvings(&c, 2000), 0);
	CU_ASSERT_EQUAL(knapsack_halvings(&c, 999), 1);
	CU_ASSERT_EQUAL(knapsack_halvings(&c, 500), 1);
	CU_ASSERT_EQUAL(knapsack_halvings(&c, 499), 2);
	CU_ASSERT_EQUAL(knapsack_halvings(&c, 1000.0 / 65536), 16);
	CU_ASSERT_EQUAL(knapsack_halvings(&c, 0.001), -1);
	CU_ASSERT_EQUAL(knapsack_halvings(&c, 0), -1);
	CU_ASSERT(same(knapsack_part_least(&seen), 125));
	CU_ASSERT(same(knapsack_part_least(&most), 1000));
	CU_ASSERT(same(knapsack_part_least(&rare), 1000.0 / 65536));
	CU_ASSERT(knapsack_part_least(&c) <= 0);
}

/* The time of a class does not depend on how many there are, but for what memory takes. */
static void reduced_is_linear(void)
{
	double least = 0;

	for (size_t n = 1000; n <= 1000000; n *= 10) {
		struct event_class *classes = memory_new(n, sizeof(*classes));
		double *hz = memory_new(n, sizeof(*hz));
		uint64_t seed = 2, spent = 0;
		double ns;
		size_t times = 1000000 / n;

		for (size_t k = 0; k < times; k++) {
			struct plan_budget budget = random_classes(classes, n, &seed);
			uint64_t start = clock_cpu_us();
			struct reduced_plan plan;

			(void)knapsack_reduced(classes, n, &budget, hz, &plan);
			spent += clock_cpu_us() - start;
		}
		ns = (double)spent * 1000 / (double)(times * n);
		tap_note("%zu classes: %.1f ns a class", n, ns);
		least = n == 1000 ? ns : least;
		CU_ASSERT(ns < 10 * least);
		free(classes);
		free(hz);
	}
}

static CU_TestInfo cases[] = {
	{"the paper's use case: plans, values, greedy ones", the_paper_is_right},
	{"what is always there is sampled (problem 3)", what_is_always_there_is_sampled},
	{"random plans are those of trying all; greedy ones at least half", random_ones_are_right},
	{"64 classes, also hard ones, with a proven gap", sixty_four_in_time},
	{"reduced frequencies are those of sorting", reduced_is_right},
	{"detecting and minimums are paid first", detecting_is_paid},
	{"halves of halves fit", halves_fit},
	{"reduced frequencies in linear time", reduced_is_linear},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "knapsack", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
