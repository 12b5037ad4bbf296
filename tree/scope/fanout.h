/* SPDX-License-Identifier: BSD-3-Clause */
/* A command fan-out: a question that goes to all agents below one, and what is said of the hosts
 * there, until all have answered or its deadline has passed. Of who is missing it says why. */
#ifndef EVSPACE_FANOUT_H
#define EVSPACE_FANOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/scope/child.h"
#include "tree/scope/seats.h"

struct event;
struct event_base;
struct fanout;

/** The way to one child, and what was said of the hosts from there on. */
struct fanout_branch {
	struct child_user user; /* first: callbacks get back to the branch from it */
	struct fanout *fanout;
	const struct plan_place *place;
	struct seats seats;
	int64_t sent_ns; /* CLOCK_REALTIME, when it was asked */
	bool settled;
};

/** What one kind of question has of its own. */
struct fanout_kind {
	bool leaves;	      /* it is about leaves alone */
	uint32_t deadline_ms; /* when it does not say */
	uint32_t spare_ms;    /* that a child has less than it, besides a tenth */
	/* Send the question with @place and @deadline_ms to the child. Returns as link_send() does.
	 */
	int (*ask)(struct fanout_branch *b, Evspace__Place *place, uint32_t deadline_ms);
	/* Take an answer into the seats, and count in @refused what the child may not say. Returns
	   false, and does nothing, when @frame is none. */
	bool (*take)(struct fanout_branch *b, const Evspace__Frame *frame, size_t *refused);
	/* What is said of @place, of which nothing was: @text if it is the child itself, else
	   @behind. */
	void *(*miss)(const struct fanout_branch *b, const struct plan_place *place,
		      enum missing_why why, const char *text, const char *behind);
	/* Do here what the question asks for; NULL: nothing. */
	void (*here)(struct fanout *f);
	/* All seats are taken: answer; the fan-out may be freed now. */
	void (*end)(struct fanout *f);
	void (*said_free)(void *said);
};

/** A question under way. Embed it as the first member. */
struct fanout {
	const struct fanout_kind *kind;
	struct link *up; /* who is answered */
	uint32_t number, deadline_ms;
	struct plan_place *place;
	ProtobufCBinaryData signer; /* of the places' passes, the owner's */
	struct fanout_branch *branches;
	size_t n_branches, pending;
	struct event *end; /* by the deadline, or when all have answered */
};

/**
 * Prepare a question of @kind that came from @up with @number and @deadline_ms (0: the kind's) for
 * @place, which is here. Returns 0, or -1 with EPROTO and @e.
 */
int fanout_init(struct fanout *f, const struct fanout_kind *kind, struct link *up, uint32_t number,
		uint32_t deadline_ms, const Evspace__Place *place, struct error *e);

/** Ask all children. The kind's end() follows, from the loop: never before this returns. */
void fanout_begin(struct fanout *f, struct event_base *base, struct child_set *children);

/** Leave the children, and free what was said and all else but @f itself. */
void fanout_fini(struct fanout *f);

#endif
