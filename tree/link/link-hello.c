/* SPDX-License-Identifier: BSD-3-Clause */
/* The first frame of both sides: do they speak the same version, and is the peer who it claims to
 * be? */
#include "tree/link/link-private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/data/clock.h"
#include "tree/data/tuple.h"

#define BIG_ENDIAN_HERE (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define BOOT_ID_MAX	64u

/** May the peer send pieces? Only to one who asks: answers are large, while 40 bytes from an asking
 * peer could unpack to thousands of questions. */
static enum wire_unpacks link_unpacks(const struct link *link)
{
	return link->to ? link->hub->unpacks : UNPACKS_NEVER;
}

void link_hello_send(struct link *link)
{
	Evspace__Hello hello = EVSPACE__HELLO__INIT;

	hello.version = WIRE_VERSION;
	hello.oldest = WIRE_OLDEST;
	hello.tuple_layout = TUPLE_LAYOUT;
	hello.big_endian = BIG_ENDIAN_HERE;
	hello.name = link->hub->name;
	hello.boot_id = link->hub->boot_id;
	hello.epoch_ns = link->hub->epoch_ns;
	hello.unpacks = link_unpacks(link);
	if (hello.name[0]) {
		hello.pid = (uint32_t)link->hub->process.pid;
		hello.started = link->hub->process.started;
	}
	link_send(link, &WIRE_FRAME(HELLO, hello, &hello), NULL);
}

bool link_is_of_host(const struct link *link)
{
	return link->hub->boot_id[0] && !strcmp(link_hello(link)->boot_id, link->hub->boot_id);
}

char link_peer_state(const struct link *link)
{
	const Evspace__Hello *hello = link_hello(link);
	const struct schedule_process peer = {(pid_t)hello->pid, hello->started};

	return link_is_of_host(link) ? schedule_state(&peer) : '?';
}

static int text_check(const char *text, size_t most)
{
	size_t n = strnlen(text, most + 1);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
			return -1;
	return n > most ? -1 : 0;
}

/** Do both sides understand each other's version, and use the same tuples? */
static int version_check(const struct link *link, const Evspace__Hello *hello, struct error *e)
{
	errno = EPROTONOSUPPORT;
	if (hello->version < WIRE_OLDEST || hello->oldest > WIRE_VERSION)
		return errorf(
			e,
			"%s speaks versions %u to %u of the wire protocol, this side %u to %u; "
			"use the same release of EventSpace on both",
			link_noun(link), hello->oldest, hello->version, WIRE_OLDEST, WIRE_VERSION);
	if (hello->tuple_layout != TUPLE_LAYOUT)
		return errorf(e,
			      "%s has tuple layout %u, this side %u; use the same release of "
			      "EventSpace on both",
			      link_noun(link), hello->tuple_layout, (unsigned)TUPLE_LAYOUT);
	return 0;
}

/** An agent must have the name in its certificate, and the name that was dialled. */
static int name_check(struct link *link, const Evspace__Hello *hello, struct error *e)
{
	struct peer *peer = &link->peer;

	errno = EACCES;
	if (text_check(hello->name, sizeof(peer->name) - 1) < 0 ||
	    text_check(hello->boot_id, BOOT_ID_MAX) < 0 || hello->epoch_ns > CLOCK_BASE_MOST ||
	    hello->epoch_ns < -CLOCK_BASE_MOST)
		return errorf(e, "%s said a malformed hello", link_noun(link));
	if (link->expect && strcmp(hello->name, link->expect))
		return errorf(
			e, "this is agent \"%s\", not \"%s\"; check the addresses in cluster.map",
			hello->name, link->expect);
	if (link->transport.ssl && (peer->roles & ROLE_AGENT) && !hello->name[0])
		return errorf(e,
			      "the certificate of agent \"%s\" is not for consumers; make one: "
			      "evspace-certs observe DIR NAME, and say --identity NAME",
			      peer->name);
	if (link->transport.ssl && (peer->roles & ROLE_AGENT) &&
	    !tls_peer_is(link->transport.ssl, hello->name))
		return errorf(
			e,
			"the agent calls itself \"%s\" but its certificate is for \"%s\"; make "
			"one: evspace-certs agent DIR %s",
			hello->name, peer->name, hello->name);
	if (link->transport.ssl && !(peer->roles & ROLE_AGENT) && hello->name[0])
		return errorf(
			e, "\"%s\" says it is agent \"%s\", but its certificate has no role=agent",
			peer->name, hello->name);
	if ((peer->roles & ROLE_AGENT) && hello->name[0])
		snprintf(peer->name, sizeof(peer->name), "%s", hello->name);
	return 0;
}

static void link_ready(struct link *link)
{
	struct link_listener *listener = link->listener;

	link->state = LINK_READY;
	link_limits_set(link);
	link->deframer.unpacks = link_unpacks(link) != UNPACKS_NEVER;
	link->deframer.swap = link->hello->hello->big_endian != BIG_ENDIAN_HERE;
	event_del(&link->timer);
	link->hub->calls++;
	if (listener) {
		link->listener = NULL;
		listener_release(listener, link);
		listener_accepted(listener, link);
	}
	if (link->state == LINK_READY && link->events->ready)
		link->events->ready(link, link->arg);
	link->hub->calls--;
}

void link_hello_received(struct link *link, const struct frame *frame)
{
	const Evspace__Frame *header = frame->header;
	unsigned char packed[WIRE_HELLO_MAX];
	struct error e;
	size_t n;

	if (header->kind_case == EVSPACE__FRAME__KIND_ERROR) {
		errorf(&e, "%s refused: %.900s", link_noun(link), header->error->text);
		link_fail(link, &e);
		return;
	}
	if (header->kind_case != EVSPACE__FRAME__KIND_HELLO) {
		errorf(&e, "%s did not begin with a hello", link_noun(link));
		link_refuse(link, EPROTO, &e);
		return;
	}
	if (version_check(link, header->hello, &e) < 0 || name_check(link, header->hello, &e) < 0) {
		link_refuse(link, errno, &e);
		return;
	}
	/* keep a copy, since the frame is borrowed */
	n = evspace__frame__get_packed_size(header);
	if (n <= sizeof(packed)) {
		evspace__frame__pack(header, packed);
		link->hello = wire_header_parse(packed, n, &e);
	}
	if (!link->hello) {
		errorf(&e, "%s said a malformed hello", link_noun(link));
		link_refuse(link, EPROTO, &e);
		return;
	}
	link_ready(link);
}
