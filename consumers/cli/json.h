/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON output, common to all commands. Unknown values are null. */
#ifndef EVSPACE_JSON_H
#define EVSPACE_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "consumers/client/evspace-client.h"

/** Write @object, taking its reference, on a line of its own, with "schema":1 first. */
void json_print(json_t *object, FILE *out);

/** @text as a string, with invalid UTF-8 replaced, as it may be from a peer. NULL or "": null. */
json_t *json_text(const char *text);

/** What is counted: an integer always; what is too large for one of JSON is the largest. */
json_t *json_count(uint64_t n);

/** What is measured or computed: with a point always; null below 0. */
json_t *json_figure(double value);

/** The same where below 0 is fine; null if it is not finite. */
json_t *json_number(double value);

/** A rank, a task or a peer; null: none, or not known yet. */
json_t *json_process(int32_t number);

/** A time of some clock; 0: null. */
json_t *json_time(int64_t ns);

/** "1a2b3c4d", as tables show the communicator @id; 0: null. */
json_t *json_comm(uint32_t id);

/** The hosts that a wave lacks, as an array. */
json_t *json_missing(const struct evspace_wave *wave);

#endif
