/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of agents: "HOST:PORT" for TLS over TCP, "unix:PATH" for this host's socket. */
#ifndef EVSPACE_ADDRESS_H
#define EVSPACE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "pathmap/base/error.h"

/** Most addresses of one host name that are tried in turn. */
#define ADDRESS_MOST 4

union address_any {
	struct sockaddr any;
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
	struct sockaddr_un local;
};

/** Where to connect or listen. Plain data. */
struct address {
	bool local; /* a Unix socket */
	size_t n;
	socklen_t bytes[ADDRESS_MOST];
	union address_any at[ADDRESS_MOST];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of a Unix socket */
};

/**
 * Read @text: "HOST:PORT", "[IPV6]:PORT" or "unix:PATH". An empty host means any address, for
 * listening only (@listen). A host name is looked up (getaddrinfo(3), which may block); numbers are
 * not. Returns 0, or -1 with EINVAL (EHOSTUNREACH for an unknown host) and @e, which says what is
 * valid.
 */
int address_parse(struct address *a, const char *text, bool listen, struct error *e);

/** Is @text an address, as far as can be checked without looking its host up? Returns as
 * address_parse(). */
int address_check(const char *text, bool listen, struct error *e);

/** Read @text, to be dialled, if it needs no lookup: a socket or a numeric host. Returns 0, or -1:
 * it is a name to be looked up (tree/link/resolver.h), or not an address. */
int address_read(struct address *a, const char *text);

/** Write the host of @text to @host if it is a name; false: it is a number, a socket's path, or not
 * an address. */
bool address_name(const char *text, char *host, size_t room);

/** Does somebody listen on the Unix socket @path? A killed agent leaves its file, and a busy one
 * may have a full queue. */
bool address_is_served(const char *path);

/** Write "10.0.0.1:7440", "[::1]:7440" or "unix:PATH" to @text. */
void address_format(const union address_any *at, char *text, size_t room);

/** The port, 0 for a Unix socket. */
unsigned address_port(const union address_any *at);

/** Raise the limit of descriptors as far as it goes: who listens has many. */
void descriptors_raise(void);

#endif
