/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests reduce: folds in any shape of tree give what the flat fold gives, and the counts add up. */
#include "tree/stage.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAVES	 6
#define ELEMENTS 5
#define TREES	 200

/* One place of a tree: its names, and its part of the wave. */
struct place {
	struct names *names;
	struct batch batch;
	size_t said; /* names that its parent has */
};

static uint64_t seed;

static void place_init(struct place *p, uint32_t index)
{
	*p = (struct place){.names = names_new(index)};
	batch_init(&p->batch);
}

static void place_fini(struct place *p)
{
	names_free(p->names);
	batch_fini(&p->batch);
}

static void apply(struct place *p, enum level level, const char *args)
{
	struct error e;
	struct ask ask = {.wave = 3};
	struct stage *s = stage_new(&reduce_ops, level, p->names, args, &e);

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(s->ops->apply(s, &ask, &p->batch), 0);
	stage_free(s);
}

static struct tuple random_tuple(uint64_t start)
{
	struct tuple t = {
		.start = start,
		.end = start + random_below(&seed, 50),
		.bytes = random_below(&seed, 1000),
		.comm = 1 + (uint32_t)random_below(&seed, 2),
		.op = (uint16_t)(1 + random_below(&seed, 3)),
	};

	if (random_below(&seed, 10) == 0) {
		t.end = 0;
		t.flags = TUPLE_RUNNING;
	}
	return t;
}

/* A leaf with random runs. Its ticks are nanoseconds or more, so that no two of them become one. */
static void leaf_fill(struct place *p, uint32_t index, int same_clock)
{
	struct part *part = batch_add(&p->batch, RUN_PART, index, 3, 1, 0);
	char text[64];

	*part = (struct part){.clock = CLOCK_LINE_NS, .elements = ELEMENTS};
	if (!same_clock) {
		part->clock.base_ns = (int64_t)random_below(&seed, 1000);
		part->clock.ns_per_tick = 1 + (double)random_below(&seed, 8) / 4;
	}
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		uint32_t count = (uint32_t)random_below(&seed, 6);
		struct tuple *out = batch_add(&p->batch, RUN_TUPLES, name_id(index, i), 10 * i,
					      count, random_below(&seed, 2));

		for (uint32_t k = 0; k < count; k++)
			out[k] = random_tuple(1000 + random_below(&seed, 100));
		part->read += count;
		snprintf(text, sizeof(text), "/c%u/w%u/rank%u/t%u/p2p", index / 3, index,
			 10 * index + i / 2, i % 2);
		names_learn(p->names, name_id(index, i), LEVEL_ELEMENT,
			    (int32_t)(10 * index + i / 2), 0, text);
	}
}

/* What a hop does: names first, then runs. */
static void join(struct place *to, struct place *from)
{
	for (; from->said < names_count(from->names); from->said++) {
		const struct name *n = names_at(from->names, from->said);

		names_learn(to->names, n->id, n->level, n->rank, n->channel, n->text);
	}
	batch_link(&to->batch, &from->batch);
}

static void copy(struct place *to, const struct place *from)
{
	struct buffer *buffer = buffer_new(from->batch.bytes);
	size_t at = 0;

	for (size_t i = 0; i < from->batch.n; i++) {
		const struct extent *x = &from->batch.extents[i];

		memcpy(buffer->data + at, x->buffer->data + x->at, x->bytes);
		at += x->bytes;
	}
	batch_append(&to->batch, buffer, 0, at);
	buffer_unref(buffer);
	for (size_t i = 0; i < names_count(from->names); i++) {
		const struct name *n = names_at(from->names, i);

		names_learn(to->names, n->id, n->level, n->rank, n->channel, n->text);
	}
}

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
			strcpy(a->total_names[a->n_totals], name->text);
			a->totals[a->n_totals++] = view->totals[i];
		} else {
			a->delivered++;
			strcpy(a->tuple_names[a->n_tuples], name->text);
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

/* Join the places at random, folding on the way now and then, until one is left. */
static void grow_tree(struct place *places, size_t n, enum level level, const char *args)
{
	uint32_t index = LEAVES;

	for (size_t i = 0; i < n; i++)
		if (random_below(&seed, 2))
			apply(&places[i], random_below(&seed, level + 1), args);
	while (n > 1) {
		size_t a = random_below(&seed, n), b = (a + 1 + random_below(&seed, n - 1)) % n;
		struct place inner;

		place_init(&inner, index++);
		join(&inner, &places[a]);
		join(&inner, &places[b]);
		if (random_below(&seed, 2))
			apply(&inner, random_below(&seed, level + 1), args);
		place_fini(&places[a]);
		place_fini(&places[b]);
		places[a] = inner;
		places[b] = places[--n];
	}
	apply(&places[0], level, args);
}

static void folds_alike(enum level level, const char *args, int same_clock)
{
	for (seed = 1; seed < TREES * UINT64_C(1000003); seed += 1000003) {
		struct place leaves[LEAVES], flat;
		struct answer tree, whole;
		uint64_t start = seed;

		place_init(&flat, LEAVES);
		for (uint32_t i = 0; i < LEAVES; i++) {
			place_init(&leaves[i], i);
			leaf_fill(&leaves[i], i, same_clock);
			copy(&flat, &leaves[i]);
		}
		apply(&flat, level, args);
		grow_tree(leaves, LEAVES, level, args);
		answer_take(&whole, &flat);
		answer_take(&tree, &leaves[0]);
		compare(&whole, &tree);
		CU_ASSERT_EQUAL(tree.parts, LEAVES);
		CU_ASSERT_EQUAL(tree.in_mark, LEAVES);
		CU_ASSERT_EQUAL(whole.read, tree.read);
		CU_ASSERT_EQUAL(tree.read, tree.delivered + tree.filtered + tree.reduced);
		CU_ASSERT_EQUAL(whole.filtered, tree.filtered);
		CU_ASSERT_EQUAL(whole.reduced, tree.reduced);
		if (tree.n_tuples == 0)
			CU_ASSERT_EQUAL(tree.folded, tree.reduced);
		place_fini(&flat);
		place_fini(&leaves[0]);
		seed = start;
	}
}

static void totals_in_any_tree(void)
{
	folds_alike(LEVEL_ALL, "sum", 0);
	folds_alike(LEVEL_CLUSTER, "variance of bytes by op", 1);
	folds_alike(LEVEL_NODE, "mean by op by comm", 0);
	folds_alike(LEVEL_THREAD, "count of bytes", 1);
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
	static const char *const good[] = {"first",	     "last",
					   "count",	     "sum of bytes",
					   "mean by op",     "variance of duration by comm by op",
					   "max by op by op"};
	static const char *const bad[] = {
		"",	    "latest",	   "last by op",   "sum of",
		"sum of x", "sum by rank", "sum per comm", "sum of bytes by"};
	struct error e;
	char longer[1000] = "sum";

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_EQUAL(stage_check("reduce", good[i], &e), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CU_ASSERT_EQUAL(stage_check("reduce", bad[i], &e), -1);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "write `reduce first`"));
	}
	for (size_t i = 0; i < 100; i++)
		strcat(longer, " by op");
	CU_ASSERT_EQUAL(stage_check("reduce", longer, &e), -1);
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
		leaf_fill(&p, 0, 0);
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
