/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads an identity and makes connections from it: TLS 1.3, P-256, certificates on both sides (RFC
 * 8446). */
#include "tree/link/tls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/link/revoked.h"

/* Warn this long before something expires. */
#define WARN_S (14 * 86400L)

/** To notice that a file was replaced. All zero: it does not exist. */
struct stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

/** The paths of one identity's files. */
struct files {
	char *dir, *ca, *pem, *key, *crl, *make;
	struct stamp stamps[4]; /* when they were loaded */
};

struct tls {
	SSL_CTX *context; /* for both ends, which do not differ */
	X509 *own;
	struct revoked revoked;
	struct files files;
};

static int file_check(const char *path, int secret, const char *make, struct error *e)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errorf(e, "%s: %s; make it with: %s", path, strerror(errno), make);
	errno = EACCES;
	if (secret && (st.st_mode & 077))
		return errorf(
			e,
			"%s can be read by others; chmod 600 it (and if it was copied, make a "
			"new one: %s)",
			path, make);
	if (secret && st.st_uid != geteuid() && st.st_uid != 0 && geteuid() != 0)
		return errorf(e, "%s belongs to another user; make one of your own: %s", path,
			      make);
	return 0;
}

/** A revocation list that has expired still counts, and one of several CAs may have none: neither
 * is a reason to refuse everybody. */
static int verify(int ok, X509_STORE_CTX *store)
{
	switch (X509_STORE_CTX_get_error(store)) {
	case X509_V_ERR_CRL_HAS_EXPIRED:
	case X509_V_ERR_CRL_NOT_YET_VALID:
	case X509_V_ERR_UNABLE_TO_GET_CRL:
		X509_STORE_CTX_set_error(store, X509_V_OK);
		return 1;
	default:
		return ok;
	}
}

static int options_set(SSL_CTX *ctx)
{
	SSL_CTX_set_options(ctx,
			    SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, verify);
	SSL_CTX_set_verify_depth(ctx, 1);
	SSL_CTX_set_max_cert_list(ctx, 16 << 10);
	/* Keep the 34 kB of buffers of each connection: freeing and allocating them with every
	 * record costs more than all else that a short wave does. Read a record in one piece. */
	SSL_CTX_set_mode(ctx, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(ctx, 1);
	return SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) &&
	       SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) &&
	       SSL_CTX_set_num_tickets(ctx, 0) &&
	       SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384") &&
	       SSL_CTX_set1_groups_list(ctx, "P-256") &&
	       SSL_CTX_set1_sigalgs_list(ctx, "ECDSA+SHA256");
}

static void files_init(struct files *f, const char *dir, const char *name)
{
	*f = (struct files){
		.dir = memory_copy(dir),
		.ca = memory_format("%s/ca.pem", dir),
		.pem = memory_format("%s/%s.pem", dir, name),
		.key = memory_format("%s/%s.key", dir, name),
		.crl = memory_format("%s/ca.crl", dir),
		.make = memory_format("evspace-certs agent|observe|control %.200s %.128s", dir,
				      name),
	};
}

static void files_fini(struct files *f)
{
	free(f->dir);
	free(f->ca);
	free(f->pem);
	free(f->key);
	free(f->crl);
	free(f->make);
}

/** Stamp the files as they are now. */
static void files_stamp(const struct files *f, struct stamp stamps[4])
{
	const char *paths[4] = {f->ca, f->pem, f->key, f->crl};
	struct stat st;

	memset(stamps, 0, 4 * sizeof(*stamps));
	for (size_t i = 0; i < 4; i++) {
		if (stat(paths[i], &st) < 0)
			continue;
		stamps[i].device = st.st_dev;
		stamps[i].inode = st.st_ino;
		stamps[i].size = st.st_size;
		stamps[i].changed = st.st_ctim;
	}
}

/* ---- whom to trust ---- */

static SSL_CTX *context_new(const struct files *f, struct error *e)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());

	ERR_clear_error();
	if (!ctx || !options_set(ctx))
		errorf(e, "OpenSSL cannot do TLS 1.3 with P-256: %s", tls_says());
	else if (!SSL_CTX_load_verify_file(ctx, f->ca))
		errorf(e, "%s: no certificate (%s); copy the CA's ca.pem there", f->ca, tls_says());
	else
		return ctx;
	SSL_CTX_free(ctx);
	errno = EINVAL;
	return NULL;
}

/* ---- who we are ---- */

static int own_load(SSL_CTX *ctx, const struct files *f, struct error *e)
{
	errno = EINVAL;
	if (SSL_CTX_use_certificate_chain_file(ctx, f->pem) != 1)
		return errorf(e, "%s: no certificate with a P-256 key (%s); make it with: %s",
			      f->pem, tls_says(), f->make);
	if (SSL_CTX_use_PrivateKey_file(ctx, f->key, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_check_private_key(ctx) != 1)
		return errorf(e, "%s is not the key of %s (%s); make both with: %s --force", f->key,
			      f->pem, tls_says(), f->make);
	return 0;
}

static int own_check(const struct files *f, X509 *own, struct error *e)
{
	EVP_PKEY *key = X509_get0_pubkey(own);
	char group[32] = "";

	errno = EINVAL;
	if (!key || !EVP_PKEY_get_group_name(key, group, sizeof(group), NULL) ||
	    strcmp(group, "prime256v1"))
		return errorf(e, "%s: its key is not P-256; make it with: %s --force", f->pem,
			      f->make);
	if (X509_cmp_current_time(X509_get0_notAfter(own)) < 0)
		return errorf(e, "%s has expired; make a new one with: %s --force", f->pem,
			      f->make);
	if (X509_cmp_current_time(X509_get0_notBefore(own)) > 0)
		return errorf(e, "%s is not valid yet; set this host's clock right", f->pem);
	return 0;
}

static int own_take(struct tls *tls, struct error *e)
{
	const struct files *f = &tls->files;

	if (file_check(f->pem, 0, f->make, e) < 0 || file_check(f->key, 1, f->make, e) < 0 ||
	    own_load(tls->context, f, e) < 0 ||
	    own_check(f, SSL_CTX_get0_certificate(tls->context), e) < 0)
		return -1;
	tls->own = SSL_CTX_get0_certificate(tls->context);
	return 0;
}

/** Load all but the own certificate. */
static int tls_load(struct tls *tls, struct error *e)
{
	struct files *f = &tls->files;

	files_stamp(f, f->stamps);
	if (file_check(f->ca, 0, "evspace-certs init", e) < 0)
		return -1;
	tls->context = context_new(f, e);
	if (!tls->context)
		return -1;
	return revoked_load(&tls->revoked, SSL_CTX_get_cert_store(tls->context), f->crl, f->ca, e);
}

static void tls_unload(struct tls *tls)
{
	SSL_CTX_free(tls->context);
	revoked_fini(&tls->revoked);
}

struct tls *tls_new(const char *dir, const char *name, struct error *e)
{
	struct tls *tls = memory_new(1, sizeof(*tls));

	files_init(&tls->files, dir, name);
	if (!name[0] || strchr(name, '/') || strlen(name) > 128) {
		errno = EINVAL;
		errorf(e, "\"%s\" is not a name of a certificate in %s", name, dir);
		goto fail;
	}
	if (tls_load(tls, e) < 0 || own_take(tls, e) < 0)
		goto fail;
	if (!revoked_has(&tls->revoked, tls->own))
		return tls;
	errno = EACCES;
	errorf(e, "%s has been revoked; make a new one with: %s --force", tls->files.pem,
	       tls->files.make);
fail:
	tls_free(tls);
	return NULL;
}

int tls_refresh(struct tls *tls, struct error *e)
{
	struct tls next = {.files = tls->files};
	int result = 1;

	files_stamp(&next.files, next.files.stamps);
	if (memcmp(next.files.stamps, tls->files.stamps, sizeof(next.files.stamps)) == 0)
		return 0;
	if (tls_load(&next, e) < 0) {
		memcpy(tls->files.stamps, next.files.stamps, sizeof(tls->files.stamps));
		tls_unload(&next);
		return -1;
	}
	revoked_keep(&next.revoked, SSL_CTX_get_cert_store(next.context), &tls->revoked);
	if (own_take(&next, e) < 0) {
		/* the trusted certificates are updated all the same */
		result = -1;
		if (SSL_CTX_use_certificate(next.context, tls->own) != 1 ||
		    SSL_CTX_use_PrivateKey(next.context, SSL_CTX_get0_privatekey(tls->context)) !=
			    1)
			abort();
		next.own = SSL_CTX_get0_certificate(next.context);
	}
	tls_unload(tls);
	*tls = next;
	return result;
}

void tls_free(struct tls *tls)
{
	int saved = errno;

	if (tls) {
		tls_unload(tls);
		files_fini(&tls->files);
		free(tls);
	}
	errno = saved;
}

const char *tls_folder(const struct tls *tls)
{
	return tls->files.dir;
}

bool tls_is_outdated(const struct tls *tls, SSL *ssl)
{
	return SSL_get_SSL_CTX(ssl) != tls->context;
}

bool tls_accepts(const struct tls *tls, X509 *cert, STACK_OF(X509) * chain, bool server,
		 struct error *e)
{
	X509_STORE_CTX *check = X509_STORE_CTX_new();
	bool good = false;

	if (!check)
		abort();
	if (X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(tls->context), cert, chain) &&
	    X509_STORE_CTX_set_default(check, server ? "ssl_server" : "ssl_client")) {
		X509_STORE_CTX_set_verify_cb(check, verify);
		good = X509_verify_cert(check) == 1;
		if (!good)
			errorf(e, "no longer accepted: %s",
			       tls_verify_text(X509_STORE_CTX_get_error(check)));
	}
	ERR_clear_error();
	X509_STORE_CTX_free(check);
	return good;
}

bool tls_trusts(const struct tls *tls, SSL *ssl, struct error *e)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);

	return cert && tls_accepts(tls, cert, SSL_get_peer_cert_chain(ssl), !SSL_is_server(ssl), e);
}

X509 *tls_certificate(const struct tls *tls)
{
	return tls->own;
}

EVP_PKEY *tls_key(const struct tls *tls)
{
	return SSL_CTX_get0_privatekey(tls->context);
}

SSL *tls_client(struct tls *tls, const char *name, struct error *e)
{
	SSL *ssl = SSL_new(tls->context);

	ERR_clear_error();
	if (!ssl)
		goto fail;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	if (name && (!SSL_set1_host(ssl, name) || !SSL_set_tlsext_host_name(ssl, name)))
		goto fail;
	SSL_set_connect_state(ssl);
	return ssl;
fail:
	errorf(e, "no TLS connection to %s: %s", name ? name : "an agent", tls_says());
	SSL_free(ssl);
	return NULL;
}

SSL *tls_server(struct tls *tls, struct error *e)
{
	SSL *ssl = SSL_new(tls->context);

	if (!ssl) {
		errorf(e, "no TLS connection: %s", tls_says());
		return NULL;
	}
	SSL_set_accept_state(ssl);
	return ssl;
}

/** Seconds until @end. */
static long seconds_until(const ASN1_TIME *end)
{
	int days = 0, seconds = 0;

	if (!ASN1_TIME_diff(&days, &seconds, NULL, end))
		return 0;
	return days * 86400L + seconds;
}

long tls_expires_in(const struct tls *tls)
{
	return seconds_until(X509_get0_notAfter(tls->own));
}

/** "ends in 3 days", "has ended". */
static const char *end_text(long left, char *buf, size_t n)
{
	if (left <= 0)
		snprintf(buf, n, "has ended");
	else if (left < 2 * 86400L)
		snprintf(buf, n, "ends in %ld hour%s", left / 3600, plural(left / 3600, "s"));
	else
		snprintf(buf, n, "ends in %ld days", left / 86400);
	return buf;
}

int tls_warning(const struct tls *tls, struct error *e)
{
	long left = tls_expires_in(tls);
	char when[40];

	if (revoked_has(&tls->revoked, tls->own)) {
		errorf(e, "%s has been revoked: nobody accepts it; make a new one with: %s --force",
		       tls->files.pem, tls->files.make);
		return 1;
	}
	if (left < WARN_S) {
		errorf(e,
		       "%s %s; make a new one with: evspace-certs renew DIR NAME, and copy it here",
		       tls->files.pem, end_text(left, when, sizeof(when)));
		return 1;
	}
	if (tls->revoked.gone) {
		errorf(e,
		       "%s is gone; its certificates are refused until this process ends: copy it "
		       "again from "
		       "where it was made, or make it again: evspace-certs crl DIR",
		       tls->files.crl);
		return 1;
	}
	for (int i = 0; i < sk_X509_CRL_num(tls->revoked.lists); i++) {
		const ASN1_TIME *end =
			X509_CRL_get0_nextUpdate(sk_X509_CRL_value(tls->revoked.lists, i));

		left = end ? seconds_until(end) : WARN_S;
		if (left >= WARN_S)
			continue;
		errorf(e,
		       "%s %s; its certificates stay refused; make it again: "
		       "evspace-certs crl DIR, and copy it here",
		       tls->files.crl, end_text(left, when, sizeof(when)));
		return 1;
	}
	return 0;
}
