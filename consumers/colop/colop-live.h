/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is late in collective operations at present, by a stream of events that somebody else reads.
 */
#ifndef EVSPACE_COLOP_LIVE_H
#define EVSPACE_COLOP_LIVE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct colop_live;
struct evspace_client;

/** Nobody yet; @client streams events of collectives, and is borrowed. */
struct colop_live *colop_live_new(struct evspace_client *client);

/** NULL is fine. */
void colop_live_free(struct colop_live *live);

/** Take all events of the client's wave, at @now_ns (CLOCK_MONOTONIC, or of an archive by its
 * events), however many somebody has taken of them before. */
void colop_live_take(struct colop_live *live, uint64_t now_ns);

/** Of an archive, whose times are those of its events: it begins at @begin_ns (what is said later
 * is none), and nothing more comes at @now_ns, so that what there is is judged. */
void colop_live_begin(struct colop_live *live, uint64_t begin_ns);
void colop_live_end(struct colop_live *live, uint64_t now_ns);

/** Of an archive, after its end: a sentence about the first operation of which calls of some ranks
 * are not there; NULL: there is none. */
const char *colop_live_open(const struct colop_live *live);

/** How many ranks are late often now, so that others lose 5 % of their time by each. */
size_t colop_live_late(const struct colop_live *live);

/** A sentence for each of them on @out. */
void colop_live_say(const struct colop_live *live, FILE *out);

#endif
