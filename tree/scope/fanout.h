/* SPDX-License-Identifier: BSD-3-Clause */
/* A command fan-out: passes a question on to all agents below, and collects an answer for each host
 * until all have answered or the deadline has passed. Those that are missing have a reason. */
#ifndef EVSPACE_FANOUT_H
#define EVSPACE_FANOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/scope/child.h"
#include "tree/scope/quota.h"
#include "tree/scope/seats.h"

struct event;
struct event_base;
struct fanout;

/** The way to one child, and the answers for the hosts from there on. */
struct fanout_branch {
	struct child_user user; /* first: callbacks cast it to the branch */
	struct fanout *fanout;
	const struct plan_place *place;
	struct seats seats;
	int64_t sent_ns; /* CLOCK_REALTIME when it was asked */
	bool settled;
};

/** One kind of question. */
struct fanout_kind {
	bool leaves;	      /* it is for leaves alone */
	uint32_t deadline_ms; /* if the question has none */
	uint32_t spare_ms;    /* a child gets this much less, and a tenth less */
	/* Send the question with @place and @deadline_ms to the child. Returns as link_send()
	 * does. */
	int (*ask)(struct fanout_branch *b, Evspace__Place *place, uint32_t deadline_ms);
	/* Put an answer into the seats, and count in @refused what the child may not say. Returns
	 * false, and does nothing, if @frame is not an answer. */
	bool (*take)(struct fanout_branch *b, const Evspace__Frame *frame, size_t *refused);
	/* The entry for @place, for which no answer came: with @text if it is the child itself,
	 * else with @behind. */
	void *(*miss)(const struct fanout_branch *b, const struct plan_place *place,
		      enum missing_why why, const char *text, const char *behind);
	/* Do here what the question asks for, or begin it (fanout_wait()); NULL: nothing. */
	void (*here)(struct fanout *f);
	/* All seats are taken: answer. The fan-out may be freed now. */
	void (*end)(struct fanout *f);
	void (*said_free)(void *said);
};

/** A question under way. Embed it as the first member. */
struct fanout {
	const struct fanout_kind *kind;
	struct link *up;	/* where the answer goes; NULL: nowhere */
	struct quota_held held; /* of the consumer that asks */
	uint32_t number, deadline_ms;
	bool awaits;
	struct plan_place *place;
	ProtobufCBinaryData signer; /* of the places' passes; borrowed */
	struct fanout_branch *branches;
	size_t n_branches, pending;
	uint64_t settled_ns; /* CLOCK_MONOTONIC before which it does not end */
	struct event *end;   /* triggered by the deadline, or when all have answered */
};

/** What the question says. */
struct fanout_asked {
	uint32_t number, deadline_ms; /* 0: the kind's; more than that of a wave is cut */
	uint32_t settle_ms;	      /* it takes so long at least, but not beyond the deadline */
	bool awaits;		      /* hosts that cannot be reached may come until then */
	const Evspace__Place *place;  /* this host's */
	const char *peer;	      /* the consumer; "": the peer of the link */
	size_t bytes;		      /* kept of it besides the place */
};

/** Prepare a question of @kind that came from @up. Returns 0, or -1 with EPROTO or ENOBUFS, and
 * @e. */
int fanout_init(struct fanout *f, const struct fanout_kind *kind, struct link *up,
		const struct fanout_asked *asked, struct error *e);

/** Count @bytes more of answers on the branch. False: that is too much, and all who have not
 * answered on it are said to be missing for that reason. */
bool fanout_hold(struct fanout_branch *b, size_t bytes);

/** Ask all children. The kind's end() follows from the loop, never before this returns; of those
 * that have all their answers at the same moment, in the order in which they got them. */
void fanout_begin(struct fanout *f, struct event_base *base, struct child_set *children);

/** From the kind's here(): what it has begun is not done yet; and then: it is. */
void fanout_wait(struct fanout *f);
void fanout_settle(struct fanout *f);

/** Leave the children, and free the answers and all else but @f itself. */
void fanout_fini(struct fanout *f);

#endif
