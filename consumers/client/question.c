/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions on a connection: asked when its link is ready, and answered once, whatever happens. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/connection.h"
#include "pathmap/base/memory.h"
#include "tree/wire/wire.h"

/* Most that wait for their answers. */
#define QUESTIONS_MOST 1024u

struct evspace_question {
	TAILQ_ENTRY(evspace_question) entry;
	struct evspace_connection *connection;
	Evspace__Frame *frame;
	Evspace__Frame__KindCase kind; /* of the answer */
	uint32_t number;	       /* 0: those about the map have none, … */
	bool sent;		       /* … so one alone is sent */
	struct event *limit;
	struct news news;
	struct asker asker;
	/* the answer */
	bool came, done;
	Evspace__Frame *reply;
	enum evspace_failure failure;
	struct error why;
};

/* ---- the answer ---- */

static void question_end(struct evspace_question *q, Evspace__Frame *reply)
{
	q->done = true;
	q->reply = reply;
	evtimer_del(q->limit);
	connection_tell(q->connection, &q->news);
}

static void question_fail(struct evspace_question *q, enum evspace_failure failure, const char *why)
{
	if (q->done)
		return;
	q->failure = failure;
	errorf(&q->why, "%s", why);
	question_end(q, NULL);
}

void evspace_cancel(struct evspace_question *q)
{
	struct evspace_connection *c;

	if (!q)
		return;
	c = q->connection;
	connection_tell_not(c, &q->news);
	TAILQ_REMOVE(&c->questions, q, entry);
	c->n_questions--;
	/* its answer may come still, and must not be taken for that of the next one */
	c->map_owed |= q->sent && !q->came && q->number == 0;
	event_free(q->limit);
	if (q->frame)
		evspace__frame__free_unpacked(q->frame, NULL);
	if (q->reply)
		evspace__frame__free_unpacked(q->reply, NULL);
	free(q);
}

/* Its user may end the connection: after that it is not touched. */
static void question_tell(void *of)
{
	struct evspace_question *q = of;
	Evspace__Frame *reply = q->reply;
	const struct asker asker = q->asker;
	enum evspace_failure failure = q->failure;
	struct error why = q->why;

	q->reply = NULL;
	evspace_cancel(q);
	asker.answered(&asker, &reply, failure, why.text);
	if (reply)
		evspace__frame__free_unpacked(reply, NULL);
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
	struct evspace_question *q = arg;
	struct error e;

	(void)fd;
	(void)what;
	errorf(&e, "%s does not answer; is it an agent?", q->connection->address);
	question_fail(q, EVSPACE_NO_CONNECTION, e.text);
}

/* ---- asking ---- */

static void frame_number(Evspace__Frame *frame, uint32_t number)
{
	if (frame->kind_case == EVSPACE__FRAME__KIND_STATUS_ASK)
		frame->status_ask->scope = number;
	else if (frame->kind_case == EVSPACE__FRAME__KIND_SWITCH_ASK)
		frame->switch_ask->scope = number;
}

static bool is_about_map(const Evspace__Frame *frame)
{
	return frame->kind_case == EVSPACE__FRAME__KIND_MAP_ASK ||
	       frame->kind_case == EVSPACE__FRAME__KIND_MAP_APPLY;
}

struct evspace_question *question_new(struct evspace_connection *c, const Evspace__Frame *frame,
				      Evspace__Frame__KindCase kind, unsigned deadline_ms,
				      const struct asker *asker, const struct error *wrong)
{
	struct evspace_question *q = memory_new(1, sizeof(*q));
	unsigned ms = deadline_ms + CONNECTION_WITHIN_MS;
	struct timeval wait = {ms / 1000, ms % 1000 * 1000};

	*q = (struct evspace_question){.connection = c, .kind = kind, .asker = *asker};
	q->news = (struct news){.tell = question_tell, .of = q};
	q->limit = evtimer_new(c->base, on_limit, q);
	q->frame = (Evspace__Frame *)wire_copy(&frame->base);
	if (!q->limit || !q->frame)
		abort();
	if (!is_about_map(frame))
		q->number = connection_number(c);
	frame_number(q->frame, q->number);
	TAILQ_INSERT_TAIL(&c->questions, q, entry);
	c->n_questions++;
	if (c->failed)
		question_fail(q, c->failure, c->why.text);
	else if (wrong && wrong->text[0])
		question_fail(q, EVSPACE_WRONG, wrong->text);
	else if (c->n_questions > QUESTIONS_MOST)
		question_fail(q, EVSPACE_WRONG, "too many questions wait for their answers");
	else
		evtimer_add(q->limit, &wait);
	questions_send(c);
	return q;
}

/* One who waits. */
struct question_wait {
	bool answered;
	Evspace__Frame *reply;
	enum evspace_failure failure;
	struct error why;
};

static void waiting_answered(const struct asker *asker, Evspace__Frame **reply,
			     enum evspace_failure failure, const char *why)
{
	struct question_wait *w = asker->arg;

	w->answered = true;
	w->reply = *reply;
	*reply = NULL;
	w->failure = failure;
	errorf(&w->why, "%s", why);
}

Evspace__Frame *question_ask(struct evspace_connection *c, const Evspace__Frame *frame,
			     Evspace__Frame__KindCase kind, unsigned deadline_ms,
			     const volatile sig_atomic_t *stopping, enum evspace_failure *failure,
			     struct error *e)
{
	struct question_wait w = {.failure = EVSPACE_FINE, .why = {"interrupted"}};
	const struct asker asker = {.answered = waiting_answered, .arg = &w};
	struct evspace_question *q = question_new(c, frame, kind, deadline_ms, &asker, NULL);

	while (!w.answered && !(stopping && *stopping))
		connection_turn(c);
	if (!w.answered)
		evspace_cancel(q);
	*failure = w.failure;
	*e = w.why;
	return w.reply;
}

void questions_send(struct evspace_connection *c)
{
	struct evspace_question *q;
	bool map = c->map_owed;

	if (!c->ready)
		return;
	TAILQ_FOREACH (q, &c->questions, entry)
		map |= q->sent && !q->came && q->number == 0;
	TAILQ_FOREACH (q, &c->questions, entry) {
		if (q->done || q->sent || (q->number == 0 && map))
			continue;
		q->sent = true;
		map |= q->number == 0;
		link_send(c->link, q->frame, NULL);
	}
}

void questions_lost(struct evspace_connection *c, bool all)
{
	struct evspace_question *q;

	c->map_owed = false;
	TAILQ_FOREACH (q, &c->questions, entry) {
		q->came |= q->sent;
		if (all || q->sent)
			question_fail(q, c->failure, c->why.text);
	}
}

bool questions_owed(const struct evspace_connection *c)
{
	const struct evspace_question *q;

	TAILQ_FOREACH (q, &c->questions, entry) {
		if (q->sent && !q->done)
			return true;
	}
	return false;
}

/* ---- answers ---- */

static uint32_t number_of(const Evspace__Frame *frame)
{
	switch (frame->kind_case) {
	case EVSPACE__FRAME__KIND_STATUS:
		return frame->status->scope;
	case EVSPACE__FRAME__KIND_SWITCHED:
		return frame->switched->scope;
	case EVSPACE__FRAME__KIND_ERROR:
		return frame->error->scope;
	default:
		return 0;
	}
}

/* An agent of release 0.1 does not repeat the number of a question for its own status alone: these
 * are answered in their order. */
static bool fits(const struct evspace_question *q, const Evspace__Frame *frame)
{
	uint32_t number = number_of(frame);

	if (!q->sent || q->came)
		return false;
	if (number || frame->kind_case == EVSPACE__FRAME__KIND_ERROR)
		return q->number == number;
	return q->kind == frame->kind_case;
}

bool questions_take(struct evspace_connection *c, const Evspace__Frame *frame)
{
	struct evspace_question *q;
	struct error e;

	TAILQ_FOREACH (q, &c->questions, entry) {
		if (fits(q, frame))
			break;
	}
	if (!q && c->map_owed && number_of(frame) == 0) {
		c->map_owed = false;
		questions_send(c);
		return true;
	}
	if (!q)
		return false;
	q->came = true;
	if (frame->kind_case == EVSPACE__FRAME__KIND_ERROR) {
		question_fail(q, connection_failure(frame->error), frame->error->text);
	} else if (frame->kind_case != q->kind) {
		errorf(&e, "%s answers something else; is it of another release?", c->address);
		question_fail(q, EVSPACE_NO_CONNECTION, e.text);
	} else if (!q->done) {
		question_end(q, (Evspace__Frame *)wire_copy(&frame->base));
	}
	questions_send(c);
	return true;
}
