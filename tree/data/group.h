/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: what a fold has so far, by key, in order of first appearance. */
#ifndef EVSPACE_GROUP_H
#define EVSPACE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/data/total.h"
#include "tree/data/tuple.h"

/** What one group of a fold holds. */
struct group {
	uint64_t key[2]; /* group_key() */
	uint32_t slot;	 /* in groups->index */
	uint32_t part;	 /* first and last: where the tuple is from, in the wave's parts */
	union {
		unsigned char record[sizeof(struct total)]; /* of any kind that is merged */
		struct total total;
		struct {
			struct tuple tuple;
			uint64_t number; /* in its element */
		};
	};
};

/** Plain data, usable when zeroed. The tables are kept from wave to wave. */
struct groups {
	struct group *items;
	size_t n, room;
	uint32_t *index; /* open addressing; 0: free, else the number of an item plus 1 */
	unsigned bits;	 /* 1 << bits entries, 0: none yet */
};

/** The key of @name's group by two more numbers. */
static inline void group_key_of(uint64_t key[2], uint32_t name, uint32_t a, uint64_t b)
{
	key[0] = (uint64_t)name << 32 | a;
	key[1] = b;
}

/** The key of @name's group, of @total's kind of figure and its operation and communicator if
 * given. */
static inline void group_key(uint64_t key[2], uint32_t name, const struct total *total)
{
	key[0] = (uint64_t)name << 32 | (total ? total->comm : 0);
	key[1] = total ? (uint64_t)total->op << 16 | (unsigned)total->value << 8 | total->fold : 0;
}

/** The name that the group is of. */
static inline uint32_t group_name(const struct group *group)
{
	return (uint32_t)(group->key[0] >> 32);
}

/** Begin a new wave. O(groups of the last one). */
void groups_reset(struct groups *groups);
void groups_fini(struct groups *groups);

/**
 * The group with this key; *@is_new when it was made just now, zeroed but for the key. Valid until
 * the next call. Allocates only when there are more groups than ever before.
 */
struct group *groups_at(struct groups *groups, const uint64_t key[2], bool *is_new);

#endif
