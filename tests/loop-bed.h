/* SPDX-License-Identifier: BSD-3-Clause */
/* Views on a connection to a fake agent that serves any number of them, and what they were told. */
#ifndef EVSPACE_TESTS_LOOP_BED_H
#define EVSPACE_TESTS_LOOP_BED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "consumers/client/evspace-control.h"

/** Tuples of a wave. */
#define LOOP_BED_TUPLES 10u

#define LOOP_BED_SCOPES 64u

/** What the agent was asked, in memory of both. */
extern struct loop_bed_agent {
	uint64_t asks[LOOP_BED_SCOPES]; /* waves, by scope */
	unsigned closes;
	bool mute; /* it answers no question */
} * loop_bed_agent;

/** A view, and what it was told. */
struct loop_bed_view {
	struct evspace_client *client;
	bool reads; /* it takes its waves */
	unsigned opened, waves, ended;
	uint64_t taken, events;
	enum evspace_failure failure;
	char why[300];
	/* instead of that */
	void (*instead)(struct loop_bed_view *view, enum evspace_news news);
	void *of;
};

/** A question, and what it was told. */
struct loop_bed_question {
	unsigned answered;
	enum evspace_failure failure;
	char why[300];
	unsigned pid; /* of the agent whose status it is */
};

/** Start the agent. */
void loop_bed_begin(void);

/** Kill it. */
void loop_bed_kill(void);

/** Connect to it, in a loop of its own; @patience_ms as in evspace_options. */
struct evspace_connection *loop_bed_connect(unsigned patience_ms);

/** The options of that. */
struct evspace_options loop_bed_options(unsigned patience_ms);

/** Open @view, which takes its waves if it @reads, one under way. */
void loop_bed_open(struct evspace_connection *connection, struct loop_bed_view *view, bool reads);

/** For evspace_status() and others. */
void loop_bed_answered(const struct evspace_reply *reply, void *question);

/** Turn the loop by poll(2) until @is (for 20 s at most). Returns what evspace_dispatch() did. */
int loop_bed_turn(struct evspace_connection *connection, bool (*is)(void *arg), void *arg);

#endif
