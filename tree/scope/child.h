/* SPDX-License-Identifier: BSD-3-Clause */
/* A child: an agent that this agent dials, by one connection shared by all scopes, kept while
 * used. */
#ifndef EVSPACE_CHILD_H
#define EVSPACE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "pathmap/base/error.h"
#include "tree/link/link.h"
#include "tree/scope/child-clock.h"
#include "tree/scope/silence.h"

struct event_base;
struct child;
struct child_set;
struct child_user;

/** What a user of a child is told. A user must not leave (child_leave()) from within these. */
struct child_events {
	void (*up)(struct child_user *user);   /* connected: (re)open the scope */
	void (*down)(struct child_user *user); /* disconnected, or a try to connect has failed */
	void (*frame)(struct child_user *user, const struct frame *frame); /* for user->scope */
	/* Connected, but no answer has come for CHILD_SILENT_MS in spite of a question
	 * (child_expect()); `heard`: one has come again. Both may be NULL. */
	void (*silent)(struct child_user *user);
	void (*heard)(struct child_user *user);
};

/** How long a child may owe an answer before it is asked whether it is there, and how long it may
 * take to say so, in ms. A busy child does, one that is stopped or cut off does not. One that gets
 * no core has SILENCE_STARVED_MS instead. */
#define CHILD_PATIENCE_MS 250u
#define CHILD_SILENT_MS	  600u

/** One scope's use of a child. Embed it; child_join() fills it in. */
struct child_user {
	TAILQ_ENTRY(child_user) entry;
	const struct child_events *events;
	struct child *child;
	uint32_t scope; /* its number on the child's link */
	bool meek;	/* set by the user: the child answers on idle cores only */
};

/** The children of an agent. Borrows @hub and @base. */
struct child_set *child_set_new(struct event_base *base, struct link_hub *hub);

/** All users must have left. NULL is fine. */
void child_set_free(struct child_set *set);

/**
 * Use the child agent named @node at @address (both are copied). Dials for the first user, in a
 * turn of the loop (tree/data/turn.h). `up` follows, from within this call if the connection is
 * there already, or `down` if the last try to connect has failed.
 */
void child_join(struct child_set *set, struct child_user *user, const char *node,
		const char *address, const struct child_events *events);

/** Stop using it; after the last user the connection is closed. A user that never joined is
 * fine. */
void child_leave(struct child_user *user);

/** Something was sent to the child that it must answer: if it says nothing at all, `silent`
 * follows. Costs only a timer while the child speaks. */
void child_expect(struct child_user *user);

/** The link while connected, else NULL. */
struct link *child_link(const struct child_user *user);

/** How its clock relates to ours; it must have joined. */
struct child_clock *child_clock(const struct child_user *user);

/** Why it says nothing, as far as can be seen now; it must be connected. */
enum silence child_silence(const struct child_user *user);

/** Is the child silent: was `silent` the last event? */
bool child_is_silent(const struct child_user *user);

/** Since when (CLOCK_MONOTONIC, ns) an answer is expected and nothing has come, 0: none is. */
uint64_t child_owes_since(const struct child_user *user);

/** Log @text about the child on stderr, within a rate limit. */
void child_say(struct child_user *user, const char *text);

/** Log @text of the child's on stderr, within the same limit. */
void child_quote(struct child_user *user, const char *text);

/** Why there is no connection, in words. */
const char *child_complaint(const struct child_user *user);

/** Since when (CLOCK_MONOTONIC, ns) it is disconnected or silent, 0: neither. */
uint64_t child_down_since(const struct child_user *user);

#endif
