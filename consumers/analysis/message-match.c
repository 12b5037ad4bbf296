/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches the sides of messages by their order, in bounded memory. */
#include "consumers/analysis/message-match.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* Sides by their start. */
struct side_queue {
	struct side_open {
		struct message_side side;
		uint64_t turn; /* in which it came */
	} * items;
	size_t from, n, room; /* those from `from` on are open */
};

struct message_flight {
	struct message_key key;
	struct side_queue sides[2]; /* sent, received */
	bool strange;
	UT_hash_handle hh;
};

/* A message of @from with this tag has gone to nobody knows whom. */
struct tag_untold {
	struct tag_key {
		uint32_t comm, tag;
		int32_t from;
	} key;
	UT_hash_handle hh;
};

/* A rank of which events are missing. */
struct rank_lost {
	int32_t rank;
	UT_hash_handle hh;
};

struct message_match {
	size_t most, held;
	message_take *take;
	void *arg;
	uint64_t turn;
	struct message_flight *flights;
	struct rank_lost *lost;
	struct tag_untold *untold;
	struct message_counts counts;
};

struct message_match *message_match_new(size_t most, message_take *take, void *arg)
{
	struct message_match *m = memory_new(1, sizeof(*m));

	m->most = most;
	m->take = take;
	m->arg = arg;
	return m;
}

/* ---- open sides ---- */

static void queue_add(struct side_queue *q, const struct message_side *side, uint64_t turn)
{
	size_t at;

	if (q->n == q->room && q->from > q->room / 2) {
		memmove(q->items, q->items + q->from, (q->n - q->from) * sizeof(*q->items));
		q->n -= q->from;
		q->from = 0;
	}
	if (q->n == q->room) {
		q->room = q->room ? 2 * q->room : 4;
		q->items = reallocarray(q->items, q->room, sizeof(*q->items));
		if (!q->items)
			abort();
	}
	for (at = q->n++; at > q->from && q->items[at - 1].side.at.start_ns > side->at.start_ns;
	     at--)
		q->items[at] = q->items[at - 1];
	q->items[at] = (struct side_open){*side, turn};
}

static size_t queue_open(const struct side_queue *q)
{
	return q->n - q->from;
}

static size_t flight_open(const struct message_flight *f)
{
	return queue_open(&f->sides[0]) + queue_open(&f->sides[1]);
}

/* Let go of what is open. Returns how much that was. */
static size_t flight_clear(struct message_match *m, struct message_flight *f)
{
	size_t n = flight_open(f);

	free(f->sides[0].items);
	free(f->sides[1].items);
	memset(f->sides, 0, sizeof(f->sides));
	m->held -= n;
	m->counts.open -= n;
	return n;
}

/* It takes the place of a side, too. */
static void flight_free(struct message_match *m, struct message_flight *f)
{
	flight_clear(m, f);
	m->held--;
	HASH_DEL(m->flights, f);
	free(f);
}

static struct message_flight *flight_of(struct message_match *m, const struct message_key *key)
{
	struct message_flight *f;

	HASH_FIND(hh, m->flights, key, sizeof(*key), f);
	if (f)
		return f;
	f = memory_new(1, sizeof(*f));
	f->key = *key;
	m->held++;
	HASH_ADD(hh, m->flights, key, sizeof(f->key), f);
	return f;
}

/* ---- what is missing ---- */

static bool is_lost(const struct message_match *m, int32_t rank)
{
	struct rank_lost *l;

	HASH_FIND(hh, m->lost, &rank, sizeof(rank), l);
	return l != NULL;
}

/* @count: what its open sides become. */
static void rank_lose(struct message_match *m, int32_t rank, uint64_t *count)
{
	struct message_flight *f, *next;
	struct rank_lost *l;

	if (is_lost(m, rank))
		return;
	l = memory_new(1, sizeof(*l));
	l->rank = rank;
	HASH_ADD(hh, m->lost, rank, sizeof(rank), l);
	HASH_ITER(hh, m->flights, f, next)
	{
		if (f->key.from != rank && f->key.to != rank)
			continue;
		*count += flight_open(f);
		flight_free(m, f);
	}
}

void message_match_lost(struct message_match *m, int32_t rank)
{
	rank_lose(m, rank, &m->counts.lost);
}

static bool is_untold(const struct message_match *m, const struct message_key *key)
{
	const struct tag_key at = {key->comm, key->tag, key->from};
	struct tag_untold *t;

	HASH_FIND(hh, m->untold, &at, sizeof(at), t);
	return t != NULL;
}

void message_match_untold(struct message_match *m, uint32_t comm, uint32_t tag, int32_t from)
{
	const struct message_key key = {comm, tag, from, 0};
	struct message_flight *f, *next;
	struct tag_untold *t;

	if (is_untold(m, &key) || is_lost(m, from))
		return;
	if (m->held >= m->most) {
		rank_lose(m, from, &m->counts.crowded);
		return;
	}
	t = memory_new(1, sizeof(*t));
	t->key = (struct tag_key){comm, tag, from};
	HASH_ADD(hh, m->untold, key, sizeof(t->key), t);
	m->held++;
	HASH_ITER(hh, m->flights, f, next)
	{
		if (f->key.comm != comm || f->key.tag != tag || f->key.from != from)
			continue;
		m->counts.strange += flight_open(f);
		flight_free(m, f);
	}
}

/* ---- matching ---- */

/* May these be one message? Order alone matched them. */
static bool is_possible(const struct message_side *sent, const struct message_side *received)
{
	const struct arrival *s = &sent->at, *r = &received->at;

	return s->bytes == r->bytes && (double)(s->start_ns - r->end_ns) <= arrival_bound(s, r);
}

/* @all: also those of this turn, before which others may come that begin earlier. */
static void flight_match(struct message_match *m, struct message_flight *f, bool all)
{
	struct side_queue *s = &f->sides[0], *r = &f->sides[1];

	while (queue_open(s) && queue_open(r) && !f->strange) {
		const struct side_open *sent = &s->items[s->from], *received = &r->items[r->from];

		if (!all && (sent->turn == m->turn || received->turn == m->turn))
			break;
		if (!is_possible(&sent->side, &received->side)) {
			f->strange = true;
			m->counts.strange += flight_clear(m, f);
			break;
		}
		m->counts.matched++;
		m->counts.open -= 2;
		m->held -= 2;
		s->from++;
		r->from++;
		m->take(m->arg, &f->key, &sent->side, &received->side);
	}
	if (flight_open(f) == 0 && !f->strange)
		flight_free(m, f);
}

void message_match_add(struct message_match *m, const struct message_key *key, bool received,
		       const struct message_side *side)
{
	struct message_flight *f;

	if (is_lost(m, key->from) || is_lost(m, key->to)) {
		m->counts.lost++;
		return;
	}
	if (is_untold(m, key)) {
		m->counts.strange++;
		return;
	}
	/* without one of its sides, all that a rank sends and gets could be another message */
	if (m->held >= m->most) {
		m->counts.crowded++;
		rank_lose(m, key->from, &m->counts.crowded);
		rank_lose(m, key->to, &m->counts.crowded);
		return;
	}
	f = flight_of(m, key);
	if (f->strange) {
		m->counts.strange++;
		return;
	}
	queue_add(&f->sides[received], side, m->turn);
	m->held++;
	m->counts.open++;
}

static void match_all(struct message_match *m, bool all)
{
	struct message_flight *f, *next;

	HASH_ITER(hh, m->flights, f, next)
	flight_match(m, f, all);
}

void message_match_turn(struct message_match *m)
{
	match_all(m, false);
	m->turn++;
}

void message_match_end(struct message_match *m)
{
	match_all(m, true);
}

void message_match_free(struct message_match *m)
{
	struct message_flight *f, *next_flight;
	struct rank_lost *l, *next_lost;
	struct tag_untold *t, *next_untold;

	if (!m)
		return;
	HASH_ITER(hh, m->flights, f, next_flight)
	flight_free(m, f);
	HASH_ITER(hh, m->lost, l, next_lost)
	{
		HASH_DEL(m->lost, l);
		free(l);
	}
	HASH_ITER(hh, m->untold, t, next_untold)
	{
		HASH_DEL(m->untold, t);
		free(t);
	}
	free(m);
}

const struct message_counts *message_match_counts(const struct message_match *m)
{
	return &m->counts;
}
