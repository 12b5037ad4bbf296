/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps connections to child agents up, with backoff, for as long as a scope needs them. */
#include "tree/child.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/clock.h"

/* How long to wait before dialling again: doubles from the first to the last. */
#define RETRY_FIRST_MS 50
#define RETRY_LAST_MS  2000

TAILQ_HEAD(child_users, child_user);

struct child {
	LIST_ENTRY(child) entry;
	struct child_set *set;
	char *node;
	char *address;
	struct link *link;
	bool ready;
	struct event *retry;
	unsigned retry_ms;
	uint64_t down_since;
	uint32_t next_scope;
	struct error complaint; /* said last, so that it is not said again on every try */
	struct child_users users;
};

struct child_set {
	struct event_base *base;
	struct link_hub *hub;
	LIST_HEAD(, child) children;
};

static void child_dial(struct child *c);

struct child_set *child_set_new(struct event_base *base, struct link_hub *hub)
{
	struct child_set *set = calloc(1, sizeof(*set));

	if (!set)
		abort();
	set->base = base;
	set->hub = hub;
	LIST_INIT(&set->children);
	return set;
}

void child_set_free(struct child_set *set)
{
	free(set);
}

static void child_complain(struct child *c, const struct error *why)
{
	if (strcmp(c->complaint.text, why->text) == 0)
		return;
	c->complaint = *why;
	fprintf(stderr, "evspace: agent %s at %s: %s; trying again\n", c->node, c->address,
		why->text);
}

static void child_retry_later(struct child *c)
{
	struct timeval wait = {c->retry_ms / 1000, c->retry_ms % 1000 * 1000};

	if (c->down_since == 0)
		c->down_since = clock_mono_ns();
	evtimer_add(c->retry, &wait);
	c->retry_ms = c->retry_ms * 2 > RETRY_LAST_MS ? RETRY_LAST_MS : c->retry_ms * 2;
}

static void child_ready(struct link *link, void *arg)
{
	struct child *c = arg;
	struct child_user *u;

	(void)link;
	if (c->complaint.text[0])
		fprintf(stderr, "evspace: agent %s at %s: connected\n", c->node, c->address);
	c->complaint.text[0] = '\0';
	c->ready = true;
	c->retry_ms = RETRY_FIRST_MS;
	c->down_since = 0;
	TAILQ_FOREACH (u, &c->users, entry)
		u->events->up(u);
}

static uint32_t frame_scope(const Evspace__Frame *f)
{
	switch (f->kind_case) {
	case EVSPACE__FRAME__KIND_OPENED:
		return f->opened->scope;
	case EVSPACE__FRAME__KIND_ANSWER:
		return f->answer->scope;
	case EVSPACE__FRAME__KIND_ERROR:
		return f->error->scope;
	case EVSPACE__FRAME__KIND_SWITCHED:
		return f->switched->scope;
	default:
		return 0;
	}
}

static void child_frame(struct link *link, void *arg, const struct frame *frame)
{
	struct child *c = arg;
	uint32_t scope = frame_scope(frame->header);
	struct child_user *u;

	(void)link;
	/* A frame for nobody is an answer that crossed a close: nothing is owed to it. */
	TAILQ_FOREACH (u, &c->users, entry) {
		if (u->scope == scope) {
			u->events->frame(u, frame);
			return;
		}
	}
}

static void child_closed(struct link *link, void *arg, const struct error *why)
{
	struct child *c = arg;
	struct child_user *u;

	(void)link;
	c->link = NULL;
	c->ready = false;
	child_complain(c, why);
	child_retry_later(c);
	TAILQ_FOREACH (u, &c->users, entry)
		u->events->down(u);
}

static const struct link_events child_link_events = {
	.ready = child_ready,
	.frame = child_frame,
	.closed = child_closed,
};

static void child_dial(struct child *c)
{
	struct error e;

	c->link = link_dial(c->set->hub, c->address, c->node, &child_link_events, c, &e);
	if (!c->link) {
		child_complain(c, &e);
		child_retry_later(c);
	}
}

static void child_retry(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	child_dial(arg);
}

static struct child *child_new(struct child_set *set, const char *node, const char *address)
{
	struct child *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->set = set;
	c->node = strdup(node);
	c->address = strdup(address);
	c->retry = evtimer_new(set->base, child_retry, c);
	if (!c->node || !c->address || !c->retry)
		abort();
	c->retry_ms = RETRY_FIRST_MS;
	c->down_since = clock_mono_ns();
	TAILQ_INIT(&c->users);
	LIST_INSERT_HEAD(&set->children, c, entry);
	return c;
}

static void child_free(struct child *c)
{
	LIST_REMOVE(c, entry);
	event_free(c->retry);
	link_close(c->link);
	free(c->node);
	free(c->address);
	free(c);
}

void child_join(struct child_set *set, struct child_user *user, const char *node,
		const char *address, const struct child_events *events)
{
	struct child *c;

	LIST_FOREACH (c, &set->children, entry) {
		if (strcmp(c->node, node) == 0)
			break;
	}
	if (!c) {
		c = child_new(set, node, address);
		child_dial(c);
	}
	user->child = c;
	user->events = events;
	user->scope = ++c->next_scope;
	TAILQ_INSERT_TAIL(&c->users, user, entry);
	if (c->ready)
		events->up(user);
}

void child_leave(struct child_user *user)
{
	struct child *c = user->child;

	if (!c)
		return;
	user->child = NULL;
	TAILQ_REMOVE(&c->users, user, entry);
	if (TAILQ_EMPTY(&c->users))
		child_free(c);
}

struct link *child_link(const struct child_user *user)
{
	return user->child && user->child->ready ? user->child->link : NULL;
}

uint64_t child_down_since(const struct child_user *user)
{
	return user->child ? user->child->down_since : 0;
}
