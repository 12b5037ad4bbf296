/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes on a map that is applied: which open views it ends, and which of its own the entry cannot
 * serve. */
#ifndef EVSPACE_REMAP_NOTES_H
#define EVSPACE_REMAP_NOTES_H

#include <stddef.h>

struct pathmap;

/** Plain data; zero at first. */
struct remap_notes {
	char **texts;
	size_t n;
};

/** The last of too many says that there are more. */
void remap_notes_add(struct remap_notes *notes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Note the views of @map with stages of others that this process has to run, and lacks. */
void remap_notes_stages(struct remap_notes *notes, const struct pathmap *map);

void remap_notes_fini(struct remap_notes *notes);

#endif
