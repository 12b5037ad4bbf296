/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a child's part on a stand-in when the child is away, and gives it back when it returns. */
#include "tree/branch.h"

#include <event2/event.h>
#include <stdlib.h>

#include "pathmap/memory.h"

/* The ways by which an answer may come. */
enum way { WAY_CHILD = 1, WAY_STANDIN };

/* How soon a stand-in that is not needed any more is looked at again. */
#define TIDY_AGAIN_MS 50

struct branch {
	const struct hop_scope *scope;
	const struct plan_place *place;
	size_t input;
	struct hop *child;
	struct hop *standin;	  /* NULL: not needed, or not there yet */
	struct plan_place *aside; /* the stand-in's part */
	size_t next;		  /* alternate that is tried next; n_alternates: this host */
	bool standing_in;	  /* asks go to the stand-in */
	bool failed;		  /* the stand-in, too */
	bool settled;
	struct event *tidy; /* frees and makes stand-ins, from the loop */
};

/* ---- the part as another host runs it ---- */

static void text_set(char **text, const char *to)
{
	free(*text);
	*text = memory_copy(to);
}

/* What the child holds itself stays with it: a part of its own below the stand-in's. */
static void part_split_leaf(Evspace__Place *part, const struct plan_place *place)
{
	struct plan_place alone = *place;
	Evspace__Place **children = memory_new(part->n_children + 1, sizeof(*children));

	alone.n_joined = alone.n_children = alone.n_alternates = 0;
	for (size_t i = 0; i < part->n_children; i++)
		children[i] = part->children[i];
	children[part->n_children++] = wire_place_new(&alone);
	free(part->children);
	part->children = children;
	for (size_t i = 0; i < part->n_local; i++)
		evspace__stage__free_unpacked(part->local[i], NULL);
	part->n_local = 0;
	part->leaf = false;
}

static struct plan_place *part_aside(const struct plan_place *place, const char *node,
				     const char *address)
{
	Evspace__Place *part = wire_place_new(place);
	struct plan_place *aside;
	struct error e;

	part->index = place->index % PLAN_PLACES + PLAN_PLACES;
	text_set(&part->node, node);
	text_set(&part->address, address);
	for (size_t i = 0; i < part->n_alternates; i++)
		evspace__alternate__free_unpacked(part->alternates[i], NULL);
	part->n_alternates = 0;
	if (place->leaf)
		part_split_leaf(part, place);
	aside = wire_plan_place(part, &e);
	wire_place_free(part);
	return aside;
}

/* ---- standing in ---- */

/* Nobody is put in a leaf's place, nor in a gateway's unless the map names who. */
static bool branch_replaceable(const struct branch *b)
{
	return b->place->n_children > 0 && (!b->place->gateway || b->place->n_alternates > 0);
}

static const struct hop_events standin_events;

static void standin_begin(struct branch *b)
{
	const struct plan_place *p = b->place;
	bool here;

	if (b->next >= p->n_alternates && p->gateway)
		b->next = 0;
	here = b->next >= p->n_alternates;
	b->failed = false;
	b->aside =
		here ? part_aside(p, b->scope->self, b->scope->self_address)
		     : part_aside(p, p->alternates[b->next].node, p->alternates[b->next].address);
	b->next = here ? 0 : b->next + 1;
	if (b->aside)
		b->standin = hop_new(b->scope, b->aside, b->input, WAY_STANDIN, &standin_events, b);
}

static void standin_end(struct branch *b, bool keep)
{
	hop_free(b->standin, keep);
	wire_plan_place_free(b->aside);
	b->standin = NULL;
	b->aside = NULL;
	b->standing_in = false;
}

static void tidy_in(struct branch *b, int ms)
{
	struct timeval wait = {0, ms * 1000};

	evtimer_add(b->tidy, &wait);
}

static void branch_tidy(evutil_socket_t fd, short what, void *arg)
{
	struct branch *b = arg;

	(void)fd;
	(void)what;
	if (hop_ready(b->child)) {
		/* What the stand-in was asked for before comes through it still. */
		if (b->standin && gather_awaits(b->scope->gather, b->input, WAY_STANDIN) > 0)
			tidy_in(b, TIDY_AGAIN_MS);
		else
			standin_end(b, true);
		b->next = 0;
		return;
	}
	if (b->standin ? !b->failed : hop_reachable(b->child))
		return;
	standin_end(b, true);
	standin_begin(b);
}

static void branch_settle(struct branch *b)
{
	if (b->settled)
		return;
	b->settled = true;
	b->scope->settled(b->scope->arg);
}

/* ---- what hops tell ---- */

static void child_settled(void *arg, struct hop *hop)
{
	struct branch *b = arg;

	if (hop_ready(hop) || !branch_replaceable(b))
		branch_settle(b);
}

static void child_changed(void *arg, struct hop *hop)
{
	struct branch *b = arg;

	if (!branch_replaceable(b))
		return;
	if (hop_ready(hop))
		b->standing_in = false;
	else
		b->standing_in = b->standin && hop_reachable(b->standin);
	if (hop_ready(hop) || !hop_reachable(hop))
		tidy_in(b, 0);
}

static void standin_settled(void *arg, struct hop *hop)
{
	(void)hop;
	branch_settle(arg);
}

static void standin_changed(void *arg, struct hop *hop)
{
	struct branch *b = arg;

	/* Its children may take a while: it is asked at once, for those that it has. */
	b->standing_in = hop_reachable(hop) && !hop_ready(b->child);
	b->failed = !hop_reachable(hop);
	if (b->failed)
		tidy_in(b, TIDY_AGAIN_MS);
}

static const struct hop_events child_hop_events = {
	.settled = child_settled,
	.changed = child_changed,
};

static const struct hop_events standin_events = {
	.settled = standin_settled,
	.changed = standin_changed,
};

/* ---- as one input ---- */

static struct hop *branch_hop(const struct branch *b)
{
	return b->standing_in ? b->standin : b->child;
}

unsigned branch_ask(struct branch *b, const Evspace__Ask *ask)
{
	return hop_ask(branch_hop(b), ask);
}

bool branch_leads_to(const struct branch *b, const uint32_t *leaves, size_t n)
{
	return hop_leads_to(b->child, leaves, n);
}

void branch_miss(struct branch *b, struct wave *w, bool late)
{
	hop_miss(branch_hop(b), w, late);
}

void branch_unready(const struct branch *b, branch_report *report, void *arg)
{
	static char text[] = "it has not answered yet";
	const struct hop_unready waiting = {.node = b->place->node, .text = text}, *list;
	size_t n = hop_unready(b->child, &list);

	if (n == 0 && !hop_ready(b->child))
		report(arg, &waiting);
	for (size_t i = 0; i < n; i++)
		report(arg, &list[i]);
}

struct branch *branch_new(const struct hop_scope *scope, const struct plan_place *place,
			  size_t input)
{
	struct branch *b = memory_new(1, sizeof(*b));

	b->scope = scope;
	b->place = place;
	b->input = input;
	b->tidy = evtimer_new(scope->base, branch_tidy, b);
	if (!b->tidy)
		abort();
	b->child = hop_new(scope, place, input, WAY_CHILD, &child_hop_events, b);
	return b;
}

void branch_free(struct branch *b, bool keep)
{
	if (!b)
		return;
	event_free(b->tidy);
	standin_end(b, keep);
	hop_free(b->child, keep);
	free(b);
}
