/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides a map's budget among the sessions that look at a run, and holds their asks by it. */
#include "node-agent/control/shares.h"

#include <event2/event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/control/bucket.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/span.h"
#include "tree/link/link.h"
#include "tree/scope/ask.h"

/* How long waits are, in s: to look again at waves whose cost is not known yet, for others to end,
 * of which the map allows no more, and as the map or other consumers may change. */
#define WAIT_LEAST 0.002
#define WAIT_ENDED 0.02
#define WAIT_MOST  1.0

/* How many shares may stay for what they owe. */
#define OWING 256

/* One without views has none that it belongs to any more, and stays until it owes nothing. */
struct share {
	LIST_ENTRY(share) entry; /* beside those of the same name */
	struct shares *all;
	const void *session;
	char *name;    /* in the certificate of who looks */
	char *run;     /* "": any */
	double weight; /* of the last views that it had */
	struct opened_list views;
	struct bucket bucket;
	struct event *timer;
};

struct shares {
	struct event_base *base;
	LIST_HEAD(, share) list;
	double total;
};

/* ---- parts ---- */

static const char *view_run(const struct opened *o)
{
	return scope_opened_with(o->scope)->run;
}

/* Is it still of somebody who looks? */
static bool share_owes(const struct share *s)
{
	return LIST_EMPTY(&s->views);
}

/* The most of its views'. */
static double share_weight(const struct share *s)
{
	const struct opened *o;
	double most = 0;

	if (share_owes(s))
		return s->weight;
	LIST_FOREACH (o, &s->views, shared) {
		double weight = scope_opened_with(o->scope)->weight;

		if (!(weight > 0) || isinf(weight))
			weight = 1;
		most = fmax(most, fmin(fmax(weight, ASK_WEIGHT_LEAST), ASK_WEIGHT_MOST));
	}
	return most;
}

/* Do they look at one run? Who has said none may look at any. */
static bool is_rival(const struct share *a, const struct share *b)
{
	return !a->run[0] || !b->run[0] || strcmp(a->run, b->run) == 0;
}

static bool is_other(double a, double b)
{
	return a < b || a > b;
}

static void share_tell(struct opened *o, double total, double part)
{
	if (is_other(o->told_total, total) || is_other(o->told_part, part))
		scope_share(o->scope, total, part);
	o->told_total = total;
	o->told_part = part;
}

/* What it gets of all: who looks has the most of its shares' weights, however many it has, and
 * these divide that. */
static double share_part(const struct share *s)
{
	double names = 0, most = 0, own = 0, own_sum = 0;
	const struct share *other, *next;

	LIST_FOREACH (other, &s->all->list, entry) {
		next = LIST_NEXT(other, entry);
		if (is_rival(s, other)) {
			most = fmax(most, share_weight(other));
			if (strcmp(other->name, s->name) == 0) {
				own = most;
				own_sum += share_weight(other);
			}
		}
		if (!next || strcmp(next->name, other->name) != 0) {
			names += most;
			most = 0;
		}
	}
	return own / names * share_weight(s) / own_sum;
}

static void share_set(struct share *s)
{
	double part = INFINITY;
	struct opened *o;
	unsigned n = 0;

	LIST_FOREACH (o, &s->views, shared)
		n++;
	if (s->all->total > 0)
		part = s->all->total * share_part(s);
	bucket_set(&s->bucket, part, clock_mono_ns());
	LIST_FOREACH (o, &s->views, shared)
		share_tell(o, s->all->total, isinf(part) ? 0 : part / n);
}

static void shares_set(struct shares *all)
{
	struct share *s;

	LIST_FOREACH (s, &all->list, entry)
		share_set(s);
}

/* ---- asks ---- */

/* How many waves may begin now, when all that was spent is paid. */
static uint32_t share_room(struct share *s, unsigned *under_way)
{
	uint64_t waves, now = clock_mono_ns();
	struct opened *o;

	*under_way = 0;
	LIST_FOREACH (o, &s->views, shared) {
		double seconds = opened_spent(o, &waves);

		bucket_pay(&s->bucket, seconds, waves, now);
		*under_way += scope_awaits(o->scope);
	}
	return bucket_room(&s->bucket, *under_way, now);
}

/* Let through what there is room for, of its views in turn, and come back for the others. */
static void share_release(struct share *s)
{
	unsigned under_way, held = 0;
	uint32_t room = share_room(s, &under_way), before;
	struct timeval wait;
	struct opened *o;
	double seconds;

	do {
		before = room;
		LIST_FOREACH (o, &s->views, shared)
			room -= opened_release(o, room > 0);
	} while (room < before);
	LIST_FOREACH (o, &s->views, shared)
		held += o->n_held > 0 && !o->switching;
	if (!held)
		return;
	seconds = share_room(s, &under_way) > 0 ? WAIT_ENDED : WAIT_LEAST;
	seconds = fmin(fmax(bucket_wait(&s->bucket, under_way), seconds), WAIT_MOST);
	wait = (struct timeval){(time_t)seconds, (suseconds_t)(fmod(seconds, 1) * 1e6)};
	evtimer_add(s->timer, &wait);
}

static void share_free(struct share *s)
{
	LIST_REMOVE(s, entry);
	event_free(s->timer);
	free(s->name);
	free(s->run);
	free(s);
}

/* It owes that much, and goes when it owes nothing. */
static void share_wait(struct share *s)
{
	double seconds = fmax(bucket_wait(&s->bucket, 0), WAIT_LEAST);
	struct timeval wait = {(time_t)seconds, (suseconds_t)(fmod(seconds, 1) * 1e6)};

	evtimer_add(s->timer, &wait);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct share *s = arg;
	struct shares *all = s->all;

	(void)fd;
	(void)what;
	if (!share_owes(s)) {
		share_release(s);
	} else if (bucket_leave(&s->bucket, 0, clock_mono_ns()) > 0) {
		share_wait(s);
	} else {
		share_free(s);
		shares_set(all);
	}
}

int share_ask(struct opened *o, const Evspace__Ask *ask, struct error *e)
{
	unsigned under_way;

	if (!o->share)
		return opened_ask(o, ask, UINT32_MAX, e);
	if (opened_ask(o, ask, share_room(o->share, &under_way), e) < 0)
		return -1;
	if (o->n_held)
		share_release(o->share);
	return 0;
}

void share_resume(struct opened *o)
{
	if (!o->share) {
		opened_release(o, UINT32_MAX);
		return;
	}
	/* the old scope may not have told it */
	scope_share(o->scope, o->told_total, o->told_part);
	share_release(o->share);
}

/* ---- who shares ---- */

struct shares *shares_new(struct event_base *base)
{
	struct shares *all = memory_new(1, sizeof(*all));

	all->base = base;
	LIST_INIT(&all->list);
	return all;
}

void shares_free(struct shares *all)
{
	struct share *s;

	if (!all)
		return;
	while ((s = LIST_FIRST(&all->list)))
		share_free(s);
	free(all);
}

void shares_total(struct shares *all, double total)
{
	struct share *s;

	all->total = total;
	shares_set(all);
	LIST_FOREACH (s, &all->list, entry)
		share_release(s);
}

/* The share of that session, or (NULL) the one that stayed for what it owes. */
static struct share *share_find(struct shares *all, const void *session, const char *name,
				const char *run)
{
	struct share *s;

	LIST_FOREACH (s, &all->list, entry) {
		if (s->session == session && strcmp(s->name, name) == 0 && strcmp(s->run, run) == 0)
			break;
	}
	return s;
}

static struct share *share_new(struct shares *all, const char *name, const char *run)
{
	struct share *s = memory_new(1, sizeof(*s)), *same;

	s->all = all;
	s->name = memory_copy(name);
	s->run = memory_copy(run);
	LIST_INIT(&s->views);
	s->timer = evtimer_new(all->base, on_timer, s);
	if (!s->timer)
		abort();
	LIST_FOREACH (same, &all->list, entry) {
		if (strcmp(same->name, name) == 0)
			break;
	}
	if (same)
		LIST_INSERT_AFTER(same, s, entry);
	else
		LIST_INSERT_HEAD(&all->list, s, entry);
	return s;
}

void share_join(struct shares *all, const void *session, struct opened *o)
{
	const char *name = link_peer(o->link)->name;
	struct share *s;

	/* it is no program whose time is spent */
	if (span_is_run(view_run(o)))
		return;
	s = share_find(all, session, name, view_run(o));
	if (!s)
		s = share_find(all, NULL, name, view_run(o));
	if (!s)
		s = share_new(all, name, view_run(o));
	s->session = session;
	LIST_INSERT_HEAD(&s->views, o, shared);
	o->share = s;
	shares_set(all);
}

/* If there are too many that owe, the one that owes for the shortest time goes. */
static void shares_bound(struct shares *all)
{
	struct share *s, *least = NULL;
	unsigned n = 0;

	LIST_FOREACH (s, &all->list, entry) {
		if (!share_owes(s))
			continue;
		n++;
		if (!least || bucket_wait(&s->bucket, 0) < bucket_wait(&least->bucket, 0))
			least = s;
	}
	if (n > OWING)
		share_free(least);
}

/* Nobody looks by it any more. What it owes is owed by who comes under its name. */
static void share_end(struct share *s)
{
	struct share *before = share_find(s->all, NULL, s->name, s->run);
	struct shares *all = s->all;

	s->session = NULL;
	if (before) {
		bucket_add(&s->bucket, &before->bucket);
		share_free(before);
	}
	if (bucket_leave(&s->bucket, 0, clock_mono_ns()) > 0) {
		share_wait(s);
		shares_bound(all);
	} else {
		share_free(s);
	}
}

void share_leave(struct opened *o)
{
	struct share *s = o->share;
	struct shares *all;
	unsigned under_way;

	if (!s)
		return;
	all = s->all;
	s->weight = share_weight(s);
	(void)share_room(s, &under_way);
	(void)bucket_leave(&s->bucket, scope_awaits(o->scope), clock_mono_ns());
	LIST_REMOVE(o, shared);
	o->share = NULL;
	if (share_owes(s))
		share_end(s);
	shares_set(all);
}
