/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes certificates with anything in them (X509_sign(3)). */
#include "tests/forge.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

static FILE *file_open(const char *dir, const char *name, const char *suffix, const char *mode)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s%s", dir, name, suffix);
	return fopen(path, mode);
}

static int files_write(const struct forgery *f, X509 *cert, EVP_PKEY *key)
{
	mode_t mask = umask(077);
	FILE *pem = file_open(f->dir, f->name, ".pem", "we");
	FILE *secret = file_open(f->dir, f->name, ".key", "we");
	int ok = pem && secret && PEM_write_X509(pem, cert) &&
		 PEM_write_PrivateKey(secret, key, NULL, NULL, 0, NULL, NULL);

	umask(mask);
	if (pem)
		fclose(pem);
	if (secret)
		fclose(secret);
	return ok ? 0 : -1;
}

static int cert_fill(X509 *cert, const struct forgery *f, EVP_PKEY *key, X509 *issuer)
{
	X509_NAME *name = X509_get_subject_name(cert);
	X509_EXTENSION *names = NULL;
	int ok = X509_set_version(cert, X509_VERSION_3) &&
		 ASN1_INTEGER_set(X509_get_serialNumber(cert), 4711) &&
		 X509_gmtime_adj(X509_getm_notBefore(cert), f->from) &&
		 X509_gmtime_adj(X509_getm_notAfter(cert), f->until) &&
		 X509_set_pubkey(cert, key) &&
		 X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
					    (const unsigned char *)f->name, -1, -1, 0) &&
		 X509_set_issuer_name(cert, f->self_signed ? name : X509_get_subject_name(issuer));

	if (ok && f->names) {
		names = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, f->names);
		ok = names && X509_add_ext(cert, names, -1);
		X509_EXTENSION_free(names);
	}
	return ok;
}

int forge(const struct forgery *f)
{
	FILE *ca_pem = file_open(f->dir, "ca", ".pem", "re");
	FILE *ca_secret = file_open(f->dir, "ca", ".key", "re");
	X509 *issuer = ca_pem ? PEM_read_X509(ca_pem, NULL, NULL, NULL) : NULL;
	EVP_PKEY *ca_key = ca_secret ? PEM_read_PrivateKey(ca_secret, NULL, NULL, NULL) : NULL;
	EVP_PKEY *key = EVP_EC_gen(f->group);
	X509 *cert = X509_new();
	int result = -1;

	if (issuer && ca_key && key && cert && cert_fill(cert, f, key, issuer) &&
	    X509_sign(cert, f->self_signed ? key : ca_key, EVP_sha256()))
		result = files_write(f, cert, key);
	X509_free(cert);
	X509_free(issuer);
	EVP_PKEY_free(key);
	EVP_PKEY_free(ca_key);
	if (ca_pem)
		fclose(ca_pem);
	if (ca_secret)
		fclose(ca_secret);
	return result;
}
