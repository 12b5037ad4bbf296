/* SPDX-License-Identifier: BSD-3-Clause */
/* A survey: all processes of a host with the counts of their classes, shared by all that ask. */
#ifndef EVSPACE_SURVEY_H
#define EVSPACE_SURVEY_H

#include "node-agent/source/source.h"
#include "tree/wire/wire.h"

struct event_base;
struct survey;

/** A survey of @here, which must outlive it. Aborts when memory is out. */
struct survey *survey_new(struct event_base *base, const struct source_host *here);

/** NULL is fine. */
void survey_free(struct survey *survey);

/**
 * Processes and classes of all runs, by run; no other field is set. All calls in one turn of the
 * loop give the same result, since each segment must be read and thousands may ask at once. It
 * belongs to the survey, and is valid until the turn ends.
 */
const Evspace__Status *survey_take(struct survey *survey);

#endif
