/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's life: open a view, wait for its waves, close it. */
#include "consumers/client/client.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "consumers/client/client-budget.h"
#include "consumers/client/client-keep.h"
#include "consumers/client/client-replay.h"
#include "consumers/client/client-told.h"
#include "consumers/client/client-monitor.h"
#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/definition.h"
#include "pathmap/model/recording.h"
#include "pathmap/model/shape.h"
#include "tree/link/link-hub.h"
#include "tree/scope/ask.h"
#include "tree/stage/stage.h"
#include "tree/data/clock.h"

/* ---- the loop ---- */

static void on_pace(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	client_pump(arg);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	uint64_t times;

	(void)what;
	(void)arg;
	/* else it wakes the loop again at once */
	if (read(fd, &times, sizeof(times)) < 0)
		return;
}

/* Without waiting. */
static int next_now(struct evspace_client *c)
{
	bool took = !c->stopping && client_take(c);

	c->wave_told = false;
	client_pump(c);
	client_news(c, EVSPACE_WAVE);
	return took ? 1 : c->failed ? -1 : 0;
}

int evspace_next(struct evspace_client *c, int timeout_ms)
{
	bool waiting = false;

	if (c->replay)
		return client_replay_next(c);
	while (c->own) {
		if (!c->stopping && client_take(c)) {
			client_pump(c);
			link_hub_flush(c->connection->hub);
			return 1;
		}
		client_pump(c);
		if (!waiting)
			connection_limit(c->connection, timeout_ms);
		waiting = true;
		if (c->failed)
			return -1;
		if (c->stopping || c->connection->timed_out)
			return 0;
		connection_turn(c->connection);
	}
	return next_now(c);
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

/* The map may let it have fewer. */
void client_window(struct evspace_client *c, unsigned window)
{
	c->window = window < c->window_most ? window : c->window_most;
}

static void client_options(struct evspace_client *c, const struct evspace_options *o)
{
	c->run = copy_text(o->run ? o->run : config_variable("EVSPACE_RUN"), "");
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
	c->folded = o->folded;
	c->rate_hz = o->rate_hz > 0 ? o->rate_hz : 0;
	c->hurry = o->hurry && c->rate_hz > 0;
	c->share = c->whole = o->budget;
	c->collect = o->budget > 0 && o->collect;
	c->weight = o->weight;
	c->window_said = o->window;
	c->window_most = CLIENT_WINDOW_MAX;
	client_window(c, o->window ? o->window : 1);
	c->deadline_ms = o->deadline_ms ? o->deadline_ms : 1000;
	if (c->deadline_ms > ASK_DEADLINE_MOST_MS)
		c->deadline_ms = ASK_DEADLINE_MOST_MS;
	c->monitored = o->monitored;
	c->urgency = o->urgency;
}

static void client_tell(void *of);

static struct evspace_client *client_new(const struct evspace_options *o,
					 struct evspace_connection *on)
{
	struct evspace_client *c = memory_new(1, sizeof(*c));

	client_options(c, o);
	for (size_t i = 0; i < CLIENT_WINDOW_MAX; i++)
		batch_init(&c->slots[i].batch);
	STAILQ_INIT(&c->again);
	c->delivery = delivery_new();
	c->namesakes = namesakes_new();
	batch_init(&c->taken.batch);
	c->next_ask = c->next_take = 1;
	c->names = names_new(NAME_PLACE_MAX);
	c->connection = on;
	c->wake_fd = -1;
	c->pace = evtimer_new(on->base, on_pace, c);
	if (!c->pace || getrandom(c->id, sizeof(c->id), 0) != sizeof(c->id))
		abort();
	return c;
}

/* Let evspace_stop() end its waiting. */
static void client_wakes(struct evspace_client *c)
{
	c->own = true;
	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->wake_fd < 0)
		abort();
	c->wake = event_new(c->connection->base, c->wake_fd, EV_READ | EV_PERSIST, on_wake, c);
	if (!c->wake || event_add(c->wake, NULL) < 0)
		abort();
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

	if (recording_select_check(o->select, o->n_select, e) < 0 ||
	    (o->tree && *o->tree && shape_read(o->tree, &shape, e) < 0) ||
	    (o->concurrency && *o->concurrency &&
	     shape_concurrency(o->concurrency, &children, e) < 0))
		return -1;
	return define_check(o->define, e);
}

/* 0 is the default of both. */
static int budget_check(const struct evspace_options *o, struct error *e)
{
	if (!(o->budget >= 0 && o->budget <= 1))
		return errorf(e, "a budget of %g is no share of the program's time, from 0 to 1",
			      o->budget);
	if (!(o->weight >= 0) || (o->weight > 0 && o->weight < ASK_WEIGHT_LEAST) ||
	    o->weight > ASK_WEIGHT_MOST)
		return errorf(e, "a weight of %g; weights are from %g to %g", o->weight,
			      ASK_WEIGHT_LEAST, ASK_WEIGHT_MOST);
	return 0;
}

static int pace_check(const struct evspace_options *o, struct error *e)
{
	if (!(o->rate_hz >= 0 && isfinite(o->rate_hz)))
		return errorf(e, "a rate of %g waves a second; 0 is as many as possible",
			      o->rate_hz);
	if (o->window > CLIENT_WINDOW_MAX)
		return errorf(e, "%u waves under way; %u at most", o->window, CLIENT_WINDOW_MAX);
	if (o->deadline_ms > ASK_DEADLINE_MOST_MS)
		return errorf(e, "a deadline of %u ms; %u at most", o->deadline_ms,
			      ASK_DEADLINE_MOST_MS);
	if ((unsigned)o->urgency > EVSPACE_URGENCY_NORMAL)
		return errorf(e, "an urgency of %u, which is none of enum evspace_urgency",
			      (unsigned)o->urgency);
	if ((unsigned)o->compress > EVSPACE_COMPRESS_ALWAYS)
		return errorf(e,
			      "%u says nothing of compressing: it is none of enum "
			      "evspace_compress",
			      (unsigned)o->compress);
	return 0;
}

static int client_check(const struct evspace_options *options, struct error *e)
{
	if (wish_check(options, e) < 0 || budget_check(options, e) < 0 ||
	    pace_check(options, e) < 0)
		return -1;
	return options->monitored ? client_monitor_check(e) : 0;
}

/* From an archive there are no more waves than it has. */
static struct evspace_client *replay_open(struct evspace_client *c, const char *folder,
					  enum evspace_failure *failure, char *why, size_t n)
{
	struct error e;

	if (client_replay_begin(c, folder, &e) == 0)
		return c;
	*failure = client_replay_failure();
	snprintf(why, n, "%s", e.text);
	evspace_close(c);
	return NULL;
}

static struct evspace_client *client_open(const struct evspace_options *options, const char *keep,
					  enum evspace_failure *failure, char *why, size_t n)
{
	struct evspace_client *c;
	const char *folder;
	struct error e;

	*failure = EVSPACE_WRONG;
	if (client_check(options, &e) < 0) {
		snprintf(why, n, "%s", e.text);
		return NULL;
	}
	c = client_new(options, connection_new(options, NULL));
	client_wakes(c);
	folder = client_replay_folder(c->connection->address);
	if (folder && !keep)
		return replay_open(c, folder, failure, why, n);
	if (keep && !(c->keep = client_keep_new(c, keep, &e))) {
		struct evspace_connection *on = c->connection;

		*failure = client_replay_failure();
		snprintf(why, n, "%s", e.text);
		/* it is not on it yet */
		client_free(c);
		evspace_disconnect(on);
		return NULL;
	}
	connection_begin(c->connection);
	if (keep)
		client_keep_map(c);
	client_begin(c);
	while (!c->failed && !c->opened)
		connection_turn(c->connection);
	*failure = c->failure;
	if (!c->failed)
		return c;
	snprintf(why, n, "%s", c->why.text);
	evspace_close(c);
	return NULL;
}

struct evspace_client *evspace_open(const struct evspace_options *options,
				    enum evspace_failure *failure, char *why, size_t n)
{
	return client_open(options, NULL, failure, why, n);
}

struct evspace_client *client_keep_open(const struct evspace_options *options, const char *folder,
					enum evspace_failure *failure, char *why, size_t n)
{
	return client_open(options, folder, failure, why, n);
}

struct evspace_client *evspace_open_on(struct evspace_connection *on,
				       const struct evspace_options *options,
				       evspace_notify *notify, void *arg)
{
	struct evspace_client *c = client_new(options, on);
	struct error e;

	c->notify = notify;
	c->notify_arg = arg;
	c->news = (struct news){.tell = client_tell, .of = c};
	client_begin(c);
	if (client_check(options, &e) < 0)
		client_fail(c, EVSPACE_WRONG, e.text);
	return c;
}

struct evspace_client *client_keep_on(struct evspace_connection *on,
				      const struct evspace_options *options, const char *folder,
				      evspace_notify *notify, struct error *e)
{
	struct evspace_client *c = client_new(options, on);

	c->keep = client_keep_new(c, folder, e);
	if (!c->keep) {
		client_free(c);
		return NULL;
	}
	c->notify = notify;
	c->news = (struct news){.tell = client_tell, .of = c};
	client_begin(c);
	return c;
}

static void say_close(const struct evspace_client *c)
{
	Evspace__Close close = EVSPACE__CLOSE__INIT;

	close.scope = c->number;
	/* an archive that is not complete can be gone on with */
	close.keep = c->keep && c->stopping;
	link_send(c->connection->link, &WIRE_FRAME(CLOSE, close, &close), NULL);
}

void client_free(struct evspace_client *c)
{
	struct event *const events[] = {c->pace, c->patience, c->wake};

	client_budget_end(c);
	client_told_end(c);
	client_replay_free(c->replay);
	/* also if it has not answered yet: it may open still */
	if (c->connection->ready && c->number)
		say_close(c);
	client_keep_free(c);
	client_monitor_end(c);
	connection_tell_not(c->connection, &c->news);
	if (c->number)
		LIST_REMOVE(c, entry);
	client_waves_fini(c);
	names_free(c->names);
	delivery_free(c->delivery);
	namesakes_free(c->namesakes);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (events[i])
			event_free(events[i]);
	}
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	for (size_t i = 0; i < c->n_select; i++)
		free(c->select[i]);
	free(c->select);
	free(c->run);
	free(c->view);
	free(c->define);
	free(c->tree);
	free(c->concurrency);
	free(c);
}

void evspace_close(struct evspace_client *c)
{
	if (c && c->own)
		evspace_disconnect(c->connection);
	else if (c)
		client_free(c);
}

/* ---- news ---- */

void client_news(struct evspace_client *c, enum evspace_news news)
{
	if (!c->notify)
		return;
	/* what came before the end comes before it */
	if (news == EVSPACE_ENDED)
		client_news(c, EVSPACE_WAVE);
	if (news == EVSPACE_WAVE && (c->wave_told || !client_has_wave(c)))
		return;
	c->wave_told |= news == EVSPACE_WAVE;
	c->new |= 1u << news;
	connection_tell(c->connection, &c->news);
}

/* The first of what is new. The user may close the client: after that it is not touched. */
static void client_tell(void *of)
{
	struct evspace_client *c = of;
	enum evspace_news news = EVSPACE_OPENED;

	while (!(c->new & 1u << news))
		news++;
	c->new &= ~(1u << news);
	if (c->new)
		connection_tell(c->connection, &c->news);
	if (news != EVSPACE_WAVE || client_has_wave(c))
		c->notify(c, news, c->notify_arg);
	else
		c->wave_told = false; /* the connection broke meanwhile: the next one is news */
}

Evspace__Frame *client_beside(struct evspace_client *c, const Evspace__Frame *question,
			      Evspace__Frame__KindCase answer)
{
	enum evspace_failure failure;
	struct error e;

	return question_ask(c->connection, question, answer, c->deadline_ms, &c->stopping, &failure,
			    &e);
}

const char *evspace_run(const struct evspace_client *c)
{
	return c->opened_run;
}

const char *evspace_why(const struct evspace_client *c)
{
	return c->why.text;
}

enum evspace_failure evspace_failed(const struct evspace_client *c)
{
	return c->failed ? c->failure : EVSPACE_FINE;
}

void evspace_stop(struct evspace_client *c)
{
	int saved = errno;
	uint64_t one = 1;

	c->stopping = 1;
	/* fails only if the counter is full: then the loop wakes anyway */
	if (c->wake_fd >= 0 && write(c->wake_fd, &one, sizeof(one)) < 0)
		errno = saved;
	errno = saved;
}
