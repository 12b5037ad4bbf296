/* SPDX-License-Identifier: BSD-3-Clause */
/* Plurals of nouns after a number. */
#ifndef EVSPACE_PLURAL_H
#define EVSPACE_PLURAL_H

#include <stdint.h>

/** The @ending ("s", "es") of a noun after the number @n, or "" after 1. */
static inline const char *plural(uint64_t n, const char *ending)
{
	return n == 1 ? "" : ending;
}

#endif
