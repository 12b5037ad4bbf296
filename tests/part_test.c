/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests folded parts: whatever the tree and whoever folds in it, they say what the leaves' own
 * parts say together. */
#include "tree/data/part.h"

#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/tap.h"
#include "tree/data/batch.h"

#define WAVE   7
#define PLACES 120u
#define TREES  2000

static uint64_t seed;

/* ---- by hand ---- */

static void put_part(struct batch *b, uint32_t leaf, uint64_t wave, const struct part *part)
{
	*(struct part *)batch_add(b, RUN_PART, leaf, wave, 1, 0) = *part;
}

/* What @b becomes at a place. */
static void mix(struct batch *b, const struct parts_place *place)
{
	struct parts parts = {.n = 0};
	struct batch out;
	struct batch_cursor next = {0};
	struct run_view view;

	batch_init(&out);
	while (batch_next(b, &next, &view)) {
		if (view.run->kind == RUN_PART)
			parts_add(&parts, &view);
		else
			CU_ASSERT(parts_more(&parts, &view));
	}
	parts_emit(&parts, place, &out);
	parts_fini(&parts);
	batch_clear(b);
	batch_link(b, &out);
	batch_fini(&out);
}

/* As a peer would check it: in one piece. */
static const char *check(const struct batch *b)
{
	static struct error e;
	struct buffer *whole = buffer_new(b->bytes + 8);
	int rc;

	for (size_t i = 0; i < b->n; i++) {
		const struct extent *x = &b->extents[i];

		memcpy(whole->data + whole->used, x->buffer->data + x->at, x->bytes);
		whole->used += x->bytes;
	}
	rc = batch_check(whole->data, whole->used, NULL, &e);
	buffer_unref(whole);
	return rc < 0 ? e.text : "";
}

static unsigned count(const struct batch *b, enum run_kind kind, unsigned flags)
{
	struct batch_cursor next = {0};
	struct run_view view;
	unsigned n = 0;

	while (batch_next(b, &next, &view))
		n += view.run->kind == kind && view.run->flags == flags;
	return n;
}

static void one_of_many(void)
{
	const struct parts_place place = {.index = 4, .wave = WAVE, .folds = true, .bare = true};
	struct batch_cursor next = {0};
	struct run_view view;
	struct batch b;

	batch_init(&b);
	put_part(&b, 6, WAVE, &(struct part){.clock = {500, 3, 2, 9}, .read = 5, .cpu_us = 3});
	put_part(&b, 5, WAVE,
		 &(struct part){.clock = {400, 1, 1, 4}, .read = 7, .lost = 2, .cpu_us = 8});
	put_part(&b, 9, WAVE, &(struct part){.clock = {450, 3, 2, 1}, .unreadable = 1});
	mix(&b, &place);
	CU_ASSERT_STRING_EQUAL(check(&b), "");
	CU_ASSERT_EQUAL_FATAL(batch_next(&b, &next, &view), 1);
	CU_ASSERT(view.run->flags == RUN_MANY && view.run->element == 4 && view.run->first == WAVE);
	CU_ASSERT(view.part->read == 12 && view.part->cpu_us == 8 && view.part->unreadable == 1);
	/* times are nanoseconds now; it begins when the first leaf was read */
	CU_ASSERT_EQUAL(view.part->clock.base_ns, 400);
	CU_ASSERT_EQUAL(view.part->clock.error_ns, 9);
	CU_ASSERT_EQUAL(clock_line_ns(&view.part->clock, 123456), 123456);
	CU_ASSERT_EQUAL_FATAL(batch_next(&b, &next, &view), 1);
	CU_ASSERT_EQUAL_FATAL(view.run->count, 2);
	CU_ASSERT(view.leaf_ranges[0].from == 4 && view.leaf_ranges[0].count == 3);
	CU_ASSERT(view.leaf_ranges[1].from == 9 && view.leaf_ranges[1].count == 1);
	CU_ASSERT_EQUAL_FATAL(batch_next(&b, &next, &view), 1);
	CU_ASSERT_EQUAL_FATAL(view.run->count, 2);
	CU_ASSERT(view.leaf_worsts[0].leaf == 9 && view.leaf_worsts[0].figure == LEAF_UNREADABLE);
	CU_ASSERT(view.leaf_worsts[1].leaf == 5 && view.leaf_worsts[1].value == 2);
	CU_ASSERT_EQUAL(batch_next(&b, &next, &view), 0);
	batch_fini(&b);
}

/* Of a single leaf, of two waves, with a leaf twice, or for who does not take them. */
static void not_folded(void)
{
	static const struct part part = {.clock = CLOCK_LINE_NS, .read = 1};
	static const struct {
		uint32_t leaf;
		uint64_t wave;
		bool folds;
		unsigned marks;
	} cases[] = {{5, WAVE, true, 1}, {6, WAVE - 1, true, 1}, {6, WAVE, false, 1}};
	struct batch b;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		batch_init(&b);
		put_part(&b, 5, WAVE, &part);
		put_part(&b, cases[i].leaf, cases[i].wave, &part);
		mix(&b, &(struct parts_place){1, WAVE, cases[i].folds, false});
		CU_ASSERT_EQUAL(count(&b, RUN_PART, 0), 2);
		CU_ASSERT_EQUAL(count(&b, RUN_PART, RUN_FOLD), 1);
		CU_ASSERT_EQUAL(count(&b, RUN_PART, RUN_MANY), 0);
		batch_fini(&b);
	}
	/* marks of two clocks, of nobody */
	batch_init(&b);
	for (int i = 1; i <= 2; i++) {
		put_part(&b, 5, WAVE, &(struct part){.clock = {i, 1, i, 0}});
		b.last->flags |= RUN_FOLD;
	}
	mix(&b, &(struct parts_place){1, WAVE, true, true});
	CU_ASSERT_STRING_EQUAL(check(&b), "");
	batch_clear(&b);
	put_part(&b, 5, WAVE, &part);
	mix(&b, &(struct parts_place){1, WAVE, true, true});
	CU_ASSERT_EQUAL(count(&b, RUN_PART, 0), 1);
	/* a folded one stays what it is, beside others */
	put_part(&b, 6, WAVE, &part);
	mix(&b, &(struct parts_place){1, WAVE, true, true});
	put_part(&b, 8, WAVE, &part);
	mix(&b, &(struct parts_place){0, WAVE, false, false});
	CU_ASSERT_STRING_EQUAL(check(&b), "");
	CU_ASSERT_EQUAL(count(&b, RUN_PART, RUN_MANY), 1);
	CU_ASSERT_EQUAL(count(&b, RUN_PART, 0), 1);
	CU_ASSERT_EQUAL(count(&b, RUN_PART, RUN_FOLD), 1);
	/* … and is in a later one, with the mark's counts */
	mix(&b, &(struct parts_place){0, WAVE, true, false});
	CU_ASSERT_EQUAL(count(&b, RUN_PART, RUN_MANY), 1);
	CU_ASSERT_EQUAL(count(&b, RUN_LEAVES, 0), 1);
	CU_ASSERT_EQUAL(count(&b, RUN_PART, RUN_FOLD), 0);
	/* a leaf that is in it cannot be folded once more */
	put_part(&b, 6, WAVE, &part);
	mix(&b, &(struct parts_place){0, WAVE, true, false});
	CU_ASSERT_EQUAL(count(&b, RUN_PART, RUN_FOLD), 1);
	CU_ASSERT_EQUAL(count(&b, RUN_PART, 0), 1);
	batch_fini(&b);
}

/* Whoever says what cannot be is not hidden in a sum, and spoils none. */
static void what_does_not_add_up(void)
{
	static const struct part cases[] = {
		{.clock = CLOCK_LINE_NS, .read = UINT64_MAX, .filtered = UINT64_MAX},
		{.clock = CLOCK_LINE_NS, .read = 5, .reduced = 9},
		{.clock = CLOCK_LINE_NS, .unreadable = UINT32_MAX},
		{.clock = CLOCK_LINE_NS, .written = UINT64_MAX - 2},
	};
	const struct part other = {
		.clock = CLOCK_LINE_NS, .read = 3, .reduced = 1, .written = 3, .unreadable = 1};
	struct batch b;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		batch_init(&b);
		put_part(&b, 5, WAVE, &cases[i]);
		put_part(&b, 6, WAVE, &other);
		mix(&b, &(struct parts_place){1, WAVE, true, false});
		CU_ASSERT_EQUAL(count(&b, RUN_PART, RUN_MANY), 0);
		CU_ASSERT_EQUAL(count(&b, RUN_PART, 0), 2);
		CU_ASSERT_STRING_EQUAL(check(&b), "");
		batch_fini(&b);
	}
}

/* ---- any tree ---- */

/* A leaf's part, and who it is of; and the tree, made as it is gone through. */
static struct tree {
	struct part of[PLACES];
	bool leaf[PLACES], there[PLACES];
	uint32_t n;
	bool all_fold;
} tree;

static struct part random_part(void)
{
	struct part p = {.clock = CLOCK_LINE_NS};

	p.clock.base_ns = (int64_t)random_below(&seed, 3);
	p.clock.error_ns = (double)random_below(&seed, 100);
	p.read = random_below(&seed, 100);
	p.filtered = random_below(&seed, p.read + 1);
	p.reduced = random_below(&seed, p.read - p.filtered + 1);
	p.lost = random_below(&seed, 3) ? 0 : random_below(&seed, 50);
	p.discarded = random_below(&seed, 9);
	p.elements = (uint32_t)random_below(&seed, 9);
	p.cpu_us = (uint32_t)random_below(&seed, 1000);
	p.written = random_below(&seed, 100000);
	p.cost_ns = random_below(&seed, 100000);
	p.processes = (uint32_t)random_below(&seed, 9);
	p.unreadable = random_below(&seed, 4) ? 0 : (uint32_t)random_below(&seed, 5);
	return p;
}

/* The part of the tree at a new place, into @b. Places are numbered as plans number them. */
static void grow(struct batch *b, unsigned depth)
{
	struct parts_place place = {.index = tree.n++, .wave = WAVE};
	unsigned children = depth ? (unsigned)random_below(&seed, 5) : 0;
	struct batch below;

	tree.leaf[place.index] = children == 0 || random_below(&seed, 2);
	tree.there[place.index] = tree.leaf[place.index] && random_below(&seed, 8) > 0;
	tree.of[place.index] = random_part();
	if (tree.there[place.index])
		put_part(b, place.index, WAVE, &tree.of[place.index]);
	batch_init(&below);
	for (unsigned i = 0; i < children && tree.n < PLACES; i++) {
		grow(&below, depth - 1);
		/* in any order */
		if (random_below(&seed, 2)) {
			batch_link(&below, b);
			batch_link(b, &below);
		} else {
			batch_link(b, &below);
		}
	}
	batch_fini(&below);
	place.bare = !tree.leaf[place.index];
	place.folds = tree.all_fold || random_below(&seed, 2);
	if (tree.all_fold || random_below(&seed, 4))
		mix(b, &place);
	CU_ASSERT_STRING_EQUAL(check(b), "");
}

static void part_count(struct part *sum, const struct part *part)
{
	sum->read += part->read;
	sum->lost += part->lost;
	sum->discarded += part->discarded;
	sum->filtered += part->filtered;
	sum->reduced += part->reduced;
	sum->elements += part->elements;
	sum->written += part->written;
	sum->cost_ns += part->cost_ns;
	sum->processes += part->processes;
	sum->unreadable += part->unreadable;
	sum->cpu_us = part->cpu_us > sum->cpu_us ? part->cpu_us : sum->cpu_us;
}

/* The worst by the leaves' own parts: the @n-th one, counted from 0, or with the value 0. */
static struct leaf_worst worst_of(enum leaf_figure figure, unsigned n)
{
	bool named[PLACES] = {false};
	struct leaf_worst worst = {0, 0, figure};

	for (unsigned k = 0; k <= n; k++) {
		worst.value = 0;
		for (uint32_t i = 0; i < tree.n; i++) {
			const struct part *part = &tree.of[i];
			uint64_t value = figure == LEAF_LOST ? part->lost : part->unreadable;

			if (!tree.there[i] || named[i] || value <= worst.value)
				continue;
			worst.value = value;
			worst.leaf = i;
		}
		named[worst.leaf] = worst.value > 0;
	}
	return worst;
}

static void worst_check(const struct run_view *view)
{
	unsigned at = 0;

	for (enum leaf_figure f = 0; f < LEAF_FIGURES; f++) {
		for (unsigned i = 0; i < LEAF_WORST_MOST; i++) {
			struct leaf_worst should = worst_of(f, i);

			if (should.value == 0)
				break;
			CU_ASSERT_FATAL(at < view->run->count);
			CU_ASSERT_EQUAL(view->leaf_worsts[at].leaf, should.leaf);
			CU_ASSERT_EQUAL(view->leaf_worsts[at].value, should.value);
			CU_ASSERT_EQUAL(view->leaf_worsts[at].figure, should.figure);
			at++;
		}
	}
	CU_ASSERT_EQUAL(at, view->run->count);
}

static void leaf_count(bool *seen, uint32_t place)
{
	CU_ASSERT_FATAL(place < tree.n);
	if (!tree.leaf[place])
		return;
	CU_ASSERT(tree.there[place] && !seen[place]);
	seen[place] = true;
}

/* Returns how many ranges the last folded part has. */
static unsigned tree_check(const struct batch *b)
{
	struct part is = {.read = 0}, should = {.read = 0};
	bool seen[PLACES] = {false};
	struct batch_cursor next = {0};
	struct run_view view;
	unsigned ranges = 0;

	while (batch_next(b, &next, &view)) {
		if (view.run->kind == RUN_LEAVES) {
			ranges = view.run->count;
			for (unsigned i = 0; i < view.run->count; i++)
				for (uint32_t k = 0; k < view.leaf_ranges[i].count; k++)
					leaf_count(seen, view.leaf_ranges[i].from + k);
		} else if (view.run->kind == RUN_WORST && tree.all_fold) {
			worst_check(&view);
		} else if (view.run->kind == RUN_PART && !(view.run->flags & RUN_FOLD)) {
			part_count(&is, view.part);
			if (!(view.run->flags & RUN_MANY))
				leaf_count(seen, view.run->element);
		}
	}
	for (uint32_t i = 0; i < tree.n; i++) {
		CU_ASSERT_EQUAL(seen[i], tree.there[i]);
		if (tree.there[i])
			part_count(&should, &tree.of[i]);
	}
	CU_ASSERT_EQUAL(memcmp(&is, &should, sizeof(is)), 0);
	return ranges;
}

static void any_tree(void)
{
	size_t folded = 0, leaves = 0;

	for (unsigned i = 1; i <= TREES; i++) {
		struct batch b;

		seed = i * UINT64_C(1000003);
		tree = (struct tree){.all_fold = i % 2};
		batch_init(&b);
		grow(&b, 4);
		tree_check(&b);
		for (uint32_t k = 0; k < tree.n; k++)
			leaves += tree.there[k];
		folded += count(&b, RUN_PART, RUN_MANY) + count(&b, RUN_PART, 0);
		CU_ASSERT(!tree.all_fold ||
			  count(&b, RUN_PART, RUN_MANY) + count(&b, RUN_PART, 0) <= 1);
		batch_fini(&b);
	}
	tap_note("%zu leaves are in %zu parts", leaves, folded);
	CU_ASSERT(folded * 4 < leaves);
}

/* Hosts that are no leaves, between leaves, do not make their ranges many. */
static void whole_trees_are_one_range(void)
{
	struct batch b, below;

	batch_init(&b);
	batch_init(&below);
	tree = (struct tree){.n = 73, .all_fold = true};
	for (uint32_t g = 0; g < 8; g++) {
		for (uint32_t i = 8 - g; i < 16 - g; i++) {
			uint32_t leaf = 2 + 9 * g + i % 8;

			tree.leaf[leaf] = tree.there[leaf] = true;
			tree.of[leaf] = random_part();
			put_part(&below, leaf, WAVE, &tree.of[leaf]);
		}
		mix(&below, &(struct parts_place){1 + 9 * g, WAVE, true, true});
		batch_link(&b, &below);
	}
	mix(&b, &(struct parts_place){0, WAVE, true, true});
	CU_ASSERT_EQUAL(tree_check(&b), 1);
	CU_ASSERT_EQUAL(count(&b, RUN_PART, RUN_MANY), 1);
	batch_fini(&b);
	batch_fini(&below);
}

/* ---- from peers ---- */

/* A folded part of leaves 2 to 5, and 9. */
static void put_folded(struct batch *b, struct leaf_range **leaves, struct leaf_worst **worst)
{
	put_part(b, 1, WAVE, &(struct part){.read = 9, .filtered = 4, .reduced = 5, .lost = 8});
	b->last->flags |= RUN_MANY;
	*leaves = batch_add(b, RUN_LEAVES, 1, WAVE, 2, 0);
	(*leaves)[0] = (struct leaf_range){2, 4};
	(*leaves)[1] = (struct leaf_range){9, 1};
	*worst = batch_add(b, RUN_WORST, 1, WAVE, 2, 0);
	(*worst)[0] = (struct leaf_worst){5, 9, LEAF_LOST};
	(*worst)[1] = (struct leaf_worst){3, 2, LEAF_LOST};
}

/* Change one thing, see what is said, and change it back. */
#define FAULT(field, value, text)                                \
	do {                                                     \
		__typeof__(field) was = field;                   \
		field = value;                                   \
		CU_ASSERT_PTR_NOT_NULL(strstr(check(&b), text)); \
		field = was;                                     \
		CU_ASSERT_STRING_EQUAL(check(&b), "");           \
	} while (0)

static void what_cannot_be_is_found(void)
{
	struct leaf_range *leaves;
	struct leaf_worst *worst;
	struct run_view view;
	struct batch_cursor next = {0};
	struct run *runs[3];
	struct batch b;

	batch_init(&b);
	put_folded(&b, &leaves, &worst);
	for (int i = 0; i < 3; i++) {
		batch_next(&b, &next, &view);
		runs[i] = view.run;
	}
	CU_ASSERT_STRING_EQUAL(check(&b), "");
	FAULT(leaves[0].count, 0, "not valid");
	FAULT(leaves[1].count, UINT32_MAX, "not valid");
	FAULT(leaves[1].from, 3, "names leaves twice");
	FAULT(leaves[1].from, 6, "names leaves twice");
	FAULT(worst[0].leaf, 6, "not in its part");
	FAULT(worst[0].leaf, 2, "twice");
	FAULT(worst[1].value, 4, "more than all of its part");
	FAULT(worst[1].value, 0, "not valid");
	FAULT(worst[1].figure, LEAF_FIGURES, "not valid");
	FAULT(worst[1].figure, LEAF_UNREADABLE, "more than all of its part");
	FAULT(runs[0]->flags, 0, "behind no folded part");
	FAULT(runs[0]->flags, RUN_MANY | RUN_FOLD, "exactly one record");
	FAULT(runs[2]->flags, RUN_MANY, "is not one");
	batch_clear(&b);
	put_part(&b, 1, WAVE, &(struct part){.read = 9});
	b.last->flags |= RUN_MANY;
	*(struct leaf_range *)batch_add(&b, RUN_LEAVES, 1, WAVE, 1, 0) = (struct leaf_range){1, 1};
	batch_add(&b, RUN_WORST, 1, WAVE, 0, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(check(&b), "as the worst"));
	batch_clear(&b);
	put_part(&b, 1, WAVE, &(struct part){.read = 9});
	b.last->flags |= RUN_MANY;
	CU_ASSERT_PTR_NOT_NULL(strstr(check(&b), "not the leaves of the folded part"));
	put_part(&b, 1, WAVE, &(struct part){.read = 9});
	CU_ASSERT_PTR_NOT_NULL(strstr(check(&b), "not the leaves of the folded part"));
	batch_add(&b, RUN_LEAVES, 1, WAVE, 0, 0);
	b.last->flags = 0;
	batch_fini(&b);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"parts of many leaves become one", one_of_many},
		{"what must stay apart does", not_folded},
		{"what does not add up stays apart", what_does_not_add_up},
		{"any tree says what its leaves say", any_tree},
		{"a whole tree is one range", whole_trees_are_one_range},
		{"what cannot be is found", what_cannot_be_is_found},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "parts", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
