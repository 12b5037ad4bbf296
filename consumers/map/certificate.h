/* SPDX-License-Identifier: BSD-3-Clause */
/* Certificates for a month, of agents that are measured, as deploy/certs makes them for others:
 * that takes 0.1 s for each. */
#ifndef EVSPACE_CERTIFICATE_H
#define EVSPACE_CERTIFICATE_H

#include <stddef.h>

#include "pathmap/base/error.h"

/** Write the ca.pem and ca.key of a new CA into the folder @dir. Returns 0, or -1 with @e. */
int certificates_authority(const char *dir, struct error *e);

/**
 * For each of the @n @names, write NAME.pem and NAME.key with @role ("agent": names of nodes,
 * "observe") into the folder @dir, which has the CA's ca.pem and ca.key. Returns 0, or -1 with @e.
 */
int certificates_make(const char *dir, const char *role, const char *const *names, size_t n,
		      struct error *e);

#endif
