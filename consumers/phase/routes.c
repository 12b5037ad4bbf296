/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers which ways are taken, and follows two of them to where they meet. */
#include "consumers/phase/routes.h"

#include <stdlib.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* Spans in a row in which a way is taken, or not, before it is told. */
#define SURE 2u

/* Ways that are remembered; beyond these, new ones are not told. */
#define WAYS_MOST 65536u

struct route_way {
	uint64_t key;	      /* routes_way() */
	unsigned taken, gone; /* spans in a row */
	bool known;	      /* it was told, or is what another one was told beside */
	UT_hash_handle hh;
};

/* The ways from one block, of all that were taken: a part of a list that is sorted. */
struct from_block {
	const struct occurrence *way;
	size_t n;
	uint64_t all;
};

static uint32_t to_of(const struct occurrence *way)
{
	return (uint32_t)way->what;
}

/* Those from the block of the way at @at on. */
static struct from_block from_at(const struct occurrences *taken, size_t at)
{
	struct from_block from = {.way = taken->items + at};
	uint64_t block = from.way->what >> 32;

	for (; at < taken->n && taken->items[at].what >> 32 == block; at++) {
		from.n++;
		from.all += taken->items[at].count;
	}
	return from;
}

/* The ways from @block; none: n is 0. */
static struct from_block from_find(const struct occurrences *taken, uint32_t block)
{
	size_t at = 0, end = taken->n;

	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (taken->items[middle].what >> 32 < block)
			at = middle + 1;
		else
			end = middle;
	}
	if (at == taken->n || taken->items[at].what >> 32 != block)
		return (struct from_block){0};
	return from_at(taken, at);
}

/* The way that most take, but not to @but. NULL: there is none. */
static const struct occurrence *most_taken(const struct from_block *from, uint32_t but)
{
	const struct occurrence *most = NULL;

	for (size_t i = 0; i < from->n; i++)
		if (to_of(&from->way[i]) != but && (!most || from->way[i].count > most->count))
			most = &from->way[i];
	return most;
}

/* ---- where two ways meet ---- */

/* The blocks on the way that most take from @block on, up to @stop. Returns how many. */
static unsigned follow(const struct occurrences *taken, uint32_t block, uint32_t stop,
		       uint32_t path[ROUTES_FOLLOWED])
{
	unsigned n = 0;

	while (n < ROUTES_FOLLOWED && block != stop) {
		struct from_block from = from_find(taken, block);
		const struct occurrence *next = most_taken(&from, block);

		path[n++] = block;
		if (!next)
			break;
		block = to_of(next);
	}
	return n;
}

static void meeting_find(const struct occurrences *taken, struct routes_fork *route)
{
	uint32_t one[ROUTES_FOLLOWED], other[ROUTES_FOLLOWED];
	unsigned n = follow(taken, route->to, route->from, one);
	unsigned m = follow(taken, route->other, route->from, other);

	for (unsigned i = 0; i < n && !route->has_meets; i++)
		for (unsigned k = 0; k < m && !route->has_meets; k++) {
			route->has_meets = one[i] == other[k];
			route->meets = one[i];
		}
}

/* ---- ways ---- */

static struct route_way *way_at(struct routes *r, uint64_t key, bool make)
{
	struct route_way *way;

	HASH_FIND(hh, r->ways, &key, sizeof(key), way);
	if (way || !make || HASH_COUNT(r->ways) >= WAYS_MOST)
		return way;
	way = memory_new(1, sizeof(*way));
	way->key = key;
	HASH_ADD(hh, r->ways, key, sizeof(way->key), way);
	return way;
}

static void way_tell(const struct occurrences *taken, const struct from_block *from,
		     const struct route_way *way, double share, bool begins,
		     void (*tell)(void *arg, const struct routes_fork *route), void *arg)
{
	struct routes_fork route = {.from = (uint32_t)(way->key >> 32),
				    .to = (uint32_t)way->key,
				    .share = share,
				    .begins = begins};
	const struct occurrence *other = most_taken(from, route.to);

	if (!other)
		return;
	route.other = to_of(other);
	route.other_share = (double)other->count / (double)from->all;
	if (begins)
		meeting_find(taken, &route);
	tell(arg, &route);
}

static double share_of(const struct from_block *from, uint64_t key)
{
	for (size_t i = 0; i < from->n; i++)
		if (from->way[i].what == key)
			return (double)from->way[i].count / (double)from->all;
	return 0;
}

/* Which ways from a block are taken, for how many spans? */
static void ways_take(struct routes *r, const struct from_block *from)
{
	for (size_t i = 0; i < from->n; i++) {
		double share = (double)from->way[i].count / (double)from->all;
		bool is = share >= ROUTES_SHARE && from->way[i].count >= ROUTES_TIMES;
		struct route_way *way = way_at(r, from->way[i].what, is);

		if (!way)
			continue;
		way->taken = is ? way->taken + 1 : 0;
		way->gone = share >= ROUTES_GONE ? 0 : way->gone;
	}
}

/* Is it one of two ways that are taken, and the one of which it is to be told? */
static bool way_begins(struct routes *r, const struct from_block *from, struct route_way *way,
		       double share)
{
	const struct occurrence *most = most_taken(from, (uint32_t)way->key);
	const struct route_way *other = most ? way_at(r, most->what, false) : NULL;
	double others = most ? (double)most->count / (double)from->all : 0;

	if (way->known || way->taken < SURE || others < ROUTES_SHARE)
		return false;
	way->known = true;
	if (!other || other->taken != way->taken)
		return other && other->taken > way->taken;
	return share < others || (share <= others && way->key > other->key);
}

/* Where processes pass its beginning, and only there, it is known whether it is still taken. */
static bool way_ceases(const struct from_block *from, struct route_way *way, double share)
{
	if ((double)from->all < ROUTES_TIMES / ROUTES_SHARE || share >= ROUTES_GONE)
		return false;
	way->taken = 0;
	return ++way->gone >= SURE;
}

void routes_span(struct routes *r, const struct occurrences *taken,
		 void (*tell)(void *arg, const struct routes_fork *route), void *arg)
{
	struct route_way *way, *next;

	for (size_t at = 0; at < taken->n;) {
		struct from_block from = from_at(taken, at);

		ways_take(r, &from);
		at += from.n;
	}
	HASH_ITER(hh, r->ways, way, next)
	{
		struct from_block from = from_find(taken, (uint32_t)(way->key >> 32));
		double share = share_of(&from, way->key);

		if (way_begins(r, &from, way, share))
			way_tell(taken, &from, way, share, true, tell, arg);
		if (!way_ceases(&from, way, share))
			continue;
		if (way->known)
			way_tell(taken, &from, way, share, false, tell, arg);
		HASH_DEL(r->ways, way);
		free(way);
	}
}

void routes_fini(struct routes *r)
{
	struct route_way *way, *next;

	HASH_ITER(hh, r->ways, way, next)
	{
		HASH_DEL(r->ways, way);
		free(way);
	}
	*r = (struct routes){0};
}
