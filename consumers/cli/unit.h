/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantities for people: "1h", "1.5 MiB", "12,345". */
#ifndef EVSPACE_UNIT_H
#define EVSPACE_UNIT_H

#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"

/** Room for any text made here. */
#define UNIT_TEXT 32

/** Read a rate in 1/s such as 25; "max" is 0. Returns 0, or -1 with @e. */
int unit_rate(const char *text, double *rate, struct error *e);

/** A duration of @ns in a suitable unit, three digits: "1.23 ms", "45.6 s", "2.1 h". Returns
 * @buf. */
const char *unit_duration(char buf[UNIT_TEXT], uint64_t ns);

/** "1.5 MiB". Returns @buf. */
const char *unit_bytes(char buf[UNIT_TEXT], uint64_t bytes);

/** A share of 1 as text: "12 %", "1.5 %", "0.018 %", "under 0.001 %". Returns @buf. */
const char *unit_share(char buf[UNIT_TEXT], double share);

/** "1,234,567". Returns @buf. */
const char *unit_count(char buf[UNIT_TEXT], uint64_t n);

#endif
