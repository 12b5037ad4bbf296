/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings: what the application map says of a channel and of its trace elements. */
#ifndef EVSPACE_RECORDING_H
#define EVSPACE_RECORDING_H

#include <stdio.h>

#include "pathmap/grammar/directive.h"
#include "pathmap/model/pathmap.h"

/** Tuples that a mirror holds unless the map says otherwise: as many as any element of which it
 * says nothing. */
#define CAPACITY_DEFAULT 8000u
/** The bounds of what it may say: one slot is always in the making; 16 Mi tuples are 640 MiB. */
#define CAPACITY_LEAST 2u
#define CAPACITY_MOST  (1u << 24)

/** The longest lifetime of tuples, in seconds: a year. */
#define LIFETIME_MOST 31536000.0

/** The channels that a map can name, in this order in arrays of recordings. */
#define RECORDING_CHANNELS 10
extern const char *const recording_channels[RECORDING_CHANNELS];

/** The number of the channel with this name, or -1. */
int recording_channel(const char *name);

/**
 * Is the last part of @pattern, if it is a word, a channel's name, with or without what it may be
 * split by behind it? Returns 0, or -1 with the place in *@offset (from 0) and what was probably
 * meant in @e.
 */
int recording_pattern_check(const char *pattern, size_t *offset, struct error *e);

/** Fill in what a recording leaves to defaults; @capacity is that of the application. */
void recording_finish(struct recording *recording, unsigned capacity);

/** Print the recordings of the channels that are collected as a table, those alike in one row. */
void recordings_print(const struct recording *recordings, FILE *out);

/** What applies one statement of a block `collect` to the struct recording that is its target. */
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

/** Read the number of tuples that @word says into *@capacity, or complain. */
void capacity_read(struct reader *reader, const struct word *word, unsigned *capacity);

#endif
