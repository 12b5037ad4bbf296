/* SPDX-License-Identifier: BSD-3-Clause */
/* Certificates of many agents at once, as deploy/certs makes them: that takes 0.1 s for each. */
#ifndef EVSPACE_BENCH_CERTIFICATE_H
#define EVSPACE_BENCH_CERTIFICATE_H

#include <stddef.h>

#include "pathmap/base/error.h"

/**
 * For each of the @n agents @nodes, write NODE.pem and NODE.key into the folder @dir, which has the
 * CA's ca.pem and ca.key. Returns 0, or -1 with @e.
 */
int certificates_make(const char *dir, const char *const *nodes, size_t n, struct error *e);

#endif
