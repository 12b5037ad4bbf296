/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared scope state: names and source, common to all parts of one consumer's scope on one host,
 * and the intake of what the source reads. */
#ifndef EVSPACE_SCOPE_SHARED_H
#define EVSPACE_SCOPE_SHARED_H

#include <stdbool.h>
#include <sys/queue.h>

#include "pathmap/base/error.h"
#include "tree/data/names.h"
#include "tree/data/turn.h"
#include "tree/scope/gather.h"
#include "tree/stage/stage.h"
#include "tree/wire/wire.h"

struct quota;
struct scope_host;

/** Most open scopes on one host, and of one consumer; most parts of one scope, which has two for
 * each way that leads here while a tree changes. */
#define SCOPE_SHARED_MOST  512u
#define SCOPE_SHARED_PEER  64u
#define SCOPE_SHARED_PARTS 16u

/**
 * While a tree changes, a host may have two parts of one scope: the old one that drains and the new
 * one, or its own and one that it stands in for. They read by the same cursors, so that a wave is
 * the same whichever part is asked, and names mean the same in both.
 */
struct scope_shared {
	LIST_ENTRY(scope_shared) entry;
	const struct scope_host *host;
	Evspace__Open *open;	  /* a copy of the first part's */
	struct plan_place *place; /* the leaf's place, without what is below it; NULL: there is no
				   * source */
	uint64_t generation;	  /* of its map; 0: that part is gone */
	struct names *names;
	struct stage *source;
	struct quota *quota; /* its consumer's */
	unsigned parts;
	unsigned others; /* scopes that share its trunk with the first one */
};

LIST_HEAD(scope_shared_list, scope_shared);

/**
 * Join the shared state of the scope that @open opens, for one more part of it at @place; makes the
 * source if that is a leaf. Returns NULL with errno and @e: no source could be made; the part is of
 * another view, or for other elements or other users', than the parts before (EEXIST); or there are
 * too many (EMFILE).
 */
struct scope_shared *scope_shared_join(const struct scope_host *host,
				       struct scope_shared_list *scopes_shared,
				       const Evspace__Open *open, const struct plan_place *place,
				       struct error *e);

/** The part of map @generation ends; with the last one the shared state is freed; @keep: its
 * cursors stay. NULL is fine. */
void scope_shared_leave(struct scope_shared *scope_shared, uint64_t generation, bool keep);

/** Another scope of the same consumer shares the trunk, or one does no more. Returns 0, or -1 with
 * EMFILE and @e: the consumer, or all, have too many. @scopes_shared NULL: it is open already, and
 * goes over to another tree, so that it is not one more. */
int scope_shared_more(struct scope_shared *scope_shared,
		      const struct scope_shared_list *scopes_shared, struct error *e);
void scope_shared_less(struct scope_shared *scope_shared);

struct intake_wave;

/** Plain data, part of the scope; what it points to outlives it. */
struct intake {
	struct turns *turns;
	struct scope_shared *scope_shared; /* has the source */
	const struct plan_place *place;
	uint64_t generation; /* of the place's map */
	struct gather *gather;
	size_t input; /* index in the gather, for waves that wait */
	/* `begun`: all is copied for the first time; `read`: read the wave now */
	void (*begun)(void *arg);
	void (*read)(void *arg, const struct ask *ask, struct wave *w);
	void *arg;
	/* internal: */
	struct turn turn;
	bool has_begun;
	TAILQ_HEAD(, intake_wave) waves; /* waiting, in the order in which they were asked for */
};

/** Begin to copy, from the loop. */
void intake_begin(struct intake *r);

/** Safe on zeroed data. */
void intake_fini(struct intake *r);

/** Read @w for the ask @asked, now or when all is copied; then the gather is told. */
void intake_ask(struct intake *r, const Evspace__Ask *asked, struct wave *w);

/** It is late: if @w still waits for the source, note its leaf as missing. */
void intake_late(struct intake *r, struct wave *w);

#endif
