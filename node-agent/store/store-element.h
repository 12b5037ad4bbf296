/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of programs (node-agent/pastset) in the store. */
#ifndef EVSPACE_STORE_ELEMENT_H
#define EVSPACE_STORE_ELEMENT_H

#include <stdint.h>
#include <sys/queue.h>

#include "node-agent/pastset/pastset.h"
#include "pathmap/base/error.h"
#include "pathmap/base/hash.h"

struct store;

/** A mapped element of a program. */
struct store_element {
	TAILQ_ENTRY(store_element) link;
	struct pastset file;
	char run[64];
	uint64_t serial; /* unique, like those of segments */
	bool going;	 /* its file is removed: only store_element_find() knows it still */
	UT_hash_handle hh;
};

TAILQ_HEAD(store_elements, store_element);

/** Map the element RUN/FILE of a program, and add it to the store's list, which owns it. Returns
 * NULL with errno and @e. */
struct store_element *store_element_open(struct store *store, const char *run, const char *file,
					 struct error *e);

/** Take it out of the list; store_elements_end() does the rest. */
void store_element_close(struct store *store, struct store_element *m);

/** Unmap and free all that go. */
void store_elements_end(struct store *store);

/** The one with this serial, or NULL. */
struct store_element *store_element_find(const struct store *store, uint64_t serial);

/** Time since the element was written, or its last writer came or closed it; 0 while somebody has
 * it open. */
uint64_t store_element_age(const struct store *store, const struct store_element *m);

#endif
