/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds what rows may be whose order is not known, by how many processes can be in each block. */
#include "consumers/phase/unordered.h"

#include <math.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"

static void part_init(struct unordered_part *part, const struct multiplicity *of)
{
	*part = (struct unordered_part){.of = of};
	part->block = memory_new(of->blocks + 1, sizeof(*part->block));
	part->touched = memory_new(of->blocks + 1, sizeof(*part->touched));
	part->ln_factorial = memory_new(of->processes + 1, sizeof(*part->ln_factorial));
	for (unsigned c = 2; c <= of->processes; c++)
		part->ln_factorial[c] = part->ln_factorial[c - 1] + log(c);
}

static void part_fini(struct unordered_part *part)
{
	free(part->block);
	free(part->touched);
	free(part->ln_factorial);
}

void unordered_init(struct unordered *u, const struct execution *x)
{
	*u = (struct unordered){.x = x, .chain = 1};
	doubt_begin(&u->doubt);
	u->process = memory_new(x->shape.processes, sizeof(*u->process));
	u->moved = memory_new(x->shape.processes, sizeof(*u->moved));
	u->scanned = memory_new(x->scan.n + 1, sizeof(*u->scanned));
	part_init(&u->whole, &x->whole);
	part_init(&u->subset, &x->subset);
}

void unordered_fini(struct unordered *u)
{
	free(u->process);
	free(u->moved);
	free(u->scanned);
	part_fini(&u->whole);
	part_fini(&u->subset);
	*u = (struct unordered){0};
}

/* ---- a row ---- */

/* -p ln p */
static double term(double ln_p)
{
	return -exp(ln_p) * ln_p;
}

/* The least and the most that it is where ln p is in @ln. */
static struct unordered_range term_range(struct unordered_range ln)
{
	double a = term(ln.least), b = term(ln.most);
	bool top = ln.least <= -1 && ln.most >= -1;

	return (struct unordered_range){fmin(a, b), top ? term(-1) : fmax(a, b)};
}

/* The present row is one of those of the chain that are not known. */
static void row_know(struct unordered_part *part)
{
	const struct multiplicity *of = part->of;

	part->known[UNORDERED_VOLUME] += term(of->ln_ways - of->ln_volume);
	part->known[UNORDERED_WAYS] += term(of->ln_ways);
	part->known[UNORDERED_HISTOGRAM] += multiplicity_spread(of);
}

/* ---- the end of a chain ---- */

/* In how many ways can processes be in a row of the chain, as a logarithm? */
static struct unordered_range ways_range(const struct unordered_part *part)
{
	const struct multiplicity *of = part->of;
	const double *ln_factorial = part->ln_factorial;
	unsigned each = of->processes / of->blocks, more = of->processes % of->blocks;
	struct unordered_range ln = {of->ln_ways, of->ln_ways};
	double all = ln_factorial[of->processes];

	for (uint32_t i = 0; i < part->n; i++) {
		const struct unordered_block *b = &part->block[part->touched[i]];
		double now = ln_factorial[of->count[part->touched[i]]];

		ln.least += now - ln_factorial[b->most];
		ln.most += now - ln_factorial[b->least];
	}
	if (more > 0)
		all -= more * ln_factorial[each + 1];
	ln.least = fmax(ln.least, 0);
	ln.most = fmin(ln.most, all - (of->blocks - more) * ln_factorial[each]);
	return ln;
}

static struct unordered_range spread_range(const struct unordered_part *part)
{
	const struct multiplicity *of = part->of;
	uint32_t most = of->blocks < of->processes ? of->blocks : of->processes;
	double now = multiplicity_spread(of);
	struct unordered_range spread = {now, now};

	for (uint32_t i = 0; i < part->n; i++) {
		const struct unordered_block *b = &part->block[part->touched[i]];
		double there = of->c_log_c[of->count[part->touched[i]]];

		spread.least += (there - of->c_log_c[b->most]) / of->processes;
		spread.most += (there - of->c_log_c[b->least]) / of->processes;
	}
	return (struct unordered_range){fmax(spread.least, 0), fmin(spread.most, log2(most))};
}

static void part_end(struct unordered_part *part, double rows)
{
	struct unordered_range each[UNORDERED_FIGURES], ways, volume;

	if (rows > 0 && part->of->processes > 0) {
		ways = ways_range(part);
		volume = (struct unordered_range){ways.least - part->of->ln_volume,
						  ways.most - part->of->ln_volume};
		each[UNORDERED_VOLUME] = term_range(volume);
		each[UNORDERED_WAYS] = term_range(ways);
		each[UNORDERED_HISTOGRAM] = spread_range(part);
		for (unsigned i = 0; i < UNORDERED_FIGURES; i++) {
			part->more[i].least += rows * each[i].least - part->known[i];
			part->more[i].most += rows * each[i].most - part->known[i];
		}
	}
	for (unsigned i = 0; i < UNORDERED_FIGURES; i++)
		part->known[i] = 0;
	part->n = 0;
}

/* Of subsets of which a process has moved, the rows between are not known. */
static void scanned_add(struct unordered *u, unsigned process)
{
	const struct scan *scan = &u->x->scan;
	const size_t *of = scan->of + process * scan->n_of;

	for (size_t k = 0; k < scan->n_of; k++) {
		struct unordered_scanned *s = &u->scanned[of[k]];

		s->rows += s->chain == u->chain ? 0 : u->between;
		s->chain = u->chain;
	}
}

static void chain_end(struct unordered *u)
{
	for (unsigned i = 0; i < u->n_moved && u->between > 0; i++)
		scanned_add(u, u->moved[i]);
	u->n_moved = 0;
	part_end(&u->whole, (double)u->between);
	part_end(&u->subset, (double)u->between);
	u->squares += (double)u->between * u->width;
	u->rows += u->between;
	u->between = 0;
	u->width = 0;
	u->chain++;
}

/* In a chain without an unsure entry all rows are known. */
static void chain_settle(struct unordered *u)
{
	if (u->unsure == u->sure)
		u->between = 0;
	u->sure = u->unsure;
	chain_end(u);
}

/* ---- entries ---- */

/* May it be before something of this run that has come, or something that comes later be so? */
static bool is_near(const struct unordered *u, double time)
{
	return !u->again && u->x->seen > 0 && time - u->x->time < 2 * u->x->shape.bound;
}

static struct unordered_block *block_touch(const struct unordered *u, struct unordered_part *part,
					   uint32_t block)
{
	struct unordered_block *b = &part->block[block];
	uint32_t count = part->of->count[block];

	if (b->chain == u->chain)
		return b;
	if (u->again)
		count = block == u->x->shape.start ? part->of->processes : 0;
	*b = (struct unordered_block){u->chain, count, count};
	part->touched[part->n++] = block;
	return b;
}

static void part_move(const struct unordered *u, struct unordered_part *part, bool first,
		      uint32_t from, uint32_t to)
{
	struct unordered_block *b = block_touch(u, part, from);

	b->least -= first;
	b = block_touch(u, part, to);
	b->most += b->most < part->of->processes;
}

static void process_move(struct unordered *u, unsigned process, uint32_t to)
{
	struct unordered_process *p = &u->process[process];
	uint32_t from = u->again ? u->x->shape.start : u->x->block[process];
	double width;

	if (from == to)
		return;
	if (p->chain != u->chain) {
		*p = (struct unordered_process){u->chain, from, from, false};
		u->moved[u->n_moved++] = process;
	}
	width = p->most - p->least;
	u->width -= width * width;
	p->least = to < p->least ? to : p->least;
	p->most = to > p->most ? to : p->most;
	width = p->most - p->least;
	u->width += width * width;
	part_move(u, &u->whole, !p->left, from, to);
	if (u->subset.of->processes > 0 && u->x->shape.subset[process])
		part_move(u, &u->subset, !p->left, from, to);
	p->left = true;
}

void unordered_add(struct unordered *u, double time, unsigned process, uint32_t block, double bound)
{
	bool unsure;

	u->again = time < u->x->time;
	if (u->again) {
		u->time += u->x->time;
		doubt_begin(&u->doubt);
	}
	/* at time 0 it may be behind the state in which all begin */
	unsure = doubt_add(&u->doubt, time, bound, process) || (time == 0 && bound > 0);
	u->bounds += bound;
	if (time == u->x->time) {
		u->parallel += unsure;
	} else if (is_near(u, time)) {
		u->between++;
		row_know(&u->whole);
		if (u->subset.of->processes > 0)
			row_know(&u->subset);
	} else {
		chain_settle(u);
		u->parallel += unsure;
	}
	u->unsure += unsure;
	process_move(u, process, block);
}

void unordered_end(struct unordered *u)
{
	chain_settle(u);
	u->time += u->x->time;
}

/* ---- figures ---- */

struct unordered_range unordered_states(const struct unordered *u)
{
	double rows = (double)u->x->rows;

	return (struct unordered_range){rows - (double)u->rows, rows + (double)u->parallel};
}

struct unordered_range unordered_entropy(const struct unordered_part *part,
					 enum unordered_figure figure)
{
	const struct multiplicity *of = part->of;
	const double sums[] = {of->by_volume, of->by_ways, of->by_histogram};
	double unit = figure == UNORDERED_HISTOGRAM ? 1 / (double)of->rows : M_LOG2E;

	return (struct unordered_range){(sums[figure] + part->more[figure].least) * unit,
					(sums[figure] + part->more[figure].most) * unit};
}

double unordered_scanned(const struct unordered *u, unsigned process)
{
	const struct scan *scan = &u->x->scan;
	const size_t *of = scan->of + process * scan->n_of;
	double sum = 0;

	for (size_t k = 0; k < scan->n_of; k++)
		sum += doubt_bits((double)u->scanned[of[k]].rows / (double)u->x->rows,
				  scan->states);
	return scan->n_of > 0 ? sum / (double)scan->n_of : 0;
}

/* A matrix that is off by no more than the root of the squares has singular values that are off by
 * no more (Weyl). */
struct unordered_range unordered_explained(const struct unordered *u, double variance, double total)
{
	double by = u->x->rows > 1 ? (double)u->x->rows - 1 : 1;
	double value = sqrt(fmax(variance, 0) * by), all = sqrt(total * by);
	double off = sqrt(u->squares);
	struct unordered_range r = {pow(fmax(value - off, 0) / (all + off), 2), 1};

	if (all > off)
		r.most = fmin(pow((value + off) / (all - off), 2), 1);
	return r;
}

double unordered_share(const struct unordered *u)
{
	return u->time > 0 ? fmin(1, u->bounds / u->time) : 0;
}
