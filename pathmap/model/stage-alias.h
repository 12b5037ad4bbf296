/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that an application map gives to stages that others have written: `stage NAME from
 * "FILE.so";`. */
#ifndef EVSPACE_STAGE_ALIAS_H
#define EVSPACE_STAGE_ALIAS_H

#include <stddef.h>

/** Most such names of a map. */
#define STAGE_ALIASES_MAX 64u

/** One name. */
struct stage_alias {
	char *name, *file;
	size_t offset; /* of its name in the map */
};

/** In the order of the map. */
struct stage_aliases {
	struct stage_alias *items;
	size_t n;
};

/** The file that @name stands for, or NULL. */
const char *stage_alias_file(const struct stage_aliases *aliases, const char *name);

/** The file's name in the map; without one, the file itself. */
const char *stage_alias_name(const struct stage_aliases *aliases, const char *file);

/** The name that @name was probably meant to be, or NULL. */
const char *stage_alias_nearest(const struct stage_aliases *aliases, const char *name);

void stage_alias_fini(struct stage_aliases *aliases);

#endif
