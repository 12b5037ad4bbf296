/* SPDX-License-Identifier: BSD-3-Clause */
/* TLS 1.3 identities: certificates of agents and consumers, the roles written in them, and what is
 * revoked (docs/rights.md). */
#ifndef EVSPACE_TLS_H
#define EVSPACE_TLS_H

#include <stdbool.h>
#include <openssl/ssl.h>
#include <stddef.h>

#include "pathmap/base/error.h"

/** Names; of each kind none means that all may be seen. Both kinds must fit. */
struct limits {
	char **users, **runs;
	size_t n_users, n_runs;
};

/**
 * Add what "user=NAME" or "run=NAME" says; *@limits is made when it is NULL. Returns 0, or -1 when
 * it says something else.
 */
int limits_add(struct limits **limits, const char *text);

/** NULL is fine. */
void limits_free(struct limits *limits);

/** May the run of that name be seen, as far as its name goes? NULL: there are no limits. */
bool limits_run(const struct limits *limits, const char *run);

/** Is the user of that name and number in the list? An empty list means everybody. */
bool limits_user(char *const *users, size_t n, const char *name, unsigned uid);

/** Is this process's user? */
bool limits_own_user(char *const *users, size_t n);

/** The name of this process's user, "" if it has none. */
const char *limits_own_name(void);

/** Rights of a peer, from URIs "evspace:role=…" in its certificate. Control implies observe. */
enum role { ROLE_AGENT = 1, ROLE_OBSERVE = 2, ROLE_CONTROL = 4 };

/** Who is at the other end of a link. */
struct peer {
	unsigned roles;	 /* enum role bits */
	char name[128];	 /* of an agent: its node; of a consumer: its certificate's common name, or
			    its user */
	char where[128]; /* address and port, or "unix, pid N, uid N" */
	bool local;	 /* on this host, through the Unix socket */
	unsigned uid;	 /* there: whose process it is */
	struct limits *limits; /* what its roles are limited to, NULL: nothing; limits_free() it */
	char until[32];	       /* when its certificate expires, "" if it has none */
};

/** An identity: certificate, key and the CA that both sides trust. */
struct tls;

/**
 * Load @dir/ca.pem and @dir/NAME.pem with @dir/NAME.key, and @dir/ca.crl if it is there: who is in
 * that list is refused, also when the list has ended (tls_warning() says so). The key file must not
 * be readable by others. NULL with @e: what is missing or wrong (file, expired, revoked, key does
 * not match, damaged list), how evspace-certs makes it.
 */
struct tls *tls_new(const char *dir, const char *name, struct error *e);
void tls_free(struct tls *tls);

/**
 * Load the files again if one of them has changed; new connections are made from them then. Returns
 * 1: that was so; 0: none has changed; -1 with @e: they are no good, and what there was before
 * stays (the own certificate, if only that is no good), until they change again. A list of revoked
 * certificates that is gone counts on, which tls_warning() says.
 */
int tls_refresh(struct tls *tls, struct error *e);

/** Was the connection begun with certificates or a revocation list that have changed since? */
bool tls_is_outdated(const struct tls *tls, SSL *ssl);

/** Would the peer of this connection, whose handshake is over, be let in now? Else @e says why. */
bool tls_trusts(const struct tls *tls, SSL *ssl, struct error *e);

/** The same of a certificate by itself, shown as who dials (@chain NULL is fine) or, @server, as
 * who is dialled. */
bool tls_accepts(const struct tls *tls, X509 *cert, STACK_OF(X509) * chain, bool server,
		 struct error *e);

/** The own certificate and key: the identity's. */
X509 *tls_certificate(const struct tls *tls);
EVP_PKEY *tls_key(const struct tls *tls);

/**
 * What should be told soon: the own certificate, or the list of what is revoked, ends within two
 * weeks or has ended. Returns 1 with the text in @e, else 0.
 */
int tls_warning(const struct tls *tls, struct error *e);

/** The folder that the files are in. */
const char *tls_folder(const struct tls *tls);

/**
 * A connection's SSL: as client (expecting @name as the server's DNS name if not NULL), or as
 * server. TLS 1.3 only, peer certificate required and verified. Free with SSL_free().
 */
SSL *tls_client(struct tls *tls, const char *name, struct error *e);
SSL *tls_server(struct tls *tls, struct error *e);

/**
 * Read the verified peer certificate of a finished handshake into @peer (roles, limits, name,
 * expiry). -1 with EACCES and @e if it has no role, or a limit that is not understood. (tls-peer.c)
 */
int tls_peer(SSL *ssl, struct peer *peer, struct error *e);

/** The same of a certificate whose chain is verified. (tls-peer.c) */
int tls_peer_read(X509 *cert, struct peer *peer, struct error *e);

/** Does the peer's certificate bear the DNS name @name? No wildcards. (tls-peer.c) */
bool tls_peer_is(SSL *ssl, const char *name);

/** The words for an error of X509_verify_cert(3), with the remedy. (tls-text.c) */
const char *tls_verify_text(long code);

/**
 * What OpenSSL has to say of the last failure on @ssl in one line, with the remedy: our verdict on
 * the peer at @where, or its verdict on us (an alert). Empties OpenSSL's error queue. (tls-text.c)
 */
void tls_explain(SSL *ssl, const char *where, struct error *e);

/** When this identity's own certificate expires, in seconds from now. */
long tls_expires_in(const struct tls *tls);

/** The last thing that OpenSSL complained of, for files. Empties its queue. */
const char *tls_says(void);

#endif
