/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries an order out here, passes it on to child agents, and joins their answers. */
#include "tree/order.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/memory.h"

/* What an order may take at most; what it takes when it does not say. */
#define DEADLINE_MOST_MS 600000u
#define DEADLINE_MS	 1000u

/* Texts that child agents send are cut at this. */
#define TEXT_MOST 255

/* The way to one child place. */
struct branch {
	struct child_user user; /* first: callbacks get back to the branch from it */
	struct order *order;
	const struct plan_place *place;
	bool settled;
};

struct order {
	const struct order_host *host;
	struct link *up;
	uint32_t number;
	Evspace__SwitchAsk *ask; /* a copy, without its place */
	char run[64];
	struct plan_place *place;
	struct branch *branches;
	size_t n_branches, pending;
	struct event *end; /* by the deadline, or when all have answered */
	struct classes *classes;
	Evspace__Host *hosts; /* one for each leaf; their texts are owned */
	size_t n_hosts, n_leaves;
};

static size_t leaves_of(const struct plan_place *p)
{
	size_t n = p->leaf;

	for (size_t i = 0; i < p->n_children; i++)
		n += leaves_of(p->children[i]);
	return n;
}

/* ---- what came of it ---- */

/* Room for what one leaf says; NULL when more have spoken than there are. */
static Evspace__Host *host_add(struct order *o, const char *name, const char *text)
{
	Evspace__Host *h;

	if (o->n_hosts == o->n_leaves)
		return NULL;
	h = &o->hosts[o->n_hosts++];
	evspace__host__init(h);
	h->name = memory_copy_bytes(name, strnlen(name, TEXT_MOST));
	h->text = memory_copy_bytes(text, strnlen(text, TEXT_MOST));
	return h;
}

static char *leaf_name(const struct plan_place *p)
{
	return memory_format("/%s/%s", p->cluster[0] ? p->cluster : "-", p->node);
}

/* All leaves below @p have not answered. */
static void order_miss(struct order *o, const struct plan_place *p, enum missing_why why,
		       const char *text)
{
	if (p->leaf) {
		char *name = leaf_name(p);
		Evspace__Host *h = host_add(o, name, text);

		if (h)
			h->why = why;
		free(name);
	}
	for (size_t i = 0; i < p->n_children; i++)
		order_miss(o, p->children[i], why, text);
}

/* Where the entry has nothing of the run, who has says which it is. */
static void order_run(struct order *o, const char *run)
{
	if (!o->run[0])
		snprintf(o->run, sizeof(o->run), "%s", run);
}

static void order_carry(struct order *o)
{
	Evspace__Host said = EVSPACE__HOST__INIT, *h;
	struct order_said words = {"", ""};

	said.name = leaf_name(o->place);
	o->host->carry(o->host->arg, o->ask, o->place, o->classes, &said, &words);
	order_run(o, words.run);
	h = host_add(o, said.name, said.text);
	if (h) {
		h->processes = said.processes;
		h->changed = said.changed;
		h->discarded = said.discarded;
		h->written = said.written;
		h->held = said.held;
		h->lost = said.lost;
	}
	free(said.name);
}

static void order_answer(struct order *o)
{
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__Switched switched = EVSPACE__SWITCHED__INIT;
	Evspace__Host **list = memory_new(o->n_hosts + 1, sizeof(*list));

	for (size_t i = 0; i < o->n_hosts; i++)
		list[i] = &o->hosts[i];
	switched.scope = o->number;
	switched.run = o->run;
	switched.n_hosts = o->n_hosts;
	switched.hosts = list;
	switched.n_classes = classes_count(o->classes);
	switched.classes = classes_wire(o->classes, NULL);
	frame.kind_case = EVSPACE__FRAME__KIND_SWITCHED;
	frame.switched = &switched;
	link_send(o->up, &frame, NULL);
	free(switched.classes);
	free(list);
}

/* From the loop only, so that branches may be left. */
static void order_end(evutil_socket_t fd, short what, void *arg)
{
	struct order *o = arg;

	(void)fd;
	(void)what;
	for (size_t i = 0; i < o->n_branches; i++) {
		struct branch *b = &o->branches[i];

		if (!b->settled)
			order_miss(o, b->place,
				   child_down_since(&b->user) ? MISSING_UNREACHABLE : MISSING_LATE,
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

static void branch_up(struct child_user *user)
{
	struct branch *b = (struct branch *)user;
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
	link_send_pass(child_link(user), &ask.place->pass);
	link_send(child_link(user), &frame, NULL);
	wire_place_free(ask.place);
}

static void branch_settle(struct branch *b)
{
	if (b->settled)
		return;
	b->settled = true;
	order_settle(b->order);
}

static void branch_down(struct child_user *user)
{
	struct branch *b = (struct branch *)user;

	if (!b->settled)
		order_miss(b->order, b->place, MISSING_UNREACHABLE, "");
	branch_settle(b);
}

static void branch_switched(struct branch *b, const Evspace__Switched *s)
{
	struct order *o = b->order;

	for (size_t i = 0; i < s->n_hosts; i++) {
		const Evspace__Host *from = s->hosts[i];
		Evspace__Host *h = host_add(o, from->name, from->text);

		if (!h)
			break;
		h->processes = from->processes;
		h->changed = from->changed;
		h->discarded = from->discarded;
		h->written = from->written;
		h->held = from->held;
		h->lost = from->lost;
		h->why = from->why;
	}
	for (size_t i = 0; i < s->n_classes; i++)
		classes_add_wire(o->classes, s->classes[i]);
	order_run(o, s->run);
}

static void branch_frame(struct child_user *user, const struct frame *frame)
{
	struct branch *b = (struct branch *)user;

	if (b->settled)
		return;
	switch (frame->header->kind_case) {
	case EVSPACE__FRAME__KIND_SWITCHED:
		branch_switched(b, frame->header->switched);
		break;
	case EVSPACE__FRAME__KIND_ERROR:
		order_miss(b->order, b->place, MISSING_REFUSED, frame->header->error->text);
		break;
	default:
		return;
	}
	branch_settle(b);
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
		struct branch *b = &o->branches[i];

		b->order = o;
		b->place = p->children[i];
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
	o->n_leaves = leaves_of(place);
	o->hosts = memory_new(o->n_leaves + 1, sizeof(*o->hosts));
	o->branches = memory_new(place->n_children + 1, sizeof(*o->branches));
	o->classes = classes_new();
	order_begin(o);
	return o;
}

const char *order_outcome(const struct order *o, char *buf, size_t n)
{
	unsigned long processes = 0, hosts = 0;
	const char *why = "";

	for (size_t i = 0; i < o->n_hosts; i++) {
		processes += o->hosts[i].processes;
		hosts += o->hosts[i].why == 0;
		if (o->hosts[i].text[0])
			why = o->hosts[i].text;
	}
	snprintf(buf, n, "%lu process%s on %lu of %zu host%s%s%s", processes,
		 processes == 1 ? "" : "es", hosts, o->n_leaves, o->n_leaves == 1 ? "" : "s",
		 why[0] ? "; " : "", why);
	return buf;
}

void order_free(struct order *o)
{
	if (!o)
		return;
	event_free(o->end);
	for (size_t i = 0; i < o->n_branches; i++)
		child_leave(&o->branches[i].user);
	for (size_t i = 0; i < o->n_hosts; i++) {
		free(o->hosts[i].name);
		free(o->hosts[i].text);
	}
	free(o->hosts);
	free(o->branches);
	classes_free(o->classes);
	evspace__switch_ask__free_unpacked(o->ask, NULL);
	wire_plan_place_free(o->place);
	free(o);
}
