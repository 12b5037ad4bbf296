/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's life: open a view, wait for its waves, close it. */
#include "consumers/client/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "consumers/client/client-ask.h"
#include "consumers/client/client-monitor.h"
#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/definition.h"
#include "pathmap/model/shape.h"
#include "tree/link/link-hub.h"
#include "tree/scope/ask.h"
#include "tree/stage/stage.h"
#include "tree/data/clock.h"

/* How long a view may take to open, beyond a wave's deadline: children may have to be dialled. */
#define OPEN_WITHIN_MS 9000

/* ---- the loop ---- */

static void on_pace(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	client_pump(arg);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
	struct evspace_client *c = arg;

	(void)fd;
	(void)what;
	c->timed_out = true;
}

static void limit_set(struct evspace_client *c, int timeout_ms)
{
	struct timeval wait = {timeout_ms / 1000, timeout_ms % 1000 * 1000};

	c->timed_out = false;
	if (timeout_ms >= 0)
		evtimer_add(c->limit, &wait);
	else
		evtimer_del(c->limit);
}

int evspace_next(struct evspace_client *c, int timeout_ms)
{
	bool waiting = false;

	for (;;) {
		if (!c->stopping && client_take(c)) {
			client_pump(c);
			link_hub_flush(c->hub);
			return 1;
		}
		client_pump(c);
		if (!waiting)
			limit_set(c, timeout_ms);
		waiting = true;
		if (c->failed)
			return -1;
		if (c->stopping || c->timed_out)
			return 0;
		event_base_loop(c->base, EVLOOP_ONCE);
	}
}

const struct evspace_wave *evspace_wave(const struct evspace_client *c)
{
	return c->taken.here ? &c->taken.wave : NULL;
}

/* ---- life ---- */

static char *copy_text(const char *text, const char *otherwise)
{
	char *copy;

	if (!text)
		text = otherwise;
	if (!text)
		return NULL;
	copy = strdup(text);
	if (!copy)
		abort();
	return copy;
}

/* Of the view's name the level counts. An agent that knows no definitions knows no such name. */
static void client_define(struct evspace_client *c, const char *text)
{
	const char *at = strrchr(c->view, '@');
	char *view = memory_format("%s%s", DEFINITION_VIEW, at ? at : "");

	free(c->view);
	c->view = view;
	c->define = copy_text(text, NULL);
}

static void client_options(struct evspace_client *c, const struct evspace_options *o)
{
	c->address = copy_text(o->connect, NULL);
	c->tls_dir = copy_text(o->tls, NULL);
	c->identity = copy_text(o->identity, NULL);
	c->entry = copy_text(o->entry, config_variable("EVSPACE_ENTRY"));
	c->run = copy_text(o->run, "");
	c->view = copy_text(o->view, "events");
	if (o->define)
		client_define(c, o->define);
	c->tree = copy_text(o->tree, "");
	c->concurrency = copy_text(o->concurrency, "");
	c->select = calloc(o->n_select + 1, sizeof(*c->select));
	if (!c->select)
		abort();
	for (size_t i = 0; i < o->n_select; i++)
		c->select[c->n_select++] = copy_text(o->select[i], "");
	c->backlog = o->backlog;
	c->wait = o->wait;
	c->rate_hz = o->rate_hz > 0 ? o->rate_hz : 0;
	c->hurry = o->hurry && c->rate_hz > 0;
	c->window_said = o->window != 0;
	c->window = o->window == 0 ? 1 : o->window;
	c->window = c->window > CLIENT_WINDOW_MAX ? CLIENT_WINDOW_MAX : c->window;
	c->deadline_ms = o->deadline_ms ? o->deadline_ms : 1000;
	if (c->deadline_ms > ASK_DEADLINE_MOST_MS)
		c->deadline_ms = ASK_DEADLINE_MOST_MS;
	c->patience_ms = o->patience_ms ? o->patience_ms : 120000;
	c->monitored = o->monitored;
	c->unpacks = o->compress == EVSPACE_COMPRESS_NEVER    ? UNPACKS_NEVER
		     : o->compress == EVSPACE_COMPRESS_ALWAYS ? UNPACKS_ALWAYS
							      : UNPACKS_SLOW;
}

static struct evspace_client *client_new(const struct evspace_options *o)
{
	struct evspace_client *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	client_options(c, o);
	for (size_t i = 0; i < CLIENT_WINDOW_MAX; i++)
		batch_init(&c->slots[i].batch);
	STAILQ_INIT(&c->again);
	c->delivery = delivery_new();
	c->namesakes = namesakes_new();
	batch_init(&c->taken.batch);
	c->next_ask = c->next_take = 1;
	c->names = names_new(NAME_PLACE_MAX);
	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c->base = event_base_new();
	if (c->wake_fd < 0 || !c->base || getrandom(c->id, sizeof(c->id), 0) != sizeof(c->id))
		abort();
	c->pace = evtimer_new(c->base, on_pace, c);
	c->limit = evtimer_new(c->base, on_limit, c);
	c->wake = event_new(c->base, c->wake_fd, EV_READ | EV_PERSIST, on_wake, c);
	if (!c->pace || !c->limit || !c->wake)
		abort();
	event_add(c->wake, NULL);
	return c;
}

/* Connect, and wait until the scope is open or @question (NULL: none) is answered. */
static struct evspace_client *client_begin(const struct evspace_options *options,
					   const Evspace__Frame *question,
					   enum evspace_failure *failure, char *why, size_t n)
{
	struct evspace_client *c = client_new(options);

	c->question = question;
	*failure = EVSPACE_FINE;
	if (client_connect(c) < 0)
		c->failed = true;
	limit_set(c, (int)c->deadline_ms + OPEN_WITHIN_MS);
	while (!c->failed && !c->opened && !c->reply && !c->timed_out)
		event_base_loop(c->base, EVLOOP_ONCE);
	if (c->reply || (c->opened && client_monitor_begin(c, &c->why) == 0))
		return c;
	if (c->opened) {
		c->failed = true;
		c->failure = EVSPACE_WRONG;
	}
	if (!c->failed)
		errorf(&c->why, "%s does not answer; is it an agent?", c->address);
	*failure = c->failed && c->failure ? c->failure : EVSPACE_NO_CONNECTION;
	snprintf(why, n, "%s", c->why.text);
	evspace_close(c);
	return NULL;
}

/* Is it a view that can be defined, as far as can be seen from here? */
static int define_check(const char *text, struct error *e)
{
	const struct definition definition = {text, text ? strlen(text) : 0};
	struct view *view = text ? definition_read(&definition, NULL, stage_check, NULL, e) : NULL;

	if (text && !view)
		return -1;
	view_free(view);
	return 0;
}

/* The same of all that is wished. */
static int wish_check(const struct evspace_options *o, struct error *e)
{
	struct shape shape;
	unsigned children;

	if ((o->tree && *o->tree && shape_read(o->tree, &shape, e) < 0) ||
	    (o->concurrency && *o->concurrency &&
	     shape_concurrency(o->concurrency, &children, e) < 0))
		return -1;
	return define_check(o->define, e);
}

struct evspace_client *evspace_open(const struct evspace_options *options,
				    enum evspace_failure *failure, char *why, size_t n)
{
	struct error e;

	if (wish_check(options, &e) < 0 || (options->monitored && client_monitor_check(&e) < 0)) {
		*failure = EVSPACE_WRONG;
		snprintf(why, n, "%s", e.text);
		return NULL;
	}
	return client_begin(options, NULL, failure, why, n);
}

Evspace__Frame *client_ask(const struct evspace_options *options, const Evspace__Frame *question,
			   Evspace__Frame__KindCase answer, enum evspace_failure *failure,
			   char *why, size_t n)
{
	struct evspace_client *c = client_begin(options, question, failure, why, n);
	Evspace__Frame *reply = c ? c->reply : NULL;

	if (c)
		c->reply = NULL;
	if (reply && reply->kind_case != answer) {
		snprintf(why, n, "%s answers something else; is it of another release?",
			 c->address);
		*failure = EVSPACE_NO_CONNECTION;
		evspace__frame__free_unpacked(reply, NULL);
		reply = NULL;
	}
	evspace_close(c);
	return reply;
}

static void say_close(struct evspace_client *c)
{
	Evspace__Close close = EVSPACE__CLOSE__INIT;

	close.scope = 1;
	link_send(c->link, &WIRE_FRAME(CLOSE, close, &close), NULL);
	link_hub_flush(c->hub);
}

void evspace_close(struct evspace_client *c)
{
	struct event *events[5];

	if (!c)
		return;
	if (c->link && c->opened)
		say_close(c);
	client_monitor_end(c);
	link_close(c->link);
	link_hub_free(c->hub);
	tls_free(c->tls);
	client_waves_fini(c);
	names_free(c->names);
	delivery_free(c->delivery);
	namesakes_free(c->namesakes);
	memcpy(events, (struct event *[]){c->retry, c->pace, c->limit, c->wake, c->watch},
	       sizeof(events));
	for (size_t i = 0; i < 5; i++) {
		if (events[i])
			event_free(events[i]);
	}
	event_base_free(c->base);
	close(c->wake_fd);
	for (size_t i = 0; i < c->n_select; i++)
		free(c->select[i]);
	if (c->reply)
		evspace__frame__free_unpacked(c->reply, NULL);
	free(c->select);
	free(c->address);
	free(c->tls_dir);
	free(c->identity);
	free(c->entry);
	free(c->run);
	free(c->view);
	free(c->define);
	free(c->tree);
	free(c->concurrency);
	free(c);
}

const char *evspace_run(const struct evspace_client *c)
{
	return c->opened_run;
}

const char *evspace_why(const struct evspace_client *c)
{
	return c->why.text;
}

void evspace_stop(struct evspace_client *c)
{
	int saved = errno;
	uint64_t one = 1;

	c->stopping = 1;
	/* fails only if the counter is full: then the loop wakes anyway */
	if (write(c->wake_fd, &one, sizeof(one)) < 0)
		errno = saved;
	errno = saved;
}
