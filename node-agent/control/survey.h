/* SPDX-License-Identifier: BSD-3-Clause */
/* A survey: all processes of a host, and what their classes count, for whoever asks. */
#ifndef EVSPACE_SURVEY_H
#define EVSPACE_SURVEY_H

#include "node-agent/source/source.h"
#include "tree/wire/wire.h"

struct event_base;
struct survey;

/** Of what @here has, which outlives it. Aborts when memory is out. */
struct survey *survey_new(struct event_base *base, const struct source_host *here);

/** NULL is fine. */
void survey_free(struct survey *survey);

/**
 * Processes and classes of all runs, by run; else nothing is filled in. Whoever asks in one turn of
 * the loop gets the same, for which every segment is read: thousands may ask at once. The survey's,
 * until the turn ends.
 */
const Evspace__Status *survey_take(struct survey *survey);

#endif
