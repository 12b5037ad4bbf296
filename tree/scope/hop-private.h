/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a hop, for the files of hops alone. */
#ifndef EVSPACE_HOP_PRIVATE_H
#define EVSPACE_HOP_PRIVATE_H

#include "tree/data/urgency.h"
#include "tree/scope/below.h"
#include "tree/scope/hop.h"

struct event;

struct hop {
	struct child_user user; /* first: callbacks cast it to the hop */
	const struct hop_scope *scope;
	const struct plan_place *place;
	size_t input;
	unsigned way;
	const struct hop_events *events;
	void *arg;
	struct below below;
	uint64_t up_ns;		/* when the present connection was made */
	uint64_t *asked_ns;	/* by wave; NULL: not recorded */
	uint64_t late_asked_ns; /* when the last late wave was asked for */
	uint64_t late_since;	/* first of the late waves in a row; 0: the last one was in time */
	bool opened;		/* on the present connection */
	bool settled;
	uint64_t owes;		    /* answers that it owes on the present connection */
	enum urgency said;	    /* the child's class; URGENCY_UNSAID: it has not said */
	struct below_spoken spoken; /* of the answer that is checked */
	struct batch body;	    /* of that one, for the time of a call */
	struct hearsay heard;
	struct error refused;
	uint64_t refused_ns;  /* since when it has refused; 0: it has not */
	struct error told;    /* the last reason why it was shut, on the present connection */
	struct event *reopen; /* pending after a refusal */
	unsigned reopen_ms;
	struct unready_list unready;
};

/** Is the child not asked for now, as it says nothing? (hop-miss.c) */
bool hop_left_out(const struct hop *hop);

/** Record that a wave was answered, or not in time. (hop-miss.c) */
void hop_trace_answer(const struct hop *hop, const struct wave *w, uint64_t bytes, bool late);

/** The child waited so long for a core: log it if others may have taken it for dead. (hop-miss.c)
 */
void hop_note_waited(struct hop *hop, uint32_t us);

#endif
