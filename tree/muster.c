/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes the question for the status on to child agents, relates their clocks, joins answers. */
#include "tree/muster.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/memory.h"
#include "tree/clock.h"

/* What it may take at most; what it takes when that is not said. */
#define DEADLINE_MOST_MS 600000u
#define DEADLINE_MS	 2000u

/* The way to one child place. */
struct branch {
	struct child_user user; /* first: callbacks get back to the branch from it */
	struct muster *muster;
	const struct plan_place *place;
	int64_t sent_ns;
	bool settled;
};

struct muster {
	const struct muster_host *host;
	struct link *up;
	uint32_t number, deadline_ms;
	int64_t asked_ns;
	struct plan_place *place;
	Evspace__StatusAsk *ask; /* what is passed on of it, but for the place */
	struct branch *branches;
	size_t n_branches, pending;
	struct event *end; /* by the deadline, or when all have answered */
	Evspace__Status **below;
	size_t n_below, n_most;
};

static size_t places_of(const struct plan_place *p)
{
	size_t n = 1;

	for (size_t i = 0; i < p->n_children; i++)
		n += places_of(p->children[i]);
	return n;
}

/* Takes @s over, which has no more below it. Who says more than there are is not heard. */
static void muster_add(struct muster *m, Evspace__Status *s)
{
	if (m->n_below == m->n_most)
		evspace__status__free_unpacked(s, NULL);
	else
		m->below[m->n_below++] = s;
}

/* ---- those that do not answer ---- */

static void muster_miss(struct muster *m, const struct plan_place *p, enum missing_why why,
			const char *text)
{
	Evspace__Status *s = memory_new(1, sizeof(*s));

	evspace__status__init(s);
	s->node = memory_copy(p->node);
	s->cluster = memory_copy(p->cluster);
	s->text = memory_copy(p->address[0] ? text : "it has no address in the map");
	s->why = why;
	muster_add(m, s);
	for (size_t i = 0; i < p->n_children; i++)
		muster_miss(m, p->children[i], why, "it is behind one that does not answer");
}

static void branch_settle(struct branch *b)
{
	if (b->settled)
		return;
	b->settled = true;
	/* from the loop only, so that branches may be left */
	if (--b->muster->pending == 0)
		event_active(b->muster->end, EV_TIMEOUT, 1);
}

/* ---- answers ---- */

/* How far the child's clock is ahead of ours: the mean of the way there and the way back, wrong by
 * half of what both took at most. */
static void status_relate(Evspace__Status *s, int64_t clock_ns, uint64_t error_ns)
{
	s->clock_ns += clock_ns;
	s->clock_error_ns += error_ns;
}

static void branch_status(struct branch *b, Evspace__Status *s)
{
	int64_t now = clock_real_ns(), away = now - b->sent_ns, there = s->sent_ns - s->asked_ns;
	int64_t clock_ns = (s->asked_ns - b->sent_ns) / 2 + (s->sent_ns - now) / 2;
	uint64_t error_ns = away > there ? (uint64_t)(away - there) / 2 + 1 : 1;
	size_t n = s->n_below;

	status_relate(s, clock_ns, error_ns);
	for (size_t i = 0; i < n; i++) {
		status_relate(s->below[i], clock_ns, error_ns);
		muster_add(b->muster, s->below[i]);
	}
	/* they are the muster's now */
	s->n_below = 0;
	free(s->below);
	s->below = NULL;
	muster_add(b->muster, s);
}

static void branch_frame(struct child_user *user, const struct frame *frame)
{
	struct branch *b = (struct branch *)user;

	if (b->settled)
		return;
	switch (frame->header->kind_case) {
	case EVSPACE__FRAME__KIND_STATUS:
		branch_status(b, (Evspace__Status *)wire_copy(&frame->header->status->base));
		break;
	case EVSPACE__FRAME__KIND_ERROR:
		muster_miss(b->muster, b->place, MISSING_REFUSED, frame->header->error->text);
		break;
	default:
		return;
	}
	branch_settle(b);
}

static void branch_up(struct child_user *user)
{
	struct branch *b = (struct branch *)user;
	uint32_t deadline_ms = b->muster->deadline_ms, margin = deadline_ms / 10 + 2;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__StatusAsk ask = *b->muster->ask;

	if (b->settled)
		return;
	ask.scope = user->scope;
	ask.deadline_ms = deadline_ms > margin ? deadline_ms - margin : 1;
	ask.place = wire_place_new(b->place);
	frame.kind_case = EVSPACE__FRAME__KIND_STATUS_ASK;
	frame.status_ask = &ask;
	b->sent_ns = clock_real_ns();
	link_send_pass(child_link(user), &ask.place->pass);
	link_send(child_link(user), &frame, NULL);
	wire_place_free(ask.place);
}

static void branch_down(struct child_user *user)
{
	struct branch *b = (struct branch *)user;

	if (!b->settled)
		muster_miss(b->muster, b->place, MISSING_UNREACHABLE, child_complaint(user));
	branch_settle(b);
}

static const struct child_events branch_events = {
	.up = branch_up,
	.down = branch_down,
	.frame = branch_frame,
};

/* ---- life ---- */

static void muster_end(evutil_socket_t fd, short what, void *arg)
{
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__Status status = EVSPACE__STATUS__INIT;
	struct muster *m = arg;

	(void)fd;
	(void)what;
	for (size_t i = 0; i < m->n_branches; i++) {
		struct branch *b = &m->branches[i];
		bool down = child_down_since(&b->user) != 0;

		if (!b->settled)
			muster_miss(m, b->place, down ? MISSING_UNREACHABLE : MISSING_LATE,
				    down ? child_complaint(&b->user)
					 : "it has not answered in time");
		b->settled = true;
	}
	status.scope = m->number;
	status.below = m->below;
	status.n_below = m->n_below;
	status.asked_ns = m->asked_ns;
	status.sent_ns = clock_real_ns();
	frame.kind_case = EVSPACE__FRAME__KIND_STATUS;
	frame.status = &status;
	m->host->answer(m->host->arg, m->up, &frame);
	m->host->done(m->host->arg, m);
}

static void muster_begin(struct muster *m)
{
	const struct plan_place *p = m->place;
	struct timeval within = {m->deadline_ms / 1000, m->deadline_ms % 1000 * 1000};

	m->end = evtimer_new(m->host->base, muster_end, m);
	if (!m->end)
		abort();
	evtimer_add(m->end, &within);
	m->n_branches = p->n_children;
	m->pending = p->n_children + 1;
	for (size_t i = 0; i < p->n_children; i++) {
		struct branch *b = &m->branches[i];

		b->muster = m;
		b->place = p->children[i];
		if (!b->place->address[0]) {
			muster_miss(m, b->place, MISSING_UNREACHABLE, "");
			branch_settle(b);
			continue;
		}
		child_join(m->host->children, &b->user, b->place->node, b->place->address,
			   &branch_events);
	}
	if (--m->pending == 0)
		event_active(m->end, EV_TIMEOUT, 1);
}

struct muster *muster_new(const struct muster_host *host, struct link *up,
			  const Evspace__StatusAsk *ask, struct error *e)
{
	struct plan_place *place = wire_plan_place(ask->place, e);
	uint32_t deadline_ms = ask->deadline_ms ? ask->deadline_ms : DEADLINE_MS;
	Evspace__StatusAsk bare = *ask;
	struct muster *m;

	if (!place)
		return NULL;
	m = memory_new(1, sizeof(*m));
	m->host = host;
	m->up = up;
	m->number = ask->scope;
	m->deadline_ms = deadline_ms < DEADLINE_MOST_MS ? deadline_ms : DEADLINE_MOST_MS;
	m->asked_ns = clock_real_ns();
	m->place = place;
	bare.place = NULL;
	m->ask = (Evspace__StatusAsk *)wire_copy(&bare.base);
	m->n_most = places_of(place) - 1;
	m->below = memory_new(m->n_most + 1, sizeof(*m->below));
	m->branches = memory_new(place->n_children + 1, sizeof(*m->branches));
	muster_begin(m);
	return m;
}

void muster_free(struct muster *m)
{
	if (!m)
		return;
	event_free(m->end);
	for (size_t i = 0; i < m->n_branches; i++)
		child_leave(&m->branches[i].user);
	for (size_t i = 0; i < m->n_below; i++)
		evspace__status__free_unpacked(m->below[i], NULL);
	free(m->below);
	free(m->branches);
	wire_plan_place_free(m->place);
	evspace__status_ask__free_unpacked(m->ask, NULL);
	free(m);
}
