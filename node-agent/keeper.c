/* SPDX-License-Identifier: BSD-3-Clause */
/* Events on inotify and process descriptors, and one timer for the next retention that ends. */
#include "node-agent/keeper.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/hash.h"

#include "node-agent/row.h"

/* The event on one process's descriptor, by the serial of its segment. */
struct pulse {
	uint64_t serial;
	struct keeper *keeper;
	struct store_segment *segment;
	struct event *event;
	UT_hash_handle hh;
};

struct keeper {
	struct event_base *base;
	const struct source_host *sources;
	struct store *store;
	struct shelf *shelf;
	uint64_t retention_ns;
	struct event *changed; /* the store's inotify is readable */
	struct event *due;     /* the next retention ends */
	struct pulse *pulses;
	void (*looked)(void *arg);
	void *looked_arg;
};

static void pulse_free(struct keeper *k, struct pulse *p)
{
	HASH_DEL(k->pulses, p);
	event_free(p->event);
	p->segment->pidfd_watched = false;
	free(p);
}

static void keeper_gone(struct store_segment *s, void *arg)
{
	struct keeper *k = arg;
	struct pulse *p;

	HASH_FIND(hh, k->pulses, &s->serial, sizeof(s->serial), p);
	if (p)
		pulse_free(k, p);
	rows_gone(k->sources, s);
}

/* When the next retention ends: a timer only if there is one. */
static void keeper_arm(struct keeper *k)
{
	uint64_t first = UINT64_MAX, now = clock_mono_ns(), left = shelf_tidy(k->shelf);
	const struct store_segment *s;
	const struct store_mirror *m;
	struct timeval wait;

	TAILQ_FOREACH (s, &k->store->segments, link) {
		if (!s->alive && s->died_mono_ns < first)
			first = s->died_mono_ns;
	}
	TAILQ_FOREACH (m, &k->store->mirrors, link) {
		uint64_t died = mirror_died(&m->mirror);

		if (died && died < first)
			first = died;
	}
	if (first == UINT64_MAX && left == UINT64_MAX) {
		evtimer_del(k->due);
		return;
	}
	if (first != UINT64_MAX) {
		uint64_t end = first + k->retention_ns, wait_ns = end > now ? end - now : 0;

		left = wait_ns < left ? wait_ns : left;
	}
	wait.tv_sec = (time_t)(left / 1000000000u) + 1;
	wait.tv_usec = 0;
	evtimer_add(k->due, &wait);
}

/* When a run's last process has ended here: what others were making when they were killed goes. */
static void keeper_tidy(struct keeper *k, const struct store_segment *died)
{
	const struct store_segment *s;
	char run[sizeof(died->run)];

	TAILQ_FOREACH (s, &k->store->segments, link) {
		if (s->alive && strcmp(s->run, died->run) == 0)
			return;
	}
	/* the segment may go, too */
	memcpy(run, died->run, sizeof(run));
	store_purge(k->store, run, UINT64_MAX, false);
}

static void keeper_watch(struct keeper *k);

static void keeper_died(evutil_socket_t fd, short what, void *arg)
{
	struct pulse *p = arg;
	struct keeper *k = p->keeper;
	struct store_segment *s = p->segment;

	(void)fd;
	(void)what;
	pulse_free(k, p);
	store_check_alive(s);
	keeper_tidy(k, s);
	/* who tidies finds new ones */
	keeper_watch(k);
}

static void pulse_new(struct keeper *k, struct store_segment *s)
{
	struct pulse *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->serial = s->serial;
	p->keeper = k;
	p->segment = s;
	p->event = event_new(k->base, s->pidfd, EV_READ, keeper_died, p);
	if (!p->event)
		abort();
	event_add(p->event, NULL);
	HASH_ADD(hh, k->pulses, serial, sizeof(p->serial), p);
	s->pidfd_watched = true;
}

static void keeper_watch(struct keeper *k)
{
	struct store_segment *s;

	TAILQ_FOREACH (s, &k->store->segments, link) {
		if (s->pidfd >= 0 && !s->pidfd_watched)
			pulse_new(k, s);
	}
	keeper_arm(k);
}

void keeper_look(struct keeper *k)
{
	store_refresh(k->store);
	keeper_watch(k);
	if (k->looked)
		k->looked(k->looked_arg);
}

void keeper_tell(struct keeper *k, void (*looked)(void *arg), void *arg)
{
	k->looked = looked;
	k->looked_arg = arg;
}

static void keeper_changed(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	keeper_look(arg);
}

static void keeper_due(evutil_socket_t fd, short what, void *arg)
{
	struct keeper *k = arg;

	(void)fd;
	(void)what;
	store_purge(k->store, NULL, k->retention_ns, false);
	keeper_watch(k);
}

struct keeper *keeper_new(struct event_base *base, const struct source_host *sources,
			  uint64_t retention_ns)
{
	struct store *store = sources->store;
	struct keeper *k = calloc(1, sizeof(*k));

	if (!k)
		abort();
	k->base = base;
	k->sources = sources;
	k->store = store;
	k->shelf = sources->shelf;
	k->retention_ns = retention_ns;
	k->changed = event_new(base, store->inotify, EV_READ | EV_PERSIST, keeper_changed, k);
	k->due = evtimer_new(base, keeper_due, k);
	if (!k->changed || !k->due)
		abort();
	event_add(k->changed, NULL);
	store->gone = keeper_gone;
	store->gone_arg = k;
	store_purge(store, NULL, retention_ns, false);
	keeper_watch(k);
	return k;
}

void keeper_free(struct keeper *k)
{
	struct pulse *p, *next;

	if (!k)
		return;
	HASH_ITER(hh, k->pulses, p, next)
	pulse_free(k, p);
	k->store->gone = NULL;
	event_free(k->changed);
	event_free(k->due);
	free(k);
}

void keeper_note(struct keeper *k)
{
	keeper_arm(k);
}
