/* SPDX-License-Identifier: BSD-3-Clause */
/* A transport: a socket that carries bytes, through TLS or plain, behind a handful of functions. */
#ifndef EVSPACE_TRANSPORT_H
#define EVSPACE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "tree/wire/bytes.h"
#include "tree/link/tls.h"

/**
 * A nonblocking socket. With TLS, OpenSSL sees memory only: what recv() brought lies in a scratch
 * of the caller's until it is read, what OpenSSL writes is gathered in `out`, so that there is one
 * send() per flush however many records it has (docs/decisions/0015-tls-on-own-bios.md).
 */
struct transport {
	int fd;			 /* -1: none */
	SSL *ssl;		 /* NULL: plain */
	const unsigned char *in; /* TLS: received and not yet decrypted */
	size_t in_bytes;
	char *kept;	    /* TLS: where that is when it has been kept, else NULL */
	struct bytes plain; /* to be sent, as the caller wrote it */
	struct bytes out;   /* TLS: to be sent, encrypted */
	uint64_t sent, received;
};

/** Take over @fd and @ssl (NULL: plain). */
void transport_init(struct transport *t, int fd, SSL *ssl);

/** Close and free all. Safe on zeroed memory with fd -1, and twice. */
void transport_fini(struct transport *t);

/** Go on with the handshake. 1: done, 0: more must come (flush first), -1: @e. @where is the peer
 * in it. */
int transport_handshake(struct transport *t, const char *where, struct error *e);

/**
 * One recv() of what is there into @scratch (TLS), which must stay until transport_more() is false.
 * A plain socket is left to transport_read(). 1: read now, 0: nothing there, -1: @e (end, reset).
 */
int transport_fill(struct transport *t, unsigned char *scratch, size_t room, const char *where,
		   struct error *e);

/** Read into @data. Returns how many bytes, 0 when there are none now, -1 with @e. */
ssize_t transport_read(struct transport *t, void *data, size_t room, const char *where,
		       struct error *e);

/** Is there more to read without receiving? */
bool transport_more(const struct transport *t);

/** What was received is not read now: the scratch may be used for others. */
void transport_keep(struct transport *t);

/** Write out what waits in `plain`. 1: all is out, 0: the socket is full, -1 with errno and @e. */
int transport_flush(struct transport *t, const char *where, struct error *e);

/** Say that no more will come. Flushes. 1: said, 0: the socket is full, -1. */
int transport_shutdown(struct transport *t);

#endif
