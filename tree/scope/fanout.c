/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes a question on to child agents, and waits for their answers until the deadline. */
#include "tree/scope/fanout.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/scope/ask.h"
#include "tree/wire/wire-place.h"

#define BEHIND "it is behind one that does not answer"

/* Give reasons for the hosts without an answer: one for the child itself, one for those behind
 * it. */
static void branch_miss(struct fanout_branch *b, enum missing_why why, const char *text,
			const char *behind)
{
	for (size_t i = 0; i < b->seats.n; i++) {
		struct seat *seat = &b->seats.list[i];

		if (!seat->said)
			seat->said = b->fanout->kind->miss(b, seat->place, why, text, behind);
	}
}

bool fanout_hold(struct fanout_branch *b, size_t bytes)
{
	struct error e;

	if (quota_hold(&b->fanout->held, "", bytes, &e) == 0)
		return true;
	branch_miss(b, MISSING_REFUSED, e.text, BEHIND);
	return false;
}

void fanout_wait(struct fanout *f)
{
	f->pending++;
}

void fanout_settle(struct fanout *f)
{
	uint64_t now = clock_mono_ns(), us;
	struct timeval in;

	if (--f->pending > 0)
		return;
	us = f->settled_ns > now ? (f->settled_ns - now) / 1000 : 0;
	in = (struct timeval){.tv_sec = (time_t)(us / 1000000),
			      .tv_usec = (suseconds_t)(us % 1000000)};
	/* from the loop only, so that users may leave their children; in turn, which timers of the
	 * same moment are not */
	if (us)
		evtimer_add(f->end, &in);
	else
		event_active(f->end, EV_TIMEOUT, 1);
}

static void branch_settle(struct fanout_branch *b)
{
	if (b->settled)
		return;
	b->settled = true;
	fanout_settle(b->fanout);
}

static void branch_up(struct child_user *user)
{
	struct fanout_branch *b = (struct fanout_branch *)user;
	const struct fanout *f = b->fanout;
	uint32_t margin = f->deadline_ms / 10 + f->kind->spare_ms;
	Evspace__Place *place;
	bool fits;

	if (b->settled)
		return;
	margin = margin > 2 ? margin : 2;
	place = wire_place_new(b->place);
	b->sent_ns = clock_real_ns();
	link_send_pass(child_link(user), place->pass, f->signer);
	fits = f->kind->ask(b, place, f->deadline_ms > margin ? f->deadline_ms - margin : 1) == 0 ||
	       errno != EMSGSIZE;
	wire_place_free(place);
	if (fits)
		return;
	branch_miss(b, MISSING_REFUSED, SEAT_UNSENT, BEHIND);
	branch_settle(b);
}

static void branch_down(struct child_user *user)
{
	struct fanout_branch *b = (struct fanout_branch *)user;

	if (b->fanout->awaits)
		return;
	if (!b->settled)
		branch_miss(b, MISSING_UNREACHABLE, child_complaint(user), BEHIND);
	branch_settle(b);
}

static void branch_frame(struct child_user *user, const struct frame *frame)
{
	struct fanout_branch *b = (struct fanout_branch *)user;
	const Evspace__Frame *header = frame->header;
	size_t refused = 0;

	if (b->settled)
		return;
	if (header->kind_case == EVSPACE__FRAME__KIND_ERROR) {
		branch_miss(b, MISSING_REFUSED, header->error->text, BEHIND);
	} else if (b->fanout->kind->take(b, header, &refused)) {
		seats_refuse(user, refused);
		branch_miss(b, MISSING_REFUSED, SEAT_UNSAID, SEAT_UNSAID);
	} else {
		return;
	}
	branch_settle(b);
}

static const struct child_events branch_events = {
	.up = branch_up,
	.down = branch_down,
	.frame = branch_frame,
};

/* Nobody wants to know any more: it is not to wait for others. */
static void branch_close(struct fanout_branch *b)
{
	Evspace__Close close = EVSPACE__CLOSE__INIT;

	close.scope = b->user.scope;
	if (!b->settled && b->fanout->awaits && child_link(&b->user))
		link_send(child_link(&b->user), &WIRE_FRAME(CLOSE, close, &close), NULL);
}

static void fanout_end(evutil_socket_t fd, short what, void *arg)
{
	struct fanout *f = arg;

	(void)fd;
	(void)what;
	for (size_t i = 0; i < f->n_branches; i++) {
		struct fanout_branch *b = &f->branches[i];
		bool down = child_down_since(&b->user) != 0;

		if (!b->settled)
			branch_miss(b, down ? MISSING_UNREACHABLE : MISSING_LATE,
				    down ? child_complaint(&b->user)
					 : "it has not answered in time",
				    BEHIND);
		branch_close(b);
		b->settled = true;
	}
	f->kind->end(f);
}

/* What is kept for each place, besides its texts: the place, its seat, a branch. */
#define PLACE_BYTES 512

int fanout_init(struct fanout *f, const struct fanout_kind *kind, struct link *up,
		const struct fanout_asked *asked, struct error *e)
{
	const char *peer = asked->peer[0] || !up ? asked->peer : link_peer(up)->name;
	size_t bytes = asked->bytes;

	*f = (struct fanout){
		.kind = kind, .up = up, .number = asked->number, .awaits = asked->awaits};
	f->deadline_ms = asked->deadline_ms ? asked->deadline_ms : kind->deadline_ms;
	if (f->deadline_ms > ASK_DEADLINE_MOST_MS)
		f->deadline_ms = ASK_DEADLINE_MOST_MS;
	f->settled_ns = clock_mono_ns() + UINT64_C(1000000) * (asked->settle_ms < f->deadline_ms
								       ? asked->settle_ms
								       : f->deadline_ms);
	f->place = wire_plan_place(asked->place, e);
	if (!f->place)
		return -1;
	bytes += evspace__place__get_packed_size(asked->place) +
		 plan_size(f->place).places * PLACE_BYTES;
	if (quota_hold(&f->held, peer, bytes, e) == 0)
		return 0;
	wire_plan_place_free(f->place);
	return -1;
}

void fanout_begin(struct fanout *f, struct event_base *base, struct child_set *children)
{
	const struct plan_place *p = f->place;
	struct timeval within = {f->deadline_ms / 1000, f->deadline_ms % 1000 * 1000};

	f->end = evtimer_new(base, fanout_end, f);
	if (!f->end)
		abort();
	evtimer_add(f->end, &within);
	f->branches = memory_new(p->n_children + 1, sizeof(*f->branches));
	f->n_branches = p->n_children;
	f->pending = p->n_children + 1;
	for (size_t i = 0; i < p->n_children; i++) {
		struct fanout_branch *b = &f->branches[i];

		b->fanout = f;
		b->place = p->children[i];
		seats_init(&b->seats, b->place, f->kind->leaves);
		if (b->place->address[0]) {
			child_join(children, &b->user, b->place->node, b->place->address,
				   &branch_events);
		} else {
			branch_miss(b, MISSING_UNREACHABLE, "", BEHIND);
			branch_settle(b);
		}
	}
	if (f->kind->here)
		f->kind->here(f);
	fanout_settle(f);
}

void fanout_fini(struct fanout *f)
{
	event_free(f->end);
	for (size_t i = 0; i < f->n_branches; i++) {
		struct fanout_branch *b = &f->branches[i];

		branch_close(b);
		child_leave(&b->user);
		for (size_t k = 0; k < b->seats.n; k++) {
			if (b->seats.list[k].said)
				f->kind->said_free(b->seats.list[k].said);
		}
		seats_fini(&b->seats);
	}
	free(f->branches);
	wire_plan_place_free(f->place);
	quota_release(&f->held);
}
