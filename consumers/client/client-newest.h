/* SPDX-License-Identifier: BSD-3-Clause */
/* The newest tuple of each element, out of a stream: what a view that reads `latest` has of an
 * archive of events. */
#ifndef EVSPACE_CLIENT_NEWEST_H
#define EVSPACE_CLIENT_NEWEST_H

#include <stdint.h>

#include "tree/data/batch.h"

struct client_newest;

struct client_newest *client_newest_new(void);
void client_newest_free(struct client_newest *n);

/** Take the tuples of a wave of a stream, and put in their place the newest one of each element
 * whose host is in the wave, come now or before. */
void client_newest_apply(struct client_newest *n, uint64_t wave, struct batch *batch);

#endif
