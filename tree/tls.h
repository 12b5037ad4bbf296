/* SPDX-License-Identifier: BSD-3-Clause */
/* TLS 1.3 identities: certificates of agents and consumers, and the roles written in them (DESIGN
 * 7). */
#ifndef EVSPACE_TLS_H
#define EVSPACE_TLS_H

#include <stdbool.h>
#include <openssl/ssl.h>

#include "pathmap/error.h"

/** Rights of a peer, from URIs "evspace:role=…" in its certificate. Control implies observe. */
enum role { ROLE_AGENT = 1, ROLE_OBSERVE = 2, ROLE_CONTROL = 4 };

/** Who is at the other end of a link. */
struct peer {
	unsigned roles;	 /* enum role bits */
	char name[128];	 /* of an agent: its node; of a consumer: its certificate's common name, or
			    its user */
	char where[128]; /* address and port, or "unix, pid N, uid N" */
	bool local;	 /* on this host, through the Unix socket */
	char until[32];	 /* when its certificate expires, "" if it has none */
};

/** An identity: certificate, key and the CA that both sides trust. */
struct tls;

/**
 * Load @dir/ca.pem and @dir/NAME.pem with @dir/NAME.key. The key file must not be readable by
 * others. NULL with @e: what is missing or wrong (file, expired, key does not match), how
 * deploy/certs makes it.
 */
struct tls *tls_new(const char *dir, const char *name, struct error *e);
void tls_free(struct tls *tls);

/**
 * A connection's SSL: as client (expecting @name as the server's DNS name if not NULL), or as
 * server. TLS 1.3 only, peer certificate required and verified. Free with SSL_free().
 */
SSL *tls_client(struct tls *tls, const char *name, struct error *e);
SSL *tls_server(struct tls *tls, struct error *e);

/**
 * Read the verified peer certificate of a finished handshake into @peer (roles, name, expiry). -1
 * with EACCES and @e if it has no role.
 */
int tls_peer(SSL *ssl, struct peer *peer, struct error *e);

/** Does the peer's certificate bear the DNS name @name? No wildcards. */
bool tls_peer_is(SSL *ssl, const char *name);

/**
 * What OpenSSL has to say of the last failure on @ssl in one line, with the remedy: our verdict on
 * the peer at @where, or its verdict on us (an alert). Empties OpenSSL's error queue. (tls-text.c)
 */
void tls_explain(SSL *ssl, const char *where, struct error *e);

/** When this identity's own certificate expires, in seconds from now. */
long tls_expires_in(const struct tls *tls);

#endif
