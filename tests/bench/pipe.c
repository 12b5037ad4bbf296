/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking sends and receives of the floor; without a peer there is nothing left to do. */
#include "tests/bench/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* More than a wave of the paper's tree, so that one receive can bring it. */
#define ROOM (1u << 20)

static char *must_realloc(char *old, size_t room)
{
	char *at = realloc(old, room);

	if (!at)
		abort();
	return at;
}

void pipe_init(struct pipe *p, int fd)
{
	int one = 1;

	*p = (struct pipe){.fd = fd, .in_room = ROOM, .out_room = ROOM};
	p->in = must_realloc(NULL, ROOM);
	p->out = must_realloc(NULL, ROOM);
	/* A Unix socket does not know of delays. */
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0 && errno != EOPNOTSUPP)
		abort();
}

void pipe_secure(struct pipe *p, SSL *ssl)
{
	/* A record is 16 KiB, and each takes one read(2) and one write(2): all that TLS must do. */
	if (!ssl || !SSL_set_fd(ssl, p->fd))
		_exit(1);
	/* What comes behind the handshake stays in the socket, where epoll sees it. */
	SSL_set_read_ahead(ssl, 0);
	if (SSL_do_handshake(ssl) != 1 || !SSL_free_buffers(ssl))
		_exit(1);
	SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_set_read_ahead(ssl, 1);
	SSL_set_default_read_buffer_len(ssl, 256u << 10);
	if (fcntl(p->fd, F_SETFL, O_NONBLOCK) < 0)
		abort();
	p->ssl = ssl;
}

char *pipe_room(struct pipe *p, size_t bytes)
{
	char *at;

	if (p->out_bytes + bytes > p->out_room) {
		p->out_room = 2 * (p->out_bytes + bytes);
		p->out = must_realloc(p->out, p->out_room);
	}
	at = p->out + p->out_bytes;
	p->out_bytes += bytes;
	return at;
}

/* As send(2) and recv(2), with or without TLS. */
static ssize_t put(struct pipe *p)
{
	size_t done, bytes = p->out_bytes - p->out_at;

	if (!p->ssl)
		return send(p->fd, p->out + p->out_at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (SSL_write_ex(p->ssl, p->out + p->out_at, bytes, &done))
		return (ssize_t)done;
	errno = SSL_get_error(p->ssl, 0) == SSL_ERROR_WANT_WRITE ? EAGAIN : EPIPE;
	return -1;
}

static ssize_t get(struct pipe *p)
{
	size_t done, room = p->in_room - p->in_bytes;

	if (!p->ssl)
		return recv(p->fd, p->in + p->in_bytes, room, MSG_DONTWAIT);
	if (SSL_read_ex(p->ssl, p->in + p->in_bytes, room, &done))
		return (ssize_t)done;
	errno = SSL_get_error(p->ssl, 0) == SSL_ERROR_WANT_READ ? EAGAIN : EPIPE;
	return -1;
}

int pipe_flush(struct pipe *p)
{
	while (p->out_at < p->out_bytes) {
		ssize_t n = put(p);

		if (n < 0 && errno == EAGAIN)
			return 1;
		if (n < 0)
			_exit(0);
		p->out_at += (size_t)n;
	}
	p->out_at = p->out_bytes = 0;
	return 0;
}

void pipe_fill(struct pipe *p)
{
	ssize_t n;

	do {
		if (p->in_bytes == p->in_room) {
			p->in_room *= 2;
			p->in = must_realloc(p->in, p->in_room);
		}
		n = get(p);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			_exit(0);
		p->in_bytes += n > 0 ? (size_t)n : 0;
		/* One record at a time; those that were read ahead are pending. */
	} while (n > 0 && p->ssl && SSL_has_pending(p->ssl));
}

void pipe_drop(struct pipe *p, size_t bytes)
{
	memmove(p->in, p->in + bytes, p->in_bytes - bytes);
	p->in_bytes -= bytes;
}
