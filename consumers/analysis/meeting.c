/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins arrivals by communicator and number, in bounded memory. */
#include "consumers/analysis/meeting.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "pathmap/base/hash.h"
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
	struct meeting meeting;
	size_t room;
	struct circle *circle;
	TAILQ_ENTRY(meeting_open) of_all, of_circle; /* oldest first */
	UT_hash_handle hh;
};

TAILQ_HEAD(meeting_list, meeting_open);

/* Who meets on a communicator. */
struct circle {
	uint32_t comm, size;
	struct attendee *members;
	struct meeting_list open;
	bool gave_up;
	uint32_t given_up; /* the highest number of these */
	TAILQ_ENTRY(circle) of_all;
	UT_hash_handle hh;
};

struct meetings {
	size_t most, held; /* arrivals, and a few for each meeting */
	meetings_take *take;
	void *arg;
	struct circle *circles;
	TAILQ_HEAD(, circle) by_use; /* the one that was met on last is the last */
	size_t n_members;
	struct meeting_open *open; /* by communicator and number */
	struct meeting_list by_age;
	struct meetings_counts counts;
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
	TAILQ_INIT(&m->by_age);
	TAILQ_INIT(&m->by_use);
	return m;
}

/* Numbers count up and may wrap. */
static bool is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* ---- the end of a meeting ---- */

static void drop(struct meetings *m, struct meeting_open *o)
{
	HASH_DEL(m->open, o);
	TAILQ_REMOVE(&m->by_age, o, of_all);
	TAILQ_REMOVE(&o->circle->open, o, of_circle);
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
	const struct circle *c = o->circle;
	uint32_t number = o->meeting.key.number;
	size_t lost = 0, absent = 0, known = HASH_COUNT(c->members);

	for (size_t i = 0; i < o->meeting.n; i++)
		attendee_find(c, o->meeting.arrivals[i].process)->came = true;
	for (struct attendee *p = c->members; p; p = p->hh.next) {
		if (!p->came && !is_before(number, p->first)) {
			lost += is_before(number, p->last);
			absent += !is_before(number, p->last);
		}
		p->came = false;
	}
	return lost			   ? MEETING_LOST
	       : absent || known < c->size ? MEETING_ABSENT
	       : known > o->meeting.n	   ? MEETING_BEFORE
					   : MEETING_WHOLE;
}

static void finish(struct meetings *m, struct meeting_open *o, enum meeting_gap gap)
{
	struct circle *c = o->circle;

	qsort(o->meeting.arrivals, o->meeting.n, sizeof(*o->meeting.arrivals), compare_arrivals);
	o->meeting.gap = gap;
	m->counts.n[gap]++;
	m->counts.mixed += o->meeting.mixed;
	if (gap != MEETING_WHOLE &&
	    (!c->gave_up || is_before(c->given_up, o->meeting.key.number))) {
		c->gave_up = true;
		c->given_up = o->meeting.key.number;
	}
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
	HASH_DEL(m->circles, c);
	TAILQ_REMOVE(&m->by_use, c, of_all);
	free(c);
}

/* Is there room for a member of @keep? Communicators come and go: forget the one that was not used
 * for longest. */
static bool has_room(struct meetings *m, const struct circle *keep)
{
	struct circle *c, *next;

	for (c = TAILQ_FIRST(&m->by_use); c && m->n_members >= m->most; c = next) {
		next = TAILQ_NEXT(c, of_all);
		if (c != keep && TAILQ_EMPTY(&c->open))
			circle_free(m, c);
	}
	return m->n_members < m->most;
}

/* NULL: no more room. */
static struct circle *circle_of(struct meetings *m, uint32_t comm)
{
	struct circle *c;

	HASH_FIND(hh, m->circles, &comm, sizeof(comm), c);
	if (c) {
		TAILQ_REMOVE(&m->by_use, c, of_all);
	} else if (has_room(m, NULL)) {
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

static struct meeting_open *open_find(struct meetings *m, const struct meeting_key *key)
{
	const uint32_t at[2] = {key->comm, key->number};
	struct meeting_open *o;

	HASH_FIND(hh, m->open, at, sizeof(at), o);
	return o;
}

static struct meeting_open *open_new(struct meetings *m, struct circle *c,
				     const struct meeting_key *key, uint16_t op)
{
	struct meeting_open *o = memory_new(1, sizeof(*o));

	o->meeting.key = *key;
	o->meeting.op = op;
	o->circle = c;
	HASH_ADD(hh, m->open, meeting.key.comm, 2 * sizeof(uint32_t), o);
	TAILQ_INSERT_TAIL(&m->by_age, o, of_all);
	TAILQ_INSERT_TAIL(&c->open, o, of_circle);
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
	m->held++;
}

/* Its meeting is over: it was given up before, or the number is used again, for another one. */
static bool is_over(struct meetings *m, struct circle *c, struct meeting_open **o,
		    const struct arrival *a, bool again, uint32_t number)
{
	if (!*o)
		return c->gave_up && !is_before(c->given_up, number);
	if (again && has_come(&(*o)->meeting, a->process)) {
		finish(m, *o, MEETING_ABSENT);
		c->gave_up = false;
		*o = NULL;
	}
	return false;
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
		m->counts.refused++;
		return;
	}
	again = !is_before(member->last, key->number);
	member->last = again ? member->last : key->number;
	if (is_before(key->number, member->first))
		member->first = key->number;
	c->size = key->size ? key->size : c->size;
	o = open_find(m, key);
	if (is_over(m, c, &o, a, again, key->number)) {
		m->counts.strays++;
		return;
	}
	if (!o)
		o = open_new(m, c, key, a->op);
	if (o->meeting.key.root < 0)
		o->meeting.key.root = key->root;
	arrive(m, o, a);
	if (c->size && o->meeting.n >= c->size)
		finish(m, o, MEETING_WHOLE);
	while (m->held > m->most)
		finish(m, TAILQ_FIRST(&m->by_age), MEETING_CROWDED);
}

/* ---- turns ---- */

/* Up to which number have all members come, a turn ago? Returns false while some are not known. */
static bool circle_settle(struct circle *c, uint32_t *floor)
{
	bool known = HASH_COUNT(c->members) >= c->size;

	*floor = c->members ? c->members->settled : 0;
	for (struct attendee *p = c->members; p; p = p->hh.next) {
		if (is_before(p->settled, *floor))
			*floor = p->settled;
		p->settled = p->last;
	}
	return known;
}

void meetings_turn(struct meetings *m)
{
	for (struct circle *c = m->circles; c; c = c->hh.next) {
		struct meeting_open *o, *next;
		uint32_t floor;

		if (TAILQ_EMPTY(&c->open) || !circle_settle(c, &floor))
			continue;
		for (o = TAILQ_FIRST(&c->open); o; o = next) {
			next = TAILQ_NEXT(o, of_circle);
			if (is_before(o->meeting.key.number, floor))
				finish(m, o, gap_find(o));
		}
	}
}

void meetings_end(struct meetings *m)
{
	struct meeting_open *o;

	while ((o = TAILQ_FIRST(&m->by_age)))
		finish(m, o, gap_find(o));
}

void meetings_free(struct meetings *m)
{
	struct meeting_open *o;
	struct circle *c;

	if (!m)
		return;
	while ((o = TAILQ_FIRST(&m->by_age)))
		drop(m, o);
	while ((c = TAILQ_FIRST(&m->by_use)))
		circle_free(m, c);
	free(m);
}

const struct meetings_counts *meetings_counts(const struct meetings *m)
{
	return &m->counts;
}
