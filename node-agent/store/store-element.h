/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of programs (node-agent/pastset) in the store. */
#ifndef EVSPACE_STORE_ELEMENT_H
#define EVSPACE_STORE_ELEMENT_H

#include <stdint.h>
#include <sys/queue.h>

#include "node-agent/pastset/pastset.h"
#include "pathmap/base/error.h"

struct store;

/** A mapped element of a program. */
struct store_element {
	TAILQ_ENTRY(store_element) link;
	struct pastset file;
	char run[64];
	uint64_t serial; /* unique, like those of segments */
};

TAILQ_HEAD(store_elements, store_element);

/** Map the element RUN/FILE of a program, and add it to the store's list, which owns it. Returns
 * NULL with errno and @e. */
struct store_element *store_element_open(struct store *store, const char *run, const char *file,
					 struct error *e);
void store_element_close(struct store *store, struct store_element *m);

/** Time since the element was written, or its last writer came or closed it; 0 while somebody has
 * it open. */
uint64_t store_element_age(const struct store *store, const struct store_element *m);

#endif
