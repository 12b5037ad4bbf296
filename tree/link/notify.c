/* SPDX-License-Identifier: BSD-3-Clause */
/* systemd's two protocols that its manual allows to be implemented without its library. */
#include "tree/link/notify.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* sd_listen_fds(3) */
#define FIRST_FD 3
/* More than any unit has; a larger LISTEN_FDS is not systemd's. */
#define FDS_MOST 64

/* The number in a variable, 0 if there is none. */
static long variable_number(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long number = text ? strtol(text, &end, 10) : 0;

	return text && end != text && !*end ? number : 0;
}

/* Does a socket bound to @bound receive connections to @at? At "any address" it gets all of the
 * port. */
static bool hears(const union address_any *bound, const union address_any *at)
{
	const struct in6_addr *to = &bound->in6.sin6_addr;

	if (bound->any.sa_family == AF_UNIX || at->any.sa_family == AF_UNIX)
		return bound->any.sa_family == at->any.sa_family &&
		       strcmp(bound->local.sun_path, at->local.sun_path) == 0;
	if (address_port(bound) != address_port(at))
		return false;
	if (bound->any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(to))
		return true;
	if (bound->any.sa_family != at->any.sa_family)
		return false;
	if (bound->any.sa_family == AF_INET6)
		return IN6_ARE_ADDR_EQUAL(to, &at->in6.sin6_addr);
	return bound->in4.sin_addr.s_addr == INADDR_ANY ||
	       bound->in4.sin_addr.s_addr == at->in4.sin_addr.s_addr;
}

static bool listens_at(int fd, const union address_any *at)
{
	union address_any bound = {0};
	socklen_t room = sizeof(bound) - 1, number = sizeof(int);
	int listens = 0, only6 = 0;

	if (at->any.sa_family == AF_INET &&
	    getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only6, &number) == 0 && only6)
		return false;
	number = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &number) == 0 && listens &&
	       getsockname(fd, &bound.any, &room) == 0 && hears(&bound, at);
}

/* The process that inherited sockets from its parent. */
static pid_t heir;

void notify_inherit(pid_t parent)
{
	if (variable_number("LISTEN_PID") == parent)
		heir = getpid();
}

int notify_socket(const union address_any *at)
{
	long n = variable_number("LISTEN_FDS");

	if (variable_number("LISTEN_PID") != getpid() && heir != getpid())
		return -1;
	for (int fd = FIRST_FD; fd < FIRST_FD + n && fd < FIRST_FD + FDS_MOST; fd++) {
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		if (!listens_at(fd, at))
			continue;
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		return fd;
	}
	return -1;
}

void notify_ready(void)
{
	static const char ready[] = "READY=1";
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	socklen_t bytes;
	int fd;

	if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, strlen(path));
	bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, ready, sizeof(ready) - 1, MSG_NOSIGNAL, (struct sockaddr *)&to, bytes) < 0)
		perror("evspace: the service manager cannot be told that all is ready");
	close(fd);
}
