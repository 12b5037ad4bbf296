/* SPDX-License-Identifier: BSD-3-Clause */
/* The dialling side of a link: connects to the first address of the agent that answers. */
#include "tree/link/link-private.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pathmap/base/memory.h"

/* The kernel notices a host without power after about this long, without a timer of ours. */
#define DEAD_AFTER_S  15
#define PROBE_EVERY_S 5

void socket_tune(int fd)
{
	int one = 1, idle = PROBE_EVERY_S, count = DEAD_AFTER_S / PROBE_EVERY_S - 1;
	int timeout_ms = DEAD_AFTER_S * 1000;

	/* a link works without any of these */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
	stamp_ask(fd);
}

/** Who listens on the Unix socket? It is believed to be an agent only if we or root started it. */
static int local_peer(struct link *link, struct error *e)
{
	struct ucred who;
	socklen_t room = sizeof(who);

	if (getsockopt(link->transport.fd, SOL_SOCKET, SO_PEERCRED, &who, &room) < 0)
		return errorf(e, "who listens there cannot be found: %s", strerror(errno));
	snprintf(link->peer.where, sizeof(link->peer.where), "unix, pid %d, uid %u", (int)who.pid,
		 (unsigned)who.uid);
	errno = EACCES;
	if (who.uid != geteuid() && who.uid != 0 && !link->hub->foreign)
		return errorf(e, "the socket belongs to another user (uid %u)", (unsigned)who.uid);
	link->peer.local = true;
	link->peer.uid = (unsigned)who.uid;
	link->peer.roles = ROLE_AGENT;
	return 0;
}

/** Put a failure of connect() into words. Consumers outside the cluster see these, and must not
 * learn addresses, so a node is called by its name. */
static int dial_explain(const struct link *link, int code, struct error *e)
{
	char where[256];

	if (link->expect)
		snprintf(where, sizeof(where), "%s", link->expect);
	else
		address_format(&link->to->at[link->tried ? link->tried - 1 : 0], where,
			       sizeof(where));
	errno = code;
	switch (code) {
	case ECONNREFUSED:
	case ENOENT:
		return errorf(e, "no agent listens at %s; start one there: evspace agent%s%s",
			      where, link->expect ? " --pathmap DIR --node " : "",
			      link->expect ? link->expect : "");
	case ETIMEDOUT:
		return errorf(e, "no answer from %s; is the host up, is there a firewall between?",
			      where);
	case EAGAIN:
		return errorf(e, "the agent at %s has too many connections to answer", where);
	default:
		return errorf(e, "cannot connect to %s: %s", where, strerror(code));
	}
}

/** The same for an address that was not found. */
static void nowhere(const struct link *link, const struct error *why, struct error *e)
{
	if (link->expect)
		errorf(e, "the address of %s in the map leads nowhere from here", link->expect);
	else
		*e = *why;
}

/** One connect(). Returns 0 if it succeeded or goes on, -1 with errno. */
static int dial_one(struct link *link, const union address_any *at, socklen_t bytes)
{
	int fd = socket(at->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int code;

	if (fd < 0)
		return -1;
	if (connect(fd, &at->any, bytes) < 0 && errno != EINPROGRESS) {
		code = errno;
		close(fd);
		errno = code;
		return -1;
	}
	event_del(&link->writable);
	if (link->transport.fd >= 0)
		close(link->transport.fd);
	link->transport.fd = fd;
	event_assign(&link->writable, link->hub->base, fd, EV_WRITE, link_writable, link);
	event_add(&link->writable, NULL);
	link_timer_set(link, link->hub->proof_ms);
	return 0;
}

int link_dial_next(struct link *link, struct error *e)
{
	int code = errno;

	if (link->lookup.waiting)
		return errorf(e, "no answer yet to where %s is; are the name servers there?",
			      link->expect ? link->expect : link->address);
	while (link->tried < link->to->n) {
		size_t i = link->tried++;

		if (dial_one(link, &link->to->at[i], link->to->bytes[i]) == 0) {
			if (link->to->local)
				return local_peer(link, e);
			socket_tune(link->transport.fd);
			address_format(&link->to->at[i], link->peer.where,
				       sizeof(link->peer.where));
			return 0;
		}
		code = errno;
	}
	return dial_explain(link, code, e);
}

static void link_found(void *arg, const struct address *address, const struct error *why)
{
	struct link *link = arg;
	struct error e;

	errno = EHOSTUNREACH;
	if (!why) {
		*link->to = *address;
		if (link_dial_next(link, &e) < 0)
			link_fail(link, &e);
	} else {
		nowhere(link, why, &e);
		link_fail(link, &e);
	}
}

struct link *link_dial(struct link_hub *hub, const char *address, const char *name,
		       const struct link_events *events, void *arg, struct error *e)
{
	struct link *link = link_new(hub);
	SSL *ssl = NULL;
	struct error why;
	int found;

	link->to = memory_new(1, sizeof(*link->to));
	link->part = PART_CHILD;
	/* Wait longer than the listener: peers that say nothing may hold its places first. */
	link->proof_ms = 2 * hub->proof_ms;
	link->expect = memory_copy(name);
	link->address = memory_copy(address);
	link->lookup.found = link_found;
	link->lookup.arg = link;
	found = resolver_find(hub->resolver, address, link->to, &link->lookup, e);
	if (found < 0) {
		why = *e;
		nowhere(link, &why, e);
		goto fail;
	}
	if (!link->to->local && !hub->tls) {
		errno = EACCES;
		errorf(e,
		       "%s needs a certificate, and none was given; make one with evspace-certs "
		       "observe, and say where it is with --tls DIR",
		       name ? name : address);
		goto fail;
	}
	if (!link->to->local && !(ssl = tls_client(hub->tls, name, e)))
		goto fail;
	transport_init(&link->transport, -1, ssl);
	errno = EHOSTUNREACH;
	if (found == 0)
		link_timer_set(link, link->proof_ms);
	else if (link_dial_next(link, e) < 0)
		goto fail;
	link_events_set(link, events, arg);
	return link;
fail:
	resolver_doubt(hub->resolver, address);
	link_bury(link);
	return NULL;
}
