/* SPDX-License-Identifier: BSD-3-Clause */
/* The texts of a pathmap's three files, as they are sent and kept. */
#ifndef EVSPACE_TEXTS_H
#define EVSPACE_TEXTS_H

#include <stdbool.h>

#include "pathmap/model/pathmap.h"

/** Owns its texts; zero-initialised it has none. */
struct pathmap_texts {
	char *application, *cluster, *mapping;
};

/** Read the files in @dir. Returns 0, or -1 with errno and @e (they need not be right). */
int texts_read(struct pathmap_texts *texts, const char *dir, struct error *e);

/** The texts that pathmap_local() would be made of. */
void texts_local(struct pathmap_texts *texts, const char *node);

/** A copy of three texts. */
void texts_set(struct pathmap_texts *texts, const char *application, const char *cluster,
	       const char *mapping);

/** Free them, and have none. */
void texts_fini(struct pathmap_texts *texts);

/**
 * Leave out what says where hosts are and how they are reached: `address`, `deploy` and all
 * comments. Texts that were right stay so: each node's address is its name, which leads nowhere.
 */
void texts_hide(struct pathmap_texts *texts);

/** Are they the same, byte by byte? */
bool texts_equal(const struct pathmap_texts *a, const struct pathmap_texts *b);

/**
 * The pathmap of these texts, checked as pathmap_load() does. NULL with EINVAL, and what is wrong
 * first in @e ("mapping.map:3:7: …").
 */
struct pathmap *texts_parse(const struct pathmap_texts *texts, pathmap_stage_check *check,
			    struct error *e);

#endif
