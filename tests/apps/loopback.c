/* SPDX-License-Identifier: BSD-3-Clause */
/* A TCP connection over the loopback address. */
#include "tests/apps/loopback.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

int loopback_listen(int *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&at, n) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &n) < 0) {
		close(fd);
		return -1;
	}
	*port = ntohs(at.sin_port);
	return fd;
}

int loopback_accept(int listening)
{
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

	close(listening);
	return fd;
}

int loopback_connect(int port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				 .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}
