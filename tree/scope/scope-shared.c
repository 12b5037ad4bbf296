/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the shared part of a scope by its id, makes the first and frees the last. */
#include "tree/scope/scope-shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/scope/ask.h"
#include "tree/scope/quota.h"
#include "tree/scope/scope.h"
#include "tree/wire/wire-place.h"

static struct scope_shared *scope_shared_find(const struct scope_shared_list *scopes_shared,
					      const Evspace__Open *open)
{
	struct scope_shared *s;

	LIST_FOREACH (s, scopes_shared, entry) {
		if (s->open->id.len == open->id.len &&
		    memcmp(s->open->id.data, open->id.data, open->id.len) == 0)
			return s;
	}
	return NULL;
}

static struct plan_place *leaf_copy(const struct plan_place *place)
{
	struct plan_place alone = *place;
	struct plan_place *copy;
	Evspace__Place *message;
	struct error e;

	alone.n_children = alone.n_joined = alone.n_local = alone.n_alternates = 0;
	message = wire_place_new(&alone);
	copy = wire_plan_place(message, &e);
	wire_place_free(message);
	if (!copy)
		abort();
	return copy;
}

static bool same_texts(char *const *a, size_t n_a, char *const *b, size_t n_b)
{
	for (size_t i = 0; i < n_a && n_a == n_b; i++) {
		if (strcmp(a[i], b[i]) != 0)
			return false;
	}
	return n_a == n_b;
}

/* Parts below the entry have no definition; the entry may have such a part, too, as it stands in
 * for a host. */
static bool same_view(const Evspace__Open *a, const Evspace__Open *b)
{
	return strcmp(a->view, b->view) == 0 &&
	       (!a->define.len || !b->define.len ||
		(a->define.len == b->define.len &&
		 memcmp(a->define.data, b->define.data, a->define.len) == 0));
}

/* The rows of a source have numbers, which are in its cursors: it cannot be replaced by another
 * one. */
static int scope_shared_check(const struct scope_shared *s, const Evspace__Open *open,
			      const struct plan_place *place, struct error *e)
{
	const Evspace__Open *was = s->open;

	if (same_view(was, open) && was->reading == open->reading &&
	    (!was->run[0] || !open->run[0] || strcmp(was->run, open->run) == 0) &&
	    (!place->leaf || !s->place || s->place->index == place->index) &&
	    same_texts(was->select, was->n_select, open->select, open->n_select) &&
	    same_texts(was->within, was->n_within, open->within, open->n_within) &&
	    same_texts(was->users, was->n_users, open->users, open->n_users))
		return 0;
	errno = EEXIST;
	return errorf(e, "the scope is open here already, for other elements or as another view");
}

/* Each scope costs memory here, and a file. */
static int scope_shared_room(const struct scope_shared_list *scopes_shared, const char *peer,
			     struct error *e)
{
	unsigned all = 0, own = 0;
	const struct scope_shared *s;

	LIST_FOREACH (s, scopes_shared, entry) {
		all += 1 + s->others;
		own += strcmp(s->open->peer, peer) == 0 ? 1 + s->others : 0;
	}
	if (all < SCOPE_SHARED_MOST && own < SCOPE_SHARED_PEER)
		return 0;
	errno = EMFILE;
	if (own >= SCOPE_SHARED_PEER)
		return errorf(e,
			      "%u scopes of %s are open on this host already, which is the most "
			      "that one consumer may have; close some",
			      own, peer);
	return errorf(e,
		      "%u scopes are open on this host already, which is the most for all "
		      "consumers; try again when some are closed",
		      all);
}

int scope_shared_more(struct scope_shared *s, const struct scope_shared_list *scopes_shared,
		      struct error *e)
{
	if (scopes_shared && scope_shared_room(scopes_shared, s->open->peer, e) < 0)
		return -1;
	s->others++;
	return 0;
}

void scope_shared_less(struct scope_shared *s)
{
	s->others--;
}

static int part_room(const struct scope_shared *s, struct error *e)
{
	if (s->parts < SCOPE_SHARED_PARTS)
		return 0;
	errno = EMFILE;
	return errorf(e, "the scope has %u parts on this host already, which is the most",
		      SCOPE_SHARED_PARTS);
}

static int scope_shared_source(struct scope_shared *s, uint64_t generation,
			       const struct plan_place *place, struct error *e)
{
	if (!place->leaf || s->source)
		return 0;
	s->place = leaf_copy(place);
	s->generation = generation;
	s->source = s->host->source_new(s->host->arg, s->open, s->place, s->names, e);
	if (s->source)
		return 0;
	wire_plan_place_free(s->place);
	s->place = NULL;
	return -1;
}

struct scope_shared *scope_shared_join(const struct scope_host *host,
				       struct scope_shared_list *scopes_shared,
				       const Evspace__Open *open, const struct plan_place *place,
				       struct error *e)
{
	struct scope_shared *s = scope_shared_find(scopes_shared, open);

	if (s ? scope_shared_check(s, open, place, e) < 0 || part_room(s, e) < 0
	      : scope_shared_room(scopes_shared, open->peer, e) < 0)
		return NULL;
	if (!s) {
		s = memory_new(1, sizeof(*s));
		s->host = host;
		s->open = wire_open_bare(open);
		s->quota = quota_join(open->peer);
		s->names = quota_names_new(s->quota, place->index);
		LIST_INSERT_HEAD(scopes_shared, s, entry);
	}
	s->parts++;
	if (scope_shared_source(s, open->generation, place, e) < 0) {
		scope_shared_leave(s, open->generation, true);
		return NULL;
	}
	return s;
}

static bool same_leaf(const struct plan_place *a, const struct plan_place *b)
{
	return a->placed == b->placed && strcmp(a->holds, b->holds) == 0 &&
	       strcmp(a->cluster, b->cluster) == 0;
}

/* A new wave is read for the part at @place of map @generation. With the first one of a newer map,
 * the source changes to that place: on each host, waves of the old tree are read by the old place,
 * waves of the new tree by the new one. */
static void scope_shared_turn(struct scope_shared *s, uint64_t generation,
			      const struct plan_place *place)
{
	struct plan_place *old = s->place;

	if (generation <= s->generation)
		return;
	s->generation = generation;
	if (same_leaf(old, place))
		return;
	s->place = leaf_copy(place);
	s->host->source_replace(s->host->arg, s->source, s->place);
	wire_plan_place_free(old);
}

void scope_shared_leave(struct scope_shared *s, uint64_t generation, bool keep)
{
	int saved = errno;

	if (!s)
		return;
	if (--s->parts > 0) {
		/* the next asker may number maps from the start again */
		if (generation == s->generation)
			s->generation = 0;
		return;
	}
	LIST_REMOVE(s, entry);
	if (s->source)
		s->host->source_free(s->host->arg, s->source, keep);
	quota_names_free(s->quota, s->names);
	quota_leave(s->quota);
	wire_plan_place_free(s->place);
	evspace__open__free_unpacked(s->open, NULL);
	free(s);
	errno = saved;
}

/* the only way to a source */
#define WAY_SOURCE 1u

struct intake_wave {
	TAILQ_ENTRY(intake_wave) entry;
	struct ask ask;
};

static void waiting_free(struct intake *r, struct intake_wave *waiting)
{
	TAILQ_REMOVE(&r->waves, waiting, entry);
	free(waiting);
}

static void intake_follow_map(struct intake *r, const struct ask *ask)
{
	if (ask && !ask->again)
		scope_shared_turn(r->scope_shared, r->generation, r->place);
}

/* Can the wave of @ask be read at once? */
static bool intake_ready(struct intake *r, const struct ask *ask)
{
	struct stage *source = r->scope_shared->source;

	intake_follow_map(r, ask);
	return !source->ops->take || source->ops->ready(source);
}

/* Copy some for the wave of @ask. Returns whether that is all; if not, it goes on in another
 * turn. */
static bool intake_take(struct intake *r, const struct ask *ask)
{
	struct stage *source = r->scope_shared->source;

	intake_follow_map(r, ask);
	if (source->ops->take && !source->ops->take(source)) {
		turn_ask(r->turns, &r->turn);
		return false;
	}
	if (!r->has_begun) {
		r->has_begun = true;
		r->begun(r->arg);
	}
	return true;
}

static void intake_go(void *arg)
{
	struct intake *r = arg;
	struct intake_wave *first = TAILQ_FIRST(&r->waves);
	struct wave *w;
	struct ask ask;

	if (!intake_take(r, first ? &first->ask : NULL) || !first)
		return;
	ask = first->ask;
	waiting_free(r, first);
	if (!TAILQ_EMPTY(&r->waves))
		turn_ask(r->turns, &r->turn);
	w = gather_waiting(r->gather, ask.wave, ask.again, r->input, WAY_SOURCE);
	if (!w)
		return;
	r->read(r->arg, &ask, w);
	gather_answered(r->gather, w, r->input);
}

void intake_begin(struct intake *r)
{
	r->turn.go = intake_go;
	r->turn.arg = r;
	TAILQ_INIT(&r->waves);
	turn_ask(r->turns, &r->turn);
}

void intake_fini(struct intake *r)
{
	struct intake_wave *waiting;

	if (!r->turns)
		return;
	turn_drop(r->turns, &r->turn);
	while ((waiting = TAILQ_FIRST(&r->waves)))
		waiting_free(r, waiting);
}

void intake_ask(struct intake *r, const Evspace__Ask *asked, struct wave *w)
{
	const struct ask ask = {
		.wave = w->number,
		.have = ask_have(asked, r->place->index),
		.room = asked->room,
		.again = w->again,
	};
	struct intake_wave *waiting;

	/* waves are read in order, and those that need a turn wait for it */
	if (r->has_begun && TAILQ_EMPTY(&r->waves) && intake_ready(r, &ask)) {
		r->read(r->arg, &ask, w);
		return;
	}
	waiting = memory_new(1, sizeof(*waiting));
	waiting->ask = ask;
	TAILQ_INSERT_TAIL(&r->waves, waiting, entry);
	gather_expect(r->gather, w, r->input, WAY_SOURCE);
	turn_ask(r->turns, &r->turn);
}

void intake_late(struct intake *r, struct wave *w)
{
	struct intake_wave *waiting;

	TAILQ_FOREACH (waiting, &r->waves, entry) {
		if (waiting->ask.wave == w->number && (waiting->ask.again != 0) == w->again)
			break;
	}
	if (!waiting)
		return;
	waiting_free(r, waiting);
	wave_miss(w, r->place->index, MISSING_LATE, w->asked_ns, NULL);
}
