/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins arrivals by communicator and number, in bounded memory. */
#include "consumers/analysis/meeting.h"

#include <stdlib.h>

#include "consumers/analysis/assembly.h"
#include "pathmap/base/memory.h"

/* How far one member has come. */
struct attendee {
	uint32_t process;
	uint32_t first, last; /* numbers */
	uint32_t settled;     /* the last one, a turn ago: what was before has come */
	bool came;	      /* while a meeting is looked at: it is there */
	UT_hash_handle hh;
};

struct meeting_open {
	struct assembly as;
	struct meeting meeting;
	size_t room;
	bool ripe;  /* whole, and nobody has come since a turn */
	bool apart; /* members say different roots, as of an intercommunicator: none is known */
};

/* Who meets on a communicator. */
struct circle {
	struct assembly_circle as;
	uint32_t size;
	struct attendee *members;
};

struct meetings {
	size_t most, held; /* arrivals, and a few for each meeting */
	meetings_take *take;
	void *arg;
	struct assemblies all;
	size_t n_members;
};

/* Times are in this distance from 1970, so that none is too far from another one. */
#define TIME_MOST (INT64_C(1) << 62)

/* What an open meeting takes beside its arrivals, in arrivals. */
#define MEETING_SELF 4u

struct meetings *meetings_new(size_t most, meetings_take *take, void *arg)
{
	struct meetings *m = memory_new(1, sizeof(*m));

	m->most = most;
	m->take = take;
	m->arg = arg;
	assemblies_init(&m->all);
	return m;
}

static struct circle *circle_in(struct assembly_circle *as)
{
	return (struct circle *)(void *)as;
}

static struct meeting_open *open_in(struct assembly *as)
{
	return (struct meeting_open *)(void *)as;
}

/* ---- the end of a meeting ---- */

static void drop(struct meetings *m, struct meeting_open *o)
{
	assembly_remove(&m->all, &o->as);
	m->held -= o->meeting.n + MEETING_SELF;
	free(o->meeting.arrivals);
	free(o);
}

static int compare_arrivals(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns > y->start_ns ? 1 : -1;
	return (x->process > y->process) - (x->process < y->process);
}

void meeting_sort(const struct meeting *meeting)
{
	qsort(meeting->arrivals, meeting->n, sizeof(*meeting->arrivals), compare_arrivals);
}

static struct attendee *attendee_find(const struct circle *c, uint32_t process)
{
	struct attendee *member;

	HASH_FIND(hh, c->members, &process, sizeof(process), member);
	return member;
}

/* Why are some not in it? What was lost explains more than who is late, and that more than the
 * begin. */
static enum meeting_gap gap_find(const struct meeting_open *o)
{
	const struct circle *c = circle_in(o->as.circle);
	uint32_t number = o->as.number;
	size_t lost = 0, absent = 0, known = HASH_COUNT(c->members);

	for (size_t i = 0; i < o->meeting.n; i++)
		attendee_find(c, o->meeting.arrivals[i].process)->came = true;
	for (struct attendee *p = c->members; p; p = p->hh.next) {
		if (!p->came && !assembly_is_before(number, p->first)) {
			lost += assembly_is_before(number, p->last);
			absent += !assembly_is_before(number, p->last);
		}
		p->came = false;
	}
	return c->size == 0		   ? MEETING_UNSIZED
	       : lost			   ? MEETING_LOST
	       : absent || known < c->size ? MEETING_ABSENT
	       : known > o->meeting.n	   ? MEETING_BEFORE
					   : MEETING_WHOLE;
}

static void finish(struct meetings *m, struct meeting_open *o, enum meeting_gap gap)
{
	meeting_sort(&o->meeting);
	o->meeting.gap = gap;
	if (o->apart)
		o->meeting.key.root = -1;
	assembly_end(&m->all, &o->as, gap, o->meeting.mixed);
	m->take(m->arg, &o->meeting);
	drop(m, o);
}

/* ---- members ---- */

static void circle_free(struct meetings *m, struct circle *c)
{
	struct attendee *member, *next;

	m->n_members -= HASH_COUNT(c->members);
	HASH_ITER(hh, c->members, member, next)
	{
		HASH_DEL(c->members, member);
		free(member);
	}
	assembly_circle_remove(&m->all, &c->as);
	free(c);
}

/* Is there room for a member of @keep? Communicators come and go: forget the one that was not used
 * for longest. */
static bool has_room(struct meetings *m, const struct circle *keep)
{
	struct assembly_circle *idle;

	while (m->n_members >= m->most &&
	       (idle = assembly_circle_idle(&m->all, keep ? &keep->as : NULL)))
		circle_free(m, circle_in(idle));
	return m->n_members < m->most;
}

/* NULL: no more room. */
static struct circle *circle_of(struct meetings *m, uint32_t comm)
{
	struct assembly_circle *found = assembly_circle_find(&m->all, comm);
	struct circle *c;

	if (found)
		return circle_in(found);
	if (!has_room(m, NULL))
		return NULL;
	c = memory_new(1, sizeof(*c));
	assembly_circle_add(&m->all, &c->as, comm);
	return c;
}

/* The member @process of @c, which is at @number now; NULL: no more room. */
static struct attendee *attendee_of(struct meetings *m, struct circle *c, uint32_t process,
				    uint32_t number)
{
	struct attendee *member = attendee_find(c, process);

	if (member || !has_room(m, c))
		return member;
	m->n_members++;
	member = memory_new(1, sizeof(*member));
	*member = (struct attendee){
		.process = process, .first = number, .last = number - 1, .settled = number - 1};
	HASH_ADD(hh, c->members, process, sizeof(process), member);
	return member;
}

/* ---- arrivals ---- */

static struct meeting_open *open_new(struct meetings *m, struct circle *c,
				     const struct meeting_key *key, uint16_t op)
{
	struct meeting_open *o = memory_new(1, sizeof(*o));

	o->meeting.key = *key;
	o->meeting.op = op;
	assembly_add(&m->all, &o->as, &c->as, key->number);
	m->held += MEETING_SELF;
	return o;
}

static bool has_come(const struct meeting *meeting, uint32_t process)
{
	for (size_t i = 0; i < meeting->n; i++) {
		if (meeting->arrivals[i].process == process)
			return true;
	}
	return false;
}

static void arrive(struct meetings *m, struct meeting_open *o, const struct arrival *a)
{
	struct meeting *meeting = &o->meeting;

	if (meeting->n == o->room) {
		o->room = o->room ? 2 * o->room : 2;
		meeting->arrivals =
			reallocarray(meeting->arrivals, o->room, sizeof(*meeting->arrivals));
		if (!meeting->arrivals)
			abort();
	}
	meeting->arrivals[meeting->n++] = *a;
	meeting->mixed |= a->op != meeting->op;
	o->ripe = false;
	m->held++;
}

/* Its meeting is over: it was given up before, or the number is used again, for another one. */
static bool is_over(struct meetings *m, struct circle *c, struct meeting_open **o,
		    const struct arrival *a, bool again, uint32_t number)
{
	if (!*o)
		return assembly_is_over(&c->as, number);
	if (again && has_come(&(*o)->meeting, a->process)) {
		finish(m, *o, MEETING_ABSENT);
		assembly_again(&c->as);
		*o = NULL;
	}
	return false;
}

/* Have all come? If more members may come to be known (meeting_key.grows), at the second @turn. */
static bool is_whole(struct meeting_open *o, bool turn)
{
	const struct meeting_key *key = &o->meeting.key;
	uint32_t size = key->size ? key->size : circle_in(o->as.circle)->size;
	bool all = size && o->meeting.n >= size, ripe = o->ripe;

	if (!key->grows || !all)
		return all;
	o->ripe = turn;
	return turn && ripe;
}

static bool is_possible(const struct arrival *a)
{
	return a->start_ns > -TIME_MOST && a->end_ns >= a->start_ns && a->end_ns < TIME_MOST &&
	       a->error_ns >= 0 && a->error_ns < TIME_MOST;
}

void meetings_add(struct meetings *m, const struct meeting_key *key, const struct arrival *a)
{
	struct circle *c = is_possible(a) ? circle_of(m, key->comm) : NULL;
	struct attendee *member = c ? attendee_of(m, c, a->process, key->number) : NULL;
	struct meeting_open *o;
	bool again;

	if (!member) {
		m->all.counts.refused++;
		return;
	}
	again = !assembly_is_before(member->last, key->number);
	member->last = again ? member->last : key->number;
	if (assembly_is_before(key->number, member->first))
		member->first = key->number;
	c->size = key->size ? key->size : c->size;
	o = open_in(assembly_find(&m->all, key->comm, key->number));
	if (is_over(m, c, &o, a, again, key->number)) {
		m->all.counts.strays++;
		return;
	}
	if (!o)
		o = open_new(m, c, key, a->op);
	/* of PVM only the root itself says it */
	o->apart |= !key->grows && o->meeting.key.root != key->root;
	if (o->meeting.key.root < 0)
		o->meeting.key.root = key->root;
	if (key->size)
		o->meeting.key.size = key->size;
	arrive(m, o, a);
	if (is_whole(o, false))
		finish(m, o, MEETING_WHOLE);
	while (m->held > m->most)
		finish(m, open_in(TAILQ_FIRST(&m->all.by_age)), MEETING_CROWDED);
}

/* ---- turns ---- */

/* Up to which number have all members come, a turn ago? Returns false while some are not known. */
static bool circle_settle(struct circle *c, uint32_t *floor)
{
	bool known = HASH_COUNT(c->members) >= c->size;

	*floor = c->members ? c->members->settled : 0;
	for (struct attendee *p = c->members; p; p = p->hh.next) {
		if (assembly_is_before(p->settled, *floor))
			*floor = p->settled;
		p->settled = p->last;
	}
	return known;
}

/* What of @c cannot become whole any more, or is. */
static void circle_turn(struct meetings *m, struct circle *c)
{
	struct assembly *as, *next;
	uint32_t floor = 0;
	bool settled = circle_settle(c, &floor);

	for (as = TAILQ_FIRST(&c->as.open); as; as = next) {
		struct meeting_open *o = open_in(as);

		next = TAILQ_NEXT(as, of_circle);
		if (is_whole(o, true))
			finish(m, o, MEETING_WHOLE);
		else if (settled && assembly_is_before(as->number, floor))
			finish(m, o, gap_find(o));
	}
}

void meetings_turn(struct meetings *m)
{
	for (struct assembly_circle *c = m->all.circles; c; c = c->hh.next) {
		if (!TAILQ_EMPTY(&c->open))
			circle_turn(m, circle_in(c));
	}
}

void meetings_end(struct meetings *m)
{
	struct assembly *as;

	while ((as = TAILQ_FIRST(&m->all.by_age)))
		finish(m, open_in(as), gap_find(open_in(as)));
}

void meetings_free(struct meetings *m)
{
	struct assembly_circle *c;
	struct assembly *as;

	if (!m)
		return;
	while ((as = TAILQ_FIRST(&m->all.by_age)))
		drop(m, open_in(as));
	while ((c = TAILQ_FIRST(&m->all.by_use)))
		circle_free(m, circle_in(c));
	free(m);
}

const struct meetings_counts *meetings_counts(const struct meetings *m)
{
	return &m->all.counts;
}
