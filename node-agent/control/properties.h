/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of what runs already: the command by which elements get those of a map that was
 * applied, and programs its steered collectives, and what it says of a name. */
#ifndef EVSPACE_CONTROL_PROPERTIES_H
#define EVSPACE_CONTROL_PROPERTIES_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/model/pathmap.h"
#include "tree/wire/wire.h"

/**
 * The command with all lifetimes and modes for elements of which @to says one in another way than
 * @from, and with its rules of steered collectives if they are others; NULL: all is the same.
 * Channels of which neither says anything special stay as they were switched. @from NULL: it is not
 * known what there was, and all is said. Free it with evspace__switch_ask__free_unpacked().
 */
Evspace__SwitchAsk *properties_order(const struct pathmap *from, const struct pathmap *to);

/** Is @ask such a command? */
bool properties_are(const Evspace__SwitchAsk *ask);

/** Does @ask, which is carried out in @run, mean elements of the run @of? Properties are for all
 * runs but the monitors'. */
bool properties_mean(const Evspace__SwitchAsk *ask, const char *run, const char *of);

/** The lifetime that @ask says last of the element @name. False: none. */
bool properties_lifetime(const Evspace__SwitchAsk *ask, const char *name, uint64_t *ns);

/** The mode (enum segment_mode) that it says last, or -1. */
int properties_mode(const Evspace__SwitchAsk *ask, const char *name);

#endif
