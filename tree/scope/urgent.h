/* SPDX-License-Identifier: BSD-3-Clause */
/* The urgent: what all scopes of an agent want of its scheduling class, and that it has it. */
#ifndef EVSPACE_URGENT_H
#define EVSPACE_URGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "tree/data/urgency.h"

struct urgent;

/** What one scope wants, while it asks: four times its interval, and a little, after the last time.
 * Plain data of its owner, zeroed at first. */
struct urgent_wish {
	LIST_ENTRY(urgent_wish) entry;
	bool open;
	enum urgency urgency;
	uint32_t deadline_ms; /* of its waves */
	uint64_t every_ns;    /* how often it asks; 0: as fast as it can */
	uint64_t until_ns;    /* it counts as asked for until then; for urgent_ask() to set */
};

/** Of this process, whose class at this time is the most urgent that it takes. */
struct urgent *urgent_new(void);

/** NULL is fine. */
void urgent_free(struct urgent *u);

/**
 * The scope has asked: be in the most urgent class of all that scopes want, or in a more urgent one
 * while waiting for cores would miss deadlines. A system call only when the class changes, and a
 * look at how long it waited once in some ms. @u may be NULL: nothing is changed.
 */
void urgent_ask(struct urgent *u, struct urgent_wish *wish, const struct urgent_wish *wanted);

/** The scope is closed. After the last one the class is as at first, so that the next is opened at
 * once. */
void urgent_leave(struct urgent *u, struct urgent_wish *wish);

/** How long this process has waited for cores since the answer before, in us, but for the time in
 * which nobody asked: for the next answer. */
uint32_t urgent_waited_us(struct urgent *u);

/** The class that it is in; URGENCY_UNSAID: none of these. */
enum urgency urgent_class(const struct urgent *u);

#endif
