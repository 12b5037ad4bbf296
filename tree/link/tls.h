/* SPDX-License-Identifier: BSD-3-Clause */
/* TLS 1.3 identities: certificates of agents and consumers, their roles, and revocation
 * (docs/rights.md). */
#ifndef EVSPACE_TLS_H
#define EVSPACE_TLS_H

#include <stdbool.h>
#include <openssl/ssl.h>
#include <stddef.h>

#include "pathmap/base/error.h"

/** Names that a role is limited to; an empty list means all. Both lists must match. */
struct limits {
	char **users, **runs;
	size_t n_users, n_runs;
};

/** Add the limit in @text, "user=NAME" or "run=NAME"; allocates *@limits if it is NULL. Returns 0,
 * or -1 if it is neither. */
int limits_add(struct limits **limits, const char *text);

/** NULL is fine. */
void limits_free(struct limits *limits);

/** May the run @run be seen, by its name? NULL: there are no limits. */
bool limits_run(const struct limits *limits, const char *run);

/** Is the user @name or @uid in the list? An empty list means everybody. */
bool limits_user(char *const *users, size_t n, const char *name, unsigned uid);

/** Is this process's user in the list? */
bool limits_own_user(char *const *users, size_t n);

/** The name of this process's user, "" if unknown. */
const char *limits_own_name(void);

/** Rights of a peer, from URIs "evspace:role=…" in its certificate. Control implies observe. */
enum role { ROLE_AGENT = 1, ROLE_OBSERVE = 2, ROLE_CONTROL = 4 };

/** Who is at the other end of a link. */
struct peer {
	unsigned roles;	 /* enum role bits */
	char name[128];	 /* agent: its node; consumer: its certificate's common name, or its user */
	char where[128]; /* address and port, or "unix, pid N, uid N" */
	bool local;	 /* on this host, through the Unix socket */
	unsigned uid;	 /* if local: its process's user */
	struct limits *limits; /* of its roles, NULL: none; free with limits_free() */
	char until[32];	       /* when its certificate expires, "" if it has none */
};

/** An identity: certificate, key and the CA that both sides trust. */
struct tls;

/**
 * Load @dir/ca.pem and @dir/NAME.pem with @dir/NAME.key, and @dir/ca.crl if it exists: certificates
 * in that list are refused, even if the list has expired (tls_warning() reports that). The key file
 * must not be readable by others. NULL with @e: what is missing or wrong (file, expired, revoked,
 * key does not match, damaged list), and how evspace-certs makes it.
 */
struct tls *tls_new(const char *dir, const char *name, struct error *e);
void tls_free(struct tls *tls);

/**
 * Load the files again if one of them has changed, for new connections. Returns 1 if so; 0 if none
 * has changed; -1 with @e if they are not valid: then the old ones stay (only the own certificate,
 * if only that is not valid) until they change again. The old revocation list stays if its file
 * disappears, which tls_warning() reports.
 */
int tls_refresh(struct tls *tls, struct error *e);

/** Have certificates or the revocation list changed since the connection began? */
bool tls_is_outdated(const struct tls *tls, SSL *ssl);

/** Would the peer of this connection, whose handshake is over, be accepted now? If not, @e says
 * why. */
bool tls_trusts(const struct tls *tls, SSL *ssl, struct error *e);

/** The same for a certificate by itself, as a client's (@chain NULL is fine) or a server's. */
bool tls_accepts(const struct tls *tls, X509 *cert, STACK_OF(X509) * chain, bool server,
		 struct error *e);

/** This process's certificate and key, owned by the identity. */
X509 *tls_certificate(const struct tls *tls);
EVP_PKEY *tls_key(const struct tls *tls);

/** A warning: the own certificate or the revocation list expires within two weeks, or has expired.
 * Returns 1 with the text in @e, else 0. */
int tls_warning(const struct tls *tls, struct error *e);

/** The folder of the files. */
const char *tls_folder(const struct tls *tls);

/** A connection's SSL: as client (expecting @name as the server's DNS name if not NULL), or as
 * server. TLS 1.3 only, peer certificate required and verified. Free with SSL_free(). */
SSL *tls_client(struct tls *tls, const char *name, struct error *e);
SSL *tls_server(struct tls *tls, struct error *e);

/**
 * Read the verified peer certificate of a finished handshake into @peer (roles, limits, name,
 * expiry). Returns 0, or -1 with EACCES and @e if it has no role, or a limit that is not
 * understood. (tls-peer.c)
 */
int tls_peer(SSL *ssl, struct peer *peer, struct error *e);

/** The same for a certificate whose chain is verified. (tls-peer.c) */
int tls_peer_read(X509 *cert, struct peer *peer, struct error *e);

/** Does the peer's certificate have the DNS name @name? No wildcards. (tls-peer.c) */
bool tls_peer_is(SSL *ssl, const char *name);

/** The words for an error of X509_verify_cert(3), and what to do. (tls-text.c) */
const char *tls_verify_text(long code);

/** The last failure of OpenSSL on @ssl in one line, with what to do: why we refuse the peer at
 * @where, or why it refuses us (an alert). Empties OpenSSL's error queue. (tls-text.c) */
void tls_explain(SSL *ssl, const char *where, struct error *e);

/** When this identity's own certificate expires, in seconds from now. */
long tls_expires_in(const struct tls *tls);

/** OpenSSL's last error about a file. Empties its queue. */
const char *tls_says(void);

#endif
