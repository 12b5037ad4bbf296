/* SPDX-License-Identifier: BSD-3-Clause */
/* Nouns that are said of a number. */
#ifndef EVSPACE_PLURAL_H
#define EVSPACE_PLURAL_H

#include <stdint.h>

/** The @ending ("s", "es") that a noun has behind @n, or "" behind 1. */
static inline const char *plural(uint64_t n, const char *ending)
{
	return n == 1 ? "" : ending;
}

#endif
