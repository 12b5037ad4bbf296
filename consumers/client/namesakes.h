/* SPDX-License-Identifier: BSD-3-Clause */
/* Namesakes: elements that are the same but for the node that reads them: a map has had another
 * node fetch them, or has left their rank out and put it elsewhere. */
#ifndef EVSPACE_NAMESAKES_H
#define EVSPACE_NAMESAKES_H

#include <stdbool.h>

/** All elements whose names have been noted. */
struct namesakes;

struct namesakes *namesakes_new(void);
void namesakes_free(struct namesakes *namesakes);

/**
 * Note the element @name ("/cluster/node/rank/thread/channel"). Was one noted before that differs
 * in cluster and node at most? Then its first tuples may have been read there.
 */
bool namesakes_note(struct namesakes *namesakes, const char *name);

#endif
