/* SPDX-License-Identifier: BSD-3-Clause */
/* Names with wildcards: `*` for any characters, `?` for one. */
#ifndef EVSPACE_WILDCARD_H
#define EVSPACE_WILDCARD_H

#include <stdbool.h>
#include <stddef.h>

/** Has the text any? */
bool wildcard_is(const char *pattern);

/** Is @name one of those that @pattern stands for? In a time of their lengths' product at most. */
bool wildcard_match(const char *pattern, const char *name);

/** Is @name one of those of a list, "solve,exchange_*"? */
bool wildcard_list_match(const char *list, const char *name);

#endif
