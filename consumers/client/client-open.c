/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a scope on a connection, again after each break, and says when it is lost for good. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client.h"
#include "consumers/client/client-budget.h"
#include "consumers/client/client-keep.h"
#include "consumers/client/client-monitor.h"
#include "consumers/client/client-pace.h"
#include "consumers/client/connection.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* Does it know what a definition is, and a wish of a tree? An older one would not look at them. */
static int wish_check(const struct evspace_client *c, struct error *e)
{
	const Evspace__Hello *hello = link_hello(c->connection->link);
	bool chooses = *c->tree || *c->concurrency;
	uint32_t needed = chooses ? WIRE_CHOOSES : c->define ? WIRE_DEFINES : 0;

	if (hello->version >= needed)
		return 0;
	errno = EPROTONOSUPPORT;
	return errorf(e,
		      "agent \"%s\" speaks version %u of the wire protocol, and takes no %s (from "
		      "version %u on); put this release on its host, or %s",
		      hello->name, hello->version,
		      chooses ? "tree that a consumer chooses" : "view's text", needed,
		      chooses ? "leave --tree and --concurrency out" : "name a view of its map");
}

/* ---- its end ---- */

/* When it has not opened in time. */
static void on_patience(evutil_socket_t fd, short what, void *arg)
{
	struct evspace_client *c = arg;
	struct error e;

	(void)fd;
	(void)what;
	errorf(&e, "%s does not answer; is it an agent?", c->connection->address);
	client_fail(c, EVSPACE_NO_CONNECTION, e.text);
}

void client_fail(struct evspace_client *c, enum evspace_failure failure, const char *why)
{
	c->opened = c->opened && failure != EVSPACE_NO_CONNECTION;
	if (c->failed)
		return;
	c->failed = true;
	c->failure = failure;
	errorf(&c->why, "%s", why);
	evtimer_del(c->patience);
	evtimer_del(c->pace);
	client_news(c, EVSPACE_ENDED);
}

void client_lost(struct evspace_client *c)
{
	c->opened = false;
	if (!c->failed)
		errorf(&c->why, "%s", c->connection->why.text);
}

/* ---- opening ---- */

void client_begin(struct evspace_client *c)
{
	unsigned ms = c->deadline_ms + CONNECTION_WITHIN_MS;
	struct timeval wait = {ms / 1000, ms % 1000 * 1000};
	struct evspace_connection *on = c->connection;

	c->number = connection_number(on);
	LIST_INSERT_HEAD(&on->scopes, c, entry);
	c->patience = evtimer_new(on->base, on_patience, c);
	if (!c->patience)
		abort();
	evtimer_add(c->patience, &wait);
	if (on->failed)
		client_fail(c, on->failure, on->why.text);
	else if (on->ready)
		client_ready(c);
}

void client_open_fill(const struct evspace_client *c, Evspace__Open *open)
{
	open->scope = c->number;
	open->id.data = (uint8_t *)(uintptr_t)c->id;
	open->id.len = sizeof(c->id);
	open->run = c->run;
	open->view = c->view;
	open->backlog = c->backlog;
	open->wait = c->wait;
	open->folds = c->folded;
	open->sampled = true;
	open->patience_ms = c->connection->patience_ms;
	if (c->define)
		open->define = (ProtobufCBinaryData){strlen(c->define), (uint8_t *)c->define};
	open->tree = c->tree;
	open->concurrency = c->concurrency;
	open->weight = c->weight;
	open->n_select = c->n_select;
	open->select = c->select;
}

void client_ready(struct evspace_client *c)
{
	Evspace__Open open = EVSPACE__OPEN__INIT;
	struct error e, why;

	if (c->failed)
		return;
	if (wish_check(c, &e) < 0) {
		errorf(&why, "%s: %s", c->connection->address, e.text);
		client_fail(c, EVSPACE_NO_CONNECTION, why.text);
		return;
	}
	c->epoch_ns = link_hello(c->connection->link)->epoch_ns;
	client_open_fill(c, &open);
	link_send(c->connection->link, &WIRE_FRAME(OPEN, open, &open), NULL);
}

/* Answers come in the order of asks, so those that are still to come are the new tree's. */
static void on_remapped(struct evspace_client *c, uint64_t generation)
{
	c->remap_wave = c->next_take;
	while (c->remap_wave < c->next_ask && c->slots[c->remap_wave % CLIENT_WINDOW_MAX].here)
		c->remap_wave++;
	c->remap_generation = generation;
}

/* For the first time. */
static void client_begun(struct evspace_client *c)
{
	struct error e;

	evtimer_del(c->patience);
	client_tempo_begin(c);
	if (client_monitor_begin(c, &e) < 0) {
		client_fail(c, EVSPACE_WRONG, e.text);
		return;
	}
	client_budget_begin(c);
	client_news(c, EVSPACE_OPENED);
}

void client_opened(struct evspace_client *c, const Evspace__Opened *o)
{
	bool other = c->was_open && o->generation != c->generation, first = !c->was_open;

	snprintf(c->opened_run, sizeof(c->opened_run), "%s", o->run);
	/* come back to the same run, whichever others may be live by then */
	if (o->run[0] && !c->run[0]) {
		free(c->run);
		c->run = memory_copy(o->run);
	}
	c->reading = o->reading == READ_STREAM ? READ_STREAM : READ_LATEST;
	c->window_most = c->reading == READ_STREAM ? CLIENT_WINDOW_STREAM : CLIENT_WINDOW_MAX;
	c->window_map = o->window;
	if (o->window && o->window < c->window_most)
		c->window_most = o->window;
	client_window(c, c->window_said ? c->window_said : c->window);
	delivery_open(c->delivery, o, c->backlog && !c->partial);
	if (other)
		on_remapped(c, o->generation);
	c->generation = o->generation;
	if (c->keep)
		client_keep_opened(c, o);
	/* the tree was changed while open: earlier asks will be answered */
	if (c->opened || c->failed)
		return;
	c->counts.reconnections += c->was_open;
	c->opened = c->was_open = true;
	if (c->replay)
		return;
	flow_control_begin(&c->flow_control, link_is_slow(c->connection->link));
	if (first)
		client_begun(c);
	client_ask_unanswered(c);
	/* whoever does not wait is told when there is something to take */
	if (!c->own)
		client_pump(c);
}
