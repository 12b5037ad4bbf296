/* SPDX-License-Identifier: BSD-3-Clause */
/* A run: packed records of a kind from one element, and the part that says where runs are from. */
#ifndef EVSPACE_RUN_H
#define EVSPACE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/data/bin.h"
#include "tree/data/cell.h"
#include "tree/data/count.h"
#include "tree/data/field-figure.h"
#include "tree/data/foreign.h"
#include "tree/data/leaves.h"
#include "tree/data/median.h"
#include "tree/data/meet.h"
#include "tree/data/total.h"
#include "tree/data/typed.h"

/** Every kind of record, by its number on the wire; a new kind is a header of its own and a last
 * row. KIND(NAME, kind, ...): RUN_NAME is records of struct kind; the rest are members of struct
 * run_record. */
#define RUN_TABLE(KIND)                                              \
	KIND(TUPLES, tuple, "88844422", NULL, NULL)                  \
	KIND(TOTALS, total, "8888884211", total_sound, total_merge)  \
	KIND(PART, part, "888888888448844", NULL, NULL)              \
	KIND(NEWEST, newest, "888844422", NULL, NULL)                \
	KIND(BINS, bin, "888422", bin_sound, bin_merge)              \
	KIND(CELLS, cell, "884444", cell_sound, cell_merge)          \
	KIND(COUNTS, count, "8888422", count_sound, count_merge)     \
	KIND(MEDIANS, median, "8884228", median_sound, bin_merge)    \
	KIND(COLUMNS, column_word, "11111111", NULL, NULL)           \
	KIND(LEAVES, leaf_range, "44", leaf_range_sound, NULL)       \
	KIND(WORST, leaf_worst, "844", leaf_worst_sound, NULL)       \
	KIND(FOREIGN, foreign, "8", NULL, NULL)                      \
	KIND(MEETS, meet, "888888844444211", meet_sound, meet_merge) \
	KIND(TYPED, typed_word, "11111111", NULL, NULL)              \
	KIND(FIGURES, field_figure, FIELD_FIGURE_WIDTHS, field_figure_sound, field_figure_merge)

#define RUN_NUMBER(NAME, ...) RUN_##NAME,

/**
 * The kind of a run's records. Tuples are numbered from the run's `first`. A RUN_PART is one part:
 * where the runs up to the next part are from. A RUN_NEWEST has one tuple each of the elements from
 * `element` on; batch_next() shows each as a run of one tuple. A RUN_COLUMNS has such or meets as
 * columns: `count` is the number of words, all else as in the plain run. So it is of a RUN_FOREIGN
 * and a RUN_TYPED.
 */
enum run_kind { RUN_TABLE(RUN_NUMBER) RUN_KINDS };

enum run_flag {
	RUN_LOST = 1 << 0,   /* a uint64_t follows the header: tuples overwritten before this run */
	RUN_SPARSE = 1 << 1, /* tuples were removed: numbers after `first` are not known */
	RUN_FOLD = 1 << 2,   /* on a RUN_PART: a mark, see struct part */
	RUN_DISCARDED = 1 << 3, /* no tuples; those counted by RUN_LOST were discarded */
	RUN_MANY = 1 << 4,	/* on a RUN_PART: it is folded, see struct part */
};

/**
 * The header of a run, 16 bytes, packed in native byte order, 8-byte aligned in memory; then the
 * lost count if RUN_LOST, then `count` records. For RUN_PART, `element` is the leaf's place index
 * and `first` its wave.
 */
struct run {
	uint32_t element; /* name id (tree/data/names.h) */
	uint16_t count;
	uint8_t kind;
	uint8_t flags;
	uint64_t first;
};

/** A word of columns: the same bytes on all machines. */
struct column_word {
	unsigned char bytes[8];
};

/** The newest tuple of an element, and its number there. */
struct newest {
	uint64_t number;
	struct tuple tuple;
};

/**
 * Where runs come from, and what became of the tuples: in this wave, at this leaf,
 *  read = delivered + filtered + reduced     (docs/guarantees.md: every tuple is accounted for)
 * `lost` tuples were overwritten before they could be read; `discarded` ones outlived their
 * element's lifetime or were dropped on request; so written = read + lost + discarded.
 * With READ_LATEST, older tuples are not read and not counted; with READ_COUNTS, none are read.
 * Who asks for it (struct ask) is told how many `filtered` ones were sampled out: by RUN_LOST.
 *
 * A stage that mixes runs of several leaves puts their parts first and then a mark: a RUN_PART with
 * RUN_FOLD, `element` being the place that mixed, `elements` how many of the parts right before the
 * mark are mixed, `clock` that of the runs after it, `filtered` and `reduced` what was removed
 * later, all else 0. Then the sums over all parts fulfil the line above.
 *
 * If who asks takes that, it folds these parts into one instead (docs/decisions/0027): a RUN_PART
 * with RUN_MANY, `element` as of a mark, the sums of the parts (of `cpu_us` the most), their worst
 * error and, as base_ns of the clock, when the first of them was read. Its leaves follow as a
 * RUN_LEAVES, and, if any figure is not 0, the worst of them as a RUN_WORST.
 */
struct part {
	struct clock_line clock; /* converts times of the runs that follow to nanoseconds */
	uint64_t read, lost, discarded, filtered, reduced;
	uint32_t elements; /* how many elements the leaf has in this scope */
	uint32_t cpu_us;   /* CPU time that the leaf's agent used since the wave before */
	/* for rates and the cost of collecting, independent of what is read: */
	uint64_t written;    /* tuples written to these elements so far */
	uint64_t cost_ns;    /* cost of collecting those to their processes */
	uint32_t processes;  /* that live */
	uint32_t unreadable; /* processes whose elements cannot be read: damaged files */
};

_Static_assert(sizeof(struct run) == 16, "a run header is 16 bytes");
_Static_assert(sizeof(struct newest) == 48, "a newest tuple is 48 bytes");
_Static_assert(sizeof(struct part) == 104, "a part is 104 bytes");

/** What is known of a kind of record. */
struct run_record {
	const char *name;
	size_t bytes;
	const char *fields; /* widths in bytes, one digit each, in order, to swap byte order */
	bool (*sound)(const void *record);	   /* is a record from a peer valid? NULL: always */
	const char *fault;			   /* the message if it is not */
	void (*merge)(void *to, const void *from); /* two of one key; NULL: they are not merged */
};

/** Of each kind. */
extern const struct run_record run_records[RUN_KINDS];

/** Bytes of a record of this kind, 0 for an unknown kind. */
static inline size_t run_record_bytes(unsigned kind)
{
	return kind < RUN_KINDS ? run_records[kind].bytes : 0;
}

/** Bytes of header and lost count, and of the whole run: tuples, of constant size, first. */
static inline size_t run_head(const struct run *run)
{
	return sizeof(*run) + (run->flags & RUN_LOST ? sizeof(uint64_t) : 0);
}

static inline size_t run_bytes(const struct run *run)
{
	if (__builtin_expect(run->kind == RUN_TUPLES, 1))
		return run_head(run) + run->count * sizeof(struct tuple);
	return run_head(run) + (size_t)run->count * run_records[run->kind].bytes;
}

#endif
