/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a link, and its owner's calls: send, ask about the peer, close. */
#include "tree/link/link-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/wire/flat.h"

#define LINGER_MS 1000u

static const struct link_events no_events;

struct link *link_new(struct link_hub *hub)
{
	struct link *link = memory_new(1, sizeof(*link));

	link->hub = hub;
	link->events = &no_events;
	link->transport.fd = -1;
	deframer_init(&link->deframer, &hub->arena, &wire_hello_limits);
	LIST_INSERT_HEAD(&hub->links, link, entry);
	if (event_assign(&link->timer, hub->base, -1, 0, link_timeout, link) < 0 ||
	    event_assign(&link->readable, hub->base, -1, 0, link_readable, link) < 0 ||
	    event_assign(&link->writable, hub->base, -1, 0, link_writable, link) < 0)
		abort();
	return link;
}

void link_timer_set(struct link *link, unsigned ms)
{
	struct timeval after = {ms / 1000, (suseconds_t)(ms % 1000) * 1000};

	evtimer_add(&link->timer, &after);
}

const char *link_noun(const struct link *link)
{
	return link->to ? "the agent" : "the peer";
}

/** Free everything but the memory that callers up the stack may look at. */
void link_bury(struct link *link)
{
	struct link_hub *hub = link->hub;

	if (link->state == LINK_DEAD)
		return;
	link->state = LINK_DEAD;
	link->events = &no_events;
	link_unpause(link);
	event_del(&link->readable);
	event_del(&link->writable);
	event_del(&link->timer);
	transport_fini(&link->transport);
	link_forget(link);
	packer_free(link->packer);
	link->packer = NULL;
	wire_header_free(link->hello);
	link->hello = NULL;
	limits_free(link->peer.limits);
	link->peer.limits = NULL;
	free(link->to);
	link->to = NULL;
	free(link->expect);
	link->expect = NULL;
	resolver_forget(&link->lookup);
	free(link->address);
	link->address = NULL;
	if (link->listener)
		listener_release(link->listener, link);
	link->listener = NULL;
	hub_unqueue(hub, link);
	LIST_REMOVE(link, entry);
	LIST_INSERT_HEAD(&hub->dead, link, entry);
	if (!hub->flushing)
		event_active(&hub->flush, EV_TIMEOUT, 0);
}

/** Everything is said. Closing a socket with unread bytes resets the connection, and the other side
 * may lose the reason: so read on until it closes as well, for a second at most. */
static void link_linger(struct link *link)
{
	if (link->state == LINK_CONNECTING || transport_shutdown(&link->transport) <= 0) {
		link_bury(link);
		return;
	}
	link_unpause(link);
	link->state = LINK_LINGERING;
	link->events = &no_events;
	event_add(&link->readable, NULL);
	event_del(&link->writable);
	link_timer_set(link, LINGER_MS);
}

void link_fail(struct link *link, const struct error *why)
{
	if (link->state >= LINK_FAILED)
		return;
	if (link->state == LINK_CONNECTING)
		transport_fini(&link->transport);
	/* it was never ready, so the name may mean another host by now */
	if (link->to && link->state < LINK_READY)
		resolver_doubt(link->hub->resolver, link->address);
	resolver_forget(&link->lookup);
	link->why = *why;
	if (link->said.text[0])
		errorf(&link->why, "%.200s: %.800s", why->text, link->said.text);
	link_unpause(link);
	link->state = LINK_FAILED;
	event_del(&link->readable);
	event_del(&link->writable);
	event_del(&link->timer);
	hub_queue(link->hub, link);
}

static void link_report(struct link *link)
{
	if (link->listener) {
		/* a peer on this host that leaves without a word only checked whether we are
		 * here */
		if (link->refused || !link->peer.local || link->transport.received)
			hub_refused(link->hub, link->peer.where, &link->why);
	} else if (link->events->closed) {
		link->hub->calls++;
		link->events->closed(link, link->arg, &link->why);
		link->hub->calls--;
	}
	if (link->state == LINK_DEAD)
		return;
	/* not while somebody up the stack may look at a frame */
	if (!link->hub->calls)
		link_forget(link);
	if (link->transport.fd >= 0)
		event_add(&link->readable, NULL);
	link_linger(link);
}

void link_work(struct link *link)
{
	if (link->state == LINK_FAILED)
		link_report(link);
	else if (link->state < LINK_FAILED)
		link_flush(link);
}

void link_refuse(struct link *link, int code, const struct error *why)
{
	link->refused = true;
	if (link->state == LINK_HELLO || link->state == LINK_READY)
		link_send_error(link, 0, code, why->text);
	link_fail(link, why);
}

void link_events_set(struct link *link, const struct link_events *events, void *arg)
{
	link->events = events ? events : &no_events;
	link->arg = arg;
}

bool link_crowded(struct link *link)
{
	struct error why;

	if (link_waiting(link) <= LINK_WAITING_MAX)
		return false;
	errorf(&why, "%s does not read: %zu bytes wait for it", link_noun(link),
	       link_waiting(link));
	link_fail(link, &why);
	return true;
}

/** Put front and header of a frame to @to. Returns their bytes, 0 if the header is not flat. */
static size_t head_put(const Evspace__Frame *header, size_t body_bytes, unsigned char *to)
{
	const size_t packed = flat_put(header, to + WIRE_FRONT_BYTES);

	if (!packed)
		return 0;
	wire_front_put(&(struct wire_front){(uint32_t)packed, (uint32_t)body_bytes}, to);
	memset(to + WIRE_FRONT_BYTES + packed, 0, wire_pad(packed) - packed);
	return WIRE_FRONT_BYTES + wire_pad(packed);
}

/** The same of any other header, *@bytes, for the caller to free. Returns NULL if that is too much.
 */
static unsigned char *head_new(const Evspace__Frame *header, size_t body_bytes, size_t *bytes)
{
	const size_t packed = evspace__frame__get_packed_size(header);
	const struct wire_front front = {(uint32_t)packed, (uint32_t)body_bytes};
	unsigned char *head;

	if (packed > WIRE_HEADER_MAX || body_bytes > WIRE_BODY_MAX)
		return NULL;
	*bytes = wire_frame_bytes(&front) - body_bytes;
	head = memory_new(*bytes, 1);
	wire_frame_put(&front, header, head);
	return head;
}

int link_send(struct link *link, const Evspace__Frame *header, const struct batch *body)
{
	const size_t body_bytes = body ? body->bytes : 0;
	unsigned char flat[WIRE_FRONT_BYTES + FLAT_BYTES], *head = flat;
	size_t bytes;

	if (link->state != LINK_HELLO && link->state != LINK_READY) {
		errno = link->state < LINK_HELLO ? ENOTCONN : EPIPE;
		return -1;
	}
	if (link_crowded(link)) {
		errno = ENOBUFS;
		return -1;
	}
	bytes = head_put(header, body_bytes, flat);
	if (!bytes || body_bytes > WIRE_BODY_MAX)
		head = head_new(header, body_bytes, &bytes);
	if (!head) {
		errno = EMSGSIZE;
		return -1;
	}
	link_put(link, head, bytes, body);
	hub_queue(link->hub, link);
	if (head != flat)
		free(head);
	return 0;
}

int link_send_error(struct link *link, uint32_t scope, int code, const char *text)
{
	Evspace__Error error = EVSPACE__ERROR__INIT;
	struct error copy;

	errorf(&copy, "%s", text);
	error.scope = scope;
	error.code = (uint32_t)code;
	error.text = copy.text;
	return link_send(link, &WIRE_FRAME(ERROR, error, &error), NULL);
}

void link_reply(struct link *link, uint32_t scope, const Evspace__Frame *header,
		const struct batch *body, const char *text)
{
	if (link_send(link, header, body) < 0 && errno == EMSGSIZE)
		link_send_error(link, scope, EMSGSIZE, text);
}

void link_send_ping(struct link *link, uint64_t now_ns)
{
	Evspace__Ping ping = EVSPACE__PING__INIT;

	ping.asked_ns = now_ns;
	link->transport.left_ns = now_ns;
	link->transport.leaves = true;
	link_send(link, &WIRE_FRAME(PING, ping, &ping), NULL);
}

uint64_t link_left_ns(const struct link *link)
{
	return link->transport.left_ns;
}

void link_send_pong(struct link *link, const Evspace__Ping *asked)
{
	Evspace__Ping ping = EVSPACE__PING__INIT;

	ping.answer = true;
	ping.asked_ns = asked->asked_ns;
	ping.got_ns = link_came_ns(link);
	ping.sent_ns = clock_mono_ns();
	link_send(link, &WIRE_FRAME(PING, ping, &ping), NULL);
}

uint64_t link_came_ns(struct link *link)
{
	return stamp_mono_ns(&link->transport.stamp, link->came_ns);
}

void link_send_pass(struct link *link, ProtobufCBinaryData pass, ProtobufCBinaryData signer)
{
	Evspace__Ping ping = EVSPACE__PING__INIT;

	/* it needs no answer */
	ping.answer = true;
	ping.pass = pass;
	ping.signer = signer;
	if (pass.len)
		link_send(link, &WIRE_FRAME(PING, ping, &ping), NULL);
}

const struct peer *link_peer(const struct link *link)
{
	return &link->peer;
}

bool link_peer_is(const struct link *link, const char *name)
{
	return link->transport.ssl && tls_peer_is(link->transport.ssl, name);
}

bool link_takes_columns(const struct link *link)
{
	return link->hello && link->hello->hello->version >= WIRE_COLUMNS;
}

bool link_takes_samples(const struct link *link)
{
	return link->hello && link->hello->hello->version >= WIRE_SAMPLES;
}

const Evspace__Hello *link_hello(const struct link *link)
{
	return link->hello ? link->hello->hello : NULL;
}

size_t link_waiting(const struct link *link)
{
	return bytes_held(&link->transport.plain) + bytes_held(&link->transport.out);
}

void link_bytes(const struct link *link, uint64_t *sent, uint64_t *received)
{
	*sent = link->transport.sent;
	*received = link->transport.received;
}

uint64_t link_unpacked(const struct link *link)
{
	return link->deframer.bytes;
}

void link_close(struct link *link)
{
	if (!link || link->state >= LINK_LINGERING)
		return;
	link->events = &no_events;
	if (link->state == LINK_FAILED)
		return; /* reported to nobody, at the next flush */
	link_linger(link);
}
