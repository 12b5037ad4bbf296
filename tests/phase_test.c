/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests executions in phase space against cases worked by hand and against the definitions,
 * computed the long way. */
#include "tests/random.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/phase/axes.h"
#include "consumers/phase/execution.h"

#define PROCESSES 5u
#define BLOCKS	  4u
#define ROWS	  4000u

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* All rows, as the matrix of the paper. */
struct matrix {
	uint32_t block[ROWS][PROCESSES];
	unsigned rows;
};

static void matrix_row(void *arg, const struct execution *x)
{
	struct matrix *m = arg;

	if (m->rows < ROWS)
		memcpy(m->block[m->rows++], x->block, sizeof(m->block[0]));
}

static double factorial(unsigned n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

/* P! / (N^P prod b!) of the processes in @mask, or without N^P */
static double probability(const uint32_t *block, unsigned mask, bool volume)
{
	unsigned count[BLOCKS] = {0}, n = 0;
	double p = 1;

	for (unsigned i = 0; i < PROCESSES; i++)
		if (mask & 1u << i) {
			count[block[i]]++;
			n++;
		}
	for (unsigned k = 0; k < BLOCKS; k++)
		p /= factorial(count[k]);
	return p * factorial(n) / (volume ? pow(BLOCKS, n) : 1);
}

static double entropy(const struct matrix *m, unsigned mask, bool volume)
{
	double sum = 0;

	for (unsigned r = 0; r < m->rows; r++) {
		double p = probability(m->block[r], mask, volume);

		sum -= p * log2(p);
	}
	return sum;
}

static double histogram(const struct matrix *m)
{
	double sum = 0;

	for (unsigned r = 0; r < m->rows; r++)
		for (unsigned k = 0; k < BLOCKS; k++) {
			double q = 0;

			for (unsigned i = 0; i < PROCESSES; i++)
				q += m->block[r][i] == k ? 1.0 / PROCESSES : 0;
			sum -= q > 0 ? q * log2(q) : 0;
		}
	return sum / m->rows;
}

static double covariance(const struct matrix *m, unsigned i, unsigned j)
{
	double a = 0, b = 0, sum = 0;

	for (unsigned r = 0; r < m->rows; r++) {
		a += m->block[r][i] / (double)m->rows;
		b += m->block[r][j] / (double)m->rows;
	}
	for (unsigned r = 0; r < m->rows; r++)
		sum += (m->block[r][i] - a) * (m->block[r][j] - b);
	return sum / (m->rows - 1);
}

/* Shannon's entropy of the states of three processes. */
static double entropy_of_three(const struct matrix *m, const unsigned process[3])
{
	unsigned count[BLOCKS * BLOCKS * BLOCKS] = {0};
	double sum = 0;

	for (unsigned r = 0; r < m->rows; r++) {
		const uint32_t *block = m->block[r];

		count[(block[process[0]] * BLOCKS + block[process[1]]) * BLOCKS +
		      block[process[2]]]++;
	}
	for (unsigned k = 0; k < BLOCKS * BLOCKS * BLOCKS; k++)
		sum -= count[k] ? count[k] / (double)m->rows * log2(count[k] / (double)m->rows) : 0;
	return sum;
}

/* Three processes in blocks 0 to 2: (0,0,0), then (1,0,0) at time 5, then (1,1,2) at time 7. */
static void three_processes_by_hand(void)
{
	static const struct execution_shape shape = {.processes = 3, .blocks = 3};
	struct multiplicity_entropy entropy_all;
	struct execution x;
	double all_differ = 3 / 27.0;

	CU_ASSERT(execution_init(&x, &shape, NULL) == 0);
	execution_add(&x, 5, 0, 1, NULL, NULL);
	execution_add(&x, 7, 1, 1, NULL, NULL);
	execution_add(&x, 7, 2, 2, NULL, NULL);
	execution_end(&x, NULL, NULL);
	CU_ASSERT(x.rows == 3 && x.runs == 1 && x.clashes == 0);
	entropy_all = multiplicity_entropy(&x.whole);
	/* one way of 27, then 3 of 27 twice */
	CU_ASSERT(near(entropy_all.by_volume, log2(27) / 27 - 2 * all_differ * log2(all_differ)));
	CU_ASSERT(near(entropy_all.by_ways, -2 * 3 * log2(3)));
	CU_ASSERT(near(entropy_all.by_histogram,
		       2 * (log2(3) - 2 / 3.0) / 3)); /* 2 of 3 in a block */
	execution_fini(&x);
}

static void axes_of_three_processes(void)
{
	struct axes_point at = {0, 0, 0};

	for (unsigned i = 0; i < 3; i++)
		at = axes_add(at, axes_unit(i, 3), 2);
	CU_ASSERT(near(at.x, 0) && near(at.y, 0) && near(at.z, 6 * sqrt(3) / 2));
	at = axes_add((struct axes_point){0, 0, 0}, axes_unit(1, 3), 4);
	CU_ASSERT(near(at.x, -1) && near(at.y, sqrt(3)) && near(at.z, 2 * sqrt(3)));
}

/* Entries of one time are one row, the last of a process counts; a time that falls back begins
 * another run. */
static void rows_are_made_as_the_paper_has_it(void)
{
	static const struct execution_shape shape = {
		.processes = PROCESSES, .blocks = BLOCKS, .start = 1};
	static const struct {
		double time;
		unsigned process;
		uint32_t block;
	} entries[] = {{0, 0, 2},  {10, 1, 3}, {10, 1, 0}, {10, 2, 3},
		       {25, 1, 3}, {3, 4, 0},  {3, 0, 3},  {4, 0, 3}};
	static const uint32_t rows[][PROCESSES] = {{2, 1, 1, 1, 1}, {2, 0, 3, 1, 1},
						   {2, 3, 3, 1, 1}, {1, 1, 1, 1, 1},
						   {3, 1, 1, 1, 0}, {3, 1, 1, 1, 0}};
	struct matrix *m = calloc(1, sizeof(*m));
	struct execution x;

	CU_ASSERT_FATAL(m != NULL);
	CU_ASSERT(execution_init(&x, &shape, NULL) == 0);
	for (unsigned i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		execution_add(&x, entries[i].time, entries[i].process, entries[i].block, matrix_row,
			      m);
	execution_end(&x, matrix_row, m);
	CU_ASSERT(m->rows == 6 && memcmp(m->block, rows, sizeof(rows)) == 0);
	CU_ASSERT(x.rows == 6 && x.runs == 2 && x.clashes == 1 && x.entries == 8);
	execution_fini(&x);
	free(m);
}

static void compare(const struct matrix *m, struct execution *x, const bool *subset)
{
	struct multiplicity_entropy whole = multiplicity_entropy(&x->whole),
				    part = multiplicity_entropy(&x->subset);
	struct scan_process found[PROCESSES];
	double made[PROCESSES * PROCESSES];
	unsigned mask = 0;

	for (unsigned i = 0; i < PROCESSES; i++)
		mask |= subset[i] ? 1u << i : 0;
	CU_ASSERT(near(whole.by_volume, entropy(m, (1u << PROCESSES) - 1, true)));
	CU_ASSERT(near(whole.by_ways, entropy(m, (1u << PROCESSES) - 1, false)));
	CU_ASSERT(near(whole.by_histogram, histogram(m)));
	CU_ASSERT(near(part.by_volume, entropy(m, mask, true)));
	CU_ASSERT(near(part.by_ways, entropy(m, mask, false)));
	moments_covariance(&x->moments, made);
	for (unsigned i = 0; i < PROCESSES; i++)
		for (unsigned j = 0; j < PROCESSES; j++)
			CU_ASSERT(near(made[i * PROCESSES + j], covariance(m, i, j)));
	scan_end(&x->scan, found);
	CU_ASSERT(x->scan.n == 10 && x->scan.n_of == 6);
	for (size_t k = 0; k < x->scan.n; k++)
		CU_ASSERT(near(x->scan.subsets[k].entropy,
			       entropy_of_three(m, x->scan.subsets[k].process)));
}

static void all_figures_are_those_of_their_definitions(void)
{
	static const bool subset[PROCESSES] = {false, true, true, false, true};
	static const struct execution_shape shape = {.processes = PROCESSES,
						     .blocks = BLOCKS,
						     .start = 2,
						     .subset = subset,
						     .scan = 3,
						     .components = true};
	struct matrix *m = calloc(1, sizeof(*m));
	uint64_t seed = 5;

	CU_ASSERT_FATAL(m != NULL);
	for (unsigned trial = 0; trial < 50; trial++) {
		struct execution x;
		double time = 0;

		m->rows = 0;
		CU_ASSERT(execution_init(&x, &shape, NULL) == 0);
		for (unsigned i = 0; i < 1 + 50 * trial; i++) {
			time = random_below(&seed, 40) ? time + (double)random_below(&seed, 3) : 0;
			execution_add(&x, time, (unsigned)random_below(&seed, PROCESSES),
				      (uint32_t)random_below(&seed, BLOCKS), matrix_row, m);
		}
		execution_end(&x, matrix_row, m);
		CU_ASSERT_FATAL(x.rows == m->rows && m->rows < ROWS);
		if (m->rows > 1)
			compare(m, &x, subset);
		execution_fini(&x);
	}
	free(m);
}

/* So many changes that sums are made anew on the way. */
static void errors_of_rounding_do_not_add_up(void)
{
	uint64_t seed = 9;
	uint32_t block[64] = {0};
	struct multiplicity long_one, new_one;

	multiplicity_init(&long_one, 64, 13, 0);
	for (unsigned i = 0; i < 1000000; i++) {
		unsigned process = (unsigned)random_below(&seed, 64);
		uint32_t to = (uint32_t)random_below(&seed, 13);

		multiplicity_change(&long_one, block[process], to);
		block[process] = to;
	}
	multiplicity_init(&new_one, 64, 13, 0);
	for (unsigned i = 0; i < 64; i++)
		multiplicity_change(&new_one, 0, block[i]);
	multiplicity_row(&long_one);
	multiplicity_row(&new_one);
	CU_ASSERT(fabs(long_one.by_volume / new_one.by_volume - 1) < 1e-9);
	CU_ASSERT(near(long_one.by_histogram, new_one.by_histogram));
	multiplicity_fini(&long_one);
	multiplicity_fini(&new_one);
}

/* Of nine processes that go from block to block at random, one never gets into the last two. */
static unsigned planted_found(uint64_t seed, unsigned planted)
{
	static const struct execution_shape shape = {.processes = 9, .blocks = 6, .scan = 3};
	struct scan_process found[9];
	struct execution x;
	unsigned n = 0;

	CU_ASSERT(execution_init(&x, &shape, NULL) == 0);
	for (unsigned i = 0; i < 20000; i++) {
		unsigned process = (unsigned)random_below(&seed, 9);

		execution_add(&x, i + 1, process,
			      (uint32_t)random_below(&seed, process == planted ? 4 : 6), NULL,
			      NULL);
	}
	execution_end(&x, NULL, NULL);
	scan_end(&x.scan, found);
	for (unsigned i = 0; i < 9; i++)
		n += found[i].unlikely < 0.01 ? (i == planted ? 1 : 100) : 0;
	execution_fini(&x);
	return n;
}

static void who_is_unlike_the_others_is_found(void)
{
	unsigned found = 0, false_ones = 0;

	for (unsigned run = 0; run < 20; run++) {
		found += planted_found(run, run % 9) == 1;
		false_ones += planted_found(run + 100, 9) > 0;
	}
	tap_note("found in %u of 20, falsely in %u of 20", found, false_ones);
	CU_ASSERT(found == 20 && false_ones <= 1);
}

/* Three processes: from time 0 to 4 in block 0, where from 4 to 10 one has gone to block 1; then
 * two of them until 12; at 20 another run begins, in block 0, where all stay until 5. */
static void clumps_by_hand(void)
{
	static const struct execution_shape shape = {.processes = 3, .blocks = 2, .times = true};
	struct clump found[2];
	struct execution x;
	double q0 = (3 * 4 + 2 * 6 + 10 + 15) / 75.0, q1 = 1 - q0;

	CU_ASSERT(execution_init(&x, &shape, NULL) == 0);
	CU_ASSERT(clumps_find(&x.clumps, 0, found, 2) == 0); /* no time has gone by */
	execution_add(&x, 4, 0, 1, NULL, NULL);
	execution_add(&x, 10, 1, 1, NULL, NULL);
	execution_add(&x, 20, 1, 1, NULL, NULL);
	execution_add(&x, 5, 2, 0, NULL, NULL);
	execution_end(&x, NULL, NULL);
	CU_ASSERT(clumps_find(&x.clumps, 0, found, 2) == 2);
	CU_ASSERT(found[0].block == 0 && near(found[0].share, 15 / 25.0));
	CU_ASSERT(near(found[0].chance, q0 * q0 * q0 + 3 * q0 * q0 * q1));
	CU_ASSERT(found[1].block == 1 && near(found[1].share, 10 / 25.0));
	CU_ASSERT(near(found[1].chance, q1 * q1 * q1 + 3 * q1 * q1 * q0));
	CU_ASSERT(clumps_find(&x.clumps, 0, found, 1) == 1 && found[0].block == 0);
	CU_ASSERT(clumps_find(&x.clumps, 0.5, found, 2) == 1 && found[0].block == 0);
	CU_ASSERT(clumps_find(&x.clumps, 0.7, found, 2) == 0);
	execution_fini(&x);
}

/* The same, and for how long two of them were in the same block. */
static void together_by_hand(void)
{
	static const struct execution_shape shape = {.processes = 3, .blocks = 2, .alike = true};
	static const double shares[] = {1,	   19 / 25.0, 9 / 25.0,	 19 / 25.0, 1,
					15 / 25.0, 9 / 25.0,  15 / 25.0, 1};
	double share[9];
	struct execution x;

	CU_ASSERT(execution_init(&x, &shape, NULL) == 0);
	CU_ASSERT(coincidence_share(&x.coincidence, share) < 0); /* no time has gone by */
	execution_add(&x, 4, 0, 1, NULL, NULL);
	execution_add(&x, 10, 1, 1, NULL, NULL);
	execution_add(&x, 20, 1, 1, NULL, NULL);
	execution_add(&x, 5, 2, 0, NULL, NULL);
	execution_end(&x, NULL, NULL);
	coincidence_run(&x.coincidence, x.block);
	CU_ASSERT(coincidence_share(&x.coincidence, share) == 0);
	for (unsigned i = 0; i < 9; i++)
		CU_ASSERT(near(share[i], shares[i]));
	execution_fini(&x);
}

/* Of 12 processes, of which few or many are in a block: against every two of them, row by row. */
static void together_is_what_each_two_are(void)
{
	static const struct execution_shape shape = {.processes = 12, .blocks = 9, .alike = true};
	double wanted[144] = {0}, share[144], time = 0;
	struct execution x;
	uint64_t seed = 11;

	CU_ASSERT(execution_init(&x, &shape, NULL) == 0);
	for (unsigned i = 0; i < 5000; i++) {
		double span = (double)random_below(&seed, 4);

		for (unsigned p = 0; p < 144; p++)
			wanted[p] += x.block[p / 12] == x.block[p % 12] ? span : 0;
		time += span;
		execution_add(&x, time, (unsigned)random_below(&seed, 12),
			      (uint32_t)random_below(&seed, i / 500 % 2 ? 9 : 2), NULL, NULL);
	}
	execution_end(&x, NULL, NULL);
	coincidence_run(&x.coincidence, x.block);
	CU_ASSERT(coincidence_share(&x.coincidence, share) == 0);
	for (unsigned p = 0; p < 144; p++)
		CU_ASSERT(near(share[p], wanted[p] / time));
	execution_fini(&x);
}

static void scans_that_are_too_large_are_refused(void)
{
	struct execution_shape shape = {.processes = 64, .blocks = 1000, .scan = 3};
	struct execution x;
	struct error e;

	CU_ASSERT(execution_init(&x, &shape, &e) < 0 && strstr(e.text, "too many subsets"));
	execution_fini(&x);
	shape = (struct execution_shape){.processes = 2, .blocks = 2, .scan = 1};
	CU_ASSERT(execution_init(&x, &shape, &e) < 0 && strstr(e.text, "of 2 processes none"));
	execution_fini(&x);
}

static CU_TestInfo cases[] = {
	{"three processes, by hand", three_processes_by_hand},
	{"the axes of three processes", axes_of_three_processes},
	{"rows are made as the paper has it", rows_are_made_as_the_paper_has_it},
	{"all figures are those of their definitions", all_figures_are_those_of_their_definitions},
	{"errors of rounding do not add up", errors_of_rounding_do_not_add_up},
	{"where processes gather, by hand", clumps_by_hand},
	{"who is together for how long, by hand", together_by_hand},
	{"who is together is what each two are", together_is_what_each_two_are},
	{"who is unlike the others is found", who_is_unlike_the_others_is_found},
	{"scans that are too large are refused", scans_that_are_too_large_are_refused},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "phase", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
