/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries an order out here, passes it on to child agents, and joins their answers. */
#include "tree/scope/order.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/plural.h"
#include "pathmap/base/utf8.h"
#include "tree/scope/seats.h"
#include "tree/wire/wire-place.h"

/* What an order may take at most; what it takes when it does not say. */
#define DEADLINE_MOST_MS 600000u
#define DEADLINE_MS	 1000u

/* Texts that child agents send are cut at this. */
#define TEXT_MOST 255

/* The way to one child place. */
struct order_failover {
	struct child_user user; /* first: callbacks get back to the branch from it */
	struct order *order;
	const struct plan_place *place;
	struct seats seats; /* an Evspace__Host for each leaf from there on, the branch's */
	bool settled;
};

struct order {
	const struct order_host *host;
	struct link *up;
	uint32_t number;
	Evspace__SwitchAsk *ask; /* a copy, without its place */
	char run[64];
	struct plan_place *place;
	struct order_failover *failovers;
	size_t n_branches, pending;
	struct event *end; /* by the deadline, or when all have answered */
	struct classes *classes;
	Evspace__Host *here; /* what came of it here; NULL: this is no leaf */
	size_t n_leaves;
};

/* ---- what came of it ---- */

static char *leaf_name(const struct plan_place *p)
{
	return memory_format("/%s/%s", p->cluster[0] ? p->cluster : "-", p->node);
}

static Evspace__Host *host_new(const struct plan_place *p, const char *text)
{
	Evspace__Host *h = memory_new(1, sizeof(*h));

	evspace__host__init(h);
	h->name = leaf_name(p);
	h->text = memory_copy_bytes(text, strnlen(text, TEXT_MOST));
	return h;
}

/* What @from says, but for its texts. */
static void host_count(Evspace__Host *h, const Evspace__Host *from)
{
	h->processes = from->processes;
	h->changed = from->changed;
	h->discarded = from->discarded;
	h->written = from->written;
	h->held = from->held;
	h->lost = from->lost;
	h->why = from->why;
}

/* Leaves of which nothing was said have not answered. */
static void failover_miss(struct order_failover *b, enum missing_why why, const char *text)
{
	for (size_t i = 0; i < b->seats.n; i++) {
		struct seat *seat = &b->seats.list[i];
		Evspace__Host *h;

		if (seat->said)
			continue;
		seat->said = h = host_new(seat->place, text);
		h->why = why;
	}
}

/* Where the entry has nothing of the run, who has says which it is. */
static void order_run(struct order *o, const char *run)
{
	if (!o->run[0] && o->host->is_run(run))
		snprintf(o->run, sizeof(o->run), "%s", run);
}

static void order_carry(struct order *o)
{
	Evspace__Host said = EVSPACE__HOST__INIT;
	struct order_said words = {"", ""};

	said.name = leaf_name(o->place);
	o->host->carry(o->host->arg, o->ask, o->place, o->classes, &said, &words);
	order_run(o, words.run);
	o->here = host_new(o->place, said.text);
	host_count(o->here, &said);
	free(said.name);
}

/* Those that have said something so far; the list is the caller's to free. */
static Evspace__Host **order_hosts(const struct order *o, size_t *n)
{
	Evspace__Host **list = memory_new(o->n_leaves + 1, sizeof(*list));

	*n = 0;
	if (o->here)
		list[(*n)++] = o->here;
	for (size_t i = 0; i < o->n_branches; i++) {
		const struct seats *seats = &o->failovers[i].seats;

		for (size_t k = 0; k < seats->n; k++) {
			if (seats->list[k].said)
				list[(*n)++] = seats->list[k].said;
		}
	}
	return list;
}

static void order_answer(struct order *o)
{
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__Switched switched = EVSPACE__SWITCHED__INIT;

	switched.scope = o->number;
	switched.run = o->run;
	switched.hosts = order_hosts(o, &switched.n_hosts);
	switched.n_classes = classes_count(o->classes);
	switched.classes = classes_wire(o->classes, NULL);
	frame.kind_case = EVSPACE__FRAME__KIND_SWITCHED;
	frame.switched = &switched;
	if (link_send(o->up, &frame, NULL) < 0 && errno == EMSGSIZE)
		link_send_error(o->up, o->number, EMSGSIZE,
				"what came of the order is more than fits into a frame; order "
				"fewer hosts at once");
	free(switched.classes);
	free(switched.hosts);
}

/* From the loop only, so that branches may be left. */
static void order_end(evutil_socket_t fd, short what, void *arg)
{
	struct order *o = arg;

	(void)fd;
	(void)what;
	for (size_t i = 0; i < o->n_branches; i++) {
		struct order_failover *b = &o->failovers[i];

		if (!b->settled)
			failover_miss(
				b, child_down_since(&b->user) ? MISSING_UNREACHABLE : MISSING_LATE,
				"");
		b->settled = true;
	}
	order_answer(o);
	o->host->done(o->host->arg, o);
}

static void order_settle(struct order *o)
{
	if (--o->pending == 0)
		event_active(o->end, EV_TIMEOUT, 1);
}

/* ---- children ---- */

static void failover_settle(struct order_failover *b)
{
	if (b->settled)
		return;
	b->settled = true;
	order_settle(b->order);
}

static void branch_up(struct child_user *user)
{
	struct order_failover *b = (struct order_failover *)user;
	bool fits;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__SwitchAsk ask = *b->order->ask;
	uint32_t margin = ask.deadline_ms / 10 > 2 ? ask.deadline_ms / 10 : 2;

	if (b->settled)
		return;
	ask.scope = user->scope;
	ask.run = b->order->run;
	ask.deadline_ms = ask.deadline_ms > margin ? ask.deadline_ms - margin : 1;
	ask.place = wire_place_new(b->place);
	frame.kind_case = EVSPACE__FRAME__KIND_SWITCH_ASK;
	frame.switch_ask = &ask;
	link_send_pass(child_link(user), ask.place->pass, ask.signer);
	fits = link_send(child_link(user), &frame, NULL) == 0 || errno != EMSGSIZE;
	wire_place_free(ask.place);
	if (fits)
		return;
	failover_miss(b, MISSING_REFUSED, SEAT_UNSENT);
	failover_settle(b);
}

static void branch_down(struct child_user *user)
{
	struct order_failover *b = (struct order_failover *)user;

	if (!b->settled)
		failover_miss(b, MISSING_UNREACHABLE, "");
	failover_settle(b);
}

/* Returns whether it is what the child may say. */
static bool branch_take(struct order_failover *b, const Evspace__Host *from)
{
	const char *node = strrchr(from->name, '/');
	struct seat *seat = seats_vacant(&b->seats, node ? node + 1 : from->name);
	Evspace__Host *h;

	if (!seat)
		return false;
	seat->said = h = host_new(seat->place, from->text);
	host_count(h, from);
	return true;
}

static void branch_switched(struct order_failover *b, const Evspace__Switched *s)
{
	struct order *o = b->order;
	size_t refused = 0;

	for (size_t i = 0; i < s->n_hosts; i++)
		refused += !branch_take(b, s->hosts[i]);
	seats_refuse(&b->user, refused);
	failover_miss(b, MISSING_REFUSED, SEAT_UNSAID);
	for (size_t i = 0; i < s->n_classes; i++)
		classes_add_wire(o->classes, s->classes[i]);
	order_run(o, s->run);
}

static void branch_frame(struct child_user *user, const struct frame *frame)
{
	struct order_failover *b = (struct order_failover *)user;

	if (b->settled)
		return;
	switch (frame->header->kind_case) {
	case EVSPACE__FRAME__KIND_SWITCHED:
		branch_switched(b, frame->header->switched);
		break;
	case EVSPACE__FRAME__KIND_ERROR:
		failover_miss(b, MISSING_REFUSED, frame->header->error->text);
		break;
	default:
		return;
	}
	failover_settle(b);
}

static const struct child_events branch_events = {
	.up = branch_up,
	.down = branch_down,
	.frame = branch_frame,
};

/* ---- life ---- */

static Evspace__SwitchAsk *ask_copy(const Evspace__SwitchAsk *ask)
{
	Evspace__SwitchAsk bare = *ask, *copy;

	bare.place = NULL;
	copy = (Evspace__SwitchAsk *)wire_copy(&bare.base);
	if (copy->deadline_ms == 0)
		copy->deadline_ms = DEADLINE_MS;
	if (copy->deadline_ms > DEADLINE_MOST_MS)
		copy->deadline_ms = DEADLINE_MOST_MS;
	return copy;
}

static void order_begin(struct order *o)
{
	const struct plan_place *p = o->place;
	struct timeval within = {o->ask->deadline_ms / 1000, o->ask->deadline_ms % 1000 * 1000};

	o->end = evtimer_new(o->host->base, order_end, o);
	if (!o->end)
		abort();
	evtimer_add(o->end, &within);
	o->n_branches = p->n_children;
	o->pending = p->n_children + 1;
	for (size_t i = 0; i < p->n_children; i++) {
		struct order_failover *b = &o->failovers[i];

		b->order = o;
		b->place = p->children[i];
		seats_init(&b->seats, b->place, true);
		child_join(o->host->children, &b->user, b->place->node, b->place->address,
			   &branch_events);
	}
	if (p->leaf)
		order_carry(o);
	order_settle(o);
}

struct order *order_new(const struct order_host *host, struct link *up,
			const Evspace__SwitchAsk *ask, struct error *e)
{
	struct plan_place *place;
	struct order *o;

	if (!ask->place) {
		errno = EPROTO;
		errorf(e, "a switching of classes without a place");
		return NULL;
	}
	place = wire_plan_place(ask->place, e);
	if (!place)
		return NULL;
	o = memory_new(1, sizeof(*o));
	o->host = host;
	o->up = up;
	o->number = ask->scope;
	o->ask = ask_copy(ask);
	snprintf(o->run, sizeof(o->run), "%s", ask->run);
	o->place = place;
	o->n_leaves = plan_size(place).leaves;
	o->failovers = memory_new(place->n_children + 1, sizeof(*o->failovers));
	o->classes = classes_new();
	order_begin(o);
	return o;
}

bool order_changed(const struct order *o)
{
	Evspace__Host **hosts;
	bool changed = false;
	size_t n;

	hosts = order_hosts(o, &n);
	for (size_t i = 0; i < n; i++)
		changed |= hosts[i]->changed > 0;
	free(hosts);
	return changed;
}

const char *order_outcome(const struct order *o, char *buf, size_t n)
{
	unsigned long processes = 0, answered = 0;
	char why[UTF8_QUOTED] = "";
	Evspace__Host **hosts;
	size_t n_hosts;

	hosts = order_hosts(o, &n_hosts);
	for (size_t i = 0; i < n_hosts; i++) {
		processes += hosts[i]->processes;
		answered += hosts[i]->why == 0;
		if (hosts[i]->text[0])
			utf8_quote(hosts[i]->text, why);
	}
	free(hosts);
	snprintf(buf, n, "%lu process%s on %lu of %zu host%s%s%s", processes,
		 plural(processes, "es"), answered, o->n_leaves, plural(o->n_leaves, "s"),
		 why[0] ? "; " : "", why);
	return buf;
}

static void branch_end(struct order_failover *b)
{
	child_leave(&b->user);
	for (size_t i = 0; i < b->seats.n; i++) {
		if (b->seats.list[i].said)
			evspace__host__free_unpacked(b->seats.list[i].said, NULL);
	}
	seats_fini(&b->seats);
}

void order_free(struct order *o)
{
	if (!o)
		return;
	event_free(o->end);
	for (size_t i = 0; i < o->n_branches; i++)
		branch_end(&o->failovers[i]);
	if (o->here)
		evspace__host__free_unpacked(o->here, NULL);
	free(o->failovers);
	classes_free(o->classes);
	evspace__switch_ask__free_unpacked(o->ask, NULL);
	wire_plan_place_free(o->place);
	free(o);
}
