/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the states of all subsets of processes, and compares the processes. */
#include "consumers/phase/scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "consumers/analysis/student.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* Binomial coefficient, or @most + 1 if it is larger. */
static uint64_t choose(unsigned n, unsigned k, uint64_t most)
{
	double c = 1;

	for (unsigned i = 1; i <= k; i++)
		c = c * (n - k + i) / i;
	return c > (double)most ? most + 1 : (uint64_t)(c + 0.5);
}

/* The next subset in the order of their numbers. Returns false after the last. */
static int subset_next(unsigned process[SCAN_MOST], unsigned size, unsigned processes)
{
	unsigned i = size;

	while (i > 0 && process[i - 1] == processes - size + i - 1)
		i--;
	if (i == 0)
		return 0;
	process[i - 1]++;
	for (; i < size; i++)
		process[i] = process[i - 1] + 1;
	return 1;
}

static int scan_measure(struct scan *s, unsigned processes, unsigned size, uint32_t blocks,
			struct error *e)
{
	uint64_t states = 1, n;

	errno = E2BIG;
	if (processes < 3)
		return errorf(e, "--scan: of %u process%s none is unlike the others", processes,
			      plural(processes, "es"));
	if (size < 1 || size > SCAN_MOST || size >= processes)
		return errorf(e, "--scan %u: of %u processes, subsets have from 1 to %u", size,
			      processes, processes <= SCAN_MOST ? processes - 1 : SCAN_MOST);
	for (unsigned i = 0; i < size && states <= SCAN_BYTES; i++)
		states *= blocks;
	n = choose(processes, size, SCAN_BYTES);
	if (states > SCAN_BYTES || n > SCAN_BYTES / (states * sizeof(*s->cells)))
		return errorf(e,
			      "there are too many subsets of %u processes, or states of them with "
			      "%u blocks; smaller subsets would do",
			      size, blocks);
	*s = (struct scan){.processes = processes, .size = size, .blocks = blocks, .n = n};
	s->states = (uint32_t)states;
	s->n_of = choose(processes - 1, size - 1, SCAN_BYTES);
	return 0;
}

int scan_init(struct scan *s, unsigned processes, unsigned size, uint32_t blocks, uint32_t at,
	      struct error *e)
{
	unsigned process[SCAN_MOST];
	size_t *filled, k = 0;

	*s = (struct scan){0};
	if (scan_measure(s, processes, size, blocks, e))
		return -1;
	s->subsets = memory_new(s->n, sizeof(*s->subsets));
	s->cells = memory_new(s->n * s->states, sizeof(*s->cells));
	s->of = memory_new(processes * s->n_of, sizeof(*s->of));
	filled = memory_new(processes, sizeof(*filled));
	for (unsigned i = 0; i < size; i++)
		process[i] = i;
	do {
		struct scan_subset *subset = &s->subsets[k];

		subset->rows = s->cells + k * s->states;
		for (unsigned i = 0; i < size; i++) {
			unsigned p = subset->process[i] = process[i];

			subset->state = subset->state * blocks + at;
			s->of[p * s->n_of + filled[p]++] = k;
		}
		k++;
	} while (subset_next(process, size, processes));
	free(filled);
	return 0;
}

void scan_fini(struct scan *s)
{
	free(s->subsets);
	free(s->cells);
	free(s->of);
	*s = (struct scan){0};
}

static void subset_count(struct scan *s, struct scan_subset *subset)
{
	subset->rows[subset->state] += s->row - subset->since;
	subset->since = s->row;
}

void scan_change(struct scan *s, unsigned process, uint32_t from, uint32_t to)
{
	const size_t *of = s->of + process * s->n_of;

	for (size_t k = 0; k < s->n_of; k++) {
		struct scan_subset *subset = &s->subsets[of[k]];
		uint32_t digit = 1;

		subset_count(s, subset);
		for (unsigned i = s->size; subset->process[i - 1] != process; i--)
			digit *= s->blocks;
		subset->state += (to - from) * digit;
	}
}

static double subset_entropy(const struct scan *s, const struct scan_subset *subset)
{
	double sum = 0, n = (double)s->row;

	for (uint32_t i = 0; i < s->states; i++)
		if (subset->rows[i] > 0)
			sum += (double)subset->rows[i] * log2((double)subset->rows[i]);
	return s->row ? log2(n) - sum / n : 0;
}

/* How unlikely is it that one of as many processes is so far from the others? */
static void process_compare(const struct scan *s, struct scan_process *found, unsigned process)
{
	unsigned others = s->processes - 1;
	double mean = 0, squares = 0;

	for (unsigned i = 0; i < s->processes; i++)
		mean += i == process ? 0 : found[i].mean / others;
	for (unsigned i = 0; i < s->processes; i++)
		squares += i == process ? 0 : (found[i].mean - mean) * (found[i].mean - mean);
	found[process].others = mean;
	found[process].unlikely = 1;
	if (fabs(found[process].mean - mean) > 1e-9 * fmax(1, fabs(mean)))
		found[process].unlikely =
			fmin(1, s->processes *
					student_unlike(found[process].mean, mean, squares, others));
}

void scan_end(struct scan *s, struct scan_process *found)
{
	for (size_t k = 0; k < s->n; k++) {
		subset_count(s, &s->subsets[k]);
		s->subsets[k].entropy = subset_entropy(s, &s->subsets[k]);
	}
	for (unsigned p = 0; p < s->processes; p++) {
		const size_t *of = s->of + p * s->n_of;

		found[p] = (struct scan_process){.least = of[0]};
		for (size_t k = 0; k < s->n_of; k++) {
			double entropy = s->subsets[of[k]].entropy;

			found[p].mean += entropy / (double)s->n_of;
			if (entropy < s->subsets[found[p].least].entropy)
				found[p].least = of[k];
		}
	}
	for (unsigned p = 0; p < s->processes; p++)
		process_compare(s, found, p);
}
