/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the calls of each collective, by communicator and number, in bounded memory. */
#include "consumers/watch/agreement.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"
#include "tree/data/signature.h"

/* Communicators whose disagreements are kept. */
#define BROKEN_MOST 32

/* One call of one process; its key is who, and what. */
struct caller {
	struct caller_key {
		uint32_t comm, number, world;
		int32_t rank;
	} key;
	uint32_t site;
	uint8_t side;
	bool inside;
	int64_t start_ns;
	SLIST_ENTRY(caller) of_round;
	UT_hash_handle hh;
};

/* All calls of one number on one communicator. */
struct round {
	struct round_key {
		uint32_t comm, number;
	} key;
	uint32_t size;
	size_t n, n_sides;
	bool mixed;				      /* the last side */
	struct agreement_call sides[AGREEMENT_SIDES]; /* the first call of each */
	SLIST_HEAD(, caller) callers;
	TAILQ_ENTRY(round) by_use;
	UT_hash_handle hh;
};

struct agreement {
	size_t most;
	struct caller *callers;
	struct round *rounds;
	TAILQ_HEAD(, round) by_use;	   /* the one that was used last is the last */
	struct round *broken[BROKEN_MOST]; /* the first one of each communicator */
	size_t n_broken;
	struct disagreement found[BROKEN_MOST];
	size_t n_found;
};

struct agreement *agreement_new(size_t most)
{
	struct agreement *a = memory_new(1, sizeof(*a));

	a->most = most;
	TAILQ_INIT(&a->by_use);
	return a;
}

/* ---- comparing ---- */

static struct signature open_signature(const struct agreement_call *call)
{
	return signature_of(&(struct tuple){.op = call->op, .peer = call->signature});
}

/* A type that the program has made may be the same as another one; what is packed may be any. */
static bool types_differ(const struct signature *a, const struct signature *b)
{
	static const char *const any[] = {"made", "MPI_PACKED"};

	if (!a->type || !b->type)
		return false;
	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
		if (strcmp(a->type, any[i]) == 0 || strcmp(b->type, any[i]) == 0)
			return false;
	}
	return strcmp(a->type, b->type) != 0;
}

/* Whoever has no data, or is on the root's side of an intercommunicator, says nothing of them. */
static enum agreement_part data_differ(const struct agreement_call *a,
				       const struct agreement_call *b, const struct signature *of_a,
				       const struct signature *of_b)
{
	enum op_alike alike = op_alike(a->op);

	if (a->signature == TUPLE_NO_PEER || b->signature == TUPLE_NO_PEER)
		return AGREEMENT_SAME;
	if ((alike == OP_ALIKE_BYTES || (alike == OP_ALIKE_TYPE && a->one_group)) && a->bytes &&
	    b->bytes && types_differ(of_a, of_b))
		return AGREEMENT_TYPE;
	return alike == OP_ALIKE_BYTES && a->bytes != b->bytes ? AGREEMENT_SIZE : AGREEMENT_SAME;
}

/* What do two calls of the same number differ in? */
static enum agreement_part calls_differ(const struct agreement_call *a,
					const struct agreement_call *b)
{
	struct signature of_a = open_signature(a), of_b = open_signature(b);

	if (a->op != b->op)
		return AGREEMENT_OPERATION;
	if (of_a.root >= 0 && of_b.root >= 0 && of_a.root != of_b.root)
		return AGREEMENT_ROOT;
	if (of_a.reduction && of_b.reduction && strcmp(of_a.reduction, of_b.reduction) != 0)
		return AGREEMENT_REDUCTION;
	return data_differ(a, b, &of_a, &of_b);
}

/* ---- rounds ---- */

static struct round *round_find(const struct agreement *a, uint32_t comm, uint32_t number)
{
	const struct round_key key = {comm, number};
	struct round *r;

	HASH_FIND(hh, a->rounds, &key, sizeof(key), r);
	return r;
}

static bool is_broken(const struct round *r)
{
	return r->n_sides > 1;
}

static void round_free(struct agreement *a, struct round *r)
{
	struct caller *c;

	while ((c = SLIST_FIRST(&r->callers))) {
		SLIST_REMOVE_HEAD(&r->callers, of_round);
		HASH_DEL(a->callers, c);
		free(c);
	}
	for (size_t i = 0; i < a->n_broken; i++) {
		if (a->broken[i] == r)
			a->broken[i] = a->broken[--a->n_broken];
	}
	HASH_DEL(a->rounds, r);
	TAILQ_REMOVE(&a->by_use, r, by_use);
	free(r);
}

static void found_clear(struct agreement *a)
{
	for (size_t i = 0; i < a->n_found; i++)
		for (size_t k = 0; k < a->found[i].n_sides; k++)
			free(a->found[i].sides[k].ranks);
	a->n_found = 0;
}

void agreement_free(struct agreement *a)
{
	struct round *r;

	if (!a)
		return;
	found_clear(a);
	while ((r = TAILQ_FIRST(&a->by_use)))
		round_free(a, r);
	free(a);
}

/* Forget the calls that were not seen for longest, but for those that disagree. */
static bool has_room(struct agreement *a, const struct round *keep)
{
	struct round *r, *next;

	for (r = TAILQ_FIRST(&a->by_use); r && HASH_COUNT(a->callers) >= a->most; r = next) {
		next = TAILQ_NEXT(r, by_use);
		if (r != keep && !is_broken(r))
			round_free(a, r);
	}
	return HASH_COUNT(a->callers) < a->most;
}

static struct round *round_of(struct agreement *a, const struct agreement_call *call)
{
	struct round *r = round_find(a, call->comm, call->number);

	if (r) {
		TAILQ_REMOVE(&a->by_use, r, by_use);
	} else {
		r = memory_new(1, sizeof(*r));
		r->key = (struct round_key){call->comm, call->number};
		SLIST_INIT(&r->callers);
		HASH_ADD(hh, a->rounds, key, sizeof(r->key), r);
	}
	TAILQ_INSERT_TAIL(&a->by_use, r, by_use);
	r->size = call->size ? call->size : r->size;
	return r;
}

/* The side that @call is on, perhaps a new one; the last one takes all that are on none. */
static uint8_t side_of(struct round *r, const struct agreement_call *call)
{
	for (size_t i = 0; i < r->n_sides; i++) {
		if (calls_differ(&r->sides[i], call) == AGREEMENT_SAME)
			return (uint8_t)i;
	}
	if (r->n_sides < AGREEMENT_SIDES)
		r->sides[r->n_sides++] = *call;
	else
		r->mixed = true;
	return (uint8_t)(r->n_sides - 1);
}

/* Keep the first disagreement of its communicator: by number, as all later ones may follow from
 * it. */
static void keep_broken(struct agreement *a, struct round *r)
{
	size_t i = 0;
	struct round *other;

	while (i < a->n_broken && a->broken[i]->key.comm != r->key.comm)
		i++;
	if (i == BROKEN_MOST ||
	    (i < a->n_broken && (int32_t)(a->broken[i]->key.number - r->key.number) < 0)) {
		round_free(a, r);
		return;
	}
	other = i < a->n_broken ? a->broken[i] : NULL;
	a->broken[i] = r;
	a->n_broken += !other;
	if (other && other != r)
		round_free(a, other);
}

/* The call of @c came again. Returns whether it is the same; else the number is used again, by
 * another communicator with this id. */
static bool caller_is(struct caller *c, const struct round *r, const struct agreement_call *call)
{
	c->inside = call->inside;
	return calls_differ(&r->sides[c->side], call) == AGREEMENT_SAME || r->mixed;
}

static struct caller *caller_find(const struct agreement *a, const struct agreement_call *call)
{
	const struct caller_key key = {call->comm, call->number, call->world, call->rank};
	struct caller *c;

	HASH_FIND(hh, a->callers, &key, sizeof(key), c);
	return c;
}

void agreement_locate(struct agreement *a, const struct agreement_call *call)
{
	struct caller *c = caller_find(a, call);

	if (c)
		c->site = call->site;
}

static void caller_add(struct agreement *a, struct round *r, const struct agreement_call *call)
{
	struct caller *c = memory_new(1, sizeof(*c));

	c->key = (struct caller_key){call->comm, call->number, call->world, call->rank};
	c->inside = call->inside;
	c->start_ns = call->start_ns;
	c->side = side_of(r, call);
	HASH_ADD(hh, a->callers, key, sizeof(c->key), c);
	SLIST_INSERT_HEAD(&r->callers, c, of_round);
	r->n++;
	if (is_broken(r))
		keep_broken(a, r);
	else if (r->size && r->n >= r->size)
		round_free(a, r);
}

void agreement_add(struct agreement *a, const struct agreement_call *call)
{
	struct round *r = round_of(a, call);
	struct caller *c = caller_find(a, call);

	if (c && caller_is(c, r, call))
		return;
	if (c) {
		round_free(a, r);
		r = round_of(a, call);
	}
	if (has_room(a, r))
		caller_add(a, r, call);
	else if (r->n == 0)
		round_free(a, r);
}

/* ---- disagreements ---- */

bool agreement_is_broken(const struct agreement *a, uint32_t comm, uint32_t number)
{
	const struct round *r = round_find(a, comm, number);

	return r && is_broken(r);
}

static int compare_ranks(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The largest first. */
static int compare_sides(const void *a, const void *b)
{
	const struct agreement_side *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return compare_ranks(x->ranks, y->ranks);
}

static void side_add(struct agreement_side *side, const struct caller *c)
{
	side->ranks = memory_room(side->ranks, side->n, sizeof(*side->ranks));
	side->ranks[side->n++] = c->key.rank;
	side->site = c->site ? c->site : side->site;
	if (!c->inside)
		return;
	if (side->inside++ == 0 || c->start_ns < side->since_ns)
		side->since_ns = c->start_ns;
}

static void disagreement_of(struct disagreement *d, const struct round *r, bool ended)
{
	const struct caller *c;

	*d = (struct disagreement){
		.comm = r->key.comm,
		.number = r->key.number,
		.size = r->size,
		.n_sides = r->n_sides,
	};
	for (size_t i = 0; i < r->n_sides; i++)
		d->sides[i].call = r->sides[i];
	SLIST_FOREACH (c, &r->callers, of_round)
		side_add(&d->sides[c->side], c);
	d->sides[d->n_sides - 1].mixed = r->mixed;
	for (size_t i = 0; i < d->n_sides; i++)
		qsort(d->sides[i].ranks, d->sides[i].n, sizeof(int32_t), compare_ranks);
	qsort(d->sides, d->n_sides, sizeof(d->sides[0]), compare_sides);
	d->part = calls_differ(&d->sides[0].call, &d->sides[1].call);
	d->majority =
		!d->sides[0].mixed && 2 * d->sides[0].n > (r->size && !ended ? r->size : r->n);
}

size_t agreement_find(struct agreement *a, bool ended, const struct disagreement **found)
{
	found_clear(a);
	for (; a->n_found < a->n_broken; a->n_found++)
		disagreement_of(&a->found[a->n_found], a->broken[a->n_found], ended);
	*found = a->found;
	return a->n_found;
}
