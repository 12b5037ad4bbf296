/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests bounds of what orders of changes that are not known may come to against all orders. */
#include "tests/random.h"
#include "tests/tap.h"

#include <math.h>

#include "consumers/phase/unordered.h"

#define PROCESSES 5u
#define BLOCKS	  4u

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

#define CHANGES 12u

struct change {
	double time;
	unsigned process;
	uint32_t block;
	double bound; /* or that of all */
};

static const bool of_subset[PROCESSES] = {true, true, false, true, false};

static void changes_go(const struct change *changes, double bound, struct execution *x,
		       struct unordered *u)
{
	static const struct execution_shape shape = {.processes = PROCESSES,
						     .blocks = BLOCKS,
						     .start = 1,
						     .subset = of_subset,
						     .scan = 2,
						     .components = true};

	struct execution_shape bounded = shape;

	for (unsigned i = 0; i < CHANGES; i++)
		bounded.bound = fmax(bounded.bound, fmax(bound, changes[i].bound));
	CU_ASSERT(execution_init(x, &bounded, NULL) == 0);
	if (u)
		unordered_init(u, x);
	for (unsigned i = 0; i < CHANGES; i++) {
		if (u)
			unordered_add(u, changes[i].time, changes[i].process, changes[i].block,
				      fmax(bound, changes[i].bound));
		execution_add(x, changes[i].time, changes[i].process, changes[i].block, NULL, NULL);
	}
	if (u)
		unordered_end(u);
	execution_end(x, NULL, NULL);
}

static double variance_all(struct execution *x)
{
	double made[PROCESSES * PROCESSES], all = 0;

	moments_covariance(&x->moments, made);
	for (unsigned i = 0; i < PROCESSES; i++)
		all += made[i * PROCESSES + i];
	return all;
}

static bool within(double value, struct unordered_range r)
{
	return value >= r.least - 1e-9 && value <= r.most + 1e-9;
}

/* Is what a scan finds no farther from what it has @known than @u says? */
static bool is_scanned(struct execution *x, const struct unordered *u,
		       const struct scan_process *known)
{
	struct scan_process found[PROCESSES];
	bool all = true;

	scan_end(&x->scan, found);
	for (unsigned p = 0; p < PROCESSES; p++)
		all &= fabs(found[p].mean - known[p].mean) <= unordered_scanned(u, p) + 1e-9;
	return all;
}

/* Is what @changes come to within the bounds of @u? */
static bool is_bounded(const struct change *changes, const struct unordered *u, double variance,
		       const struct scan_process *known)
{
	struct execution x;
	struct multiplicity_entropy whole, part;
	double rows, off = sqrt(u->squares);
	bool all;

	changes_go(changes, 0, &x, NULL);
	rows = (double)x.rows - 1;
	whole = multiplicity_entropy(&x.whole);
	part = multiplicity_entropy(&x.subset);
	all = within((double)x.rows, unordered_states(u)) &&
	      within(whole.by_volume, unordered_entropy(&u->whole, UNORDERED_VOLUME)) &&
	      within(whole.by_ways, unordered_entropy(&u->whole, UNORDERED_WAYS)) &&
	      within(whole.by_histogram, unordered_entropy(&u->whole, UNORDERED_HISTOGRAM)) &&
	      within(part.by_volume, unordered_entropy(&u->subset, UNORDERED_VOLUME)) &&
	      within(part.by_ways, unordered_entropy(&u->subset, UNORDERED_WAYS)) &&
	      within(part.by_histogram, unordered_entropy(&u->subset, UNORDERED_HISTOGRAM)) &&
	      fabs(sqrt(variance_all(&x) * rows) - sqrt(variance * rows)) <= off + 1e-9 &&
	      is_scanned(&x, u, known);
	execution_fini(&x);
	return all;
}

/* Three changes at times of 10, 11, 12, then of 20 and so on; the fourth run of times begins anew.
 */
static void changes_make(struct change *changes, uint64_t *seed)
{
	for (unsigned i = 0; i < CHANGES; i++)
		changes[i] = (struct change){10.0 * (i / 3 % 3 + 1) + i % 3,
					     (i / 3 + i % 3 * (1 + i / 6)) % PROCESSES,
					     (uint32_t)random_below(seed, BLOCKS), 0};
}

/* Each three of them in the order of their own. */
static void changes_order(const struct change *changes, unsigned orders, struct change *to)
{
	static const unsigned char order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
						  {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	for (unsigned i = 0; i < CHANGES; i++) {
		to[i] = changes[i / 3 * 3 + order[orders % 6][i % 3]];
		to[i].time = changes[i].time;
		if (i % 3 == 2)
			orders /= 6;
	}
}

static void orders_are_bounded(void)
{
	struct change changes[CHANGES], other[CHANGES];
	unsigned out = 0, wide = 0;
	uint64_t seed = 3;

	for (unsigned trial = 0; trial < 20; trial++) {
		struct scan_process known[PROCESSES];
		struct unordered_range r;
		struct unordered u;
		struct execution x;
		double variance;

		changes_make(changes, &seed);
		changes_go(changes, 0.75, &x, &u);
		variance = variance_all(&x);
		scan_end(&x.scan, known);
		CU_ASSERT(u.unsure == 8 && u.rows == 8 && u.x->rows == CHANGES + 2);
		for (unsigned orders = 0; orders < 6 * 6 * 6 * 6; orders++) {
			changes_order(changes, orders, other);
			out += !is_bounded(other, &u, variance, known);
		}
		r = unordered_entropy(&u.whole, UNORDERED_HISTOGRAM);
		wide += r.most - r.least > 0.1;
		/* all blocks of two processes are 4 bits */
		CU_ASSERT(unordered_scanned(&u, 0) > 0 && unordered_scanned(&u, 0) < 4);
		unordered_fini(&u);
		execution_fini(&x);
	}
	tap_note("bounds of more than 0.1 bits in %u of 20", wide);
	CU_ASSERT(out == 0 && wide > 10);
}

/* Clocks that are known well leave nothing open; of two that are not, the state between is. */
static void orders_that_are_known(void)
{
	struct change changes[CHANGES];
	struct unordered_range r;
	struct unordered u;
	struct execution x;
	uint64_t seed = 4;

	changes_make(changes, &seed);
	changes_go(changes, 0.5, &x, &u);
	r = unordered_entropy(&u.whole, UNORDERED_WAYS);
	CU_ASSERT(u.unsure == 0 && u.rows == 0 && u.squares <= 0 && near(r.least, r.most));
	CU_ASSERT(near(r.least, multiplicity_entropy(&x.whole).by_ways));
	r = unordered_explained(&u, 1, 4);
	CU_ASSERT(near(r.least, 0.25) && near(r.most, 0.25));
	r = unordered_states(&u);
	CU_ASSERT(near(r.least, CHANGES + 2) && near(r.most, CHANGES + 2));
	CU_ASSERT(near(unordered_share(&u), 0.5 * CHANGES / (32 + 12)));
	CU_ASSERT(unordered_scanned(&u, 0) <= 0);
	unordered_fini(&u);
	execution_fini(&x);
}

/* ---- orders that bounds allow ---- */

/* Of any processes, so that some change several times in a row, and clocks are not known alike. */
static void any_make(struct change *changes, uint64_t *seed)
{
	double time = 0;

	for (unsigned i = 0; i < CHANGES; i++) {
		time += 0.5 + 2 * (double)random_below(seed, 4);
		changes[i] = (struct change){time, (unsigned)random_below(seed, PROCESSES - 1),
					     (uint32_t)random_below(seed, BLOCKS),
					     (double)random_below(seed, 3) * 1.25};
	}
}

/* Each at any time that its bound allows, and those of a process in their order. Returns false if
 * that has not come about. */
static bool any_order(const struct change *changes, uint64_t *seed, struct change *to)
{
	double times[CHANGES] = {0}, last[PROCESSES] = {0};

	for (unsigned i = 0; i < CHANGES; i++) {
		const struct change *c = &changes[i];
		double time = c->time + c->bound * ((double)random_below(seed, 1001) / 500 - 1);
		unsigned at = i;

		if (time <= last[c->process])
			return false;
		last[c->process] = time;
		for (; at > 0 && times[at - 1] > time; at--) {
			times[at] = times[at - 1];
			to[at] = to[at - 1];
		}
		times[at] = time;
		to[at] = *c;
	}
	for (unsigned i = 0; i < CHANGES; i++)
		to[i].time = changes[i].time;
	return true;
}

static bool is_possible(const struct change *changes, const struct unordered *u, double variance)
{
	struct multiplicity_entropy whole;
	struct execution x;
	double rows;
	bool all;

	changes_go(changes, 0, &x, NULL);
	rows = (double)x.rows - 1;
	whole = multiplicity_entropy(&x.whole);
	all = within((double)x.rows, unordered_states(u)) &&
	      within(whole.by_volume, unordered_entropy(&u->whole, UNORDERED_VOLUME)) &&
	      within(whole.by_ways, unordered_entropy(&u->whole, UNORDERED_WAYS)) &&
	      within(whole.by_histogram, unordered_entropy(&u->whole, UNORDERED_HISTOGRAM)) &&
	      fabs(sqrt(variance_all(&x) * rows) - sqrt(variance * rows)) <=
		      sqrt(u->squares) + 1e-9;
	execution_fini(&x);
	return all;
}

static void what_bounds_allow_is_bounded(void)
{
	struct change changes[CHANGES], other[CHANGES];
	unsigned out = 0, orders = 0, known = 0;
	uint64_t seed = 5;

	for (unsigned trial = 0; trial < 200; trial++) {
		struct unordered u;
		struct execution x;
		double variance;

		any_make(changes, &seed);
		changes_go(changes, 0, &x, &u);
		variance = variance_all(&x);
		known += u.rows < CHANGES / 2;
		for (unsigned i = 0; i < 100; i++)
			if (any_order(changes, &seed, other)) {
				out += !is_possible(other, &u, variance);
				orders++;
			}
		unordered_fini(&u);
		execution_fini(&x);
	}
	tap_note("%u of %u orders are out of bounds; most rows are known of %u in 200", out, orders,
		 known);
	CU_ASSERT(out == 0 && orders > 2000 && known > 20);
}

static CU_TestInfo cases[] = {
	{"whatever orders the bounds allow are bounded", what_bounds_allow_is_bounded},
	{"orders that are not known are bounded", orders_are_bounded},
	{"orders that are known are not", orders_that_are_known},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "unordered", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
