/* SPDX-License-Identifier: BSD-3-Clause */
/* A gather with three inputs and a loop: what tests of gathers begin with. */
#ifndef EVSPACE_TEST_GATHER_BED_H
#define EVSPACE_TEST_GATHER_BED_H

#include <event2/event.h>

#include "tree/scope/gather.h"

#define INPUTS 3

static struct event_base *base;
static struct gather *gather;

static void gather_bed_begin(const struct gather_events *events)
{
	base = event_base_new();
	gather = gather_new(base, INPUTS, events, NULL);
}

static void end_case(void)
{
	gather_free(gather);
	event_base_free(base);
}

/* Ask all inputs for a wave. */
static struct wave *ask(uint64_t number, unsigned deadline_ms)
{
	struct wave *w = gather_begin(gather, number, false, 0, deadline_ms);

	for (size_t i = 0; i < INPUTS; i++)
		gather_expect(gather, w, i, 1);
	gather_seal(gather, w);
	return w;
}

#endif
