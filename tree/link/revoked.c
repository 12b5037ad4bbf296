/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads lists of revoked certificates with OpenSSL, and keeps them if their file disappears. */
#include "tree/link/revoked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "tree/link/tls.h"

/** Is the list signed by a CA of ca.pem? */
static bool crl_is_ours(X509_STORE *store, X509_CRL *crl)
{
	STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(store);
	bool ours = false;

	for (int i = 0; i < sk_X509_OBJECT_num(objects) && !ours; i++) {
		X509 *ca = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));

		ours = ca && X509_CRL_verify(crl, X509_get0_pubkey(ca)) == 1;
	}
	ERR_clear_error();
	return ours;
}

static int crls_add(struct revoked *r, X509_STORE *store, FILE *file, const char *path,
		    const char *ca, struct error *e)
{
	X509_CRL *crl;

	while ((crl = PEM_read_X509_CRL(file, NULL, NULL, NULL))) {
		bool ours = crl_is_ours(store, crl);

		if (!sk_X509_CRL_push(r->lists, crl))
			abort();
		if (!ours)
			return errorf(e,
				      "%s is not from the CA of %s: copy both from the same folder",
				      path, ca);
		if (!X509_STORE_add_crl(store, crl))
			return errorf(e, "%s: %s", path, tls_says());
	}
	if (sk_X509_CRL_num(r->lists) &&
	    ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) {
		ERR_clear_error();
		return 0;
	}
	return errorf(e,
		      "%s is damaged (%s); this list of revoked certificates is needed: copy it "
		      "again from where it was made, or make it again: evspace-certs crl DIR",
		      path, tls_says());
}

int revoked_load(struct revoked *r, X509_STORE *store, const char *path, const char *ca,
		 struct error *e)
{
	FILE *file = fopen(path, "re");
	int result;

	r->lists = sk_X509_CRL_new_null();
	if (!r->lists)
		abort();
	/* a certificate in ca.pem is trusted even if another CA signed it */
	X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
	if (!file)
		return errno == ENOENT ? 0 : errorf(e, "%s: %s", path, strerror(errno));
	X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
	result = crls_add(r, store, file, path, ca, e);
	fclose(file);
	errno = EINVAL;
	return result;
}

void revoked_keep(struct revoked *r, X509_STORE *store, const struct revoked *before)
{
	if (sk_X509_CRL_num(r->lists) > 0 || sk_X509_CRL_num(before->lists) <= 0)
		return;
	r->gone = true;
	X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
	for (int i = 0; i < sk_X509_CRL_num(before->lists); i++) {
		X509_CRL *crl = sk_X509_CRL_value(before->lists, i);

		if (!X509_CRL_up_ref(crl) || !sk_X509_CRL_push(r->lists, crl) ||
		    !X509_STORE_add_crl(store, crl))
			abort();
	}
}

bool revoked_has(const struct revoked *r, X509 *certificate)
{
	X509_REVOKED *entry;

	for (int i = 0; i < sk_X509_CRL_num(r->lists); i++) {
		if (X509_CRL_get0_by_cert(sk_X509_CRL_value(r->lists, i), &entry, certificate) == 1)
			return true;
	}
	return false;
}

void revoked_fini(struct revoked *r)
{
	sk_X509_CRL_pop_free(r->lists, X509_CRL_free);
}
