/* SPDX-License-Identifier: BSD-3-Clause */
/* The floor's connections: a socket with what was received and what is to be sent. */
#ifndef EVSPACE_BENCH_PIPE_H
#define EVSPACE_BENCH_PIPE_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/ssl.h>

/**
 * What goes over a pipe: downwards `n` is how many waves from `wave` on are wanted, upwards how
 * many bytes of tuples follow.
 */
struct floor_frame {
	uint32_t n, wave;
};

struct pipe {
	int fd;
	SSL *ssl;	 /* NULL: plain */
	size_t index;	 /* of a child among its parent's */
	size_t elements; /* below a child, and where they go in a wave */
	size_t first;
	char *in, *out;
	size_t in_bytes, in_room;
	size_t out_at, out_bytes, out_room;
};

/** On a connected socket; its other fields are 0. Any failure of the floor ends the process. */
void pipe_init(struct pipe *p, int fd);

/** Shake hands by @ssl, which goes with the process; waits for the other side. */
void pipe_secure(struct pipe *p, SSL *ssl);

/** Room for @bytes more to send. Returns where they go. */
char *pipe_room(struct pipe *p, size_t bytes);

/** Send what waits. Returns 0 when all is out, 1 when the socket is full. */
int pipe_flush(struct pipe *p);

/** Receive once. */
void pipe_fill(struct pipe *p);

/** Forget the first @bytes that were received. */
void pipe_drop(struct pipe *p, size_t bytes);

#endif
