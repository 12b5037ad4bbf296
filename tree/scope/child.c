/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps connections to child agents, with backoff, for as long as a scope needs them. */
#include "tree/scope/child.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/turn.h"
#include "tree/link/rate-limit.h"
#include "tree/scope/complaints.h"

/* How long to wait before dialling again: doubles from the first to the last. */
#define RETRY_FIRST_MS 50
#define RETRY_LAST_MS  2000

/* After a cut, TCP itself retries less and less often: dial a peer again that was silent for so
 * long. */
#define GIVE_UP_MS 3000

/* How often a child that gets no core is looked at. */
#define STARVED_LOOK_MS 400u

TAILQ_HEAD(child_users, child_user);

struct child {
	UT_hash_handle hh;
	char *key; /* "NODE\nADDRESS" */
	struct child_set *set;
	struct turn dial; /* a parent may name thousands at once */
	char *node;
	char *address;
	struct link *link;
	bool ready;
	struct event *retry;
	unsigned retry_ms;
	uint64_t down_since;
	struct event *watch; /* pending while an answer is expected */
	bool watching, silent;
	uint64_t expecting_ns; /* since when an answer is expected and nothing has come, 0: none
				* is */
	uint64_t pinged_ns;    /* when it was asked whether it is there, 0: it was not */
	uint64_t received;     /* bytes received at the last check */
	uint32_t next_scope;
	struct error diagnostic; /* the last one, so that it is not repeated on every try */
	bool told;		 /* that had a line of its own, and is not only in the sum */
	bool complained;	 /* it was logged since the last connection */
	struct rate_limit said;
	struct child_clock clock;
	struct child_users users;
};

struct child_set {
	struct event_base *base;
	struct link_hub *hub;
	struct turns *turns;
	struct child *children; /* by key */
	struct complaints complaints;
};

static void child_dial(void *arg);
static void child_closed(struct link *link, void *arg, const struct error *why);

struct child_set *child_set_new(struct event_base *base, struct link_hub *hub)
{
	struct child_set *set = memory_new(1, sizeof(*set));

	set->base = base;
	set->hub = hub;
	set->turns = turns_new(base);
	complaints_init(&set->complaints, base);
	return set;
}

void child_set_free(struct child_set *set)
{
	if (!set)
		return;
	complaints_fini(&set->complaints);
	turns_free(set->turns);
	free(set);
}

/* Log one line on stderr, within limits. Returns whether it was logged. */
static bool child_say_line(struct child *c, const char *text, const char *then)
{
	unsigned long unsaid;
	char more[64] = "";

	if (!rate_limit_take(&c->said, &unsaid))
		return false;
	if (unsaid)
		snprintf(more, sizeof(more), " (and %lu before that, not shown)", unsaid);
	fprintf(stderr, "evspace: agent %s at %s: %s%s%s\n", c->node, c->address, text, then, more);
	return true;
}

void child_say(struct child_user *user, const char *text)
{
	child_say_line(user->child, text, "");
}

void child_quote(struct child_user *user, const char *text)
{
	struct error line;

	errorf(&line, "it says \"%.900s\"", text);
	child_say_line(user->child, line.text, "");
}

static void child_complain(struct child *c, const struct error *why)
{
	bool fresh = strcmp(c->diagnostic.text, why->text) != 0;
	struct error line;

	if (!fresh && c->told)
		return;
	c->diagnostic = *why;
	errorf(&line, "%s at %s: %.700s", c->node, c->address, why->text);
	c->told = complaints_may(&c->set->complaints, &line, fresh);
	if (c->told && child_say_line(c, why->text, "; trying again"))
		c->complained = true;
}

/* ---- does the child answer? ---- */

static void child_watch_for(struct child *c, unsigned ms)
{
	struct timeval wait = {ms / 1000, ms % 1000 * 1000};

	c->watching = true;
	evtimer_add(c->watch, &wait);
}

static void child_fall_silent(struct child *c, uint64_t now)
{
	struct child_user *u;

	c->silent = true;
	child_watch_for(c, GIVE_UP_MS);
	/* not since the question: it may have received what was sent later */
	c->down_since = now;
	TAILQ_FOREACH (u, &c->users, entry) {
		if (u->events->silent)
			u->events->silent(u);
	}
}

/* Part of a frame counts, too: a large answer may take long on a slow link. */
static bool child_receives(struct child *c)
{
	uint64_t sent, received;
	bool more;

	link_bytes(c->link, &sent, &received);
	more = received != c->received;
	c->received = received;
	return more;
}

static void child_give_up(struct child *c)
{
	struct link *link = c->link;
	struct error e;

	errorf(&e, "it has not answered for %g s", (CHILD_SILENT_MS + GIVE_UP_MS) / 1000.0);
	child_closed(link, c, &e);
	link_close(link);
}

static enum silence child_judge(const struct child *c)
{
	struct silence_signs signs = {link_is_acknowledged(c->link), link_peer_state(c->link),
				      false};
	const struct child_user *u;

	TAILQ_FOREACH (u, &c->users, entry)
		signs.meek = signs.meek || u->meek;
	return silence_judge(&signs);
}

/* It gets no core, but not for too long yet. */
static bool child_is_starved(const struct child *c, uint64_t now)
{
	return now - c->expecting_ns < SILENCE_STARVED_MS * UINT64_C(1000000) &&
	       silence_is_late(child_judge(c));
}

static void child_watch(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;
	uint64_t now = clock_mono_ns(), patience = CHILD_PATIENCE_MS * UINT64_C(1000000);

	(void)fd;
	(void)what;
	c->watching = false;
	if (!c->ready || c->expecting_ns == 0)
		return;
	if (child_receives(c)) {
		c->expecting_ns = now;
		c->pinged_ns = 0;
	}
	if (c->silent && c->expecting_ns == now) {
		child_watch_for(c, GIVE_UP_MS);
	} else if (c->silent) {
		child_give_up(c);
	} else if (now - c->expecting_ns < patience) {
		child_watch_for(c, 1 + (unsigned)((patience - (now - c->expecting_ns)) / 1000000u));
	} else if (c->pinged_ns == 0) {
		c->pinged_ns = now;
		child_clock_ask(&c->clock);
		child_watch_for(c, CHILD_SILENT_MS - CHILD_PATIENCE_MS);
	} else if (child_is_starved(c, now)) {
		/* that its host acknowledges this shows that it is not cut off meanwhile */
		child_clock_ask(&c->clock);
		child_watch_for(c, STARVED_LOOK_MS);
	} else {
		child_fall_silent(c, now);
	}
}

/* An answer came, or a sign that the child is there. */
static void child_hear(struct child *c)
{
	struct child_user *u;

	c->expecting_ns = c->pinged_ns = 0;
	/* only now, not when it connected: it may be able to do no more than that */
	c->retry_ms = RETRY_FIRST_MS;
	if (!c->silent)
		return;
	c->silent = c->watching = false;
	evtimer_del(c->watch);
	c->down_since = 0;
	TAILQ_FOREACH (u, &c->users, entry) {
		if (u->events->heard)
			u->events->heard(u);
	}
}

void child_expect(struct child_user *user)
{
	struct child *c = user->child;

	if (c->expecting_ns == 0) {
		c->expecting_ns = clock_mono_ns();
		if (c->ready)
			child_receives(c);
	}
	if (!c->watching && !c->silent)
		child_watch_for(c, CHILD_PATIENCE_MS);
}

/* ---- connections ---- */

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

	if (c->complained)
		child_say_line(c, "connected", "");
	c->complained = false;
	c->diagnostic.text[0] = '\0';
	c->ready = true;
	c->received = 0;
	c->down_since = 0;
	/* first, so that its clock is known when answers come */
	child_clock_begin(&c->clock, link);
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
	case EVSPACE__FRAME__KIND_STATUS:
		return f->status->scope;
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
	TAILQ_FOREACH (u, &c->users, entry) {
		if (u->scope == scope) {
			child_hear(c);
			u->events->frame(u, frame);
			return;
		}
	}
	/* other frames here are answers that crossed a close, or unexpected */
	if (frame->header->kind_case == EVSPACE__FRAME__KIND_PING && frame->header->ping->answer) {
		child_clock_answer(&c->clock, frame->header->ping);
		child_hear(c);
	} else {
		child_receives(c);
	}
}

static void child_fail(struct child *c, const struct error *why)
{
	struct child_user *u;

	child_complain(c, why);
	child_retry_later(c);
	TAILQ_FOREACH (u, &c->users, entry)
		u->events->down(u);
}

static void child_closed(struct link *link, void *arg, const struct error *why)
{
	struct child *c = arg;

	(void)link;
	c->link = NULL;
	c->ready = c->silent = c->watching = false;
	c->expecting_ns = c->pinged_ns = 0;
	evtimer_del(c->watch);
	child_clock_end(&c->clock);
	child_fail(c, why);
}

static const struct link_events child_link_events = {
	.ready = child_ready,
	.frame = child_frame,
	.closed = child_closed,
};

static void child_dial(void *arg)
{
	struct child *c = arg;
	struct error e;

	c->link = link_dial(c->set->hub, c->address, c->node, &child_link_events, c, &e);
	if (!c->link)
		child_fail(c, &e);
}

static void child_retry(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;

	(void)fd;
	(void)what;
	turn_ask(c->set->turns, &c->dial);
}

/* @key becomes its own. */
static struct child *child_new(struct child_set *set, const char *node, const char *address,
			       char *key)
{
	struct child *c = memory_new(1, sizeof(*c));

	c->set = set;
	c->key = key;
	c->node = memory_copy(node);
	c->address = memory_copy(address);
	c->dial = (struct turn){.go = child_dial, .arg = c};
	c->retry = evtimer_new(set->base, child_retry, c);
	c->watch = evtimer_new(set->base, child_watch, c);
	if (!c->retry || !c->watch)
		abort();
	child_clock_init(&c->clock, set->base);
	c->retry_ms = RETRY_FIRST_MS;
	c->down_since = clock_mono_ns();
	TAILQ_INIT(&c->users);
	HASH_ADD_KEYPTR(hh, set->children, key, strlen(key), c);
	return c;
}

static void child_free(struct child *c)
{
	HASH_DEL(c->set->children, c);
	turn_drop(c->set->turns, &c->dial);
	event_free(c->retry);
	event_free(c->watch);
	child_clock_fini(&c->clock);
	link_close(c->link);
	free(c->node);
	free(c->address);
	free(c->key);
	free(c);
}

void child_join(struct child_set *set, struct child_user *user, const char *node,
		const char *address, const struct child_events *events)
{
	char *key = memory_format("%s\n%s", node, address);
	struct child *c;

	HASH_FIND_STR(set->children, key, c);
	if (c) {
		free(key);
	} else {
		c = child_new(set, node, address, key);
		turn_ask(set->turns, &c->dial);
	}
	user->child = c;
	user->events = events;
	user->scope = ++c->next_scope;
	TAILQ_INSERT_TAIL(&c->users, user, entry);
	if (c->ready)
		events->up(user);
	else if (c->diagnostic.text[0])
		events->down(user);
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

struct child_clock *child_clock(const struct child_user *user)
{
	return &user->child->clock;
}

enum silence child_silence(const struct child_user *user)
{
	return child_judge(user->child);
}

bool child_is_silent(const struct child_user *user)
{
	return user->child && user->child->silent;
}

uint64_t child_owes_since(const struct child_user *user)
{
	return user->child ? user->child->expecting_ns : 0;
}

uint64_t child_down_since(const struct child_user *user)
{
	return user->child ? user->child->down_since : 0;
}

const char *child_complaint(const struct child_user *user)
{
	const struct child *c = user->child;

	return c && c->diagnostic.text[0] ? c->diagnostic.text : "no connection to it";
}
