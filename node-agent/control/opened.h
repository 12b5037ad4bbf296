/* SPDX-License-Identifier: BSD-3-Clause */
/* An opened scope of a session: the tree that answers it now, and the one that is to replace that.
 */
#ifndef EVSPACE_OPENED_H
#define EVSPACE_OPENED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "tree/scope/scope.h"

/** Plain data for sessions and remaps to walk over; changed by the functions here only. */
struct opened {
	LIST_ENTRY(opened) entry; /* of its session's */
	LIST_ENTRY(opened) view;  /* of all that consumers have opened here, by a view's name */
	bool is_view;
	int64_t since; /* Unix time at which its tree was made */
	struct link *link;
	struct scope *scope; /* asks go there */
	struct scope *next;  /* prepared beside it, NULL: nothing is */
	bool next_settled;
	bool switching; /* the old tree drains; asks wait for the new one */
	Evspace__Ask **held;
	size_t n_held;
	void (*changed)(void *arg);
	void *arg;
};

LIST_HEAD(opened_list, opened);

/** Take over a scope that answers to @link. */
struct opened *opened_new(struct scope *scope, struct link *link);

/** Are passes (tree/link/pass.h) in its tree, and has half of their time gone? */
bool opened_is_old(const struct opened *o);

/** Close its trees and free it; it is in no list any more. */
void opened_free(struct opened *o, bool keep);

/** Pass an ask on, or hold it while trees are switched. Returns 0, or -1 with errno and @e. */
int opened_ask(struct opened *o, const Evspace__Ask *ask, struct error *e);

/** A tree that may come: its places, the map that they are of, and who has signed their passes. */
struct opened_tree {
	const struct plan_place *root;
	uint64_t generation;
	ProtobufCBinaryData signer;
};

/**
 * Build @tree beside the one that there is. @changed is called from the loop when it has settled,
 * and when a switch is over. Returns 0, or -1 with errno and @e.
 */
int opened_prepare(struct opened *o, const struct scope_host *host, const struct opened_tree *tree,
		   void (*changed)(void *arg), void *arg, struct error *e);

/** Give up what was prepared; nothing has changed. */
void opened_give_up(struct opened *o);

/**
 * Go over to the tree that was prepared: waves asked for before are answered by the old one, then
 * `Opened` is said, and all others are the new one's. The old one goes when it has drained.
 */
void opened_switch(struct opened *o);

#endif
