/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues frames for sending: as they are, or compressed if the connection is slow. */
#include "tree/link/link-private.h"

/* the kernel's tcp.h, since struct tcp_info of the C library ends before these fields */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tree/data/clock.h"

/* Smaller frames are not worth compressing: they fit into a packet anyway. */
#define PACK_LEAST 256u
/* Bytes tried on any connection: the kernel knows its speed only after something was sent. */
#define CARRIES_LEAST (16u << 10)

/* A kernel that is there acknowledges sooner. */
#define ACK_WITHIN_MS 200u

#define LOOK_AGAIN_NS  UINT64_C(100000000)
#define SLOW_AT_ROUND  5000u /* us */
#define SLOW_AT_BYTES  (50u * 1000 * 1000)
#define STAYS_SLOW_NS  UINT64_C(5000000000)
#define ROUND_NOT_SEEN UINT32_MAX

/* ---- speed ---- */

static bool looks_slow(struct speed *s, int fd, size_t waiting)
{
	struct tcp_info info = {0};
	socklen_t room = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &room) < 0)
		return false;
	s->rate = info.tcpi_delivery_rate;
	if (info.tcpi_min_rtt >= SLOW_AT_ROUND && info.tcpi_min_rtt != ROUND_NOT_SEEN)
		return true;
	return waiting > 0 && info.tcpi_delivery_rate < SLOW_AT_BYTES;
}

/* Is the connection slow? It is if the other side is 5 ms away or more (the least round trip seen),
 * or if the @waiting bytes do not fit into the socket @fd and less than 50 MB/s arrive. Once slow,
 * it stays so until 5 s after the last time that this was true. Checks once in 100 ms. Always false
 * if it is not TCP. */
static bool speed_is_slow(struct speed *s, int fd, size_t waiting)
{
	uint64_t now = clock_mono_ns();

	if (s->looked_ns && now - s->looked_ns < LOOK_AGAIN_NS)
		return s->slow;
	s->looked_ns = now;
	if (looks_slow(s, fd, waiting)) {
		s->slow_ns = now;
		s->slow = true;
	} else if (s->slow && now - s->slow_ns >= STAYS_SLOW_NS) {
		s->slow = false;
	}
	return s->slow;
}

/* Something was not acknowledged, and it is not that the kernel has just sent it. */
bool link_is_acknowledged(const struct link *link)
{
	struct tcp_info info = {0};
	socklen_t room = sizeof(info);

	if (getsockopt(link->transport.fd, IPPROTO_TCP, TCP_INFO, &info, &room) < 0)
		return true;
	return info.tcpi_unacked == 0 || info.tcpi_last_ack_recv < ACK_WITHIN_MS;
}

/* ---- frames ---- */

static void body_copy(unsigned char *to, const struct batch *body)
{
	for (size_t i = 0; i < body->n; i++) {
		const struct extent *x = &body->extents[i];

		memcpy(to, x->buffer->data + x->at, x->bytes);
		to += x->bytes;
	}
}

static void link_put_plain(struct link *link, const unsigned char *head, size_t bytes,
			   const struct batch *body)
{
	const size_t total = bytes + (body ? body->bytes : 0);
	unsigned char *to = bytes_reserve(&link->transport.plain, total);

	memcpy(to, head, bytes);
	if (body)
		body_copy(to + bytes, body);
	bytes_commit(&link->transport.plain, total);
}

static void link_put_packed(struct link *link, const unsigned char *head, size_t bytes,
			    const struct batch *body)
{
	struct bytes *out = &link->transport.plain;

	if (!link->packer)
		link->packer = packer_new();
	packer_put(link->packer, head, bytes, out);
	for (size_t i = 0; body && i < body->n; i++) {
		const struct extent *x = &body->extents[i];

		packer_put(link->packer, x->buffer->data + x->at, x->bytes, out);
	}
	packer_flush(link->packer, out);
}

void link_pack_end(struct link *link)
{
	if (!link->packer || link->state != LINK_READY)
		return;
	packer_end(link->packer, &link->transport.plain);
	packer_free(link->packer);
	link->packer = NULL;
	hub_queue(link->hub, link);
}

bool link_is_slow(struct link *link)
{
	/* Unix sockets have no TLS. Bytes queued since the last flush were not tried yet. */
	return link->transport.ssl && link->state == LINK_READY &&
	       speed_is_slow(&link->speed, link->transport.fd, bytes_held(&link->transport.out));
}

size_t link_carries(struct link *link, unsigned ms)
{
	double bytes;

	if (!link_is_slow(link))
		return SIZE_MAX;
	/* the waiting bytes are compressed already */
	bytes = (double)link->speed.rate * ms * 1e-3 - (double)link_waiting(link);
	if (link->packer)
		bytes *= packer_ratio(link->packer);
	return bytes > CARRIES_LEAST ? (size_t)bytes : CARRIES_LEAST;
}

/** Is a frame of @bytes to be compressed? */
static bool link_packs(struct link *link, size_t bytes)
{
	const Evspace__Hello *hello = link_hello(link);

	if (!hello || hello->unpacks == UNPACKS_NEVER || bytes < PACK_LEAST)
		return false;
	if (hello->unpacks == UNPACKS_ALWAYS || link_is_slow(link))
		return true;
	link_pack_end(link);
	return false;
}

void link_put(struct link *link, const unsigned char *head, size_t bytes, const struct batch *body)
{
	if (link_packs(link, bytes + (body ? body->bytes : 0)))
		link_put_packed(link, head, bytes, body);
	else
		link_put_plain(link, head, bytes, body);
}
