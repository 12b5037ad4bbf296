/* SPDX-License-Identifier: BSD-3-Clause */
/* Median: the value below which half of all durations or sizes lie; of an even number, the upper
 * one. Computed from the bins of a histogram: exact below 32, else off by 1/32 (3.1 %) at most, in
 * any tree. */
#include "tree/stage/histogram.h"

static bool is_before(const struct group *a, const struct group *b)
{
	return a->key[0] != b->key[0] ? a->key[0] < b->key[0] : a->key[1] < b->key[1];
}

static void sink(struct group *heap, size_t n, size_t at)
{
	struct group down = heap[at];

	for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
		if (child + 1 < n && is_before(&heap[child], &heap[child + 1]))
			child++;
		if (!is_before(&down, &heap[child]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = down;
}

/* A heap sort, since qsort() allocates. Sorts by name, communicator, operation, value and bin.
 * Returns 0, or 1 if stage_over(). */
static int groups_sort(struct stage *s)
{
	struct fold_progress *done = &fold_of(s)->done;
	struct group *items = fold_of(s)->groups.items;
	size_t n = fold_of(s)->groups.n;

	for (; done->heaped < n / 2; done->heaped++) {
		if (stage_over(s, 1))
			return 1;
		sink(items, n, n / 2 - 1 - done->heaped);
	}
	for (; done->sorted + 1 < n; done->sorted++) {
		size_t end = n - 1 - done->sorted;
		struct group last = items[end];

		if (stage_over(s, 1))
			return 1;
		items[end] = items[0];
		items[0] = last;
		sink(items, end, 0);
	}
	return 0;
}

static struct median *median_of(struct group *g)
{
	return (struct median *)(void *)g->record;
}

/* Are both bins of one histogram? */
static bool is_alike(struct group *a, struct group *b)
{
	const struct bin *x = &median_of(a)->bin, *y = &median_of(b)->bin;

	return a->key[0] == b->key[0] && x->op == y->op && bin_value(x) == bin_value(y);
}

/* Mark the bin with the median in the histogram that begins at @at. Returns the number of its
 * bins. */
static size_t mark(struct group *at, size_t n)
{
	uint64_t all = 0, below = 0;
	size_t bins = 0, i = 0;

	for (; bins < n && is_alike(at, &at[bins]); bins++)
		if (__builtin_add_overflow(all, median_of(&at[bins])->bin.count, &all))
			all = UINT64_MAX;
	for (; i < bins - 1 && below + median_of(&at[i])->bin.count <= all / 2; i++)
		below += median_of(&at[i])->bin.count;
	median_of(&at[i])->all = all;
	return bins;
}

static int emit_medians(struct stage *s)
{
	struct groups *groups = &fold_of(s)->groups;
	size_t *marked = &fold_of(s)->done.marked;

	if (groups_sort(s) > 0)
		return 1;
	while (*marked < groups->n) {
		size_t n = mark(&groups->items[*marked], groups->n - *marked);

		*marked += n;
		if (stage_over(s, n))
			return 1;
	}
	return fold_emit(s, RUN_MEDIANS);
}

static void median_key(struct stage *s, void *record, uint32_t name, uint64_t key[2])
{
	struct median *median = record;

	median->all = 0;
	histogram_key(s, record, name, key);
}

static const struct fold_ops median_fold = {
	.tuples = histogram_take,
	.key = median_key,
	.emit = emit_medians,
};

static int median_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	return fold_apply(s, &median_fold, ask, b);
}

const struct stage_ops median_ops = {
	.name = "median",
	.op = OP_EVSPACE_MEDIAN,
	.traits = {.folds = true, .makes = RUN_MEDIANS, .records = HISTOGRAM_BINS, .bytes = 42},
	.size = sizeof(struct histogram),
	.init = histogram_init,
	.apply = median_apply,
	.fini = histogram_fini,
};
