/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins pieces of meetings by communicator and number, in bounded memory. */
#include "consumers/analysis/meeting-sum.h"

#include <stdlib.h>

#include "consumers/analysis/assembly.h"
#include "pathmap/base/memory.h"

struct sum_open {
	struct assembly as;
	struct meeting_sum sum;
};

/* Who meets on a communicator. */
struct sum_circle {
	struct assembly_circle as;
	bool any_whole;
	uint32_t first_whole, last_whole; /* numbers, if any is */
	bool settled_known;
	uint32_t settled; /* last_whole, a turn ago */
};

struct meeting_sums {
	size_t most, held; /* open meetings */
	meeting_sums_take *take;
	void *arg;
	struct assemblies all;
};

/* Times are in this distance from 1970, so that none is too far from another one. */
#define TIME_MOST (UINT64_C(1) << 62)

struct meeting_sums *meeting_sums_new(size_t most, meeting_sums_take *take, void *arg)
{
	struct meeting_sums *m = memory_new(1, sizeof(*m));

	m->most = most;
	m->take = take;
	m->arg = arg;
	assemblies_init(&m->all);
	return m;
}

static struct sum_circle *circle_in(struct assembly_circle *as)
{
	return (struct sum_circle *)(void *)as;
}

static struct sum_open *open_in(struct assembly *as)
{
	return (struct sum_open *)(void *)as;
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
	assembly_remove(&m->all, &o->as);
	m->held--;
	free(o);
}

static void finish(struct meeting_sums *m, struct sum_open *o, enum meeting_gap gap)
{
	struct sum_circle *c = circle_in(o->as.circle);
	uint32_t number = o->as.number;

	assembly_end(&m->all, &o->as, gap, o->sum.meet.flags & MEET_MIXED);
	if (gap == MEETING_WHOLE) {
		if (!c->any_whole || assembly_is_before(number, c->first_whole))
			c->first_whole = number;
		if (!c->any_whole || assembly_is_before(c->last_whole, number))
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
	const struct sum_circle *c = circle_in(o->as.circle);
	uint32_t number = o->as.number;

	return o->sum.size == 0						    ? MEETING_UNSIZED
	       : !c->any_whole || assembly_is_before(c->last_whole, number) ? MEETING_ABSENT
	       : assembly_is_before(number, c->first_whole)		    ? MEETING_BEFORE
									    : MEETING_LOST;
}

/* ---- pieces ---- */

/* Is there room for one more communicator? They come and go: forget the one that was not used for
 * longest. */
static bool has_room(struct meeting_sums *m)
{
	struct assembly_circle *idle;

	while (HASH_COUNT(m->all.circles) >= m->most &&
	       (idle = assembly_circle_idle(&m->all, NULL))) {
		assembly_circle_remove(&m->all, idle);
		free(circle_in(idle));
	}
	return HASH_COUNT(m->all.circles) < m->most;
}

/* NULL: no more room. */
static struct sum_circle *circle_of(struct meeting_sums *m, uint32_t comm)
{
	struct assembly_circle *found = assembly_circle_find(&m->all, comm);
	struct sum_circle *c;

	if (found)
		return circle_in(found);
	if (!has_room(m))
		return NULL;
	c = memory_new(1, sizeof(*c));
	assembly_circle_add(&m->all, &c->as, comm);
	return c;
}

static void open_new(struct meeting_sums *m, struct sum_circle *c, const struct meeting_sum *piece)
{
	struct sum_open *o = memory_new(1, sizeof(*o));

	o->sum = *piece;
	assembly_add(&m->all, &o->as, &c->as, piece->meet.number);
	m->held++;
}

static bool is_whole(const struct sum_open *o)
{
	return o->sum.size && o->sum.meet.count >= o->sum.size;
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
	const uint32_t comm = piece->meet.comm, number = piece->meet.number;
	struct sum_circle *c = is_possible(piece) ? circle_of(m, comm) : NULL;
	struct sum_open *o = c ? open_in(assembly_find(&m->all, comm, number)) : NULL;

	if (!c) {
		m->all.counts.refused++;
		return;
	}
	if (o && is_another(o, piece)) {
		finish(m, o, MEETING_ABSENT);
		assembly_again(&c->as);
		o = NULL;
	}
	if (!o && assembly_is_over(&c->as, number)) {
		m->all.counts.strays++;
		return;
	}
	if (o)
		sum_merge(&o->sum, piece);
	else
		open_new(m, c, piece);
	o = open_in(assembly_find(&m->all, comm, number));
	if (is_whole(o))
		finish(m, o, MEETING_WHOLE);
	while (m->held > m->most)
		finish(m, open_in(TAILQ_FIRST(&m->all.by_age)), MEETING_CROWDED);
}

/* ---- turns ---- */

/* A whole one says that all members were past what is before it; a turn later all of that has come,
 * if threads take turns, too. */
static void circle_turn(struct meeting_sums *m, struct sum_circle *c)
{
	struct assembly *as, *next;

	for (as = TAILQ_FIRST(&c->as.open); as; as = next) {
		struct sum_open *o = open_in(as);

		next = TAILQ_NEXT(as, of_circle);
		if (c->settled_known && assembly_is_before(as->number, c->settled))
			finish(m, o, gap_find(o));
	}
	c->settled_known = c->any_whole;
	c->settled = c->last_whole;
}

void meeting_sums_turn(struct meeting_sums *m)
{
	for (struct assembly_circle *c = m->all.circles; c; c = c->hh.next)
		circle_turn(m, circle_in(c));
}

void meeting_sums_end(struct meeting_sums *m)
{
	struct assembly *as;

	while ((as = TAILQ_FIRST(&m->all.by_age)))
		finish(m, open_in(as), gap_find(open_in(as)));
}

void meeting_sums_free(struct meeting_sums *m)
{
	struct assembly_circle *c;
	struct assembly *as;

	if (!m)
		return;
	while ((as = TAILQ_FIRST(&m->all.by_age)))
		drop(m, open_in(as));
	while ((c = TAILQ_FIRST(&m->all.by_use))) {
		assembly_circle_remove(&m->all, c);
		free(circle_in(c));
	}
	free(m);
}

const struct meetings_counts *meeting_sums_counts(const struct meeting_sums *m)
{
	return &m->all.counts;
}
