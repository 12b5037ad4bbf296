/* SPDX-License-Identifier: BSD-3-Clause */
/* A transport: a socket that carries bytes, through TLS or plain. */
#ifndef EVSPACE_TRANSPORT_H
#define EVSPACE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "tree/link/stamp.h"
#include "tree/wire/bytes.h"
#include "tree/link/tls.h"

/**
 * A nonblocking socket. With TLS, OpenSSL works on memory only: bytes from recv() stay in the
 * caller's scratch memory until they are read, and what OpenSSL writes is gathered in `out`, so
 * that there is one send() per flush, however many records it has
 * (docs/decisions/0015-tls-on-own-bios.md).
 */
struct transport {
	int fd;			 /* -1: none */
	SSL *ssl;		 /* NULL: plain */
	const unsigned char *in; /* TLS: received, not decrypted yet */
	size_t in_bytes;
	char *kept;	    /* TLS: the copy behind `in` after transport_keep(), else NULL */
	struct bytes plain; /* to send, as the caller wrote it */
	struct bytes out;   /* TLS: to send, encrypted */
	uint64_t sent, received;
	struct kernel_stamp stamp; /* of what was received last */
	bool leaves;		   /* what waits has something of which it is to be known … */
	uint64_t left_ns;	   /* … when it was given to the socket (CLOCK_MONOTONIC) */
};

/** Take over @fd and @ssl (NULL: plain). */
void transport_init(struct transport *t, int fd, SSL *ssl);

/** Close and free all. Safe on zeroed memory with fd -1, and twice. */
void transport_fini(struct transport *t);

/** Continue the handshake. Returns 1: done, 0: more bytes are needed (flush first), -1 with @e,
 * which calls the peer @where. */
int transport_handshake(struct transport *t, const char *where, struct error *e);

/**
 * One recv() into @scratch (TLS), which must stay valid until transport_more() is false. Does
 * nothing on a plain socket, which transport_read() reads. Returns 1: read now, 0: nothing there,
 * -1 with @e (end, reset).
 */
int transport_fill(struct transport *t, unsigned char *scratch, size_t room, const char *where,
		   struct error *e);

/** Read into @data. Returns the number of bytes, 0 if there are none now, -1 with @e. */
ssize_t transport_read(struct transport *t, void *data, size_t room, const char *where,
		       struct error *e);

/** Is there more to read without receiving? */
bool transport_more(const struct transport *t);

/** Copy what was received and not read, so that the scratch memory can be reused. */
void transport_keep(struct transport *t);

/** Write out `plain`. Returns 1: all is sent, 0: the socket is full, -1 with errno and @e. */
int transport_flush(struct transport *t, const char *where, struct error *e);

/** Announce the end of what we send. Flushes. Returns 1: done, 0: the socket is full, -1. */
int transport_shutdown(struct transport *t);

#endif
