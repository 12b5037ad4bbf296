/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings: the application map's settings of channels and their elements. */
#ifndef EVSPACE_RECORDING_H
#define EVSPACE_RECORDING_H

#include <stdio.h>

#include "pathmap/grammar/directive.h"
#include "pathmap/model/pathmap.h"

/** Default capacity of mirrors: the largest default capacity of elements. */
#define CAPACITY_DEFAULT 8000u
/** Bounds of capacities: one slot is always being written; 16 Mi tuples are 640 MiB. */
#define CAPACITY_LEAST 2u
#define CAPACITY_MOST  (1u << 24)

/** Longest lifetime of tuples, in seconds: a year. */
#define LIFETIME_MOST 31536000.0

/** Number of channels that a map can name; arrays of recordings have their order. */
#define RECORDING_CHANNELS 10
extern const char *const recording_channels[RECORDING_CHANNELS];

/** The number of the channel with this name, or -1. */
int recording_channel(const char *name);

/**
 * Check that the last part of @pattern, if it is a word, is a channel's name, possibly followed by
 * what the channel is split by. Returns 0, or -1 with the place in *@offset (from 0) and what was
 * probably meant in @e.
 */
int recording_pattern_check(const char *pattern, size_t *offset, struct error *e);

/** Are the @n @patterns well formed, and do they end with channels? Returns 0, or -1 with @e. */
int recording_select_check(const char *const *patterns, size_t n, struct error *e);

/** Fill in defaults of a recording; @capacity is the application's. */
void recording_finish(struct recording *recording, unsigned capacity);

/** Print the recordings of collected channels as a table; equal ones share a row. */
void recordings_print(const struct recording *recordings, FILE *out);

/** Applies one statement of a block `collect` to its target, a struct recording. */
typedef void recording_apply(struct reader *reader, void *target,
			     const struct statement *statement);

/** `capacity TUPLES;` */
recording_apply recording_capacity_apply;
/** `element thread|comm|op|site;` */
recording_apply recording_element_apply;
/** `lifetime TIME;` */
recording_apply recording_lifetime_apply;
/** `mode trace|time|count|sample|off;` */
recording_apply recording_mode_apply;
/** `remote NODE;` or `remote NODE capacity TUPLES;` */
recording_apply recording_remote_apply;

/** Read a number of tuples from @word into *@capacity, or report a fault. */
void capacity_read(struct reader *reader, const struct word *word, unsigned *capacity);

#endif
