/* SPDX-License-Identifier: BSD-3-Clause */
/* A trunk: one agent's part of an open tree, which answers all scopes here that have the same
 * question (docs/decisions/0029-same-question-one-tree.md). */
#ifndef EVSPACE_TRUNK_H
#define EVSPACE_TRUNK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "pathmap/base/error.h"
#include "tree/scope/failover.h"
#include "tree/scope/gather.h"
#include "tree/scope/riding.h"
#include "tree/data/urgency.h"
#include "tree/wire/wire.h"

struct scope_host;
struct trunk;

struct trunk_list {
	LIST_HEAD(, trunk) all;
	uint64_t cpu_us; /* of this process, that waves were charged with */
};

/** A scope of a trunk. Plain data of its owner. */
struct trunk_asker {
	struct rider rider; /* first: the trunk casts it */
	TAILQ_ENTRY(trunk_asker) entry;
	enum urgency urgency; /* of its last ask; URGENCY_UNSAID: it has not asked */
	bool columns; /* it takes runs as columns (tree/data/columns.h), and may want folded parts
		       */
	/* All children have opened it, refused, or cannot be reached, and a leaf has copied all. */
	void (*settled)(void *arg);
	/* The answer to the wave that the asker calls @number. From within trunk_ask(), too. */
	void (*answer)(void *arg, const struct wave *w, uint64_t number);
	void *arg;
};

/**
 * Join the trunk that has the question of @open at @place (owned by the trunk from now on, also if
 * this fails), or make one. @id: of the tree; only a trunk of this id is joined, unless it is NULL:
 * then any, and one that is made gets the id of @open. Returns NULL with errno and @e.
 */
struct trunk *trunk_join(const struct scope_host *host, const Evspace__Open *open,
			 struct plan_place *place, const ProtobufCBinaryData *id,
			 struct trunk_asker *asker, struct error *e);

/** The asker gets no more answers; after the last one the trunk is freed, and @keep says whether
 * its cursors stay. NULL is fine. */
void trunk_leave(struct trunk *t, struct trunk_asker *asker, bool keep);

/** Answer the waves of @ask, which was checked. Returns 0, or -1 with EPROTO and @e. */
int trunk_ask(struct trunk *t, struct trunk_asker *asker, const Evspace__Ask *ask, struct error *e);

/** What waits for others shall not any more, since who has asked goes elsewhere. */
void trunk_hurry(struct trunk *t);

/** How many waves the asker waits for. */
unsigned trunk_awaits(const struct trunk *t, const struct trunk_asker *asker);

/** Have all settled? */
bool trunk_has_settled(const struct trunk *t);

/** Has one of its stages a fault, by which it has ended? That goes into @e. */
bool trunk_is_broken(const struct trunk *t, struct error *e);

/** Report the hosts of the plan that have not opened their parts. */
void trunk_unready(const struct trunk *t, failover_report *report, void *arg);

/** Unix time when it was made, with the passes of its place. */
int64_t trunk_since(const struct trunk *t);

const ProtobufCBinaryData *trunk_id(const struct trunk *t);
const struct plan_place *trunk_place(const struct trunk *t);

/** Of its place: ask_sharing(). */
size_t trunk_sharing(const struct trunk *t);
struct names *trunk_names(const struct trunk *t);

#endif
