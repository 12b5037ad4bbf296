/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes the question for the status on to child agents, relates their clocks, joins answers. */
#include "tree/scope/muster.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/scope/seats.h"
#include "tree/wire/wire-place.h"

/* What it may take at most; what it takes when that is not said. */
#define DEADLINE_MOST_MS 600000u
#define DEADLINE_MS	 2000u

/* Clocks show times from 1970 on, and are further apart than this only when one of them lies. */
#define CLOCK_MOST_NS (INT64_C(1) << 62)
#define APART_MOST_NS (INT64_C(1) << 61)

#define BEHIND "it is behind one that does not answer"

/* The way to one child place. */
struct muster_failover {
	struct child_user user; /* first: callbacks get back to the branch from it */
	struct muster *muster;
	const struct plan_place *place;
	struct seats seats; /* a status for each host from there on, the branch's */
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
	struct muster_failover *failovers;
	size_t n_branches, pending;
	struct event *end; /* by the deadline, or when all have answered */
};

/* ---- those that do not answer ---- */

static Evspace__Status *status_missing(const char *node, const char *cluster, enum missing_why why,
				       const char *text)
{
	Evspace__Status *s = memory_new(1, sizeof(*s));

	evspace__status__init(s);
	s->node = memory_copy(node);
	s->cluster = memory_copy(cluster);
	s->text = memory_copy(text);
	s->why = why;
	return s;
}

/* Nothing was said of who has no status yet: why of the child itself, and of those behind it. */
static void failover_miss(struct muster_failover *b, enum missing_why why, const char *text,
			  const char *behind)
{
	for (size_t i = 0; i < b->seats.n; i++) {
		struct seat *seat = &b->seats.list[i];
		const struct plan_place *p = seat->place;

		if (!seat->said)
			seat->said = status_missing(p->node, p->cluster, why,
						    !p->address[0]  ? "it has no address in the map"
						    : p == b->place ? text
								    : behind);
	}
}

static void failover_settle(struct muster_failover *b)
{
	if (b->settled)
		return;
	b->settled = true;
	/* from the loop only, so that branches may be left */
	if (--b->muster->pending == 0)
		event_active(b->muster->end, EV_TIMEOUT, 1);
}

/* ---- answers ---- */

static int64_t bounded(int64_t ns, int64_t least, int64_t most)
{
	return ns < least ? least : ns > most ? most : ns;
}

/* How far the child's clock is ahead of ours: the mean of the way there and the way back, wrong by
 * half of what both took at most. */
static void status_relate(Evspace__Status *s, int64_t clock_ns, uint64_t error_ns)
{
	s->clock_ns = bounded(s->clock_ns, -APART_MOST_NS, APART_MOST_NS) + clock_ns;
	s->clock_error_ns += error_ns;
}

/* Takes @s over, which has no more below it. Returns whether it is one that the child may say. */
static bool branch_take(struct muster_failover *b, Evspace__Status *s)
{
	struct seat *seat = seats_vacant(&b->seats, s->node);

	if (seat)
		seat->said = s;
	else
		evspace__status__free_unpacked(s, NULL);
	return seat != NULL;
}

static void branch_status(struct muster_failover *b, Evspace__Status *s)
{
	int64_t now = clock_real_ns(), away = now - b->sent_ns;
	int64_t asked = bounded(s->asked_ns, 0, CLOCK_MOST_NS);
	int64_t sent = bounded(s->sent_ns, 0, CLOCK_MOST_NS), there = sent - asked;
	int64_t clock_ns =
		bounded((asked - b->sent_ns) / 2 + (sent - now) / 2, -APART_MOST_NS, APART_MOST_NS);
	uint64_t error_ns = away > there ? (uint64_t)(away - there) / 2 + 1 : 1;
	Evspace__Status **below = s->below;
	size_t n = s->n_below, refused;

	/* they are the branch's now */
	s->n_below = 0;
	s->below = NULL;
	status_relate(s, clock_ns, error_ns);
	refused = !branch_take(b, s);
	for (size_t i = 0; i < n; i++) {
		status_relate(below[i], clock_ns, error_ns);
		refused += !branch_take(b, below[i]);
	}
	free(below);
	seats_refuse(&b->user, refused);
	failover_miss(b, MISSING_REFUSED, SEAT_UNSAID, SEAT_UNSAID);
}

static void branch_frame(struct child_user *user, const struct frame *frame)
{
	struct muster_failover *b = (struct muster_failover *)user;

	if (b->settled)
		return;
	switch (frame->header->kind_case) {
	case EVSPACE__FRAME__KIND_STATUS:
		branch_status(b, (Evspace__Status *)wire_copy(&frame->header->status->base));
		break;
	case EVSPACE__FRAME__KIND_ERROR:
		failover_miss(b, MISSING_REFUSED, frame->header->error->text, BEHIND);
		break;
	default:
		return;
	}
	failover_settle(b);
}

static void branch_up(struct child_user *user)
{
	struct muster_failover *b = (struct muster_failover *)user;
	uint32_t deadline_ms = b->muster->deadline_ms, margin = deadline_ms / 10 + 2;
	bool fits;
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
	link_send_pass(child_link(user), ask.place->pass, ask.signer);
	fits = link_send(child_link(user), &frame, NULL) == 0 || errno != EMSGSIZE;
	wire_place_free(ask.place);
	if (fits)
		return;
	failover_miss(b, MISSING_REFUSED, SEAT_UNSENT, BEHIND);
	failover_settle(b);
}

static void branch_down(struct child_user *user)
{
	struct muster_failover *b = (struct muster_failover *)user;

	if (!b->settled)
		failover_miss(b, MISSING_UNREACHABLE, child_complaint(user), BEHIND);
	failover_settle(b);
}

static const struct child_events branch_events = {
	.up = branch_up,
	.down = branch_down,
	.frame = branch_frame,
};

/* ---- life ---- */

/* What was said on the branch is below @status now. */
static void branch_give(struct muster_failover *b, Evspace__Status *status)
{
	for (size_t i = 0; i < b->seats.n; i++) {
		struct seat *seat = &b->seats.list[i];

		if (seat->said)
			status->below[status->n_below++] = seat->said;
		seat->said = NULL;
	}
}

static void muster_end(evutil_socket_t fd, short what, void *arg)
{
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__Status status = EVSPACE__STATUS__INIT;
	struct muster *m = arg;

	(void)fd;
	(void)what;
	for (size_t i = 0; i < m->n_branches; i++) {
		struct muster_failover *b = &m->failovers[i];
		bool down = child_down_since(&b->user) != 0;

		if (!b->settled)
			failover_miss(b, down ? MISSING_UNREACHABLE : MISSING_LATE,
				      down ? child_complaint(&b->user)
					   : "it has not answered in time",
				      BEHIND);
		b->settled = true;
	}
	status.scope = m->number;
	status.below = memory_new(plan_size(m->place).places, sizeof(*status.below));
	for (size_t i = 0; i < m->n_branches; i++)
		branch_give(&m->failovers[i], &status);
	status.asked_ns = m->asked_ns;
	status.sent_ns = clock_real_ns();
	frame.kind_case = EVSPACE__FRAME__KIND_STATUS;
	frame.status = &status;
	m->host->answer(m->host->arg, m->up, &frame);
	for (size_t i = 0; i < status.n_below; i++)
		evspace__status__free_unpacked(status.below[i], NULL);
	free(status.below);
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
		struct muster_failover *b = &m->failovers[i];

		b->muster = m;
		b->place = p->children[i];
		seats_init(&b->seats, b->place, false);
		if (!b->place->address[0]) {
			failover_miss(b, MISSING_UNREACHABLE, "", BEHIND);
			failover_settle(b);
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
	m->failovers = memory_new(place->n_children + 1, sizeof(*m->failovers));
	muster_begin(m);
	return m;
}

static void branch_end(struct muster_failover *b)
{
	child_leave(&b->user);
	for (size_t i = 0; i < b->seats.n; i++) {
		if (b->seats.list[i].said)
			evspace__status__free_unpacked(b->seats.list[i].said, NULL);
	}
	seats_fini(&b->seats);
}

void muster_free(struct muster *m)
{
	if (!m)
		return;
	event_free(m->end);
	for (size_t i = 0; i < m->n_branches; i++)
		branch_end(&m->failovers[i]);
	free(m->failovers);
	wire_plan_place_free(m->place);
	evspace__status_ask__free_unpacked(m->ask, NULL);
	free(m);
}

/* ---- what fits ---- */

struct muster_share {
	Evspace__Status **status;
	size_t bytes;
};

/* The largest first. */
static int share_order(const void *a, const void *b)
{
	const struct muster_share *left = a, *right = b;

	return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

/* Returns by how many bytes it is less now. */
static size_t share_cut(struct muster_share *share)
{
	Evspace__Status *s = *share->status;
	char *text = memory_format("its status, %zu bytes, is more than fits into an answer beside "
				   "those of the others; remove ended runs there (evspace purge)",
				   share->bytes);
	size_t bytes;

	*share->status = status_missing(s->node, s->cluster, MISSING_REFUSED, text);
	free(text);
	evspace__status__free_unpacked(s, NULL);
	bytes = evspace__status__get_packed_size(*share->status);
	return share->bytes > bytes ? share->bytes - bytes : 0;
}

void muster_fit(Evspace__Frame *frame)
{
	Evspace__Status *status = frame->status;
	size_t total = evspace__frame__get_packed_size(frame);
	struct muster_share *shares;

	if (total <= WIRE_HEADER_MAX)
		return;
	shares = memory_new(status->n_below + 1, sizeof(*shares));
	for (size_t i = 0; i < status->n_below; i++)
		shares[i] = (struct muster_share){
			&status->below[i], evspace__status__get_packed_size(status->below[i])};
	qsort(shares, status->n_below, sizeof(*shares), share_order);
	for (size_t i = 0; i < status->n_below && total > WIRE_HEADER_MAX; i++)
		total -= share_cut(&shares[i]);
	free(shares);
}
