/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of a hop that answers what the case says, and what becomes of it. */
#ifndef EVSPACE_TESTS_HOP_SAYER_H
#define EVSPACE_TESTS_HOP_SAYER_H

#include "tests/hop-bed.h"

/** Are the leaves those that their names are of? Else they bring others', too. */
extern bool hop_sayer_own;

/** What the child answers, as the case fills it in; how often each time that it is asked; what it
 * says of another wave than is asked for. */
extern Evspace__Answer hop_sayer_said;
extern struct batch hop_sayer_body;
extern unsigned hop_sayer_times;
extern uint64_t hop_sayer_off;

/** What the last wave was. */
extern struct hop_sayer_done {
	unsigned waves, leaves;
	size_t n_missing;
	uint64_t since_ns, cpu_us;
	int64_t base_ns;      /* of its first part */
	enum missing_why why; /* of the first leaf that is missing */
	char text[300];
} hop_sayer_done;

/** The child is place 3, with leaves 4, 5 and 7, of which the last is below 6. */
void hop_sayer_open(struct hop_bed *bed);

/** The same in two steps: all but the hop, then that. */
void hop_sayer_prepare(struct hop_bed *bed);
void hop_sayer_begin(struct hop_bed *bed);

/** Ask for a wave. Returns what became of the child: NULL if it is believed. */
const char *hop_sayer_asked(struct hop_bed *bed);
void hop_sayer_close(struct hop_bed *bed);

#endif
