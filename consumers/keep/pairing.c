/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the sides of messages by channel, before the first hole of a rank and behind its last. */
#include "consumers/keep/pairing.h"

#include <stdlib.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

#define CHANNELS_MOST (1u << 18)

/* From where on those at the end are numbered, down. */
#define LAST (UINT64_MAX / 2)

struct pairing_rank {
	int32_t rank;
	bool holes, ended;
	int64_t until_ns, from_ns; /* before it the first hole, and behind it the last one */
	UT_hash_handle hh;
};

/* What a channel's sender, or receiver, has done. */
struct pairing_sides {
	const struct pairing_rank *rank;
	uint64_t all, first, last; /* first: before any hole; last: behind all */
	uint64_t n;		   /* that were numbered */
	uint32_t thread;
	bool threads; /* there are others */
};

struct pairing_row {
	struct pairing_channel channel;
	struct pairing_sides sent, received;
	bool known;
	uint64_t first, last; /* messages that are known by their places */
	UT_hash_handle hh;
};

struct pairing {
	struct pairing_rank *ranks;
	struct pairing_row *rows;
	bool by_thread;
};

struct pairing *pairing_new(void)
{
	return memory_new(1, sizeof(struct pairing));
}

void pairing_free(struct pairing *p)
{
	struct pairing_rank *rank, *next_rank;
	struct pairing_row *row, *next;

	if (!p)
		return;
	HASH_ITER(hh, p->ranks, rank, next_rank)
	{
		HASH_DEL(p->ranks, rank);
		free(rank);
	}
	HASH_ITER(hh, p->rows, row, next)
	{
		HASH_DEL(p->rows, row);
		free(row);
	}
	free(p);
}

/* ---- ranks ---- */

static struct pairing_rank *rank_of(struct pairing *p, int32_t number)
{
	struct pairing_rank *rank;

	HASH_FIND(hh, p->ranks, &number, sizeof(number), rank);
	if (rank)
		return rank;
	rank = memory_new(1, sizeof(*rank));
	rank->rank = number;
	rank->until_ns = INT64_MAX;
	rank->from_ns = INT64_MIN;
	HASH_ADD(hh, p->ranks, rank, sizeof(rank->rank), rank);
	return rank;
}

void pairing_hole(struct pairing *p, int32_t number, int64_t from_ns, int64_t to_ns)
{
	struct pairing_rank *rank = rank_of(p, number);

	rank->holes = true;
	/* within requests that have ended at once: nobody knows which of these are before it */
	if (from_ns == to_ns) {
		from_ns--;
		to_ns++;
	}
	rank->until_ns = from_ns < rank->until_ns ? from_ns : rank->until_ns;
	rank->from_ns = to_ns > rank->from_ns ? to_ns : rank->from_ns;
}

void pairing_end(struct pairing *p, int32_t number)
{
	rank_of(p, number)->ended = true;
}

/* ---- channels ---- */

void pairing_by_thread(struct pairing *p)
{
	p->by_thread = true;
}

static struct pairing_row *row_find(struct pairing *p, const struct pairing_channel *channel)
{
	struct pairing_row *row;

	HASH_FIND(hh, p->rows, channel, sizeof(*channel), row);
	return row;
}

static struct pairing_row *row_add(struct pairing *p, const struct pairing_channel *channel)
{
	struct pairing_row *row;

	if (HASH_COUNT(p->rows) >= CHANNELS_MOST)
		return NULL;
	row = memory_new(1, sizeof(*row));
	row->channel = *channel;
	row->sent.rank = rank_of(p, channel->from);
	row->received.rank = rank_of(p, channel->to);
	HASH_ADD(hh, p->rows, channel, sizeof(row->channel), row);
	return row;
}

void pairing_count(struct pairing *p, const struct pairing_side *side)
{
	struct pairing_row *row = row_find(p, &side->channel);
	struct pairing_sides *sides;

	if (!row)
		row = row_add(p, &side->channel);
	if (!row)
		return;
	sides = side->received ? &row->received : &row->sent;
	sides->threads |= sides->all > 0 && sides->thread != side->thread;
	sides->thread = side->thread;
	sides->all++;
	sides->first += side->ns <= sides->rank->until_ns;
	sides->last += side->ns >= sides->rank->from_ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Places on both sides: from the first on, and, if all was received in the end, from the last. */
static void row_know(const struct pairing *p, struct pairing_row *row)
{
	const struct pairing_sides *s = &row->sent, *r = &row->received;
	bool ended = s->rank->ended && r->rank->ended;
	bool sent = !s->rank->holes, received = !r->rank->holes; /* all of it is there */

	row->known = true;
	/* one side alone cannot have fewer of what is missing on the other one */
	if (s->all == r->all && ((sent && received) || (ended && (sent || received)))) {
		row->first = s->all;
		return;
	}
	if (p->by_thread && (s->threads || r->threads))
		return;
	/* or something is not recorded, without a hole */
	if ((sent && s->all < r->all) || (ended && received && r->all < s->all))
		return;
	row->first = least(s->first, r->first);
	if (ended && !(sent && received))
		row->last = least(least(s->last, r->last), least(s->all, r->all) - row->first);
}

uint64_t pairing_number(struct pairing *p, const struct pairing_side *side)
{
	struct pairing_row *row = row_find(p, &side->channel);
	struct pairing_sides *sides;
	uint64_t place;

	if (!row)
		return PAIRING_UNKNOWN;
	if (row->sent.all == 0 || row->received.all == 0)
		return PAIRING_ALONE;
	if (!row->known)
		row_know(p, row);
	sides = side->received ? &row->received : &row->sent;
	place = sides->n++;
	if (place < row->first)
		return place;
	if (place < sides->all && sides->all - place <= row->last)
		return LAST - (sides->all - place);
	return PAIRING_UNKNOWN;
}
