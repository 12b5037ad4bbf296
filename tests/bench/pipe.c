/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking sends and receives of the floor; without a peer there is nothing left to do. */
#include "tests/bench/pipe.h"

#include <errno.h>
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
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0)
		abort();
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

int pipe_flush(struct pipe *p)
{
	while (p->out_at < p->out_bytes) {
		ssize_t n = send(p->fd, p->out + p->out_at, p->out_bytes - p->out_at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

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

	if (p->in_bytes == p->in_room) {
		p->in_room *= 2;
		p->in = must_realloc(p->in, p->in_room);
	}
	n = recv(p->fd, p->in + p->in_bytes, p->in_room - p->in_bytes, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN))
		_exit(0);
	p->in_bytes += n > 0 ? (size_t)n : 0;
}

void pipe_drop(struct pipe *p, size_t bytes)
{
	memmove(p->in, p->in + bytes, p->in_bytes - bytes);
	p->in_bytes -= bytes;
}
