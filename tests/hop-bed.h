/* SPDX-License-Identifier: BSD-3-Clause */
/* A hop in a world of peers, whose agent is its child: what tests of hops begin with. */
#ifndef EVSPACE_TEST_HOP_BED_H
#define EVSPACE_TEST_HOP_BED_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/peers.h"
#include "tree/scope/hop.h"

/** How often the child refuses. */
#define HOP_BED_REFUSALS 3

/** What the child has seen since the bed was prepared, and does. */
struct hop_bed_child {
	unsigned opens, closes;
	uint32_t speaks_for; /* the leaf that its answers are of */
	bool speaks_of_all;  /* … and of who is not ready */
};

extern struct hop_bed_child hop_bed_child;

/** How often the hop has settled since. */
extern unsigned hop_bed_settled;

struct hop_bed {
	struct world w;
	struct plan_place place;
	Evspace__Open open;
	struct hop_scope scope;
	struct hop *hop;
};

typedef void hop_bed_frame(struct watch *watch, struct link *link, const struct frame *frame);

/** A child that refuses at first, then opens the scope, and answers with nothing. */
void hop_bed_child_frame(struct watch *watch, struct link *link, const struct frame *frame);

/** All but the hop; the child is a leaf. The argument of @waves, which may be NULL, is the bed. */
void hop_bed_prepare(struct hop_bed *bed, hop_bed_frame *on_frame,
		     const struct gather_events *waves);
void hop_bed_begin(struct hop_bed *bed);

/** Both. */
void hop_bed_open(struct hop_bed *bed, hop_bed_frame *on_frame);
void hop_bed_close(struct hop_bed *bed);

#endif
