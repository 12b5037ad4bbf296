/* SPDX-License-Identifier: BSD-3-Clause */
/* Folds: common parts of stages that make one record for each key, and merge them. */
#ifndef EVSPACE_FOLD_H
#define EVSPACE_FOLD_H

#include "tree/data/part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tree/stage/stage.h"
#include "tree/data/total.h"
#include "tree/data/tuple.h"

/** One group of a fold. */
struct group {
	uint64_t key[2]; /* group_key() */
	uint32_t hash;	 /* of the key */
	uint32_t part;	 /* first, last, meet: index in the wave's parts of the tuple's part */
	union {
		unsigned char record[sizeof(struct meet)]; /* of any kind that is merged */
		struct total total;
		struct meet meet;
		struct {
			struct tuple tuple;
			uint64_t number; /* its number in its element */
		};
	};
};

/* What is not merged has NULL for a function. */
#define GROUP_HOLDS(NAME, kind, fields, sound, merge)                                      \
	_Static_assert(__builtin_types_compatible_p(__typeof__(merge), void *) ||          \
			       sizeof(struct kind) <= sizeof(((struct group *)0)->record), \
		       "a " #kind " is larger than a group has room for (CONTRIBUTING.md)");
RUN_TABLE(GROUP_HOLDS)

/** Plain data, usable when zeroed. The tables are kept from wave to wave, up to STAGE_KEPT. */
struct groups {
	struct group *items;
	size_t n, room;
	size_t at;	 /* the one that was asked for last */
	uint32_t *index; /* open addressing; 0: free, else the index of an item + 1 */
	unsigned bits;	 /* 1 << bits entries, 0: none yet */
};

/** The key of @name's group by two more numbers. */
static inline void group_key_of(uint64_t key[2], uint32_t name, uint32_t a, uint64_t b)
{
	key[0] = (uint64_t)name << 32 | a;
	key[1] = b;
}

/** The key of @name's group, by @total's value, figure, operation and communicator if given. */
static inline void group_key(uint64_t key[2], uint32_t name, const struct total *total)
{
	key[0] = (uint64_t)name << 32 | (total ? total->comm : 0);
	key[1] = total ? (uint64_t)total->op << 16 | (unsigned)total->value << 8 | total->fold : 0;
}

/** The name of the group. */
static inline uint32_t group_name(const struct group *group)
{
	return (uint32_t)(group->key[0] >> 32);
}

/** The group with this key; *@is_new if it was made now, zeroed except for the key. Valid until the
 * next call. Allocates only when there are more groups than ever before. */
struct group *groups_at(struct groups *groups, const uint64_t key[2], bool *is_new);

/** The beginning of the private bytes of a stage that folds; zeroed at first, kept from wave to
 * wave. */
struct fold {
	struct parts parts;
	struct groups groups;
	struct batch others; /* runs that are not folded; they follow the others */
	struct batch out;
	struct fold_progress {
		struct batch_cursor next;
		struct run_view view;
		uint32_t record, name;	       /* the next of the view, and the view's group */
		bool taken;		       /* all runs are taken */
		size_t heaped, sorted, marked; /* groups, for medians */
		size_t out;		       /* groups whose results are in `out` */
	} done;				       /* progress in the current wave */
};

/** What a kind of fold does. It makes and merges records of its stage's traits.makes. @name is the
 * group of a run's element at the stage's level. */
struct fold_ops {
	/* Take the tuples of a run. Each is reduced, filtered or kept, and counted in
	 * fold_part(). */
	void (*tuples)(struct stage *s, const struct run_view *view, uint32_t name);
	/* Take the totals of a run (traits.totals). NULL: they are passed on as they are. */
	void (*totals)(struct stage *s, const struct run_view *view, uint32_t name);
	/* Turn @record, of a run from below, into one of this stage (without what is not asked
	 * for), and make its key: group_key_of(@key, @name, ...). */
	void (*key)(struct stage *s, void *record, uint32_t name, uint64_t key[2]);
	/* Instead of these: take a run, from fold->done.record on, which is where it goes on if it
	 * returns 1. Returns as apply() does. */
	int (*run)(struct stage *s, const struct run_view *view, uint32_t name);
	/* A part with another clock follows: convert the tuples taken so far to nanoseconds, by
	 * fold->parts.line. NULL: none are kept. */
	void (*mixed)(struct stage *s);
	/* Put the results into fold->out. Returns as apply() does. NULL: fold_emit(). */
	int (*emit)(struct stage *s);
};

static inline struct fold *fold_of(struct stage *s)
{
	return (struct fold *)(void *)s->private;
}

/** The part whose runs are being taken, for its counts. */
static inline struct part *fold_part(struct fold *fold)
{
	return &fold->parts.items[fold->parts.n - 1].part;
}

/** Merge @record, of @kind, into the group at @key, whose first bytes it is. */
void fold_put(struct fold *fold, enum run_kind kind, const uint64_t key[2], const void *record);

/** Put the groups' records, of @kind, into fold->out. Returns 0, or 1 if stage_over(). */
int fold_emit(struct stage *s, enum run_kind kind);

/** Fold a wave in place: parts and a mark first, then the results, then runs that are not folded.
 * Returns 0, 1 if stage_over(), or -1 with EPROTO: a run without a part. */
int fold_apply(struct stage *s, const struct fold_ops *ops, const struct ask *ask, struct batch *b);

/** Take the next word of a stage's arguments at *@rest into @word, cut at @room bytes, and move
 * *@rest past it. False if there are no more. */
bool fold_word(const char **rest, char *word, size_t room);

/** Note what the arguments say that the stage's records are about. */
static inline void fold_about(struct stage *s, enum total_value value)
{
	s->traits.of = total_value_name(value);
}

/** Read "op" or "comm" after `by`. Returns whether @word is one of them. */
bool fold_by(const char *word, bool *by_op, bool *by_comm);

void fold_fini(struct fold *fold);

#endif
