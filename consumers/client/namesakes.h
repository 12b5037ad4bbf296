/* SPDX-License-Identifier: BSD-3-Clause */
/* Namesakes: the same element read by another node, because a map changed which node fetches it or
 * which node its rank is on. */
#ifndef EVSPACE_NAMESAKES_H
#define EVSPACE_NAMESAKES_H

#include <stdbool.h>

/** All elements noted so far. */
struct namesakes;

struct namesakes *namesakes_new(void);
void namesakes_free(struct namesakes *namesakes);

/** Note the element @name ("/cluster/node/rank/thread/channel"). Was one noted before that differs
 * only in cluster and node? Then its first tuples may have been read there. */
bool namesakes_note(struct namesakes *namesakes, const char *name);

/** May @new be another name of the element @old? "/A/a0/rank3/t0/p2p" becomes
 * "/A/a0/rank3.4711/t0/p2p" when another process is rank 3, too, and "/B/a0/rank3/t0/p2p" when the
 * node moves to another cluster. */
bool namesakes_renamed(const char *old, const char *new);

#endif
