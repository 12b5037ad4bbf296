/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage objects: files with stages that others have written (tree/stage/evspace-stage.h), from a
 * folder that only root and the agent's user may change. */
#ifndef EVSPACE_STAGE_OBJECT_H
#define EVSPACE_STAGE_OBJECT_H

#include <stdbool.h>
#include <stdio.h>

#include "pathmap/base/error.h"

struct stage_ops;

/** Most objects of a folder. */
#define STAGE_OBJECTS_MAX 64u

/**
 * Load all objects NAME.so of the folder @dir, once in the life of the process; they stay. What
 * cannot be taken is written to @told, a line each, and is left out. Returns 0, or -1 with errno
 * and
 * @e: the folder, or one above it, can be changed by others.
 */
int stage_objects_load(const char *dir, FILE *told, struct error *e);

/** Is @kind the name of an object, "NAME.so"? */
bool stage_object_is(const char *kind);

/** The kind of stage that was loaded from @file, "NAME.so", or NULL. */
const struct stage_ops *stage_object_find(const char *file);

/** Why @file is not here, and what to do, into @e. */
void stage_object_missing(const char *file, struct error *e);

#endif
