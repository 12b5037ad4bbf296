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
#include "tree/scope/ask.h"

/* How long waits are, in s: to look again at waves whose cost is not known yet, and as the map or
 * other consumers may change. */
#define WAIT_LEAST 0.002
#define WAIT_MOST  1.0

struct share {
	LIST_ENTRY(share) entry;
	struct shares *all;
	const void *session;
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

static const char *share_run(const struct share *s)
{
	return view_run(LIST_FIRST(&s->views));
}

/* The most of its views'. */
static double share_weight(const struct share *s)
{
	const struct opened *o;
	double most = 0;

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
	const char *one = share_run(a), *other = share_run(b);

	return !one[0] || !other[0] || strcmp(one, other) == 0;
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

static void share_set(struct share *s)
{
	double sum = 0, part = INFINITY;
	const struct share *other;
	struct opened *o;
	unsigned n = 0;

	LIST_FOREACH (o, &s->views, shared)
		n++;
	LIST_FOREACH (other, &s->all->list, entry) {
		if (is_rival(s, other))
			sum += share_weight(other);
	}
	if (s->all->total > 0)
		part = s->all->total * share_weight(s) / sum;
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
	(void)share_room(s, &under_way);
	seconds = fmin(fmax(bucket_wait(&s->bucket, under_way), WAIT_LEAST), WAIT_MOST);
	wait = (struct timeval){(time_t)seconds, (suseconds_t)(fmod(seconds, 1) * 1e6)};
	evtimer_add(s->timer, &wait);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	share_release(arg);
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

static struct share *share_new(struct shares *all, const void *session)
{
	struct share *s = memory_new(1, sizeof(*s));

	s->all = all;
	s->session = session;
	LIST_INIT(&s->views);
	s->timer = evtimer_new(all->base, on_timer, s);
	if (!s->timer)
		abort();
	LIST_INSERT_HEAD(&all->list, s, entry);
	return s;
}

void share_join(struct shares *all, const void *session, struct opened *o)
{
	struct share *s;

	/* it is no program whose time is spent */
	if (span_is_run(view_run(o)))
		return;
	LIST_FOREACH (s, &all->list, entry) {
		if (s->session == session && strcmp(share_run(s), view_run(o)) == 0)
			break;
	}
	if (!s)
		s = share_new(all, session);
	LIST_INSERT_HEAD(&s->views, o, shared);
	o->share = s;
	shares_set(all);
}

void share_leave(struct opened *o)
{
	struct share *s = o->share;
	struct shares *all;
	unsigned under_way;

	if (!s)
		return;
	all = s->all;
	(void)share_room(s, &under_way);
	LIST_REMOVE(o, shared);
	o->share = NULL;
	if (LIST_EMPTY(&s->views)) {
		LIST_REMOVE(s, entry);
		event_free(s->timer);
		free(s);
	}
	shares_set(all);
}
