/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and prints addresses of agents. */
#include "tree/link/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int unix_parse(struct address *a, const char *path, struct error *e)
{
	size_t n = strlen(path);

	errno = EINVAL;
	if (!n)
		return errorf(e, "\"unix:\" has no path; write unix:/run/user/1000/agent.sock");
	if (n >= sizeof(a->path))
		return errorf(e,
			      "unix:%s: a path of %zu characters, but sockets allow %zu; use a "
			      "shorter folder (EVSPACE_DIR)",
			      path, n, sizeof(a->path) - 1);
	a->local = true;
	a->n = 1;
	a->at[0].local.sun_family = AF_UNIX;
	memcpy(a->at[0].local.sun_path, path, n + 1);
	memcpy(a->path, path, n + 1);
	a->bytes[0] = (socklen_t)sizeof(a->at[0].local);
	return 0;
}

/** Split "HOST:PORT" or "[HOST]:PORT". */
static int host_split(const char *text, char *host, size_t room, const char **port)
{
	const char *colon = strrchr(text, ':');
	const char *from = text, *to = colon;

	if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
	    strlen(colon + 1) > 5 || atoi(colon + 1) > 65535)
		return -1;
	if (*text == '[') {
		if (colon == text || colon[-1] != ']')
			return -1;
		from = text + 1;
		to = colon - 1;
	} else if (memchr(text, ':', (size_t)(colon - text))) {
		return -1;
	}
	if ((size_t)(to - from) >= room)
		return -1;
	memcpy(host, from, (size_t)(to - from));
	host[to - from] = '\0';
	*port = colon + 1;
	return 0;
}

static int host_find(struct address *a, const char *host, const char *port, int flags,
		     struct error *e)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
	struct addrinfo *list = NULL;
	int result;

	result = getaddrinfo(*host ? host : NULL, port, &hints, &list);
	if (result != 0) {
		errno = EHOSTUNREACH;
		return errorf(e,
			      "no host \"%s\" (%s); write its address, or enter it in /etc/hosts",
			      host, gai_strerror(result));
	}
	for (struct addrinfo *i = list; i && a->n < ADDRESS_MOST; i = i->ai_next) {
		if (i->ai_addrlen > sizeof(a->at[0]))
			continue;
		memcpy(&a->at[a->n], i->ai_addr, i->ai_addrlen);
		a->bytes[a->n++] = i->ai_addrlen;
	}
	freeaddrinfo(list);
	return 0;
}

/* Split @text, which is not a Unix socket, into host and port. */
static int address_split(const char *text, bool listen, char *host, size_t room, const char **port,
			 struct error *e)
{
	if (host_split(text, host, room, port) == 0 &&
	    (listen || (*host && strcmp(*port, "0") != 0)))
		return 0;
	errno = EINVAL;
	return errorf(e, "\"%s\" is not an address; write HOST:PORT, [IPV6]:PORT or unix:PATH",
		      text);
}

int address_parse(struct address *a, const char *text, bool listen, struct error *e)
{
	const char *port;
	char host[256];

	memset(a, 0, sizeof(*a));
	if (!strncmp(text, "unix:", 5))
		return unix_parse(a, text + 5, e);
	if (address_split(text, listen, host, sizeof(host), &port, e) < 0)
		return -1;
	return host_find(a, host, port, listen ? AI_PASSIVE : 0, e);
}

int address_read(struct address *a, const char *text)
{
	const char *port;
	struct error e;
	char host[256];

	memset(a, 0, sizeof(*a));
	if (!strncmp(text, "unix:", 5))
		return unix_parse(a, text + 5, &e);
	if (address_split(text, false, host, sizeof(host), &port, &e) < 0)
		return -1;
	return host_find(a, host, port, AI_NUMERICHOST, &e);
}

bool address_name(const char *text, char *host, size_t room)
{
	const char *port;
	struct address a;

	return address_read(&a, text) < 0 && host_split(text, host, room, &port) == 0;
}

int address_check(const char *text, bool listen, struct error *e)
{
	const char *port;
	struct address a;
	char host[256];

	if (!strncmp(text, "unix:", 5))
		return unix_parse(&a, text + 5, e);
	return address_split(text, listen, host, sizeof(host), &port, e);
}

void address_format(const union address_any *at, char *text, size_t room)
{
	char host[INET6_ADDRSTRLEN] = "?";
	bool mapped;

	switch (at->any.sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &at->in4.sin_addr, host, sizeof(host));
		snprintf(text, room, "%s:%u", host, ntohs(at->in4.sin_port));
		break;
	case AF_INET6:
		/* report IPv4 peers as IPv4, also on a socket that accepts both */
		mapped = IN6_IS_ADDR_V4MAPPED(&at->in6.sin6_addr);
		inet_ntop(mapped ? AF_INET : AF_INET6, &at->in6.sin6_addr.s6_addr[mapped ? 12 : 0],
			  host, sizeof(host));
		snprintf(text, room, mapped ? "%s:%u" : "[%s]:%u", host, ntohs(at->in6.sin6_port));
		break;
	default:
		snprintf(text, room, "unix:%s", at->local.sun_path);
	}
}

unsigned address_port(const union address_any *at)
{
	switch (at->any.sa_family) {
	case AF_INET:
		return ntohs(at->in4.sin_port);
	case AF_INET6:
		return ntohs(at->in6.sin6_port);
	default:
		return 0;
	}
}

bool address_is_served(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	bool served = false;
	int fd;

	if (strlen(path) >= sizeof(at.sun_path))
		return false;
	memcpy(at.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	served = connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 || errno == EAGAIN;
	close(fd);
	return served;
}

void descriptors_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}
