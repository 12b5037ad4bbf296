/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes the question for the status on to child agents, relates their clocks, joins answers. */
#include "tree/scope/gather-status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/scope/fanout.h"

/* The deadline if the question has none. */
#define DEADLINE_MS 2000u

/* Clocks show times after 1970; a difference beyond this means that one of them lies. */
#define CLOCK_MOST_NS (INT64_C(1) << 62)
#define APART_MOST_NS (INT64_C(1) << 61)

struct gather_status {
	struct fanout fanout; /* first: callbacks cast it to the gather */
	const struct gather_status_host *host;
	int64_t asked_ns;
	Evspace__StatusAsk *ask; /* the question for children, without place */
};

/* ---- hosts without an answer ---- */

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

static void *gather_miss(const struct fanout_branch *b, const struct plan_place *p,
			 enum missing_why why, const char *text, const char *behind)
{
	return status_missing(p->node, p->cluster, why,
			      !p->address[0]  ? "it has no address in the map"
			      : p == b->place ? text
					      : behind);
}

/* ---- answers ---- */

static int64_t bounded(int64_t ns, int64_t least, int64_t most)
{
	return ns < least ? least : ns > most ? most : ns;
}

/* Set how far the child's clock is ahead of ours: the mean of the way there and the way back, with
 * half of the total time as error. */
static void status_relate(Evspace__Status *s, int64_t clock_ns, uint64_t error_ns)
{
	s->clock_ns = bounded(s->clock_ns, -APART_MOST_NS, APART_MOST_NS) + clock_ns;
	s->clock_error_ns += error_ns;
}

/* Take over @s, without the statuses below it. Returns whether the child may say it. */
static bool branch_take(struct fanout_branch *b, Evspace__Status *s)
{
	struct seat *seat = seats_vacant(&b->seats, s->node);

	if (seat)
		seat->said = s;
	else
		evspace__status__free_unpacked(s, NULL);
	return seat != NULL;
}

static bool gather_take(struct fanout_branch *b, const Evspace__Frame *frame, size_t *refused)
{
	Evspace__Status *s, **below;
	int64_t now = clock_real_ns(), away = now - b->sent_ns, asked, sent, there, clock_ns;
	uint64_t error_ns;
	size_t n, bytes;

	if (frame->kind_case != EVSPACE__FRAME__KIND_STATUS)
		return false;
	s = (Evspace__Status *)wire_copy_counted(&frame->status->base, &bytes);
	if (!fanout_hold(b, bytes)) {
		evspace__status__free_unpacked(s, NULL);
		return true;
	}
	asked = bounded(s->asked_ns, 0, CLOCK_MOST_NS);
	sent = bounded(s->sent_ns, 0, CLOCK_MOST_NS);
	there = sent - asked;
	clock_ns =
		bounded((asked - b->sent_ns) / 2 + (sent - now) / 2, -APART_MOST_NS, APART_MOST_NS);
	error_ns = away > there ? (uint64_t)(away - there) / 2 + 1 : 1;
	/* the branch owns those below */
	below = s->below;
	n = s->n_below;
	s->n_below = 0;
	s->below = NULL;
	status_relate(s, clock_ns, error_ns);
	*refused = !branch_take(b, s);
	for (size_t i = 0; i < n; i++) {
		status_relate(below[i], clock_ns, error_ns);
		*refused += !branch_take(b, below[i]);
	}
	free(below);
	return true;
}

static int gather_ask(struct fanout_branch *b, Evspace__Place *place, uint32_t deadline_ms)
{
	const struct gather_status *g = (const struct gather_status *)b->fanout;
	Evspace__StatusAsk ask = *g->ask;

	ask.scope = b->user.scope;
	ask.deadline_ms = deadline_ms;
	ask.place = place;
	return link_send(child_link(&b->user), &WIRE_FRAME(STATUS_ASK, status_ask, &ask), NULL);
}

/* ---- clocks of the event space ---- */

/* More than that is not known, whatever a peer says. */
#define ERROR_MOST 1e18

static double sum_bounded(double a, double b)
{
	/* a NaN, too, becomes one of the bounds */
	return fmax(fmin(a + b, ERROR_MOST), -ERROR_MOST);
}

/* How the clock of the branch's child relates to ours; false if it is not known. */
static bool branch_related(const struct fanout_branch *b, Evspace__Related *r)
{
	const struct gather_status *g = (const struct gather_status *)b->fanout;
	const struct link *link = child_link(&b->user);
	const struct child_clock *clock;
	struct clock_offset offset;
	uint64_t now = clock_mono_ns();

	if (!link)
		return false;
	clock = child_clock(&b->user);
	offset = child_clock_offset(clock);
	evspace__related__init(r);
	r->same = offset.error_ns == 0;
	r->ahead_ns = bounded(link_hello(link)->epoch_ns, -CLOCK_BASE_MOST, CLOCK_BASE_MOST) -
		      g->host->epoch_ns;
	r->ahead_ns = bounded(r->ahead_ns, -APART_MOST_NS, APART_MOST_NS) +
		      bounded(clock_offset_ahead_ns(&offset, now), -APART_MOST_NS, APART_MOST_NS);
	if (r->same)
		r->ahead_ns = 0;
	r->drift = offset.drift;
	r->error_ns = clock_offset_error_ns(&offset, now);
	r->error_drift = offset.error_drift;
	r->age_ns = clock->fit.n > 0 ? now - clock->fit.offset.at_ns : 0;
	r->probes = clock->fit.probes;
	r->steps = clock->fit.steps;
	return r->error_ns < ERROR_MOST;
}

/* A host below a child whose clock relates to ours by @child. */
static void related_add(Evspace__Related *r, const Evspace__Related *child)
{
	r->same = r->same && child->same;
	r->ahead_ns = bounded(r->ahead_ns, -APART_MOST_NS, APART_MOST_NS) + child->ahead_ns;
	r->drift = sum_bounded(r->drift, child->drift);
	r->error_ns = sum_bounded(r->error_ns, child->error_ns);
	r->error_drift = sum_bounded(r->error_drift, child->error_drift);
}

static void status_place(Evspace__Status *s, const Evspace__Related *child, bool is_child)
{
	if (is_child && s->why == 0) {
		evspace__related__free_unpacked(s->related, NULL);
		s->related = (Evspace__Related *)wire_copy(&child->base);
	} else if (s->related) {
		related_add(s->related, child);
	}
}

/* ---- life ---- */

/* Move the statuses of the branch below @status. */
static void branch_give(struct fanout_branch *b, Evspace__Status *status)
{
	Evspace__Related child;
	bool related = branch_related(b, &child);

	for (size_t i = 0; i < b->seats.n; i++) {
		struct seat *seat = &b->seats.list[i];
		Evspace__Status *s = seat->said;

		if (s && related) {
			status_place(s, &child, seat->place == b->place);
		} else if (s && s->related) {
			evspace__related__free_unpacked(s->related, NULL);
			s->related = NULL;
		}
		if (s)
			status->below[status->n_below++] = s;
		seat->said = NULL;
	}
}

static void gather_here(struct fanout *f)
{
	const struct gather_status *g = (const struct gather_status *)f;

	if (g->host->begin && g->host->begin(g->host->arg, g->ask, f->deadline_ms))
		fanout_wait(f);
}

void gather_status_ready(struct gather_status *g)
{
	fanout_settle(&g->fanout);
}

static void gather_end(struct fanout *f)
{
	struct gather_status *g = (struct gather_status *)f;
	Evspace__Status status = EVSPACE__STATUS__INIT;

	status.scope = f->number;
	status.below = memory_new(plan_size(f->place).places, sizeof(*status.below));
	for (size_t i = 0; i < f->n_branches; i++)
		branch_give(&f->branches[i], &status);
	status.asked_ns = g->asked_ns;
	status.sent_ns = clock_real_ns();
	g->host->answer(g->host->arg, f->up, &WIRE_FRAME(STATUS, status, &status));
	for (size_t i = 0; i < status.n_below; i++)
		evspace__status__free_unpacked(status.below[i], NULL);
	free(status.below);
	g->host->done(g->host->arg, g);
}

static void said_free(void *said)
{
	evspace__status__free_unpacked(said, NULL);
}

static const struct fanout_kind kind = {
	.deadline_ms = DEADLINE_MS,
	.spare_ms = 2,
	.ask = gather_ask,
	.take = gather_take,
	.miss = gather_miss,
	.here = gather_here,
	.end = gather_end,
	.said_free = said_free,
};

struct gather_status *gather_status_new(const struct gather_status_host *host, struct link *up,
					const Evspace__StatusAsk *ask, struct error *e)
{
	struct gather_status *g = memory_new(1, sizeof(*g));
	struct fanout_asked asked = {.number = ask->scope,
				     .deadline_ms = ask->deadline_ms,
				     .settle_ms = ask->settle_ms,
				     .place = ask->place,
				     .peer = ask->peer};
	Evspace__StatusAsk bare = *ask;

	bare.place = NULL;
	g->ask = (Evspace__StatusAsk *)wire_copy_counted(&bare.base, &asked.bytes);
	if (fanout_init(&g->fanout, &kind, up, &asked, e) < 0) {
		evspace__status_ask__free_unpacked(g->ask, NULL);
		free(g);
		return NULL;
	}
	g->host = host;
	g->asked_ns = clock_real_ns();
	g->fanout.signer = g->ask->signer;
	fanout_begin(&g->fanout, host->base, host->children);
	return g;
}

void gather_status_free(struct gather_status *g)
{
	if (!g)
		return;
	fanout_fini(&g->fanout);
	evspace__status_ask__free_unpacked(g->ask, NULL);
	free(g);
}

/* ---- fitting into a frame ---- */

struct gather_share {
	Evspace__Status **status;
	size_t bytes;
};

/* Sorts the largest first. */
static int share_order(const void *a, const void *b)
{
	const struct gather_share *left = a, *right = b;

	return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

/* Returns by how many bytes it shrinks. */
static size_t share_cut(struct gather_share *share)
{
	Evspace__Status *s = *share->status;
	char *text = memory_format("its status, %zu bytes, does not fit into an answer besides "
				   "those of the others; remove ended runs there (evspace purge)",
				   share->bytes);
	size_t bytes;

	*share->status = status_missing(s->node, s->cluster, MISSING_REFUSED, text);
	free(text);
	evspace__status__free_unpacked(s, NULL);
	bytes = evspace__status__get_packed_size(*share->status);
	return share->bytes > bytes ? share->bytes - bytes : 0;
}

void gather_status_fit(Evspace__Frame *frame)
{
	Evspace__Status *status = frame->status;
	size_t total = evspace__frame__get_packed_size(frame);
	struct gather_share *shares;

	if (total <= WIRE_HEADER_MAX)
		return;
	shares = memory_new(status->n_below + 1, sizeof(*shares));
	for (size_t i = 0; i < status->n_below; i++)
		shares[i] = (struct gather_share){
			&status->below[i], evspace__status__get_packed_size(status->below[i])};
	qsort(shares, status->n_below, sizeof(*shares), share_order);
	for (size_t i = 0; i < status->n_below && total > WIRE_HEADER_MAX; i++)
		total -= share_cut(&shares[i]);
	free(shares);
}
