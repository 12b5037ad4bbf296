/* SPDX-License-Identifier: BSD-3-Clause */
/* What the application map says of elements by name, for collectors, which do not know nodes. */
#ifndef EVSPACE_RULES_H
#define EVSPACE_RULES_H

#include "pathmap/model/parts.h"

/** What a text of rules says. */
enum rules_of { RULES_CAPACITY = 1, RULES_LIFETIME = 2, RULES_MODE = 4 };

/**
 * All rules of the map, resolved by its mapping, as collectors read them (EVSPACE_PROPERTIES):
 * items with `;` between them, "RANKS/PATTERN=WORD:VALUE,WORD:VALUE". RANKS are "0-3,7", or nothing
 * for all; the pattern is of "/rankR/tT/CHANNEL"; @of are the bits of what is said. The caller must
 * free() it. NULL: nothing is said.
 */
char *rules_text(const struct pathmap *map, unsigned of);

/** Report rules that no element of the map can have. */
void rules_check(const struct pathmap *map, const struct mapfile *source,
		 struct diagnostics *diagnostics);

/** Is anything said in another way by @to than by @from, of what takes effect at once? */
bool rules_differ(const struct pathmap *from, const struct pathmap *to, unsigned of);

#endif
