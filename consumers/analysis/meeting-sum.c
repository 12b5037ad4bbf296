/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins pieces of meetings by communicator and number, in bounded memory. */
#include "consumers/analysis/meeting-sum.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

struct sum_open {
	struct meeting_sum sum;
	struct sum_circle *circle;
	TAILQ_ENTRY(sum_open) of_all, of_circle; /* oldest first */
	UT_hash_handle hh;
};

TAILQ_HEAD(sum_list, sum_open);

/* Who meets on a communicator. */
struct sum_circle {
	uint32_t comm;
	struct sum_list open;
	bool any_whole;
	uint32_t first_whole, last_whole; /* numbers, if any is */
	bool settled_known;
	uint32_t settled; /* last_whole, a turn ago */
	bool gave_up;
	uint32_t given_up; /* the highest number of these */
	TAILQ_ENTRY(sum_circle) of_all;
	UT_hash_handle hh;
};

struct meeting_sums {
	size_t most, held; /* open meetings */
	meeting_sums_take *take;
	void *arg;
	struct sum_circle *circles;
	TAILQ_HEAD(, sum_circle) by_use; /* the one that was met on last is the last */
	struct sum_open *open;		 /* by communicator and number */
	struct sum_list by_age;
	struct meetings_counts counts;
};

/* Times are in this distance from 1970, so that none is too far from another one. */
#define TIME_MOST (UINT64_C(1) << 62)

struct meeting_sums *meeting_sums_new(size_t most, meeting_sums_take *take, void *arg)
{
	struct meeting_sums *m = memory_new(1, sizeof(*m));

	m->most = most;
	m->take = take;
	m->arg = arg;
	TAILQ_INIT(&m->by_age);
	TAILQ_INIT(&m->by_use);
	return m;
}

/* Numbers count up and may wrap. */
static bool is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* ---- one meeting ---- */

struct meeting_sum meeting_sum_of(const struct meeting *meeting)
{
	const struct arrival *first = meeting->arrivals, *last = &first[meeting->n - 1];
	struct meeting_sum sum = {
		.meet = {.start = (uint64_t)first->start_ns,
			 .before = (uint64_t)(meeting->n > 1 ? last - 1 : last)->start_ns,
			 .last = (uint64_t)last->start_ns,
			 .end = UINT64_MAX,
			 .comm = meeting->key.comm,
			 .number = meeting->key.number,
			 .count = (uint32_t)meeting->n,
			 .who = last->process,
			 .signature = TUPLE_NO_PEER,
			 .op = meeting->op,
			 .flags = meeting->mixed ? MEET_MIXED : 0},
		.size = meeting->key.size,
		.root = meeting->key.root,
		.host = last->host,
		.site = last->site,
		.place = last->place,
	};
	struct meet *m = &sum.meet;
	uint64_t most = 0;

	for (size_t i = 0; i < meeting->n; i++) {
		const struct arrival *a = &meeting->arrivals[i];

		m->waited += (uint64_t)(last->start_ns - a->start_ns);
		m->bytes += a->bytes;
		m->end = (uint64_t)a->end_ns < m->end ? (uint64_t)a->end_ns : m->end;
		m->last_end = (uint64_t)a->end_ns > m->last_end ? (uint64_t)a->end_ns : m->last_end;
		most = a->bytes > most ? a->bytes : most;
		m->flags |= a->host != last->host ? MEET_HOSTS : 0;
		sum.error_ns = a->error_ns > sum.error_ns ? a->error_ns : sum.error_ns;
	}
	for (; most; most >>= 1)
		m->magnitude++;
	return sum;
}

static void sum_merge(struct meeting_sum *to, const struct meeting_sum *from)
{
	bool hosts = to->host != from->host;

	meet_merge(&to->meet, &from->meet);
	to->meet.flags |= hosts ? MEET_HOSTS : 0;
	if (to->meet.who == from->meet.who && to->meet.last == from->meet.last) {
		to->host = from->host;
		to->site = from->site;
		to->place = from->place;
	}
	to->size = from->size ? from->size : to->size;
	to->root = from->root == to->root ? to->root : -1;
	to->error_ns = from->error_ns > to->error_ns ? from->error_ns : to->error_ns;
}

static void drop(struct meeting_sums *m, struct sum_open *o)
{
	HASH_DEL(m->open, o);
	TAILQ_REMOVE(&m->by_age, o, of_all);
	TAILQ_REMOVE(&o->circle->open, o, of_circle);
	m->held--;
	free(o);
}

static void finish(struct meeting_sums *m, struct sum_open *o, enum meeting_gap gap)
{
	struct sum_circle *c = o->circle;
	uint32_t number = o->sum.meet.number;

	m->counts.n[gap]++;
	m->counts.mixed += o->sum.meet.flags & MEET_MIXED ? 1 : 0;
	if (gap != MEETING_WHOLE) {
		if (!c->gave_up || is_before(c->given_up, number))
			c->given_up = number;
		c->gave_up = true;
	} else {
		if (!c->any_whole || is_before(number, c->first_whole))
			c->first_whole = number;
		if (!c->any_whole || is_before(c->last_whole, number))
			c->last_whole = number;
		c->any_whole = true;
	}
	m->take(m->arg, &o->sum, gap);
	drop(m, o);
}

/* Why are some not in it? What is before all whole ones had begun before; between whole ones all
 * had come, and some was lost. */
static enum meeting_gap gap_find(const struct sum_open *o)
{
	const struct sum_circle *c = o->circle;
	uint32_t number = o->sum.meet.number;

	return !c->any_whole || is_before(c->last_whole, number) ? MEETING_ABSENT
	       : is_before(number, c->first_whole)		 ? MEETING_BEFORE
								 : MEETING_LOST;
}

/* ---- pieces ---- */

/* Is there room for one more communicator? They come and go: forget the one that was not used for
 * longest. */
static bool has_room(struct meeting_sums *m)
{
	struct sum_circle *c, *next;

	for (c = TAILQ_FIRST(&m->by_use); c && HASH_COUNT(m->circles) >= m->most; c = next) {
		next = TAILQ_NEXT(c, of_all);
		if (!TAILQ_EMPTY(&c->open))
			continue;
		HASH_DEL(m->circles, c);
		TAILQ_REMOVE(&m->by_use, c, of_all);
		free(c);
	}
	return HASH_COUNT(m->circles) < m->most;
}

/* NULL: no more room. */
static struct sum_circle *circle_of(struct meeting_sums *m, uint32_t comm)
{
	struct sum_circle *c;

	HASH_FIND(hh, m->circles, &comm, sizeof(comm), c);
	if (c) {
		TAILQ_REMOVE(&m->by_use, c, of_all);
	} else if (has_room(m)) {
		c = memory_new(1, sizeof(*c));
		c->comm = comm;
		TAILQ_INIT(&c->open);
		HASH_ADD(hh, m->circles, comm, sizeof(comm), c);
	} else {
		return NULL;
	}
	TAILQ_INSERT_TAIL(&m->by_use, c, of_all);
	return c;
}

static struct sum_open *open_find(struct meeting_sums *m, const struct meet *piece)
{
	const uint32_t at[2] = {piece->comm, piece->number};
	struct sum_open *o;

	HASH_FIND(hh, m->open, at, sizeof(at), o);
	return o;
}

static void open_new(struct meeting_sums *m, struct sum_circle *c, const struct meeting_sum *piece)
{
	struct sum_open *o = memory_new(1, sizeof(*o));

	o->sum = *piece;
	o->circle = c;
	HASH_ADD(hh, m->open, sum.meet.comm, 2 * sizeof(uint32_t), o);
	TAILQ_INSERT_TAIL(&m->by_age, o, of_all);
	TAILQ_INSERT_TAIL(&c->open, o, of_circle);
	m->held++;
}

static bool is_possible(const struct meeting_sum *p)
{
	return meet_sound(&p->meet) && p->meet.last_end < TIME_MOST && p->error_ns >= 0 &&
	       p->error_ns < (double)TIME_MOST;
}

/* More members than there are: the number is used again, for another one. */
static bool is_another(const struct sum_open *o, const struct meeting_sum *piece)
{
	return piece->size && (uint64_t)o->sum.meet.count + piece->meet.count > piece->size;
}

void meeting_sums_add(struct meeting_sums *m, const struct meeting_sum *piece)
{
	struct sum_circle *c = is_possible(piece) ? circle_of(m, piece->meet.comm) : NULL;
	struct sum_open *o = c ? open_find(m, &piece->meet) : NULL;

	if (!c) {
		m->counts.refused++;
		return;
	}
	if (o && is_another(o, piece)) {
		finish(m, o, MEETING_ABSENT);
		c->gave_up = false;
		o = NULL;
	}
	if (!o && c->gave_up && !is_before(c->given_up, piece->meet.number)) {
		m->counts.strays++;
		return;
	}
	if (o)
		sum_merge(&o->sum, piece);
	else
		open_new(m, c, piece);
	o = open_find(m, &piece->meet);
	if (o->sum.size && o->sum.meet.count >= o->sum.size)
		finish(m, o, MEETING_WHOLE);
	while (m->held > m->most)
		finish(m, TAILQ_FIRST(&m->by_age), MEETING_CROWDED);
}

/* ---- turns ---- */

/* A whole one says that all members were past what is before it; a turn later all of that has come,
 * if threads take turns, too. */
void meeting_sums_turn(struct meeting_sums *m)
{
	for (struct sum_circle *c = m->circles; c; c = c->hh.next) {
		struct sum_open *o, *next;

		for (o = TAILQ_FIRST(&c->open); o && c->settled_known; o = next) {
			next = TAILQ_NEXT(o, of_circle);
			if (is_before(o->sum.meet.number, c->settled))
				finish(m, o, gap_find(o));
		}
		c->settled_known = c->any_whole;
		c->settled = c->last_whole;
	}
}

void meeting_sums_end(struct meeting_sums *m)
{
	struct sum_open *o;

	while ((o = TAILQ_FIRST(&m->by_age)))
		finish(m, o, gap_find(o));
}

void meeting_sums_free(struct meeting_sums *m)
{
	struct sum_circle *c;

	if (!m)
		return;
	while (!TAILQ_EMPTY(&m->by_age))
		drop(m, TAILQ_FIRST(&m->by_age));
	while ((c = TAILQ_FIRST(&m->by_use))) {
		HASH_DEL(m->circles, c);
		TAILQ_REMOVE(&m->by_use, c, of_all);
		free(c);
	}
	free(m);
}

const struct meetings_counts *meeting_sums_counts(const struct meeting_sums *m)
{
	return &m->counts;
}
