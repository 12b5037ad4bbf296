/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions: views that consumers bring as text. */
#ifndef EVSPACE_DEFINITION_H
#define EVSPACE_DEFINITION_H

#include <stddef.h>
#include <stdio.h>

#include "pathmap/base/error.h"
#include "pathmap/model/definable.h"
#include "pathmap/model/view.h"

struct pathmap;

/** Bytes of the longest definition. */
#define DEFINITION_BYTES 4096u

/** What such a view is called: no view of a map has this name. */
#define DEFINITION_VIEW "(defined)"

/** What stands in `view NAME { ... }`, of which the last statement needs no `;`. Not terminated,
 * and not to be trusted. */
struct definition {
	const char *text;
	size_t bytes;
};

/**
 * Read a definition as the map's grammar has it. Without `read` it is of tuples (`stream`), or of
 * counts if its stages take those. By a @map: what the map allows, and with the views that it uses;
 * NULL: grammar alone, and stages that @check knows. Faults are written to @diagnostics (NULL:
 * nowhere) as pathmap_load() does. Returns the view, for view_free(), or NULL with errno and the
 * first fault in
 * @e ("--define:1:6: ...").
 */
struct view *definition_read(const struct definition *definition, const struct pathmap *map,
			     pathmap_stage_check *check, FILE *diagnostics, struct error *e);

#endif
