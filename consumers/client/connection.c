/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection's life: its loop, what is told to its user, its end. */
#include "consumers/client/connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "consumers/client/client.h"
#include "consumers/client/evspace-loop.h"
#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"
#include "tree/link/link-hub.h"

/* Wait no longer than this for a timer, as its time is that of a clock that may be set. */
#define TIMEOUT_MOST_MS 1000

/* ---- telling ---- */

void connection_note(const struct evspace_connection *c, const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (c->log)
		c->log(c->log_arg, line);
	else
		fprintf(stderr, "evspace: %s\n", line);
}

void connection_tell(struct evspace_connection *c, struct news *news)
{
	if (news->queued)
		return;
	news->queued = true;
	TAILQ_INSERT_TAIL(&c->news, news, entry);
	event_active(c->tell, EV_TIMEOUT, 0);
}

void connection_tell_not(struct evspace_connection *c, struct news *news)
{
	if (news->queued)
		TAILQ_REMOVE(&c->news, news, entry);
	news->queued = false;
}

static void connection_free(struct evspace_connection *c)
{
	event_free(c->tell);
	event_free(c->limit);
	if (c->own)
		event_base_free(c->base);
	free(c);
}

/* Those that are new now; what they bring about has the next turn. */
static void on_tell(evutil_socket_t fd, short what, void *arg)
{
	struct evspace_connection *c = arg;
	struct news *news;
	unsigned n = 0;

	(void)fd;
	(void)what;
	TAILQ_FOREACH (news, &c->news, entry)
		n++;
	c->telling = true;
	while (n-- > 0 && (news = TAILQ_FIRST(&c->news))) {
		connection_tell_not(c, news);
		c->told++;
		news->tell(news->of);
	}
	c->telling = false;
	if (!TAILQ_EMPTY(&c->news))
		event_active(c->tell, EV_TIMEOUT, 0);
	if (c->ended && !c->inside)
		connection_free(c);
}

/* ---- life ---- */

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
	struct evspace_connection *c = arg;

	(void)fd;
	(void)what;
	c->timed_out = true;
}

static char *copy_text(const char *text)
{
	return text ? memory_copy(text) : NULL;
}

struct evspace_connection *connection_new(const struct evspace_options *o, struct event_base *base)
{
	struct evspace_connection *c = memory_new(1, sizeof(*c));

	c->address = copy_text(o->connect ? o->connect : config_variable("EVSPACE_CONNECT"));
	c->named = c->address != NULL;
	c->tls_dir = copy_text(o->tls);
	c->identity = copy_text(o->identity);
	c->entry = copy_text(o->entry ? o->entry : config_variable("EVSPACE_ENTRY"));
	c->patience_ms = o->patience_ms ? o->patience_ms : 120000;
	c->unpacks = o->compress == EVSPACE_COMPRESS_NEVER    ? UNPACKS_NEVER
		     : o->compress == EVSPACE_COMPRESS_ALWAYS ? UNPACKS_ALWAYS
							      : UNPACKS_SLOW;
	c->log = o->log;
	c->log_arg = o->log_arg;
	c->own = base == NULL;
	c->base = base ? base : event_base_new();
	if (!c->base)
		abort();
	c->tell = event_new(c->base, -1, 0, on_tell, c);
	c->limit = evtimer_new(c->base, on_limit, c);
	if (!c->tell || !c->limit)
		abort();
	c->poll_fd = -1;
	TAILQ_INIT(&c->news);
	LIST_INIT(&c->scopes);
	TAILQ_INIT(&c->questions);
	return c;
}

struct evspace_connection *evspace_connect_on(struct event_base *base,
					      const struct evspace_options *options)
{
	struct evspace_connection *c = connection_new(options, base);

	connection_begin(c);
	return c;
}

struct evspace_connection *evspace_connect(const struct evspace_options *options)
{
	return evspace_connect_on(NULL, options);
}

void evspace_disconnect(struct evspace_connection *c)
{
	struct evspace_question *q;
	struct evspace_client *client;

	if (!c || c->ended)
		return;
	c->ended = true;
	while ((client = LIST_FIRST(&c->scopes)))
		client_free(client);
	while ((q = TAILQ_FIRST(&c->questions)))
		evspace_cancel(q);
	if (c->hub)
		link_hub_flush(c->hub);
	link_close(c->link);
	link_hub_free(c->hub);
	tls_free(c->tls);
	if (c->retry)
		event_free(c->retry);
	if (c->watch)
		event_free(c->watch);
	if (c->poll_fd >= 0)
		close(c->poll_fd);
	free(c->address);
	free(c->tls_dir);
	free(c->identity);
	free(c->entry);
	/* the loop is not done with it */
	if (!c->telling && !c->inside)
		connection_free(c);
}

const char *evspace_trouble(const struct evspace_connection *c)
{
	return c->failed ? c->why.text : "";
}

uint32_t connection_number(struct evspace_connection *c)
{
	/* 0 means the connection as a whole; nobody opens four billion scopes */
	if (++c->last_number == 0)
		++c->last_number;
	return c->last_number;
}

/* ---- the loop ---- */

void connection_limit(struct evspace_connection *c, int timeout_ms)
{
	struct timeval wait = {timeout_ms / 1000, timeout_ms % 1000 * 1000};

	c->timed_out = false;
	if (timeout_ms >= 0)
		evtimer_add(c->limit, &wait);
	else
		evtimer_del(c->limit);
}

/* Run a turn of it. Returns 0; or -1 when the user has ended it, and it is freed. */
static int turn(struct evspace_connection *c, int flags)
{
	c->inside = true;
	event_base_loop(c->base, flags);
	c->inside = false;
	if (!c->ended)
		return 0;
	connection_free(c);
	return -1;
}

void connection_turn(struct evspace_connection *c)
{
	(void)turn(c, EVLOOP_ONCE);
}

int evspace_dispatch(struct evspace_connection *c)
{
	if (c->own && !c->inside && turn(c, EVLOOP_ONCE | EVLOOP_NONBLOCK) < 0)
		return -1;
	return c->failed && TAILQ_EMPTY(&c->news) ? -1 : 0;
}

int evspace_wait(struct evspace_connection *c, int timeout_ms)
{
	unsigned told = c->told;

	errno = EINVAL;
	if (!c->own || c->inside)
		return -1;
	connection_limit(c, timeout_ms);
	while (c->told == told && !c->timed_out) {
		if (c->failed && TAILQ_EMPTY(&c->news))
			return -1;
		if (turn(c, EVLOOP_ONCE) < 0)
			return -1;
	}
	return c->told != told;
}

/* ---- a descriptor for other loops ---- */

/* What a loop waits for: libevent does not give its own descriptor away, but tells of its events.
 */
struct waits {
	struct epoll_event on[CONNECTION_WAITS];
	unsigned n;
	bool active;	 /* some are due, and their timers say nothing that could be read */
	int64_t next_us; /* of the first timer; INT64_MAX: none */
};

static int64_t us_of(const struct timeval *t)
{
	return (int64_t)t->tv_sec * 1000000 + t->tv_usec;
}

static int wait_add(const struct event_base *base, const struct event *event, void *arg)
{
	struct waits *w = arg;
	struct timeval at;
	int fd = event_get_fd(event);
	unsigned i;

	(void)base;
	if (!w->active && event_pending(event, EV_TIMEOUT, &at) && us_of(&at) < w->next_us)
		w->next_us = us_of(&at);
	if (fd < 0)
		return 0;
	for (i = 0; i < w->n && w->on[i].data.fd != fd; i++)
		;
	if (i == CONNECTION_WAITS)
		return 0;
	if (i == w->n)
		w->on[w->n++] = (struct epoll_event){.data.fd = fd};
	w->on[i].events |= (event_pending(event, EV_READ, NULL) ? EPOLLIN : 0u) |
			   (event_pending(event, EV_WRITE, NULL) ? EPOLLOUT : 0u);
	return 0;
}

/* The same for the descriptor. Another file may have the number of a closed one, so the kernel is
 * told even if nothing seems to have changed. */
static void poll_update(struct evspace_connection *c, struct waits *w)
{
	for (unsigned i = 0; i < c->n_polled; i++) {
		unsigned k;

		for (k = 0; k < w->n && w->on[k].data.fd != c->polled[i]; k++)
			;
		if (k == w->n)
			(void)epoll_ctl(c->poll_fd, EPOLL_CTL_DEL, c->polled[i], NULL);
	}
	c->n_polled = w->n;
	for (unsigned k = 0; k < w->n; k++) {
		int fd = c->polled[k] = w->on[k].data.fd;

		if (epoll_ctl(c->poll_fd, EPOLL_CTL_MOD, fd, &w->on[k]) < 0)
			(void)epoll_ctl(c->poll_fd, EPOLL_CTL_ADD, fd, &w->on[k]);
	}
}

int evspace_timeout(struct evspace_connection *c)
{
	struct waits w = {.n = 0, .next_us = INT64_MAX};
	struct timeval now;
	int64_t ms;

	if (!c->own)
		return -1;
	w.active = event_base_get_num_events(c->base, EVENT_BASE_COUNT_ACTIVE) > 0;
	(void)event_base_foreach_event(c->base, wait_add, &w);
	if (c->poll_fd >= 0)
		poll_update(c, &w);
	if (w.active)
		return 0;
	if (w.next_us == INT64_MAX)
		return -1;
	evutil_gettimeofday(&now, NULL);
	if (w.next_us <= us_of(&now))
		return 0;
	ms = (w.next_us - us_of(&now) + 999) / 1000;
	return ms < TIMEOUT_MOST_MS ? (int)ms : TIMEOUT_MOST_MS;
}

int evspace_fd(struct evspace_connection *c)
{
	errno = EINVAL;
	if (c->poll_fd >= 0 || !c->own)
		return c->poll_fd;
	c->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->poll_fd >= 0)
		(void)evspace_timeout(c);
	return c->poll_fd;
}
