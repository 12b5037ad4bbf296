/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads an identity and makes connections from it: TLS 1.3, P-256, both certificates (RFC 8446). */
#include "tree/tls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "pathmap/memory.h"

#define ROLE_URI "evspace:role="

struct tls {
	SSL_CTX *context; /* both ends': they differ in nothing */
	X509 *own;
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

/** The last thing that OpenSSL complained of, for files. Empties its queue. */
static const char *openssl_says(void)
{
	const char *text = ERR_reason_error_string(ERR_peek_last_error());

	ERR_clear_error();
	return text ? text : "unknown reason";
}

static int options_set(SSL_CTX *ctx)
{
	SSL_CTX_set_options(ctx,
			    SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	SSL_CTX_set_verify_depth(ctx, 1);
	SSL_CTX_set_max_cert_list(ctx, 16 << 10);
	/*
	 * 34 kB a connection are kept: to give them back and take them again with every record
	 * costs more than all else that a short wave does. A record is read in one piece.
	 */
	SSL_CTX_set_mode(ctx, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(ctx, 1);
	return SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) &&
	       SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) &&
	       SSL_CTX_set_num_tickets(ctx, 0) &&
	       SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384") &&
	       SSL_CTX_set1_groups_list(ctx, "P-256") &&
	       SSL_CTX_set1_sigalgs_list(ctx, "ECDSA+SHA256");
}

/** The paths of one identity's files. */
struct files {
	char ca[4096], pem[4096], key[4096], make[512];
};

static SSL_CTX *context_new(const struct files *f, struct error *e)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());

	ERR_clear_error();
	if (!ctx || !options_set(ctx))
		errorf(e, "OpenSSL cannot do TLS 1.3 with P-256: %s", openssl_says());
	else if (!SSL_CTX_load_verify_file(ctx, f->ca))
		errorf(e, "%s: no certificate (%s); copy the CA's ca.pem there", f->ca,
		       openssl_says());
	else if (SSL_CTX_use_certificate_file(ctx, f->pem, SSL_FILETYPE_PEM) != 1)
		errorf(e, "%s: no certificate with a P-256 key (%s); make it with: %s", f->pem,
		       openssl_says(), f->make);
	else if (SSL_CTX_use_PrivateKey_file(ctx, f->key, SSL_FILETYPE_PEM) != 1 ||
		 SSL_CTX_check_private_key(ctx) != 1)
		errorf(e, "%s is not the key of %s (%s); make both with: %s --force", f->key,
		       f->pem, openssl_says(), f->make);
	else
		return ctx;
	SSL_CTX_free(ctx);
	errno = EINVAL;
	return NULL;
}

static int own_check(const struct tls *tls, const struct files *f, struct error *e)
{
	EVP_PKEY *key = X509_get0_pubkey(tls->own);
	char group[32] = "";

	errno = EINVAL;
	if (!key || !EVP_PKEY_get_group_name(key, group, sizeof(group), NULL) ||
	    strcmp(group, "prime256v1"))
		return errorf(e, "%s: its key is not P-256; make it with: %s --force", f->pem,
			      f->make);
	if (X509_cmp_current_time(X509_get0_notAfter(tls->own)) < 0)
		return errorf(e, "%s has expired; make a new one with: %s --force", f->pem,
			      f->make);
	if (X509_cmp_current_time(X509_get0_notBefore(tls->own)) > 0)
		return errorf(e, "%s is not valid yet; set this host's clock right", f->pem);
	return 0;
}

struct tls *tls_new(const char *dir, const char *name, struct error *e)
{
	struct tls *tls = memory_new(1, sizeof(*tls));
	struct files f;

	if (!name[0] || strchr(name, '/') || strlen(dir) + strlen(name) + 8 > sizeof(f.pem) ||
	    strlen(name) > 128) {
		errno = EINVAL;
		errorf(e, "\"%s\" is no name of a certificate in %s", name, dir);
		goto fail;
	}
	snprintf(f.ca, sizeof(f.ca), "%s/ca.pem", dir);
	snprintf(f.pem, sizeof(f.pem), "%s/%s.pem", dir, name);
	snprintf(f.key, sizeof(f.key), "%s/%s.key", dir, name);
	snprintf(f.make, sizeof(f.make), "deploy/certs agent|observe|control %.200s %.128s", dir,
		 name);
	if (file_check(f.ca, 0, "deploy/certs init", e) < 0 ||
	    file_check(f.pem, 0, f.make, e) < 0 || file_check(f.key, 1, f.make, e) < 0)
		goto fail;
	tls->context = context_new(&f, e);
	if (!tls->context)
		goto fail;
	tls->own = SSL_CTX_get0_certificate(tls->context);
	if (own_check(tls, &f, e) < 0)
		goto fail;
	return tls;
fail:
	tls_free(tls);
	return NULL;
}

void tls_free(struct tls *tls)
{
	int saved = errno;

	if (tls) {
		SSL_CTX_free(tls->context);
		free(tls);
	}
	errno = saved;
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
	errorf(e, "no TLS connection to %s: %s", name ? name : "an agent", openssl_says());
	SSL_free(ssl);
	return NULL;
}

SSL *tls_server(struct tls *tls, struct error *e)
{
	SSL *ssl = SSL_new(tls->context);

	if (!ssl) {
		errorf(e, "no TLS connection: %s", openssl_says());
		return NULL;
	}
	SSL_set_accept_state(ssl);
	return ssl;
}

static const char *ia5_text(const ASN1_IA5STRING *s)
{
	const char *text = (const char *)ASN1_STRING_get0_data(s);

	return strlen(text) == (size_t)ASN1_STRING_length(s) ? text : "";
}

/** The roles and the first DNS name that a certificate's alternative names say. */
static void names_read(X509 *cert, struct peer *peer)
{
	static const struct {
		const char *uri;
		enum role role;
	} roles[] = {
		{ROLE_URI "agent", ROLE_AGENT},
		{ROLE_URI "observe", ROLE_OBSERVE},
		{ROLE_URI "control", ROLE_CONTROL | ROLE_OBSERVE},
	};
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);

	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);

		if (name->type == GEN_DNS && !peer->name[0])
			snprintf(peer->name, sizeof(peer->name), "%s", ia5_text(name->d.dNSName));
		if (name->type != GEN_URI)
			continue;
		for (size_t k = 0; k < sizeof(roles) / sizeof(roles[0]); k++)
			if (!strcmp(ia5_text(name->d.uniformResourceIdentifier), roles[k].uri))
				peer->roles |= roles[k].role;
	}
	GENERAL_NAMES_free(names);
}

static void until_read(X509 *cert, struct peer *peer)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm))
		strftime(peer->until, sizeof(peer->until), "%Y-%m-%d %H:%M:%S UTC", &tm);
}

int tls_peer(SSL *ssl, struct peer *peer, struct error *e)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);

	peer->roles = 0;
	peer->name[0] = '\0';
	errno = EACCES;
	if (!cert || SSL_get_verify_result(ssl) != X509_V_OK)
		return errorf(e, "no certificate that was verified");
	names_read(cert, peer);
	if (!(peer->roles & ROLE_AGENT)) {
		X509_NAME *subject = X509_get_subject_name(cert);

		peer->name[0] = '\0';
		X509_NAME_get_text_by_NID(subject, NID_commonName, peer->name, sizeof(peer->name));
	}
	for (char *c = peer->name; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			*c = '_';
	until_read(cert, peer);
	if (!peer->roles)
		return errorf(e,
			      "the certificate of \"%s\" gives no role; make one with deploy/certs "
			      "agent, observe or control",
			      peer->name);
	return 0;
}

bool tls_peer_is(SSL *ssl, const char *name)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);
	unsigned flags = X509_CHECK_FLAG_NO_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;

	return cert && name[0] && X509_check_host(cert, name, 0, flags, NULL) == 1;
}

long tls_expires_in(const struct tls *tls)
{
	int days = 0, seconds = 0;

	if (!ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(tls->own)))
		return 0;
	return days * 86400L + seconds;
}
