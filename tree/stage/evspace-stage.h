/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stages of your own: a shared object with one table, which agents load (docs/extending.md).
 *
 *	static size_t take(struct evspace_stage *stage, const struct evspace_stage_run *run)
 *	{
 *		uint64_t *words = stage->host->record(stage, 0);
 *
 *		for (size_t i = 0; i < run->count; i++)
 *			words[0] += run->tuples[i].bytes;
 *		return run->count;
 *	}
 *
 *	static void merge(struct evspace_stage *stage, uint64_t *to, const uint64_t *from)
 *	{
 *		(void)stage;
 *		to[0] += from[0];
 *	}
 *
 *	const struct evspace_stage_table evspace_stage = {
 *		EVSPACE_STAGE_HEAD, .kind = "volume", .words = 1, .take = take, .merge = merge,
 *	};
 *
 * A stage gets the tuples of elements, run by run, and adds them to records: so many 64-bit numbers
 * each, by default one record for each thing of its level (thread, node, cluster, all). Records of
 * one key are merged on their way up the tree. The agent sees to the rest: which records belong
 * together, accounts, byte order, time, sending.
 */
#ifndef EVSPACE_STAGE_INTERFACE_H
#define EVSPACE_STAGE_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of what follows. Agents load objects of theirs alone. */
#define EVSPACE_STAGE_INTERFACE 1u

/** Most words of a record, and most tuples of a run. */
#define EVSPACE_STAGE_WORDS  4096u
#define EVSPACE_STAGE_TUPLES 256u

/** One operation of the program. */
struct evspace_tuple {
	uint64_t start, end; /* ticks of its process's clock: see ns_per_tick; end 0: under way */
	uint64_t bytes;
	int32_t peer;	     /* world rank; -1: none, -2: not known yet, below: of another world */
	uint32_t seq_or_tag; /* collective: its number on this communicator; p2p: tag */
	uint32_t comm;	     /* communicator, 0: none */
	uint16_t op;	     /* see op_name() */
	uint16_t flags;	     /* EVSPACE_STAGE_RUNNING, others as in evspace-record.h */
};

#define EVSPACE_STAGE_RUNNING 0x01u /* under way: of a view that reads `latest` */

/** Tuples of one element, in order. They are a copy, valid until take() returns. */
struct evspace_stage_run {
	const struct evspace_tuple *tuples;
	size_t count;
	uint64_t first; /* the first one's number in its element (UINT64_MAX: not known); the next
			 * ones', if not sparse */
	int sparse;	/* tuples have been left out between */
	double ns_per_tick;
};

/** A tuple's duration in ns; 0: it is under way, or the clock ran backwards. */
static inline uint64_t evspace_stage_ns(const struct evspace_stage_run *run,
					const struct evspace_tuple *tuple)
{
	double ns = tuple->end > tuple->start
			    ? (double)(tuple->end - tuple->start) * run->ns_per_tick + 0.5
			    : 0;

	return ns < 9e18 ? (uint64_t)ns : (uint64_t)INT64_MAX;
}

struct evspace_stage;

/** What the agent does for a stage. Only within take(). */
struct evspace_stage_host {
	/* The record of the run's group with this @key (0 if the table says no `keyed`): zeroed if
	 * it is new, then with @key as its first word. Valid until the next call. Never NULL. */
	uint64_t *(*record)(struct evspace_stage *stage, uint64_t key);
	/* The run's element, "/cluster/node/rank3/thread/channel", and its rank in *@rank unless
	 * NULL (-1: none). "": not known yet. Valid until take() returns. */
	const char *(*element)(const struct evspace_stage *stage, int32_t *rank);
	/* "MPI_Send", of a tuple's op; "?" if there is no such one. */
	const char *(*op_name)(uint16_t op);
};

/** A stage at one place of one open view. */
struct evspace_stage {
	const struct evspace_stage_host *host;
	void *own;	/* the table's own_bytes, zeroed at first; kept from wave to wave */
	unsigned words; /* of a record; init() may change what the table says */
	double records; /* how many records a group has, for predictions; 0: not known */
};

/** What an object is: its symbol `evspace_stage`. All functions are called by one thread, never
 * block, and return soon: others wait. NULL: not needed, but for take() and merge(). */
struct evspace_stage_table {
	uint32_t interface, bytes; /* EVSPACE_STAGE_HEAD */
	const char *kind;	   /* of its records: small letters, digits, '-'; 31 at most */
	unsigned words;		   /* of a record */
	int keyed;		   /* the first word is a key, by which a group has many records */
	size_t own_bytes;
	/* What stands behind the stage's name in the view: "" or words with a blank between.
	 * Returns 0, or -1 with what is wrong, and what would be right, in @why (@n bytes). */
	int (*init)(struct evspace_stage *stage, const char *args, char *why, size_t n);
	void (*fini)(struct evspace_stage *stage); /* also after an init() that has failed */
	/* Add the run to records. Returns how many of its tuples these now stand for; the others
	 * are counted as filtered. */
	size_t (*take)(struct evspace_stage *stage, const struct evspace_stage_run *run);
	/* Could these numbers, from another host, be a record? */
	int (*sound)(const struct evspace_stage *stage, const uint64_t *record);
	/* Add @from to @to, which has the same key. The order must not matter. */
	void (*merge)(struct evspace_stage *stage, uint64_t *to, const uint64_t *from);
};

#define EVSPACE_STAGE_HEAD EVSPACE_STAGE_INTERFACE, sizeof(struct evspace_stage_table)

/** The table of an object. */
extern const struct evspace_stage_table evspace_stage;

#ifdef __cplusplus
}
#endif

#endif
