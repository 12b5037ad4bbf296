/* SPDX-License-Identifier: BSD-3-Clause */
/* A run: records of one kind from one element, packed as they travel, and the parts they are from.
 */
#ifndef EVSPACE_RUN_H
#define EVSPACE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/data/bin.h"
#include "tree/data/cell.h"
#include "tree/data/clock.h"
#include "tree/data/count.h"
#include "tree/data/median.h"
#include "tree/data/total.h"
#include "tree/data/tuple.h"

/**
 * Every kind of record, by its number on the wire: a new one is its header and its row, the last.
 * KIND(NAME, kind, fields, sound, merge): RUN_NAME is records of a struct kind; the others are
 * those of a struct run_record.
 */
#define RUN_TABLE(KIND)                                             \
	KIND(TUPLES, tuple, "88844422", NULL, NULL)                 \
	KIND(TOTALS, total, "8888884211", total_sound, total_merge) \
	KIND(PART, part, "888888888448844", NULL, NULL)             \
	KIND(NEWEST, newest, "888844422", NULL, NULL)               \
	KIND(BINS, bin, "888422", bin_sound, bin_merge)             \
	KIND(CELLS, cell, "884444", cell_sound, cell_merge)         \
	KIND(COUNTS, count, "8888422", count_sound, count_merge)    \
	KIND(MEDIANS, median, "8884228", median_sound, bin_merge)

#define RUN_NUMBER(NAME, ...) RUN_##NAME,

/**
 * What the records of a run are. Tuples are numbered from its `first`. A RUN_PART is one part:
 * where the runs up to the next part are from. RUN_NEWEST is one of each element from `element` on;
 * batch_next() shows each as a run of one tuple.
 */
enum run_kind { RUN_TABLE(RUN_NUMBER) RUN_KINDS };

enum run_flag {
	RUN_LOST = 1 << 0,   /* a uint64_t follows the header: tuples overwritten before this run */
	RUN_SPARSE = 1 << 1, /* tuples were taken out: numbers after `first` have gaps */
	RUN_FOLD = 1 << 2,   /* on a RUN_PART: a mark, see struct part */
	RUN_DISCARDED =
		1 << 3, /* no tuples, and those that RUN_LOST counts were discarded instead */
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

/** The newest tuple of an element, and its number there. */
struct newest {
	uint64_t number;
	struct tuple tuple;
};

/**
 * Where runs come from, and what became of the tuples: in this wave, at this leaf,
 *   read = delivered + filtered + reduced     (docs/guarantees.md: every tuple is accounted for)
 * `lost` tuples were overwritten before they could be read, `discarded` ones had outlived their
 * element's lifetime or were dropped on request, so written = read + lost + discarded.
 * For READ_LATEST, older tuples are not asked for and not counted; for READ_COUNTS none are read.
 *
 * A stage that mixes what came from several leaves puts their parts first and then a mark: a
 * RUN_PART with RUN_FOLD, `element` being the place that mixed, `elements` how many parts right
 * before it are in what follows, `clock` that of the runs behind it, `filtered` and `reduced` what
 * was taken out afterwards, all else 0. Then the sums over all parts are those of the line above.
 */
struct part {
	struct clock_line clock; /* how the times of the runs that follow become nanoseconds */
	uint64_t read, lost, discarded, filtered, reduced;
	uint32_t elements; /* how many elements the leaf has in this scope */
	uint32_t cpu_us;   /* CPU time that the leaf's agent used since the wave before */
	/* For rates and the cost of collecting, whatever is read: */
	uint64_t written;    /* tuples that these elements have been given so far */
	uint64_t cost_ns;    /* what collecting those has cost their processes */
	uint32_t processes;  /* that live */
	uint32_t unreadable; /* processes whose elements cannot be read: damaged files */
};

_Static_assert(sizeof(struct run) == 16, "a run header is 16 bytes");
_Static_assert(sizeof(struct newest) == 48, "a newest tuple is 48 bytes");
_Static_assert(sizeof(struct part) == 104, "a part is 104 bytes");

/** What is known of a kind of record. */
struct run_record {
	size_t bytes;
	const char *fields; /* the width of each, a digit, in order: what a host of the other byte
			       order swaps */
	bool (*sound)(const void *record);	   /* could these numbers be one, that came over the
						      wire? NULL: any could */
	const char *fault;			   /* what is said if not */
	void (*merge)(void *to, const void *from); /* of one key; NULL: they are not merged */
};

/** Of each kind. */
extern const struct run_record run_records[RUN_KINDS];

/** Bytes of a record of this kind, 0 for a kind that does not exist. */
static inline size_t run_record_bytes(unsigned kind)
{
	return kind < RUN_KINDS ? run_records[kind].bytes : 0;
}

#endif
