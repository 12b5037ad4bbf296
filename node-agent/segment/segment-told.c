/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes records that are whole by their check sum. */
#include "node-agent/segment/segment-told.h"

#include <string.h>

#include "node-agent/segment/segment-mark.h"

/* A record is torn at most by chance so often in a row: its writers are slow. */
#define TRIES 3u

#define SUM_BEGIN UINT64_C(0xcbf29ce484222325)
#define SUM_PRIME UINT64_C(0x100000001b3)

static uint64_t sum_add(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * SUM_PRIME;
	return sum ^ sum >> 32;
}

uint64_t segment_told_place(const struct segment_layout *layout)
{
	uint64_t end = layout->marks_at +
		       layout->elements_max * (sizeof(struct segment_mark) + sizeof(uint64_t));

	return (end + SEGMENT_PAGE - 1) / SEGMENT_PAGE * SEGMENT_PAGE;
}

struct segment_told *segment_told_own(const struct segment *s)
{
	return (struct segment_told *)(void *)((char *)s->header + segment_told_place(&s->layout));
}

/* @words has room for n, and the check sum behind them. */
static void words_put(_Atomic uint64_t *words, const void *record, size_t n)
{
	uint64_t sum = SUM_BEGIN, word;

	for (size_t i = 0; i < n; i++) {
		memcpy(&word, (const char *)record + i * sizeof(word), sizeof(word));
		atomic_store_explicit(&words[i], word, memory_order_relaxed);
		sum = sum_add(sum, word);
	}
	atomic_store_explicit(&words[n], sum, memory_order_relaxed);
}

static int words_get(const _Atomic uint64_t *words, void *record, size_t n)
{
	uint64_t first;

	for (unsigned try = 0; try < TRIES; try++) {
		uint64_t sum = SUM_BEGIN, word;

		if (!atomic_load_explicit(&words[0], memory_order_relaxed))
			return 0;
		for (size_t i = 0; i < n; i++) {
			word = atomic_load_explicit(&words[i], memory_order_relaxed);
			memcpy((char *)record + i * sizeof(word), &word, sizeof(word));
			sum = sum_add(sum, word);
		}
		if (atomic_load_explicit(&words[n], memory_order_relaxed) != sum)
			continue;
		/* when it was written: one that says later would be the newest for ever */
		memcpy(&first, record, sizeof(first));
		return first <= clock_mono_ns();
	}
	return 0;
}

void segment_told_put_budget(struct segment_told *told, const struct segment_told_budget *budget)
{
	words_put(told->budget, budget, sizeof(*budget) / sizeof(uint64_t));
}

int segment_told_budget(const struct segment_told *told, struct segment_told_budget *budget)
{
	return words_get(told->budget, budget, sizeof(*budget) / sizeof(uint64_t));
}

int segment_told_view(const struct segment_told *told, unsigned i, struct segment_told_view *view)
{
	int got = words_get(told->views[i], view, sizeof(*view) / sizeof(uint64_t));

	if (got)
		view->view[SEGMENT_TOLD_NAME - 1] = '\0';
	return got;
}

void segment_told_put_view(struct segment_told *told, const struct segment_told_view *view)
{
	uint64_t oldest_ns = UINT64_MAX;
	struct segment_told_view there;
	unsigned at = 0;

	for (unsigned i = 0; i < SEGMENT_TOLD_VIEWS && oldest_ns > 0; i++) {
		bool its = segment_told_view(told, i, &there) == 0 ||
			   strcmp(there.view, view->view) == 0;

		if (its || there.mono_ns < oldest_ns) {
			oldest_ns = its ? 0 : there.mono_ns;
			at = i;
		}
	}
	words_put(told->views[at], view, sizeof(*view) / sizeof(uint64_t));
}
