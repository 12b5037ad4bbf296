/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and numbers with units, as people write them in maps: "200", "100Mbit", "70us". */
#ifndef EVSPACE_QUANTITY_H
#define EVSPACE_QUANTITY_H

#include "pathmap/error.h"

/** Read a bandwidth ("100Mbit", "1.5Gbit/s") into @bits_per_s. Returns 0, or -1 with @e. */
int quantity_bandwidth(const char *text, double *bits_per_s, struct error *e);

/** Read a time ("70us", "0.5ms") into @seconds. Returns 0, or -1 with @e. */
int quantity_time(const char *text, double *seconds, struct error *e);

/** Read a whole number from @least to @most. Returns 0, or -1 with @e. */
int quantity_count(const char *text, unsigned least, unsigned most, unsigned *count,
		   struct error *e);

#endif
