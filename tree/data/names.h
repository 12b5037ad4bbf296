/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in a scope: what the numbers in runs stand for, said once per link (docs/architecture.md).
 */
#ifndef EVSPACE_NAMES_H
#define EVSPACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/model/pattern.h"
#include "pathmap/plan/plan.h"

/**
 * A name id is unique in its scope without asking anybody: the index of the place that gave it out,
 * and a number of that place's own.
 */
#define NAME_LOCAL_BITS 18
#define NAME_LOCAL_MAX	((1u << NAME_LOCAL_BITS) - 1)
#define NAME_PLACE_MAX	((1u << (32 - NAME_LOCAL_BITS)) - 1)

static inline uint32_t name_id(uint32_t place, uint32_t local)
{
	return place << NAME_LOCAL_BITS | local;
}

static inline uint32_t name_place(uint32_t id)
{
	return id >> NAME_LOCAL_BITS;
}

/** What a place takes at most: names, and changes of these over the life of a scope. */
#define NAMES_MAX	  (1u << 20)
#define NAMES_CHANGES_MAX (4u * NAMES_MAX)

/** Bytes for what others say, where nobody is asked whether they may be taken. */
#define NAMES_BYTES_MAX ((size_t)384 << 20)

/** One name. `text` is "/cluster/node/rank/thread/channel", or a prefix of that above elements. */
struct name {
	uint32_t id;
	int32_t rank;	  /* world rank, -1 if the name is above ranks */
	uint16_t level;	  /* enum level */
	uint16_t channel; /* enum channel, for LEVEL_ELEMENT */
	char *text;
};

/** The names known at one place of a scope, in the order in which they came. */
struct names;

/** @place is the index that ids given out here carry. Aborts when memory is out. */
struct names *names_new(uint32_t place);
void names_free(struct names *names);

/** May @bytes more be taken, of whoever counts them? They are taken until the names are freed. */
typedef bool names_granter(void *arg, size_t bytes);

/** Ask @grant, instead of counting up to NAMES_BYTES_MAX, for all that is taken for what others say
 * and for groups of that. What this host's own programs have recorded is always learnt, and
 * grouped. */
void names_grant_set(struct names *names, names_granter *grant, void *arg);

/** Bytes that were granted. */
size_t names_granted(const struct names *names);

/** The place that this is; @place is another one that this host has: ids that are given out from
 * now on carry that. */
uint32_t names_place(const struct names *names);
void names_place_set(struct names *names, uint32_t place);

/** How much of the limits is used. Plain data. */
struct names_use {
	size_t names, changes, comms, members;
};

struct names_use names_use(const struct names *names);

/**
 * Learn a name from below or give one out here: @id from name_id(), numbers from 0 up
 * (names_group() takes those from NAME_LOCAL_MAX down). An id that is known already gets the new
 * name, which is announced again (a leaf that restarted may count anew); the same name once more
 * changes nothing. @text has as many parts as @level wants ("/" for LEVEL_ALL; the cluster's may be
 * empty), each of printable ASCII. Returns 0, or -1 (EPROTO) when not so, or too many names came.
 */
int names_learn(struct names *names, uint32_t id, enum level level, int32_t rank, uint16_t channel,
		const char *text);

/** Learn what another one says. The same, and -1 with ENOBUFS when the memory is not granted. */
int names_hear(struct names *names, const struct name *said);

/** The name with this id, or NULL. Valid until the next names_learn(), names_hear() or
 * names_group(). O(1). */
const struct name *names_find(const struct names *names, uint32_t id);

/**
 * The id that stands for what @id belongs to at @level (LEVEL_NODE: "/cluster/node" …): the one
 * that was said first for that text, or a new one that is given out here (@id itself when there are
 * no more to give, or the memory is not granted). A name that is at @level or above it already
 * stands for itself. 0 when @id is unknown. O(1) from the second time on.
 */
uint32_t names_group(struct names *names, uint32_t id, enum level level);

/** Number of names learnt or changed so far: @i in [seen, names_count) are to be announced next. */
size_t names_count(const struct names *names);
const struct name *names_at(const struct names *names, size_t i);

/** Who says what about processes. */
struct tellers;
struct tellers *names_tellers(const struct names *names);

#endif
