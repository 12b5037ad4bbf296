/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of probes, by the entities of the request: one for each combination of those that "*"
 * and "?" stand for, in the order of the request, then of names. */
#include "consumers/mir/probe-values.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/mir/answer.h"
#include "consumers/mir/probe-cell.h"
#include "consumers/mir/probe-define.h"
#include "pathmap/base/memory.h"

/* Some tuples, with the texts that they point to. */
struct probe_values {
	struct mir_tuple *tuples;
	size_t n;
	char **texts;
	size_t n_texts;
};

/* What is known of one combination. */
struct probe_group {
	char *id[MIR_LEVELS];
	struct probe_stat stat;
	double last, sampled;
	int64_t last_ns;
	bool ran;
};

struct probe_groups {
	struct probe_group *items;
	size_t n;
};

/* ---- groups of a chain ---- */

static int ids_compare(char *const a[MIR_LEVELS], char *const b[MIR_LEVELS])
{
	int order = 0;

	for (unsigned i = 0; i < MIR_LEVELS && order == 0; i++)
		order = strverscmp(a[i] ? a[i] : "", b[i] ? b[i] : "");
	return order;
}

static int groups_compare(const void *a, const void *b)
{
	const struct probe_group *x = a, *y = b;

	return ids_compare(x->id, y->id);
}

static void group_merge(struct probe_group *g, const struct probe_group *more)
{
	probe_stat_merge(&g->stat, &more->stat);
	g->sampled += more->sampled;
	g->ran |= more->ran;
	if (more->last_ns > g->last_ns) {
		g->last = more->last;
		g->last_ns = more->last_ns;
	}
}

/* A group of its own, which takes the ids. */
static struct probe_group *group_new(struct probe_groups *groups, char *id[MIR_LEVELS])
{
	groups->items = memory_room(groups->items, groups->n, sizeof(*groups->items));
	groups->items[groups->n] = (struct probe_group){.last_ns = 0};
	memcpy(groups->items[groups->n].id, id, sizeof(groups->items[groups->n].id));
	return &groups->items[groups->n++];
}

/* In their order, those with the same ids as one. */
static void groups_settle(struct probe_groups *groups)
{
	size_t kept = 0;

	if (groups->n > 0)
		qsort(groups->items, groups->n, sizeof(*groups->items), groups_compare);
	for (size_t i = 0; i < groups->n; i++) {
		struct probe_group *g = &groups->items[i];

		if (kept == 0 || groups_compare(&groups->items[kept - 1], g) != 0) {
			groups->items[kept++] = *g;
			continue;
		}
		group_merge(&groups->items[kept - 1], g);
		probe_ids_free(g->id);
	}
	groups->n = kept;
}

/* With "*", what one executes is measured for all. */
static void groups_share(struct probe_groups *groups)
{
	struct probe_group all = {.last_ns = 0};

	for (size_t i = 0; i < groups->n; i++) {
		probe_stat_merge(&all.stat, &groups->items[i].stat);
		if (groups->items[i].last_ns > all.last_ns) {
			all.last = groups->items[i].last;
			all.last_ns = groups->items[i].last_ns;
		}
	}
	for (size_t i = 0; i < groups->n; i++) {
		groups->items[i].stat = all.stat;
		groups->items[i].last = all.last;
		groups->items[i].last_ns = all.last_ns;
	}
}

static struct probe_groups groups_make(const struct probe *p, const struct probe_series *s,
				       const struct probe_chain *chain)
{
	bool wild = false, those = chain->some && probe_triggers(p, s->metric);
	struct probe_groups groups = {NULL, 0};
	char *id[MIR_LEVELS];

	for (const struct probe_cell *c = s->cells; c; c = c->hh.next) {
		const struct probe_group of_cell = {.stat = c->stat,
						    .last = c->last,
						    .sampled = those ? c->own : c->sampled,
						    .last_ns = c->last_ns,
						    .ran = c->ran};

		if (probe_cell_ids(c, chain, s->metric, id) && (!those || c->has_run))
			group_merge(group_new(&groups, id), &of_cell);
		else
			probe_ids_free(id);
	}
	for (unsigned i = 0; i < MIR_LEVELS; i++)
		wild |= probe_id_is_wild(chain->id[i]);
	if (groups.n == 0 && !wild) {
		for (unsigned i = 0; i < MIR_LEVELS; i++)
			id[i] = memory_copy(chain->id[i]);
		group_new(&groups, id);
	}
	groups_settle(&groups);
	if (chain->all && probe_is_of_executions(p, s->metric))
		groups_share(&groups);
	return groups;
}

static void groups_fini(struct probe_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		probe_ids_free(groups->items[i].id);
	free(groups->items);
}

/* ---- what is needed ---- */

static bool probe_is_of_all(const struct probe *p)
{
	struct probe_chain chain;

	for (size_t i = 0; i < probe_chains(p); i++)
		if (probe_chain_of(p, i, &chain) && chain.all)
			return true;
	return false;
}

bool probe_needs_snapshot(const struct probe *probe)
{
	bool all = probe_is_of_all(probe);

	/* the kernel says who there is */
	for (size_t i = 0; i < probe->n_series; i++)
		if (probe->series[i].metric->what == METRIC_THREADS ||
		    (all && !metric_is_used(probe->series[i].metric)))
			return true;
	return false;
}

/* ---- values ---- */

static double group_value(const struct probe *p, const struct probe_series *s,
			  const struct probe_group *g)
{
	if (probe_is_of_executions(p, s->metric))
		return g->last;
	return probe_samples(p, s->metric) ? g->sampled : g->stat.sum;
}

/* One more value of each group for the aggregates. */
static void chain_sample(const struct probe *p, struct probe_series *s,
			 const struct probe_chain *chain)
{
	struct probe_groups groups = groups_make(p, s, chain);

	for (size_t g = 0; g < groups.n; g++) {
		struct probe_stat one = probe_stat_of(group_value(p, s, &groups.items[g]));

		if (chain->some && probe_triggers(p, s->metric) && !groups.items[g].ran)
			continue;
		probe_sum_add(&s->samples, &one, (const char *const *)groups.items[g].id);
	}
	groups_fini(&groups);
}

void probe_sample_begin(struct probe *probe, const struct sources *sources)
{
	for (size_t i = 0; i < probe->n_series; i++) {
		sources_know(sources, &probe->series[i]);
		for (struct probe_cell *c = probe->series[i].cells; c; c = c->hh.next)
			c->before = c->stat.sum;
	}
}

static void series_sample(const struct probe *p, struct probe_series *s,
			  const struct sources *sources)
{
	struct probe_chain chain;

	sources_know(sources, s);
	for (struct probe_cell *c = s->cells; c; c = c->hh.next) {
		c->sampled = c->stat.sum - c->before;
		c->own = c->ran ? c->sampled : c->own;
	}
	if (!probe_is_of_executions(p, s->metric) && p->defined->measuring.n_functions > 0)
		for (size_t k = 0; k < probe_chains(p); k++)
			if (probe_chain_of(p, k, &chain))
				chain_sample(p, s, &chain);
	for (struct probe_cell *c = s->cells; c; c = c->hh.next)
		c->ran = false;
}

void probe_sample(struct probe *probe, const struct sources *sources)
{
	for (size_t i = 0; i < probe->n_series; i++)
		if (probe_samples(probe, probe->series[i].metric))
			series_sample(probe, &probe->series[i], sources);
	probe->measured = true;
}

void probe_take(struct probe *probe, const struct sources *sources)
{
	for (size_t i = 0; i < probe->n_series; i++)
		if (!probe_samples(probe, probe->series[i].metric))
			series_sample(probe, &probe->series[i], sources);
}

static struct mir_tuple *tuple_add(struct probe_values *v, const struct probe *p,
				   const struct probe_series *s)
{
	v->tuples = memory_room(v->tuples, v->n, sizeof(*v->tuples));
	v->tuples[v->n] = (struct mir_tuple){.probe = p->id, .metric = s->metric->name};
	return &v->tuples[v->n++];
}

static const char *text_keep(struct probe_values *v, const char *text)
{
	if (!text)
		return NULL;
	v->texts = memory_room(v->texts, v->n_texts, sizeof(*v->texts));
	v->texts[v->n_texts] = memory_copy(text);
	return v->texts[v->n_texts++];
}

/* All combinations that a metric knows. */
static struct probe_groups groups_join(const struct probe_groups *of, size_t n)
{
	struct probe_groups all = {NULL, 0};
	char *id[MIR_LEVELS];

	for (size_t i = 0; i < n; i++) {
		for (size_t g = 0; g < of[i].n; g++) {
			for (unsigned k = 0; k < MIR_LEVELS; k++)
				id[k] = memory_copy(of[i].items[g].id[k]);
			group_new(&all, id);
		}
	}
	groups_settle(&all);
	return all;
}

/* What a metric says of a combination. */
static void group_tuple(struct probe_values *v, const struct probe *p, const struct probe_series *s,
			const struct probe_chain *chain, const struct probe_group *of,
			const struct probe_groups *in)
{
	const struct probe_group *g =
		in->n > 0 ? bsearch(of, in->items, in->n, sizeof(*of), groups_compare) : NULL;
	struct mir_tuple *t = tuple_add(v, p, s);
	bool executions = probe_is_of_executions(p, s->metric);

	for (unsigned k = 0; k < MIR_LEVELS; k++) {
		t->id[k] = text_keep(v, of->id[k]);
		t->as_requested[k] = chain->id[k] && !probe_id_is_wild(chain->id[k]);
	}
	t->known = executions ? g && g->last_ns > 0 : p->measured;
	t->value = g ? group_value(p, s, g) : 0;
}

/* The values of one chain: for each combination one of each metric. */
static void chain_add(struct probe_values *v, const struct probe *p,
		      const struct probe_chain *chain)
{
	struct probe_groups *of = memory_new(p->n_series, sizeof(*of)), all;

	for (size_t i = 0; i < p->n_series; i++)
		of[i] = groups_make(p, &p->series[i], chain);
	all = groups_join(of, p->n_series);
	for (size_t g = 0; g < all.n; g++)
		for (size_t i = 0; i < p->n_series; i++)
			group_tuple(v, p, &p->series[i], chain, &all.items[g], &of[i]);
	for (size_t i = 0; i < p->n_series; i++)
		groups_fini(&of[i]);
	groups_fini(&all);
	free(of);
}

/* All executions that the chains are about. */
static struct probe_sum executions_sum(const struct probe *p, const struct probe_series *s)
{
	struct probe_sum sum = {.stat = {0}};
	struct probe_chain chain;

	for (size_t i = 0; i < probe_chains(p); i++) {
		struct probe_groups groups;

		if (!probe_chain_of(p, i, &chain))
			continue;
		groups = groups_make(p, s, &chain);
		for (size_t g = 0; g < groups.n; g++)
			probe_sum_add(&sum, &groups.items[g].stat,
				      (const char *const *)groups.items[g].id);
		groups_fini(&groups);
	}
	return sum;
}

static void aggregates_add(struct probe_values *v, const struct probe *p,
			   const struct probe_series *s)
{
	const struct mir_measuring *m = &p->defined->measuring;
	bool executions = probe_is_of_executions(p, s->metric);
	struct probe_sum sum = executions ? executions_sum(p, s) : s->samples;

	for (size_t i = 0; i < m->n_functions; i++) {
		enum mir_function f = m->functions[i];
		struct mir_tuple *t = tuple_add(v, p, s);
		char *const *ids = f == MIR_MAXIMUM ? sum.most : sum.least;

		t->function = request_functions[f];
		t->known = sum.stat.count > 0;
		t->value = probe_stat_figure(&sum.stat, f);
		for (unsigned k = 0; k < MIR_LEVELS; k++)
			if (f == MIR_MAXIMUM || f == MIR_MINIMUM)
				t->id[k] = text_keep(v, ids[k]);
	}
	if (executions)
		probe_sum_fini(&sum);
}

static void probe_add(struct probe_values *values, struct probe *probe,
		      const struct sources *sources)
{
	struct probe_chain chain;

	/* values that grow are taken when they are asked for, unless an interval says when */
	if (probe_value_is_taken(probe))
		probe_take(probe, &(struct sources){.snapshot = probe_needs_snapshot(probe)
									? sources->snapshot
									: NULL,
						    .usages = sources->usages});
	if (probe->defined->measuring.n_functions > 0) {
		for (size_t i = 0; i < probe->n_series; i++)
			aggregates_add(values, probe, &probe->series[i]);
		return;
	}
	for (size_t i = 0; i < probe_chains(probe); i++)
		if (probe_chain_of(probe, i, &chain))
			chain_add(values, probe, &chain);
}

static void values_fini(struct probe_values *values)
{
	for (size_t i = 0; i < values->n_texts; i++)
		free(values->texts[i]);
	free(values->texts);
	free(values->tuples);
}

/* What the kernel says of is not all there. */
static void gaps_write(const struct usages *usages, FILE *out)
{
	for (size_t i = 0; usages && i < usages->n_gaps; i++)
		answer_missing(out, usages->gaps[i].host, usages->gaps[i].why);
}

/* Has anything come that one of its chains is of? */
static bool series_has(const struct probe *p, const struct probe_series *s)
{
	struct probe_chain chain;
	char *id[MIR_LEVELS];
	bool has = false;

	for (size_t i = 0; i < probe_chains(p) && !has; i++) {
		if (!probe_chain_of(p, i, &chain))
			continue;
		for (const struct probe_cell *c = s->cells; c && !has; c = c->hh.next) {
			has = probe_cell_ids(c, &chain, s->metric, id);
			probe_ids_free(id);
		}
	}
	return has;
}

/* Who has asked for what is not there would wait for it for ever. */
static void nothing_write(const struct probe *p, FILE *out)
{
	bool has = !p->active || p->n_series == 0;

	for (size_t i = 0; i < p->n_series && !has; i++)
		has = series_has(p, &p->series[i]);
	if (!has)
		fprintf(out, "<!-- %s: nothing has come so far that it is about -->", p->id);
}

bool probe_values_write(struct probe *const *some, size_t n, const struct sources *sources,
			FILE *out)
{
	struct probe_values values = {.tuples = NULL};
	uint64_t lost = 0, dropped = 0;
	bool used = false, siteless = false;

	for (size_t i = 0; i < n && values.n <= VALUES_MOST; i++) {
		probe_add(&values, some[i], sources);
		lost += some[i]->lost;
		used |= probe_uses(some[i]);
		siteless |= some[i]->siteless && !some[i]->sited;
		if (some[i]->destination)
			dropped += destination_dropped(some[i]->destination);
	}
	if (n > 1 && values.n > VALUES_MOST) {
		values_fini(&values);
		return false;
	}
	measurement_write(out, values.tuples, values.n);
	if (lost > 0)
		fprintf(out, "<!-- %llu tuples were overwritten before they were read -->",
			(unsigned long long)lost);
	if (dropped > 0)
		fprintf(out,
			"<!-- %llu documents were dropped, as their destinations took none -->",
			(unsigned long long)dropped);
	if (siteless)
		fputs("<!-- call sites are not recorded; elements are to be split by them "
		      "(docs/collecting.md) -->",
		      out);
	for (size_t i = 0; i < n; i++)
		nothing_write(some[i], out);
	if (used)
		gaps_write(sources->usages, out);
	fputc('\n', out);
	values_fini(&values);
	return true;
}

void probe_values_say(struct probe *probe, const struct sources *sources)
{
	struct probe_values values = {.tuples = NULL};

	probe_add(&values, probe, sources);
	for (size_t i = 0; i < values.n; i++)
		destination_value(probe->destination, &values.tuples[i]);
	values_fini(&values);
}
