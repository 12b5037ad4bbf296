/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantities in maps, options and variables: "200", "100Mbit", "500ms", "10kB". */
#ifndef EVSPACE_QUANTITY_H
#define EVSPACE_QUANTITY_H

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

/** Read a whole number from @least to @most. Returns 0, or -1 with @e. */
int quantity_count(const char *text, unsigned least, unsigned most, unsigned *count,
		   struct error *e);

#endif
