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
struct held;
struct share;

struct opened {
	LIST_ENTRY(opened) entry; /* in its session's list */
	LIST_ENTRY(opened)
	view; /* in the list of scopes that consumers have opened here by a view's name */
	bool is_view;
	LIST_ENTRY(opened) shared; /* in its share's list */
	struct link *link;
	struct scope *scope; /* asks go there */
	struct scope *next;  /* the prepared one, NULL: none */
	bool next_settled;
	bool switching;	   /* the old tree drains, and asks wait for the new one */
	struct held *held; /* asks, in their order */
	size_t n_held;
	struct share *share; /* of what looking may cost, of a view; NULL: none */
	double paid;	     /* of scope_spent() */
	uint64_t paid_waves;
	double told_total, told_part; /* of that, to its consumer */
	void (*changed)(void *arg);
	void *arg;
	char *barred;	 /* a map that may come has no place for it: why */
	int barred_code; /* the errno of that */
	/* It ends, for a reason that its consumer is told. NULL: of a parent's part. */
	void (*end)(void *session, struct opened *o, int code, const char *why);
	/* Trees were switched: asks may go on, by opened_release(). */
	void (*resume)(struct opened *o);
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

/** Pass an ask on, or hold what of it is more than @waves or than the map's `window`, or comes
 * while trees are switched or after one that is held. Returns 0, or -1 with errno and @e. */
int opened_ask(struct opened *o, const Evspace__Ask *ask, uint32_t waves, struct error *e);

/** Pass on up to @waves of what is held, as the map's `window` has room, unless trees are switched
 * now. Returns how many. */
uint32_t opened_release(struct opened *o, uint32_t waves);

/** What was spent on it since the last call, and for how many @waves: see scope_spent(). */
double opened_spent(struct opened *o, uint64_t *waves);

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
