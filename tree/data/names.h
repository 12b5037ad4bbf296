/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in a scope: what the numbers in runs stand for, announced once per link
 * (docs/architecture.md). */
#ifndef EVSPACE_NAMES_H
#define EVSPACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/model/pattern.h"
#include "pathmap/plan/plan.h"

/** A name id is unique in its scope without asking anybody: the index of the place that gives it
 * out, and a number within that place. */
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

/** Limits of a place: names, and changes of them over the life of a scope. */
#define NAMES_MAX	  (1u << 20)
#define NAMES_CHANGES_MAX (4u * NAMES_MAX)

/** Most bytes for peers' names where no granter is set. */
#define NAMES_BYTES_MAX ((size_t)384 << 20)

/** One name. `text` is "/cluster/node/rank/thread/channel", or a prefix of that above elements. */
struct name {
	uint32_t id;
	int32_t rank;	  /* world rank, -1 if the name is above ranks */
	uint16_t level;	  /* enum level */
	uint16_t channel; /* enum channel, for LEVEL_ELEMENT */
	char *text;
	uint64_t born; /* of an element: when its process began, or it was made, on its host. Of
			* two that are known the same execution has the same; 0: unknown */
};

/** The names known at one place of a scope, in order of coming. */
struct names;

/** @place is the index in the ids given out here. Aborts when there is no memory. */
struct names *names_new(uint32_t place);
void names_free(struct names *names);

/** May @bytes more be used? They are held until the names are freed. */
typedef bool names_granter(void *arg, size_t bytes);

/** Ask @grant for all memory of peers' names and groups of these, instead of limiting it to
 * NAMES_BYTES_MAX. Names that this host's own programs have recorded are always learnt and
 * grouped. */
void names_grant_set(struct names *names, names_granter *grant, void *arg);

/** Bytes that were granted. */
size_t names_granted(const struct names *names);

/** The index of this place. names_place_set() changes it to @place, another one of this host, for
 * ids given out from now on. */
uint32_t names_place(const struct names *names);
void names_place_set(struct names *names, uint32_t place);

/** How much of the limits is used. Plain data. */
struct names_use {
	size_t names, changes, comms, members;
};

struct names_use names_use(const struct names *names);

/**
 * Learn a name of this host: @id from name_id(), numbers from 0 up (names_group() takes them from
 * NAME_LOCAL_MAX down). A new name for a known id replaces the old one and is announced again (a
 * restarted leaf may count anew); the same name changes nothing. @text has as many parts as @level
 * needs ("/" for LEVEL_ALL; the cluster's may be empty), each of printable ASCII. Returns 0, or -1
 * (EPROTO) if not, or if there are too many names.
 */
int names_learn(struct names *names, uint32_t id, enum level level, int32_t rank, uint16_t channel,
		const char *text);

/** The same, of a name that says which execution it is of. */
int names_learn_born(struct names *names, const struct name *name);

/** Learn a name that a peer says. The same, and -1 with ENOBUFS if the memory is not granted. */
int names_hear(struct names *names, const struct name *said);

/** The name with this id, or NULL. Valid until the next names_learn(), names_hear() or
 * names_group(). O(1). */
const struct name *names_find(const struct names *names, uint32_t id);

/**
 * The id of the group of @id at @level (LEVEL_NODE: "/cluster/node" …): the first one with that
 * text, or a new one made here (@id itself if there are no more, or the memory is not granted). A
 * name at @level or above is its own group. 0 if @id is unknown. O(1) from the second time on.
 */
uint32_t names_group(struct names *names, uint32_t id, enum level level);

/** Number of names learnt or changed so far: those at @i in [seen, names_count) are to be announced
 * next. */
size_t names_count(const struct names *names);
const struct name *names_at(const struct names *names, size_t i);

/** The tellers of this scope (tree/data/tellers.h), owned by @names. */
struct tellers;
struct tellers *names_tellers(const struct names *names);

#endif
