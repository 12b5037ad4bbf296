/* SPDX-License-Identifier: BSD-3-Clause */
/* Multiplicities of states: a change of one process changes two factorials. */
#include "consumers/phase/multiplicity.h"

#include <math.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"

/* Sums are made anew after so many changes, so that errors of rounding do not add up. */
#define ANEW_EACH 65536u

/* Neither N^P, nor one by it, nor P! leaves the range of a double below. */
#define LN_EXACT 600

static void sums_make(struct multiplicity *m)
{
	m->ln_ways = m->ln_all;
	m->crowded = 0;
	for (uint32_t k = 0; k < m->blocks; k++) {
		m->crowded += m->c_log_c[m->count[k]];
		for (uint32_t b = 2; b <= m->count[k]; b++)
			m->ln_ways -= m->ln[b];
	}
	m->ways = m->per_volume > 0 ? exp(m->ln_ways) : 0;
}

void multiplicity_init(struct multiplicity *m, unsigned processes, uint32_t blocks, uint32_t at)
{
	*m = (struct multiplicity){.processes = processes, .blocks = blocks};
	m->count = memory_new(blocks, sizeof(*m->count));
	m->ln = memory_new(processes + 1, sizeof(*m->ln));
	m->c_log_c = memory_new(processes + 1, sizeof(*m->c_log_c));
	m->inverse = memory_new(processes + 1, sizeof(*m->inverse));
	for (unsigned c = 1; c <= processes; c++) {
		m->ln[c] = log(c);
		m->inverse[c] = 1.0 / c;
		m->c_log_c[c] = c * log2(c);
		m->ln_all += m->ln[c];
	}
	m->ln_volume = processes * log(blocks);
	if (m->ln_volume < LN_EXACT && m->ln_all < LN_EXACT)
		m->per_volume = exp(-m->ln_volume);
	m->count[at] = processes;
	sums_make(m);
}

void multiplicity_fini(struct multiplicity *m)
{
	free(m->count);
	free(m->ln);
	free(m->c_log_c);
	free(m->inverse);
	*m = (struct multiplicity){0};
}

void multiplicity_change(struct multiplicity *m, uint32_t from, uint32_t to)
{
	uint32_t left = m->count[from]--, come = ++m->count[to];

	if (++m->changes % ANEW_EACH == 0) {
		sums_make(m);
		return;
	}
	m->ln_ways += m->ln[left] - m->ln[come];
	m->ways *= left * m->inverse[come];
	m->crowded +=
		m->c_log_c[left - 1] - m->c_log_c[left] + m->c_log_c[come] - m->c_log_c[come - 1];
}

double multiplicity_spread(const struct multiplicity *m)
{
	return fmax(0, m->ln[m->processes] * M_LOG2E - m->crowded / m->processes);
}

void multiplicity_row(struct multiplicity *m)
{
	double ln_p = m->ln_ways - m->ln_volume, p = m->ways * m->per_volume, ways = m->ways;

	/* to make them takes longer than all the rest */
	if (!(m->per_volume > 0)) {
		p = exp(ln_p);
		ways = exp(m->ln_ways);
	}
	m->rows++;
	m->by_volume -= p * ln_p;
	m->by_ways -= ways * m->ln_ways;
	m->by_histogram += multiplicity_spread(m);
}

struct multiplicity_entropy multiplicity_entropy(const struct multiplicity *m)
{
	return (struct multiplicity_entropy){
		.by_volume = m->by_volume * M_LOG2E,
		.by_ways = m->by_ways * M_LOG2E,
		.by_histogram = m->rows ? m->by_histogram / (double)m->rows : (double)NAN,
	};
}
