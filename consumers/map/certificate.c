/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes P-256 keys and signs certificates for agents. */
#include "consumers/map/certificate.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#define DAY_S  86400L
#define LAST_S (30 * DAY_S) /* nobody is warned that it ends soon */

struct authority {
	X509 *own;
	EVP_PKEY *key;
};

static FILE *file_open(const char *dir, const char *name, const char *end, int flags)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.%s", dir, name, end);
	fd = open(path, flags | O_CLOEXEC, 0600);
	return fd < 0 ? NULL : fdopen(fd, flags == O_RDONLY ? "r" : "w");
}

static int authority_read(struct authority *ca, const char *dir)
{
	FILE *pem = file_open(dir, "ca", "pem", O_RDONLY);
	FILE *key = file_open(dir, "ca", "key", O_RDONLY);

	ca->own = pem ? PEM_read_X509(pem, NULL, NULL, NULL) : NULL;
	ca->key = key ? PEM_read_PrivateKey(key, NULL, NULL, NULL) : NULL;
	if (pem)
		fclose(pem);
	if (key)
		fclose(key);
	return ca->own && ca->key ? 0 : -1;
}

static int extension_add(X509 *cert, int kind, const char *value)
{
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, kind, value);
	int added = extension && X509_add_ext(cert, extension, -1);

	X509_EXTENSION_free(extension);
	return added ? 0 : -1;
}

/* All but what it is for and who signs it. */
static int certificate_begin(X509 *cert, EVP_PKEY *key, const char *name, long number)
{
	return X509_set_version(cert, X509_VERSION_3) &&
			       ASN1_INTEGER_set(X509_get_serialNumber(cert), number) &&
			       X509_gmtime_adj(X509_getm_notBefore(cert), -DAY_S) &&
			       X509_gmtime_adj(X509_getm_notAfter(cert), LAST_S) &&
			       X509_set_pubkey(cert, key) &&
			       X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN",
							  MBSTRING_ASC, (const void *)name, -1, -1,
							  0)
		       ? 0
		       : -1;
}

static int certificate_fill(X509 *cert, EVP_PKEY *key, const struct authority *ca, const char *role,
			    const char *name, long number)
{
	char names[256];

	if (strcmp(role, "agent") == 0)
		snprintf(names, sizeof(names), "DNS:%s,URI:evspace:role=agent", name);
	else
		snprintf(names, sizeof(names), "URI:evspace:role=%s", role);
	if (certificate_begin(cert, key, name, number) < 0 ||
	    !X509_set_issuer_name(cert, X509_get_subject_name(ca->own)) ||
	    extension_add(cert, NID_basic_constraints, "critical,CA:FALSE") < 0 ||
	    extension_add(cert, NID_key_usage, "critical,digitalSignature") < 0 ||
	    extension_add(cert, NID_ext_key_usage, "serverAuth,clientAuth") < 0 ||
	    extension_add(cert, NID_subject_alt_name, names) < 0)
		return -1;
	return X509_sign(cert, ca->key, EVP_sha256()) > 0 ? 0 : -1;
}

static int authority_fill(X509 *cert, EVP_PKEY *key)
{
	if (certificate_begin(cert, key, "evspace", 1) < 0 ||
	    !X509_set_issuer_name(cert, X509_get_subject_name(cert)) ||
	    extension_add(cert, NID_basic_constraints, "critical,CA:TRUE") < 0 ||
	    extension_add(cert, NID_key_usage, "critical,keyCertSign,cRLSign") < 0)
		return -1;
	return X509_sign(cert, key, EVP_sha256()) > 0 ? 0 : -1;
}

static int certificate_write(const char *dir, const char *node, X509 *cert, EVP_PKEY *key)
{
	FILE *pem = file_open(dir, node, "pem", O_WRONLY | O_CREAT | O_TRUNC);
	FILE *secret = file_open(dir, node, "key", O_WRONLY | O_CREAT | O_TRUNC);
	int done = pem && secret && PEM_write_X509(pem, cert) &&
		   PEM_write_PKCS8PrivateKey(secret, key, NULL, NULL, 0, NULL, NULL);

	if (pem && fclose(pem) != 0)
		done = 0;
	if (secret && fclose(secret) != 0)
		done = 0;
	return done ? 0 : -1;
}

/* @ca: NULL: it is a CA itself. */
static int certificate_make(const char *dir, const struct authority *ca, const char *role,
			    const char *name, long number)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = X509_new();
	int rc = -1;

	if (key && cert)
		rc = ca ? certificate_fill(cert, key, ca, role, name, number)
			: authority_fill(cert, key);
	if (rc == 0)
		rc = certificate_write(dir, name, cert, key);
	X509_free(cert);
	EVP_PKEY_free(key);
	return rc;
}

static int explain(int rc, const char *dir, struct error *e)
{
	return rc == 0 ? 0 : errorf(e, "cannot make certificates in %s", dir);
}

int certificates_authority(const char *dir, struct error *e)
{
	return explain(certificate_make(dir, NULL, "ca", "ca", 1), dir, e);
}

int certificates_make(const char *dir, const char *role, const char *const *names, size_t n,
		      struct error *e)
{
	struct authority ca = {NULL, NULL};
	int rc = authority_read(&ca, dir);

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = certificate_make(dir, &ca, role, names[i], (long)i + 1);
	X509_free(ca.own);
	EVP_PKEY_free(ca.key);
	return explain(rc, dir, e);
}
