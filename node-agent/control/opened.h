/* SPDX-License-Identifier: BSD-3-Clause */
/* An opened scope of a session: the tree that answers it now, and the one to replace it. */
#ifndef EVSPACE_OPENED_H
#define EVSPACE_OPENED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "tree/scope/quota.h"
#include "tree/scope/scope.h"

/** How often one scope may be open for consumers. */
#define VIEW_AGAIN_MOST 4u

/** Sessions and remaps may read it; only the functions here change it. */
struct opened {
	LIST_ENTRY(opened) entry; /* in its session's list */
	LIST_ENTRY(opened)
	view; /* in the list of scopes that consumers have opened here by a view's name */
	bool is_view;
	struct link *link;
	struct scope *scope; /* asks go there */
	struct scope *next;  /* the prepared one, NULL: none */
	bool next_settled;
	bool switching; /* the old tree drains, and asks wait for the new one */
	Evspace__Ask **held;
	size_t n_held;
	struct quota_held quota; /* of the consumer, for those */
	void (*changed)(void *arg);
	void *arg;
	char *barred;	 /* a map that may come has no place for it: why */
	int barred_code; /* the errno of that */
	/* It ends, for a reason that its consumer is told. NULL: of a parent's part. */
	void (*end)(void *session, struct opened *o, int code, const char *why);
	void *session;
};

LIST_HEAD(opened_list, opened);

/** Take over a scope, which answers on @link. */
struct opened *opened_new(struct scope *scope, struct link *link);

/** Is it the scope of this id? */
bool opened_is(const struct opened *o, ProtobufCBinaryData id);

/**
 * May a consumer open the scope of this id, besides those of @views? It opens it again when it
 * comes back before the old connection is known to be dead; a map that is applied doubles all of
 * them, for which there has to be room (SCOPE_SHARED_PARTS). Returns 0, or -1 with EMFILE and @e.
 */
int opened_again(const struct opened_list *views, ProtobufCBinaryData id, struct error *e);

/** Does its tree have passes (tree/link/pass.h), and is half of their time over? */
bool opened_is_old(const struct opened *o);

/** Close its trees and free it; the caller has removed it from all lists. */
void opened_free(struct opened *o, bool keep);

/** Pass an ask on, or hold it while trees are switched. Returns 0, or -1 with errno and @e. */
int opened_ask(struct opened *o, const Evspace__Ask *ask, struct error *e);

/** A new tree: its places, the map that they are of, the signer of their passes, and what the map
 * allows. */
struct opened_tree {
	const struct plan_place *root;
	uint64_t generation;
	ProtobufCBinaryData signer;
	uint32_t window; /* as in Open */
};

/** Open @tree beside the current one. @changed is called from the loop when it has settled, and
 * after a switch. Returns 0, or -1 with errno and @e. */
int opened_prepare(struct opened *o, const struct opened_tree *tree, void (*changed)(void *arg),
		   void *arg, struct error *e);

/** Drop the prepared tree, or why there is none; nothing else changes. */
void opened_give_up(struct opened *o);

/** By the map that may come it cannot stay: switched, it ends, for the errno @code. */
void opened_bar(struct opened *o, int code, const char *why);

/** Switch to the prepared tree: the old one answers waves asked for before, then `Opened` is
 * sent, and the new one answers all others. The old one is closed when it has drained. */
void opened_switch(struct opened *o);

#endif
