/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a child's part on a stand-in while the child is away, and gives it back when it returns. */
#include "tree/scope/failover.h"
#include "tree/wire/wire-place.h"

#include <event2/event.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* The ways by which an answer may come. */
enum way { WAY_CHILD = 1, WAY_STANDIN };

/* After this, a stand-in that is not needed is checked again, or the next one is tried. */
#define TIDY_AGAIN_MS 50u

/* A stand-in must be reachable within this time. */
#define REACH_MS 400u

/* The same for the child, while all hosts are dialled at once. */
#define FIRST_MS 1000u

/* All of these times grow with each round of the stand-ins, up to this factor. */
#define ROUNDS_MAX 16u

struct failover {
	const struct hop_scope *scope;
	const struct plan_place *place;
	size_t input;
	struct hop *child;
	struct hop *standin;	  /* NULL: not needed, or not made yet */
	struct plan_place *aside; /* the stand-in's part */
	unsigned tries;		  /* stand-ins tried since the child was there */
	bool standing_in;	  /* asks go to the stand-in */
	bool settled;
	uint64_t until_ns;  /* the child or stand-in that cannot be asked by then is given up */
	struct event *tidy; /* frees and makes stand-ins, from the loop */
};

/* ---- the part for the stand-in ---- */

static void text_set(char **text, const char *to)
{
	free(*text);
	*text = memory_copy(to);
}

/* The elements that the child itself holds stay with it: it becomes a place of its own below the
 * stand-in's. */
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

static struct plan_place *part_aside(const struct plan_place *place,
				     const struct plan_alternate *by)
{
	const struct plan_pass *pass = &by->pass;
	Evspace__Place *part = wire_place_new(place);
	struct plan_place *aside;
	struct error e;

	part->index = place->index % PLAN_PLACES + PLAN_PLACES;
	text_set(&part->node, by->node);
	text_set(&part->address, by->address);
	free(part->pass.data);
	part->pass.len = pass->bytes;
	part->pass.data = pass->bytes ? (void *)memory_copy_bytes(pass->data, pass->bytes) : NULL;
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

/* A leaf has no stand-in; a gateway has one only if the map names it. */
static bool failover_replaceable(const struct failover *b)
{
	return b->place->n_children > 0 && (!b->place->gateway || b->place->n_alternates > 0);
}

static const struct hop_events standin_events;

/* Number of hosts that may stand in: the alternates, then this one. */
static unsigned failover_choices(const struct failover *b)
{
	return (unsigned)b->place->n_alternates + !b->place->gateway;
}

/* Run `tidy` in @ms, or later after rounds without success. */
static void failover_wait(struct failover *b, unsigned ms)
{
	unsigned rounds = b->tries / failover_choices(b) + 1;
	struct timeval wait;

	ms *= rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
	b->until_ns = clock_mono_ns() + ms * UINT64_C(1000000);
	wait = (struct timeval){ms / 1000, ms % 1000 * 1000};
	evtimer_add(b->tidy, &wait);
}

static void standin_begin(struct failover *b)
{
	const struct plan_place *p = b->place;
	size_t at = b->tries++ % failover_choices(b);
	const struct plan_alternate here = {(char *)(uintptr_t)b->scope->self,
					    (char *)(uintptr_t)b->scope->self_address,
					    {NULL, 0}};
	const struct plan_alternate *by = at == p->n_alternates ? &here : &p->alternates[at];

	b->aside = part_aside(p, by);
	failover_wait(b, REACH_MS);
	if (b->aside)
		b->standin = hop_new(b->scope, b->aside, b->input, WAY_STANDIN, &standin_events, b);
}

static void standin_end(struct failover *b, bool keep)
{
	hop_free(b->standin, keep);
	wire_plan_place_free(b->aside);
	b->standin = NULL;
	b->aside = NULL;
	b->standing_in = false;
}

/* The stand-in still answers what it was asked before. */
static void failover_give_back(struct failover *b)
{
	struct timeval wait = {0, TIDY_AGAIN_MS * 1000};

	b->tries = 0;
	if (b->standin && gather_awaits(b->scope->gather, b->input, WAY_STANDIN) > 0)
		evtimer_add(b->tidy, &wait);
	else
		standin_end(b, true);
}

static void failover_tidy(evutil_socket_t fd, short what, void *arg)
{
	struct failover *b = arg;
	uint64_t now = clock_mono_ns();
	struct timeval left;

	(void)fd;
	(void)what;
	if (hop_ready(b->child)) {
		failover_give_back(b);
	} else if (hop_reachable(b->standin ? b->standin : b->child)) {
		return;
	} else if (now < b->until_ns) {
		left.tv_sec = (time_t)((b->until_ns - now) / 1000000000u);
		left.tv_usec = (suseconds_t)((b->until_ns - now) % 1000000000u / 1000u) + 1;
		evtimer_add(b->tidy, &left);
	} else {
		standin_end(b, true);
		standin_begin(b);
	}
}

static void failover_settle(struct failover *b)
{
	if (b->settled)
		return;
	b->settled = true;
	b->scope->settled(b->scope->arg);
}

/* ---- events of hops ---- */

static void child_settled(void *arg, struct hop *hop)
{
	struct failover *b = arg;

	if (hop_ready(hop) || !failover_replaceable(b))
		failover_settle(b);
}

static void child_changed(void *arg, struct hop *hop)
{
	static const struct timeval now = {0, 0};
	struct failover *b = arg;

	if (!failover_replaceable(b))
		return;
	b->standing_in = !hop_ready(hop) && b->standin && hop_reachable(b->standin);
	if (!b->standin)
		b->until_ns = 0;
	if (hop_ready(hop) || !hop_reachable(hop))
		evtimer_add(b->tidy, &now);
}

static void standin_settled(void *arg, struct hop *hop)
{
	(void)hop;
	failover_settle(arg);
}

static void standin_changed(void *arg, struct hop *hop)
{
	struct failover *b = arg;

	/* ask it at once for the children that it has, while others connect */
	b->standing_in = hop_reachable(hop) && !hop_ready(b->child);
	if (!hop_reachable(hop) && !hop_ready(b->child))
		failover_wait(b, TIDY_AGAIN_MS);
}

static const struct hop_events child_hop_events = {
	.settled = child_settled,
	.changed = child_changed,
};

static const struct hop_events standin_events = {
	.settled = standin_settled,
	.changed = standin_changed,
};

/* ---- calls of the scope ---- */

static struct hop *failover_hop(const struct failover *b)
{
	return b->standing_in ? b->standin : b->child;
}

unsigned failover_ask(struct failover *b, const Evspace__Ask *ask)
{
	return hop_ask(failover_hop(b), ask);
}

bool failover_leads_to(const struct failover *b, const uint32_t *leaves, size_t n)
{
	return hop_leads_to(b->child, leaves, n);
}

void failover_miss(struct failover *b, struct wave *w, bool late)
{
	hop_miss(failover_hop(b), w, late);
}

void failover_displaced(const struct failover *b, struct wave *w, const char *why)
{
	hop_displaced(failover_hop(b), w, why);
}

void failover_unready(const struct failover *b, failover_report *report, void *arg)
{
	static char text[] = "it has not answered yet";
	const struct unready waiting = {.node = b->place->node, .text = text}, *list;
	size_t n = hop_unready(b->child, &list);

	if (n == 0 && !hop_ready(b->child))
		report(arg, &waiting);
	for (size_t i = 0; i < n; i++)
		report(arg, &list[i]);
}

struct failover *failover_new(const struct hop_scope *scope, const struct plan_place *place,
			      size_t input)
{
	struct failover *b = memory_new(1, sizeof(*b));

	b->scope = scope;
	b->place = place;
	b->input = input;
	b->tidy = evtimer_new(scope->base, failover_tidy, b);
	if (!b->tidy)
		abort();
	if (failover_replaceable(b))
		failover_wait(b, FIRST_MS);
	b->child = hop_new(scope, place, input, WAY_CHILD, &child_hop_events, b);
	return b;
}

void failover_free(struct failover *b, bool keep)
{
	if (!b)
		return;
	event_free(b->tidy);
	standin_end(b, keep);
	hop_free(b->child, keep);
	free(b);
}
