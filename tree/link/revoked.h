/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of revoked certificates, from a file (RFC 5280, section 5). */
#ifndef EVSPACE_REVOKED_H
#define EVSPACE_REVOKED_H

#include <stdbool.h>

#include <openssl/x509.h>

#include "pathmap/base/error.h"

/** Zero-initialise; revoked_fini() frees. */
struct revoked {
	STACK_OF(X509_CRL) * lists; /* made by revoked_load() */
	bool gone;		    /* their file has disappeared */
};

/**
 * Load the lists in the file @path, if it exists, and let @store refuse the certificates in them.
 * They must be signed by a CA in @store, which is from the file @ca. Returns 0, or -1 with errno
 * and @e.
 */
int revoked_load(struct revoked *revoked, X509_STORE *store, const char *path, const char *ca,
		 struct error *e);

/** After a reload: if the file has disappeared, keep the lists @before, as it may have been moved
 * by mistake, or by somebody in the list. */
void revoked_keep(struct revoked *revoked, X509_STORE *store, const struct revoked *before);

/** Is the certificate in a list? */
bool revoked_has(const struct revoked *revoked, X509 *certificate);

void revoked_fini(struct revoked *revoked);

#endif
