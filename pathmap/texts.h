/* SPDX-License-Identifier: BSD-3-Clause */
/* The texts of a pathmap's three files, as they are sent and stored. */
#ifndef EVSPACE_TEXTS_H
#define EVSPACE_TEXTS_H

#include <stdbool.h>

#include "pathmap/model/pathmap.h"

/** Owns its texts; has none when zero-initialised. */
struct pathmap_texts {
	char *application, *cluster, *mapping;
};

/** Read the files in @dir, without checking them. Returns 0, or -1 with errno and @e. */
int texts_read(struct pathmap_texts *texts, const char *dir, struct error *e);

/** The texts of pathmap_local(). */
void texts_local(struct pathmap_texts *texts, const char *node);

/** Copy three texts. */
void texts_set(struct pathmap_texts *texts, const char *application, const char *cluster,
	       const char *mapping);

/** Free the texts. */
void texts_fini(struct pathmap_texts *texts);

/** Remove addresses of hosts and how they are reached: `address`, `deploy` and all comments.
 * Valid texts stay valid: each node's address becomes its name with an unused port. */
void texts_hide(struct pathmap_texts *texts);

/** Are they equal, byte by byte? */
bool texts_equal(const struct pathmap_texts *a, const struct pathmap_texts *b);

/** The pathmap of these texts, checked like pathmap_load(). NULL with EINVAL, and the first
 * fault in @e ("mapping.map:3:7: …"). */
struct pathmap *texts_parse(const struct pathmap_texts *texts, pathmap_stage_check *check,
			    struct error *e);

#endif
