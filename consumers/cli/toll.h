/* SPDX-License-Identifier: BSD-3-Clause */
/* What looking and collecting cost the program while a command looks: asked now and then, and said:
 * on a terminal as its status line, else as a line on stderr, or as a JSON object; and once more at
 * the end. */
#ifndef EVSPACE_TOLL_H
#define EVSPACE_TOLL_H

#include <stdbool.h>

#include "consumers/client/evspace-control.h"

struct toll;

/** Of the run @run (NULL: the only one), asked on @connection, which must outlive it. */
struct toll *toll_new(struct evspace_connection *connection, const char *run);

/** Of what @client looks at, asked on its connection from its loop, and said for @command
 * ("events"), in JSON or not; all must outlive it. */
struct toll *toll_of(struct evspace_client *client, const char *command, bool json);

/** The command looks at this, too: what is measured for budgets is said of both together. */
void toll_beside(struct toll *toll, const struct evspace_client *client);

/** Ask from its loop and say it for @command where a program, or others, say their things, too: in
 * lines on stderr alone, once it is known and then every ten minutes. */
void toll_seldom(struct toll *toll, const char *command);

/** Of looks at nothing that has a client: there was one. */
void toll_look(struct toll *toll);

/** NULL is fine. */
void toll_free(struct toll *toll);

/** Call it with each wave, when it was shown: says what there is to say; nothing waits. Before
 * anything is shown, status_line_clear() is due. */
void toll_step(struct toll *toll);

/** Ask for the last time, and say what looking has cost in all, if it was long enough to know. */
void toll_end(struct toll *toll);

/**
 * Ask, and wait for the answer. Returns EVSPACE_FINE, or why there is none; then toll_why() says
 * more. The first one is what later ones are compared with; @show gets all of an answer, and may be
 * NULL.
 */
enum evspace_failure toll_ask(struct toll *toll,
			      void (*show)(const struct evspace_costs *costs, void *arg),
			      void *arg);
const char *toll_why(const struct toll *toll);

/** What the time between the first and the last answer has cost. Returns 0, or -1: not known. */
int toll_spent(const struct toll *toll, struct evspace_spent *spent);

/** What the time between the last two has cost, with how many looks a second. Likewise; NULL is
 * fine. */
int toll_spent_last(const struct toll *toll, struct evspace_spent *spent, double *rate);

/** Print it on stdout as an object with type `cost`, with what is measured for a budget; @rate:
 * looks a second, NAN: none. */
void toll_json(const struct toll *toll, const struct evspace_spent *spent, double rate);

#endif
