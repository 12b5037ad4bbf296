/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantities as maps, options and variables have them, "200", "100Mbit", "500ms", "10kB", and as
 * people read them: "12,345", "1.5 MiB". */
#ifndef EVSPACE_QUANTITY_H
#define EVSPACE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"

/** Read a bandwidth ("100Mbit", "1.5Gbit/s") into @bits_per_s. Returns 0, or -1 with @e. */
int quantity_bandwidth(const char *text, double *bits_per_s, struct error *e);

/** As @plain_ns: a number without a unit means seconds. */
#define QUANTITY_SECONDS UINT64_C(1000000000)

/** Read a time ("70us", "500ms", "90s", "10m", "1h", "2d") into @ns; a number without a unit is
 * in units of @plain_ns, or not valid if that is 0. Returns 0, or -1 with @e. */
int quantity_duration(const char *text, uint64_t plain_ns, uint64_t *ns, struct error *e);

/** Read a size ("4096", "10kB", "10k" and "10KiB", which are 10,240) into @bytes. Returns 0, or -1
 * with @e. */
int quantity_bytes(const char *text, uint64_t *bytes, struct error *e);

/** Read a share in percent ("1%", "0.5 %", "2") into @share, where 1 is all: above 0, and 1 at
 * most. Returns 0, or -1 with @e. */
int quantity_share(const char *text, double *share, struct error *e);

/** Read a whole number from @least to @most. Returns 0, or -1 with @e. */
int quantity_count(const char *text, unsigned least, unsigned most, unsigned *count,
		   struct error *e);

/** The @ending ("s", "es") of a noun after the number @n, or "" after 1. */
static inline const char *plural(uint64_t n, const char *ending)
{
	return n == 1 ? "" : ending;
}

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
