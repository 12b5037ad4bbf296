/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks batches from peers, run by run, before anything in them is believed. */
#include "tree/data/batch.h"

#include <errno.h>
#include <float.h>
#include <string.h>

#include "tree/data/columns.h"

/* A line beyond these is not a clock: ticks of 10 s, times after the year 2100. */
#define NS_PER_TICK_MOST 1e10

static int clock_sound(const struct clock_line *line)
{
	/* a NaN fails these comparisons */
	return line->ns_per_tick >= 0 && line->ns_per_tick <= NS_PER_TICK_MOST &&
	       line->error_ns >= 0 && line->error_ns <= DBL_MAX &&
	       line->base_ns >= -CLOCK_BASE_MOST && line->base_ns <= CLOCK_BASE_MOST;
}

static const char *newest_fault(const struct run *run, uint32_t count)
{
	if (count == 0 || run->flags)
		return "holds newest tuples and has none, or flags";
	return run->element > UINT32_MAX - count ? "has elements past the last name" : NULL;
}

/* The fault of the header of a run with @left bytes from its start, or NULL. */
static const char *run_fault(const struct run *run, size_t left, int first)
{
	if (left < sizeof(*run))
		return "is longer than what is left";
	if (run->kind >= RUN_KINDS)
		return "is of a kind that does not exist";
	if (run->flags & ~(RUN_LOST | RUN_SPARSE | RUN_FOLD | RUN_DISCARDED | RUN_MANY))
		return "has flags that do not exist";
	if (first && run->kind != RUN_PART)
		return "comes before any part";
	if (run->kind == RUN_PART && (run->count != 1 || (run->flags & ~(RUN_FOLD | RUN_LOST) &&
							  (run->flags & ~RUN_LOST) != RUN_MANY)))
		return "is a part and does not have exactly one record";
	if (run->kind != RUN_PART && run->flags & (RUN_FOLD | RUN_MANY))
		return "is marked as a part but is not one";
	if (run->flags & RUN_DISCARDED &&
	    (run->kind != RUN_TUPLES || run->count || run->flags != (RUN_DISCARDED | RUN_LOST)))
		return "counts discarded tuples and has others";
	if (run->kind == RUN_NEWEST && newest_fault(run, run->count))
		return newest_fault(run, run->count);
	return run_bytes(run) > left ? "is longer than what is left" : NULL;
}

static const char *part_fault(const struct run *run, const unsigned char *record)
{
	uint64_t sampled = 0;
	struct part part;

	memcpy(&part, record, sizeof(part));
	if (run->flags & RUN_LOST)
		memcpy(&sampled, run + 1, sizeof(sampled));
	if (!clock_sound(&part.clock))
		return "has a clock that is not valid";
	if (run->flags & RUN_FOLD && (part.read > 0 || part.lost > 0 || part.discarded > 0))
		return "is a mark and counts tuples as read";
	if (sampled > part.filtered)
		return "has more sampled out than filtered";
	return NULL;
}

/* @all: bytes that the runs before stand for. */
static const char *columns_fault(const struct run *run, const unsigned char *records, size_t all)
{
	struct columns what;

	if (run->count > 0 && all + columns_plain(run, records) > BATCH_PLAIN_MOST)
		return "has columns that stand for more than a batch may have";
	if (columns_get(records, run->count * sizeof(struct column_word), &what, NULL, NULL) < 0)
		return "has broken columns";
	if (columns_plain(run, records) <= run_bytes(run))
		return "has columns that are no smaller than what they stand for";
	return what.kind == RUN_NEWEST ? newest_fault(run, what.count) : NULL;
}

/* The fault of a run's records, or NULL. @types: of typed runs before. */
static const char *records_fault(const struct run *run, const unsigned char *records, size_t all,
				 struct typed_seen *types)
{
	const struct run_record *kind = &run_records[run->kind];
	struct foreign_kind of;

	if (run->kind == RUN_COLUMNS)
		return columns_fault(run, records, all);
	if (run->kind == RUN_PART)
		return part_fault(run, records);
	if (run->kind == RUN_FOREIGN &&
	    !foreign_read((const struct foreign *)(const void *)records, run->count, &of))
		return "has foreign records that are not valid";
	if (run->kind == RUN_TYPED &&
	    !typed_sound(types, (const struct typed_word *)(const void *)records, run->count))
		return "has typed tuples that are not valid, or are of too many types";
	for (unsigned i = 0; kind->sound && i < run->count; i++)
		if (!kind->sound(records + i * kind->bytes))
			return kind->fault;
	return NULL;
}

/* ---- folded parts ---- */

/* The runs before the one that is checked. */
struct before {
	const struct run *last, *folded, *leaves; /* the last of each kind, NULL: none */
};

static const void *run_records_of(const struct run *run)
{
	return (const unsigned char *)run + run_head(run);
}

static const char *leaves_fault(const struct run *run)
{
	const struct leaf_range *leaves = run_records_of(run);

	if (run->count == 0)
		return "names no leaves";
	for (unsigned i = 1; i < run->count; i++)
		if (leaves[i].from <= leaves[i - 1].from + leaves[i - 1].count)
			return "names leaves twice, or not in order";
	return NULL;
}

/* The worst of a folded part are among its leaves, and have no more than all together. */
static const char *worst_fault(const struct before *before, const struct run *run)
{
	const struct leaf_range *leaves = run_records_of(before->leaves);
	const struct part *part = run_records_of(before->folded);
	const struct leaf_worst *worst = run_records_of(run);
	uint64_t left[] = {[LEAF_UNREADABLE] = part->unreadable, [LEAF_LOST] = part->lost};

	if (run->count == 0 || run->count > LEAF_FIGURES * LEAF_WORST_MOST)
		return "names no leaves, or too many, as the worst";
	for (unsigned i = 0; i < run->count; i++) {
		if (!leaf_ranges_have(leaves, before->leaves->count, worst[i].leaf))
			return "names a leaf that is not in its part";
		if (worst[i].value > left[worst[i].figure])
			return "names leaves that have more than all of its part";
		left[worst[i].figure] -= worst[i].value;
		for (unsigned k = 0; k < i; k++)
			if (worst[k].leaf == worst[i].leaf && worst[k].figure == worst[i].figure)
				return "names a leaf as the worst twice";
	}
	return NULL;
}

/* Does @run (NULL: the end) belong where it is? Then it is among those before the next one. */
static const char *order_fault(struct before *before, const struct run *run)
{
	const struct run *last = before->last;
	bool is_due = last && last->kind == RUN_PART && last->flags & RUN_MANY;
	const char *fault = NULL;

	if (is_due != (run && run->kind == RUN_LEAVES))
		return is_due ? "is not the leaves of the folded part before it"
			      : "names leaves behind no folded part";
	before->last = run;
	if (!run)
		return NULL;
	if (run->kind == RUN_PART && run->flags & RUN_MANY) {
		before->folded = run;
	} else if (run->kind == RUN_LEAVES) {
		before->leaves = run;
		fault = leaves_fault(run);
	} else if (run->kind == RUN_WORST) {
		fault = last && last->kind == RUN_LEAVES ? worst_fault(before, run)
							 : "names the worst of no leaves";
	}
	return fault;
}

int batch_check(const unsigned char *data, size_t bytes, size_t *plain, struct error *e)
{
	size_t at = 0, all = 0;
	struct before before = {NULL, NULL, NULL};
	struct typed_seen types = {.next = 0};
	const char *fault = NULL;

	errno = EPROTO;
	if (bytes > 0 && (uintptr_t)data % sizeof(uint64_t) != 0)
		return errorf(e, "a batch must lie at a multiple of 8 bytes");
	while (at < bytes && !fault) {
		const struct run *run = (const struct run *)(const void *)(data + at);

		fault = run_fault(run, bytes - at, at == 0);
		fault = fault ? fault : records_fault(run, data + at + run_head(run), all, &types);
		fault = fault ? fault : order_fault(&before, run);
		all += fault ? 0 : columns_plain(run, data + at + run_head(run));
		at += fault ? 0 : run_bytes(run);
	}
	fault = fault ? fault : order_fault(&before, NULL);
	if (plain)
		*plain = all;
	errno = EPROTO;
	return !fault ? 0
		      : errorf(e, "a batch of %zu bytes is broken: the run at byte %zu %s", bytes,
			       at, fault);
}
