/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests reduce: folds in any shape of tree give what the flat fold gives, and the counts add up. */
#include "tree/stage/stage.h"
#include "tests/random-trees.h"
#include "tests/tap.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/data/op.h"

/* The whole answer in figures. */
struct answer {
	uint64_t read, filtered, reduced, delivered, folded, parts, in_mark;
	struct total totals[64];
	char total_names[64][64];
	size_t n_totals;
	struct tuple tuples[64];
	char tuple_names[64][64];
	size_t n_tuples;
};

static void answer_run(struct answer *a, const struct place *p, const struct run_view *view)
{
	const struct name *name = names_find(p->names, view->run->element);

	CU_ASSERT_PTR_NOT_NULL_FATAL(name);
	for (unsigned i = 0; i < view->run->count; i++) {
		CU_ASSERT_FATAL(a->n_totals < 64 && a->n_tuples < 64);
		if (view->run->kind == RUN_TOTALS) {
			a->folded += view->totals[i].count;
			snprintf(a->total_names[a->n_totals], sizeof(a->total_names[0]), "%s",
				 name->text);
			a->totals[a->n_totals++] = view->totals[i];
		} else {
			a->delivered++;
			snprintf(a->tuple_names[a->n_tuples], sizeof(a->tuple_names[0]), "%s",
				 name->text);
			a->tuples[a->n_tuples++] = view->tuples[i];
		}
	}
}

static void answer_take(struct answer *a, const struct place *p)
{
	struct batch_cursor c = {0};
	struct run_view view;
	struct clock_line line = CLOCK_LINE_NS;
	uint64_t before = 0;

	memset(a, 0, sizeof(*a));
	while (batch_next(&p->batch, &c, &view)) {
		if (view.run->kind == RUN_PART) {
			a->read += view.part->read;
			a->filtered += view.part->filtered;
			a->reduced += view.part->reduced;
			line = view.part->clock;
			if (view.run->flags & RUN_FOLD) {
				CU_ASSERT_EQUAL(view.part->elements, before);
				CU_ASSERT_EQUAL(view.run->first, 3);
				a->in_mark = before;
			} else {
				a->parts++;
				before++;
			}
			continue;
		}
		before = 0;
		for (unsigned i = 0; view.run->kind == RUN_TUPLES && i < view.run->count; i++)
			tuple_to_ns(&view.tuples[i], &line);
		answer_run(a, p, &view);
	}
}

static const struct total *answer_total(const struct answer *a, const char *name,
					const struct total *like)
{
	for (size_t i = 0; i < a->n_totals; i++)
		if (strcmp(a->total_names[i], name) == 0 && a->totals[i].op == like->op &&
		    a->totals[i].comm == like->comm && a->totals[i].value == like->value)
			return &a->totals[i];
	return NULL;
}

static int near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

static void compare(const struct answer *a, const struct answer *b)
{
	CU_ASSERT_EQUAL(a->n_totals, b->n_totals);
	for (size_t i = 0; i < a->n_totals; i++) {
		const struct total *x = &a->totals[i];
		const struct total *y = answer_total(b, a->total_names[i], x);

		CU_ASSERT_PTR_NOT_NULL_FATAL(y);
		CU_ASSERT_EQUAL(x->count, y->count);
		CU_ASSERT_EQUAL(x->sum, y->sum);
		CU_ASSERT_EQUAL(x->min, y->min);
		CU_ASSERT_EQUAL(x->max, y->max);
		CU_ASSERT_EQUAL(x->fold, y->fold);
		CU_ASSERT(near(x->mean, y->mean));
		CU_ASSERT(near(x->m2, y->m2));
	}
	CU_ASSERT_EQUAL(a->n_tuples, b->n_tuples);
	for (size_t i = 0; i < a->n_tuples; i++) {
		size_t k = 0;

		while (k < b->n_tuples && strcmp(a->tuple_names[i], b->tuple_names[k]) != 0)
			k++;
		CU_ASSERT_FATAL(k < b->n_tuples);
		CU_ASSERT_EQUAL(memcmp(&a->tuples[i], &b->tuples[k], sizeof(struct tuple)), 0);
	}
}

static void folds_alike(enum level level, const char *args, int same_clock)
{
	for (grove_seed = 1; grove_seed < RANDOM_TREES_TREES * UINT64_C(1000003);
	     grove_seed += 1000003) {
		struct place leaves[RANDOM_TREES_LEAVES], flat;
		struct answer tree, whole;
		uint64_t start = grove_seed;

		place_init(&flat, RANDOM_TREES_LEAVES);
		for (uint32_t i = 0; i < RANDOM_TREES_LEAVES; i++) {
			place_init(&leaves[i], i);
			place_fill(&leaves[i], i, same_clock);
			place_copy(&flat, &leaves[i]);
		}
		place_apply(&flat, &reduce_ops, level, args);
		random_trees_grow(leaves, RANDOM_TREES_LEAVES, &reduce_ops, level, args);
		answer_take(&whole, &flat);
		answer_take(&tree, &leaves[0]);
		compare(&whole, &tree);
		CU_ASSERT_EQUAL(tree.parts, RANDOM_TREES_LEAVES);
		CU_ASSERT_EQUAL(tree.in_mark, RANDOM_TREES_LEAVES);
		CU_ASSERT_EQUAL(whole.read, tree.read);
		CU_ASSERT_EQUAL(tree.read, tree.delivered + tree.filtered + tree.reduced);
		CU_ASSERT_EQUAL(whole.filtered, tree.filtered);
		CU_ASSERT_EQUAL(whole.reduced, tree.reduced);
		if (tree.n_tuples == 0)
			CU_ASSERT_EQUAL(tree.folded, tree.reduced);
		place_fini(&flat);
		place_fini(&leaves[0]);
		grove_seed = start;
	}
}

static void totals_in_any_tree(void)
{
	folds_alike(LEVEL_ALL, "sum", 0);
	folds_alike(LEVEL_CLUSTER, "variance of bytes by op", 1);
	folds_alike(LEVEL_NODE, "mean by op by comm", 0);
	folds_alike(LEVEL_THREAD, "count of bytes", 1);
	folds_alike(LEVEL_ALL, "count by block", 0);
	folds_alike(LEVEL_NODE, "count by block", 1);
	folds_alike(LEVEL_CLUSTER, "sum by label", 0);
	folds_alike(LEVEL_ALL, "variance by label", 0);
}

static void last_in_any_tree(void)
{
	folds_alike(LEVEL_ALL, "last", 1);
	folds_alike(LEVEL_CLUSTER, "last", 0);
	folds_alike(LEVEL_THREAD, "last", 0);
}

static void first_in_any_tree(void)
{
	folds_alike(LEVEL_ALL, "first", 0);
	folds_alike(LEVEL_NODE, "first", 1);
}

static void arguments(void)
{
	static const char *const good[] = {"first",
					   "last",
					   "count",
					   "sum of bytes",
					   "mean by op",
					   "variance of duration by comm by op",
					   "max by op by op",
					   "count by block",
					   "max of field residual",
					   "sum by op by comm by label"};
	static const char *const bad[] = {"",
					  "latest",
					  "last by op",
					  "sum of",
					  "sum of x",
					  "sum by rank",
					  "sum per comm",
					  "sum of bytes by",
					  "sum by block",
					  "count by block by comm",
					  "count by block by label",
					  "max of field",
					  "max of field a by op",
					  "first of field a"};
	struct error e;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_EQUAL(stage_check("reduce", good[i], NULL, NULL, &e), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CU_ASSERT_EQUAL(stage_check("reduce", bad[i], NULL, NULL, &e), -1);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "write `reduce first`"));
	}
}

/* Two processes are in a send, one behind one; two have said that they are in block 7, one in 1. */
static void counts_by_block(void)
{
	const uint16_t send = op_find("MPI_Send"), says = op_find("evspace_state");
	const struct tuple tuples[] = {
		{.start = 5, .op = send, .flags = TUPLE_RUNNING, .comm = 44},
		{.start = 6, .op = says, .end = 6, .seq_or_tag = 7},
		{.start = 1, .op = send, .end = 9, .comm = 44},
		{.start = 7, .op = send, .flags = TUPLE_RUNNING, .comm = 45},
		{.start = 3, .op = says, .end = 3, .seq_or_tag = 1},
		{.start = 8, .op = says, .end = 8, .seq_or_tag = 7},
	};
	const size_t n = sizeof(tuples) / sizeof(tuples[0]);
	uint64_t in = 0, behind = 0, seven = 0, one = 0, all = 0;
	struct batch_cursor c = {0};
	struct run_view view;
	struct part *part;
	struct place p;

	place_init(&p, 0);
	part = batch_add(&p.batch, RUN_PART, 0, RANDOM_TREES_WAVE, 1, 0);
	*part = (struct part){.clock = CLOCK_LINE_NS, .read = n, .elements = 1};
	memcpy(batch_add(&p.batch, RUN_TUPLES, 1, 0, (uint16_t)n, 0), tuples, sizeof(tuples));
	place_apply(&p, &reduce_ops, LEVEL_ALL, "count by block");
	while (batch_next(&p.batch, &c, &view)) {
		CU_ASSERT(view.run->kind != RUN_PART || view.part->filtered == 0);
		for (unsigned i = 0; view.run->kind == RUN_TOTALS && i < view.run->count; i++) {
			const struct total *t = &view.totals[i];

			in += t->op == send && t->comm == 1 ? t->count : 0;
			behind += t->op == send && t->comm == 0 ? t->count : 0;
			seven += t->op == says && t->comm == 7 ? t->count : 0;
			one += t->op == says && t->comm == 1 ? t->count : 0;
			all += t->count;
		}
	}
	CU_ASSERT(in == 2 && behind == 1 && seven == 2 && one == 1 && all == n);
	place_fini(&p);
}

/* Regions have totals by their names, all else by communicator where that is said, also where
 * totals are merged. */
static void sums_by_label(void)
{
	const uint16_t send = op_find("MPI_Send"), region = op_find("evspace_region");
	const struct tuple tuples[] = {
		{.start = 1, .end = 3, .op = send, .comm = 44, .seq_or_tag = 7},
		{.start = 1, .end = 4, .op = region, .seq_or_tag = 7},
		{.start = 2, .end = 4, .op = send, .comm = 44, .seq_or_tag = 8},
		{.start = 3, .end = 9, .op = region, .seq_or_tag = 8},
		{.start = 9, .end = 10, .op = region, .seq_or_tag = 7},
	};
	static const char *const args[] = {"sum by op by comm by label", "sum by label"};
	const size_t n = sizeof(tuples) / sizeof(tuples[0]);

	for (unsigned k = 0; k < 2; k++) {
		uint64_t sent = 0, seven = 0, eight = 0, all = 0;
		struct batch_cursor c = {0};
		struct run_view view;
		struct part *part;
		struct place p;

		place_init(&p, 0);
		part = batch_add(&p.batch, RUN_PART, 0, RANDOM_TREES_WAVE, 1, 0);
		*part = (struct part){.clock = CLOCK_LINE_NS, .read = n, .elements = 1};
		memcpy(batch_add(&p.batch, RUN_TUPLES, 1, 0, (uint16_t)n, 0), tuples,
		       sizeof(tuples));
		place_apply(&p, &reduce_ops, LEVEL_NODE, args[0]);
		place_apply(&p, &reduce_ops, LEVEL_ALL, args[k]);
		while (batch_next(&p.batch, &c, &view)) {
			for (unsigned i = 0; view.run->kind == RUN_TOTALS && i < view.run->count;
			     i++) {
				const struct total *t = &view.totals[i];

				sent += t->op == send && t->comm == (k ? 0 : 44) ? t->sum : 0;
				seven += t->op == region && t->comm == 7 ? t->sum : 0;
				eight += t->op == region && t->comm == 8 ? t->sum : 0;
				all += t->count;
			}
		}
		CU_ASSERT(sent == 4 && seven == 4 && eight == 6 && all == n);
		place_fini(&p);
	}
}

/* A run of @n tuples with values from @first on. */
static void typed_add(struct batch *b, const char *type, unsigned n, double first)
{
	struct typed_word *to;
	struct fields fields;

	CU_ASSERT_EQUAL_FATAL(fields_parse(&fields, type, NULL), 0);
	to = batch_add(b, RUN_TYPED, 1, 0, typed_head_words(type) + n * typed_tuple_words(&fields),
		       0);
	to = typed_head(to, &fields, type);
	for (unsigned i = 0; i < n; i++) {
		const double values[] = {first + i, i % 2 ? NAN : first - i};

		to = typed_put(to, 0, values, fields.bytes);
	}
}

static const struct field_figure *figure_of(const struct batch *b, struct part *part)
{
	static struct field_figure figure;
	struct batch_cursor c = {0};
	struct run_view view;
	unsigned n = 0;

	while (batch_next(b, &c, &view)) {
		if (view.run->kind == RUN_PART && !(view.run->flags & RUN_FOLD))
			*part = *view.part;
		if (view.run->kind == RUN_FIGURES)
			figure = view.field_figures[0], n += view.run->count;
	}
	CU_ASSERT_EQUAL_FATAL(n, 1);
	return &figure;
}

/* Of a field, by its name; what has none, or no number in it, is filtered. Twice is as once. */
static void figures_of_fields(void)
{
	const struct tuple other = {.start = 1, .end = 2, .op = 1};
	const struct field_figure *f;
	struct part *part, got;
	struct place p;

	place_init(&p, 0);
	part = batch_add(&p.batch, RUN_PART, 0, RANDOM_TREES_WAVE, 1, 0);
	*part = (struct part){.clock = CLOCK_LINE_NS, .read = 9, .elements = 1};
	typed_add(&p.batch, "a f64, r f64", 4, 10);
	typed_add(&p.batch, "r f64[2]", 2, -3);
	typed_add(&p.batch, "x f64, y f64", 2, 0);
	*(struct tuple *)batch_add(&p.batch, RUN_TUPLES, 1, 0, 1, 0) = other;
	place_apply(&p, &reduce_ops, LEVEL_NODE, "max of field r");
	f = figure_of(&p.batch, &got);
	CU_ASSERT(got.reduced == 4 && got.filtered == 5);
	/* 10, 8; -3 twice, -2 */
	CU_ASSERT(f->count == 5 && f->max == 10 && f->min == -3 && fabs(f->mean - 2) < 1e-12);
	CU_ASSERT(fabs(f->m2 - 166) < 1e-9 && f->fold == FOLD_MAX);
	CU_ASSERT_STRING_EQUAL(f->field, "r");
	place_apply(&p, &reduce_ops, LEVEL_ALL, "max of field r");
	f = figure_of(&p.batch, &got);
	CU_ASSERT(f->count == 5 && f->max == 10 && fabs(f->m2 - 166) < 1e-9);
	place_fini(&p);
}

/* A solver that has diverged: whatever else there is, in whatever order, the mean is infinite. */
static void an_infinite_value(void)
{
	const double values[] = {1, INFINITY, 2};
	struct field_figure all = {.count = 0}, rest = {.count = 0}, finite = {.count = 0};

	for (unsigned i = 0; i < 3; i++)
		field_figure_add(&all, values[i]);
	CU_ASSERT(all.mean == INFINITY && all.max == INFINITY && all.min == 1);
	field_figure_add(&finite, 1);
	field_figure_add(&rest, 2);
	field_figure_add(&rest, INFINITY);
	field_figure_merge(&finite, &rest);
	CU_ASSERT(finite.mean == INFINITY && finite.count == 3);
	field_figure_merge(&rest, &(struct field_figure){1, 5, 5, 5, 0, 0, {0}, ""});
	CU_ASSERT(rest.mean == INFINITY && isnan(rest.m2));
	field_figure_add(&rest, -INFINITY);
	CU_ASSERT(isnan(rest.mean));
}

static void a_run_without_a_part(void)
{
	struct place p;
	struct ask ask = {.wave = 3};
	struct stage *s;

	place_init(&p, 0);
	memset(batch_add(&p.batch, RUN_TUPLES, 1, 1, 1, 0), 0, sizeof(struct tuple));
	s = stage_new(&reduce_ops, LEVEL_ALL, p.names, "last", NULL);
	CU_ASSERT_EQUAL(s->ops->apply(s, &ask, &p.batch), -1);
	stage_free(s);
	place_fini(&p);
}

static void a_wave_allocates_nothing(void)
{
	struct ask ask = {.wave = 3};
	struct stage *last, *sum;
	struct place p;
	size_t before = 0;

	place_init(&p, 0);
	last = stage_new(&reduce_ops, LEVEL_THREAD, p.names, "last", NULL);
	sum = stage_new(&reduce_ops, LEVEL_ALL, p.names, "sum", NULL);
	for (int wave = 0; wave < 50; wave++) {
		place_fill(&p, 0, 0);
		last->ops->apply(last, &ask, &p.batch);
		sum->ops->apply(sum, &ask, &p.batch);
		batch_clear(&p.batch);
		if (wave == 9)
			before = mallinfo2().uordblks;
	}
	CU_ASSERT_EQUAL(mallinfo2().uordblks, before);
	stage_free(last);
	stage_free(sum);
	place_fini(&p);
}

static CU_TestInfo reduce_cases[] = {
	{"totals are the same in any tree", totals_in_any_tree},
	{"processes are counted by the block that they are in", counts_by_block},
	{"regions are added up by their names", sums_by_label},
	{"figures of fields of typed tuples", figures_of_fields},
	{"an infinite value makes an infinite mean", an_infinite_value},
	{"the last are the same in any tree", last_in_any_tree},
	{"the first are the same in any tree", first_in_any_tree},
	{"arguments are checked", arguments},
	{"a run without a part is refused", a_run_without_a_part},
	{"a wave like the last allocates nothing", a_wave_allocates_nothing},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "reduce", .pTests = reduce_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
