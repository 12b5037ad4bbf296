/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles events of inotify and pidfds, and one timer for the next retention time that ends. */
#include "node-agent/source/reaper.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "tree/data/clock.h"
#include "tree/data/turn.h"

#include "node-agent/source/row.h"

/* The event of one process's pidfd, by the serial of its segment. */
struct watched_process {
	uint64_t serial;
	struct reaper *reaper;
	struct store_segment *segment;
	struct event *event;
	UT_hash_handle hh;
};

struct reaper {
	struct event_base *base;
	const struct source_host *sources;
	struct store *store;
	struct shelf *shelf;
	uint64_t retention_ns;
	struct event *changed; /* the store's inotify is readable */
	struct event *due;     /* the next retention time ends */
	struct watched_process *watched;
	void (*looked)(void *arg);
	void *looked_arg;
	struct turns *turns;
	struct turn look; /* goes on with what has changed in the store */
};

static void watched_free(struct reaper *k, struct watched_process *p)
{
	HASH_DEL(k->watched, p);
	event_free(p->event);
	p->segment->pidfd_watched = false;
	free(p);
}

static void reaper_gone(const struct store_list *going, void *arg)
{
	const struct store_segment *s;
	struct reaper *k = arg;
	struct watched_process *p;

	TAILQ_FOREACH (s, going, link) {
		HASH_FIND(hh, k->watched, &s->serial, sizeof(s->serial), p);
		if (p)
			watched_free(k, p);
	}
	rows_gone(k->sources, going);
}

/* Set the timer to the next end of a retention time, if there is one. */
static void reaper_arm(struct reaper *k)
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

/* When a run's last process here has ended, remove files that killed processes left unfinished. */
static void reaper_tidy(struct reaper *k, const struct store_segment *died)
{
	const struct store_segment *s;
	char run[sizeof(died->run)];

	TAILQ_FOREACH (s, &k->store->segments, link) {
		if (s->alive && strcmp(s->run, died->run) == 0)
			return;
	}
	/* a copy, as the segment may be removed, too */
	memcpy(run, died->run, sizeof(run));
	store_purge(k->store, run, UINT64_MAX, false);
}

static void reaper_watch(struct reaper *k);

static void reaper_died(evutil_socket_t fd, short what, void *arg)
{
	struct watched_process *p = arg;
	struct reaper *k = p->reaper;
	struct store_segment *s = p->segment;

	(void)fd;
	(void)what;
	watched_free(k, p);
	store_check_alive(s);
	reaper_tidy(k, s);
	/* tidying may have found new ones */
	reaper_watch(k);
}

static void watched_new(struct reaper *k, struct store_segment *s)
{
	struct watched_process *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->serial = s->serial;
	p->reaper = k;
	p->segment = s;
	p->event = event_new(k->base, s->pidfd, EV_READ, reaper_died, p);
	if (!p->event)
		abort();
	event_add(p->event, NULL);
	HASH_ADD(hh, k->watched, serial, sizeof(p->serial), p);
	s->pidfd_watched = true;
}

static void reaper_watch(struct reaper *k)
{
	struct store_segment *s;

	TAILQ_FOREACH (s, &k->store->segments, link) {
		if (s->pidfd >= 0 && !s->pidfd_watched)
			watched_new(k, s);
	}
	reaper_arm(k);
}

static void reaper_looked(struct reaper *k)
{
	reaper_watch(k);
	if (k->looked)
		k->looked(k->looked_arg);
}

void reaper_look(struct reaper *k)
{
	store_refresh(k->store);
	reaper_looked(k);
}

static void reaper_look_on(void *arg)
{
	struct reaper *k = arg;

	if (store_refresh_part(k->store, clock_mono_ns() + TURN_NS))
		turn_ask(k->turns, &k->look);
	reaper_looked(k);
}

void reaper_tell(struct reaper *k, void (*looked)(void *arg), void *arg)
{
	k->looked = looked;
	k->looked_arg = arg;
}

static void reaper_changed(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	reaper_look_on(arg);
}

static void reaper_due(evutil_socket_t fd, short what, void *arg)
{
	struct reaper *k = arg;

	(void)fd;
	(void)what;
	store_purge(k->store, NULL, k->retention_ns, false);
	reaper_watch(k);
}

struct reaper *reaper_new(struct event_base *base, const struct source_host *sources,
			  uint64_t retention_ns)
{
	struct store *store = sources->store;
	struct reaper *k = calloc(1, sizeof(*k));

	if (!k)
		abort();
	k->base = base;
	k->sources = sources;
	k->store = store;
	k->shelf = sources->shelf;
	k->retention_ns = retention_ns;
	k->turns = turns_new(base);
	k->look = (struct turn){.go = reaper_look_on, .arg = k};
	k->changed = event_new(base, store->inotify, EV_READ | EV_PERSIST, reaper_changed, k);
	k->due = evtimer_new(base, reaper_due, k);
	if (!k->changed || !k->due)
		abort();
	event_add(k->changed, NULL);
	store->gone = reaper_gone;
	store->gone_arg = k;
	store_purge(store, NULL, retention_ns, false);
	reaper_watch(k);
	return k;
}

void reaper_free(struct reaper *k)
{
	struct watched_process *p, *next;

	if (!k)
		return;
	HASH_ITER(hh, k->watched, p, next)
	watched_free(k, p);
	k->store->gone = NULL;
	event_free(k->changed);
	event_free(k->due);
	turns_free(k->turns);
	free(k);
}

void reaper_note(struct reaper *k)
{
	reaper_arm(k);
}
