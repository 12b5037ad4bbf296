/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the trunk share: its parts, and the waves that go through them. */
#ifndef EVSPACE_TRUNK_PRIVATE_H
#define EVSPACE_TRUNK_PRIVATE_H

#include "tree/data/span.h"
#include "tree/scope/joining.h"
#include "tree/scope/question.h"
#include "tree/scope/scope.h"
#include "tree/scope/trunk.h"

struct event;

struct trunk {
	LIST_ENTRY(trunk) entry;
	const struct scope_host *host;
	Evspace__Open
		*open; /* a copy of the first asker's, without its place, with the tree's id */
	struct plan_place *place;
	size_t sharing;
	bool columns;			 /* all its askers take them, or none does */
	struct question_packed question; /* empty: it has one asker for good */
	TAILQ_HEAD(, trunk_asker) askers;
	struct riding riding;
	struct event *go; /* pending until waves are to begin */
	int64_t since;
	struct scope_shared *scope_shared; /* has names and source */
	struct intake intake;
	struct span span;
	struct chain local;
	struct joining joining;
	struct gather *gather;
	struct hop_scope shared;
	struct failover **failovers;
	size_t n_branches;
	size_t unsettled; /* branches that have not settled yet */
	struct batch scratch;
	Evspace__Ask *last;   /* a copy while not all branches are asked at once, else NULL */
	Evspace__Ask *stream; /* of a stream whose asks wait: a copy of the last one, else NULL */
};

/** Of its gather, and of its joining. */
extern const struct gather_events trunk_gather_events;
void trunk_joined(void *trunk, struct wave *w, bool whole);

/** Of its intake. */
void trunk_read(void *trunk, const struct ask *ask, struct wave *w);

/** Begin waves, numbered as in @ask. */
void trunk_begin(struct trunk *t, const Evspace__Ask *ask);

#endif
