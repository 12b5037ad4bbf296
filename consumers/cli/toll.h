/* SPDX-License-Identifier: BSD-3-Clause */
/* What looking and collecting cost the program while a command looks: asked at the begin and at the
 * end, for the line that every consumer ends with. */
#ifndef EVSPACE_TOLL_H
#define EVSPACE_TOLL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "consumers/client/evspace-control.h"

struct toll;

/** Asks on a connection of its own, of the run and at the agent in @look, which must outlive it.
 * Nothing is asked yet. */
struct toll *toll_new(const struct evspace_options *look);

/** NULL is fine. */
void toll_free(struct toll *toll);

/** Call it with each wave: once a second has passed it asks for the first time, so that short looks
 * cost nothing more. NULL is fine. */
void toll_step(struct toll *toll);

/**
 * Ask, and wait for the answer. Returns 0, or -1: there is none, and toll_why() says why. The first
 * one is what later ones are compared with; @show gets all of an answer, and may be NULL.
 */
int toll_ask(struct toll *toll, void (*show)(const struct evspace_costs *costs, void *arg),
	     void *arg);
const char *toll_why(const struct toll *toll);

/** What the time between the first and the last answer has cost. Returns 0, or -1: not known. */
int toll_spent(const struct toll *toll, struct evspace_spent *spent);

/** Print it on stdout as an object with type `cost`; @rate: looks a second, NAN: none. */
void toll_json(const struct evspace_spent *spent, double rate);

/** Ask for the last time, and say on @out "9.8 looks a second; slowdown about 0.12 % (0.1 to 0.9),
 * …", or, if @json, an object with type `cost` on stdout. Nothing, if too little time has passed,
 * or no agent answers. @waves: looks since the first one. NULL is fine. */
void toll_say(struct toll *toll, uint64_t waves, bool json, FILE *out);

#endif
