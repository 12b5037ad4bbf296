/* SPDX-License-Identifier: BSD-3-Clause */
/* Counted: how many calls each class of operations has made, and how many of these are no event
 * because of its mode. */
#ifndef EVSPACE_COUNTED_H
#define EVSPACE_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/op.h"

struct counted;
struct evspace_options;

/** What is looked at by @look, from the program's begin on. It is borrowed. */
struct counted *counted_new(const struct evspace_options *look);

/** NULL is fine. */
void counted_free(struct counted *counted);

/** From now on only what is counted from now on is told. @run is the one whose events are read,
 * here and below, "" while that is not known. */
void counted_begin(struct counted *counted, const char *run);

/** Ask for what is counted now. Where nobody tells, as in archives without counts, or not all hosts
 * do, all is taken to be recorded. */
void counted_take(struct counted *counted, const char *run);

/** The same, by what has come meanwhile: for who calls it again and again, as it does not wait. */
void counted_look(struct counted *counted, const char *run);

/** Have all hosts told what was counted? If not, nobody knows which share of the calls are events.
 */
bool counted_is_known(const struct counted *counted);

/** Is it an archive whose counts cannot be read? That was said on stderr. */
bool counted_is_damaged(const struct counted *counted);

/** Calls of @channel on @comm (0: on all communicators). */
struct counted_calls {
	uint64_t calls, skipped; /* of these no event */
} counted_calls(const struct counted *counted, enum channel channel, uint32_t comm);

/** Those on communicators of which none is an event. */
uint64_t counted_unseen(const struct counted *counted, enum channel channel);

/** The share of them that are events: 1 if there are none. */
double counted_share(const struct counted *counted, enum channel channel, uint32_t comm);

#endif
