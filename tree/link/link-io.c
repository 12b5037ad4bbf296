/* SPDX-License-Identifier: BSD-3-Clause */
/* What the loop calls on a link: bytes can be read or written, or time is up. */
#include "tree/link/link-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/turn.h"

/* Most bytes of incomplete frames. Consumers do not use up the parents' budget; answers of those
 * whom we dialled may come all at once. */
static const size_t unfinished_most[LINK_PARTS] = {
	[PART_CONSUMER] = 64u << 20,
	[PART_PARENT] = 64u << 20,
	[PART_CHILD] = 4u * WIRE_FRAME_MAX,
};

/* A peer that asks has no bodies to send; from one, a piece of a few KiB could become 64 MiB of
 * memory. */
static const struct wire_limits *const limits[LINK_PARTS] = {
	[PART_CONSUMER] = &wire_consumer_limits,
	[PART_PARENT] = &wire_parent_limits,
	[PART_CHILD] = &wire_child_limits,
};

/* Most time for a frame, as a multiple of that for a proof: of a question, of an answer. */
#define QUESTION_PROOFS 6u
#define ANSWER_PROOFS	24u

/* Frames of links with many are handled for a turn (turn.h), then others go on: there may be
 * thousands in a portion, each much work. */

/* The end of a link's time if @n links have frames left: all of them together take little longer
 * than one alone, whatever their number. */
static uint64_t turn_until(unsigned n)
{
	return clock_mono_ns() + TURN_NS / n;
}

static unsigned char *scratch(struct link_hub *hub)
{
	if (!hub->scratch)
		hub->scratch = malloc(LINK_RECEIVE);
	if (!hub->scratch)
		abort();
	return hub->scratch;
}

static void link_frame(struct link *link, const struct frame *frame)
{
	const Evspace__Error *error = frame->header->error;

	if (link->state == LINK_HELLO) {
		link_hello_received(link, frame);
		return;
	}
	if (frame->header->kind_case == EVSPACE__FRAME__KIND_ERROR && !error->scope)
		errorf(&link->said, "%s", error->text);
	if (!link->events->frame)
		return;
	link->hub->calls++;
	link->events->frame(link, link->arg, frame);
	link->hub->calls--;
}

static bool link_hears(const struct link *link)
{
	return link->state == LINK_HELLO || link->state == LINK_READY;
}

/* Headers of all links share an arena: this one is to outlast those of the others. */
void link_frame_again(struct link *link)
{
	link->again = true;
	if (link->kept)
		return;
	link->kept = (Evspace__Frame *)wire_copy(&link->current.header->base);
	link->current.header = link->kept;
}

void link_frame_forget(struct link *link)
{
	if (link->kept)
		evspace__frame__free_unpacked(link->kept, NULL);
	link->kept = NULL;
}

/** The frame to hand out now. Returns as deframer_next() does. */
static int link_frame_next(struct link *link, struct error *e)
{
	if (!link->again) {
		link_frame_forget(link);
		return deframer_next(&link->deframer, &link->current, e);
	}
	link->again = false;
	return 1;
}

/** Hand out complete frames, at least one, until @until_ns. Returns 0 if none is left, 1 if there
 * may be, -1 if the link ends. */
static int link_frames(struct link *link, uint64_t until_ns)
{
	struct error e, why;
	int result;

	while ((result = link_frame_next(link, &e)) > 0) {
		link_frame(link, &link->current);
		if (!link_hears(link))
			return -1;
		if (link->again || clock_mono_ns() >= until_ns)
			return 1;
	}
	if (result == 0)
		return 0;
	errorf(&why, "%s sent what cannot be understood: %.900s%s", link_noun(link), e.text,
	       link->part == PART_CONSUMER && link->peer.roles & ROLE_AGENT
		       ? " (this agent does not know it as one that may stand above it)"
		       : "");
	link_refuse(link, EPROTO, &why);
	return -1;
}

/** How many bytes to receive before others go on. */
static size_t link_portion(const struct link *link)
{
	return !link->to || unpacker_is_open(link->deframer.unpacker) ? LINK_RECEIVE_LITTLE
								      : LINK_RECEIVE;
}

/* ---- incomplete frames ---- */

/** Count @bytes of incomplete frames for the link, instead of the last count. */
static void link_count(struct link *link, size_t bytes)
{
	link->hub->unfinished[link->part] += bytes - link->unfinished;
	link->unfinished = bytes;
}

void link_limits_set(struct link *link)
{
	deframer_limits_set(&link->deframer, limits[link->part]);
}

void link_parent_set(struct link *link, bool is)
{
	enum link_part part = is ? PART_PARENT : PART_CONSUMER;
	size_t bytes = link->unfinished;

	if (link->part == part)
		return;
	link_count(link, 0);
	link->part = part;
	link_count(link, bytes);
	link_limits_set(link);
}

void link_forget(struct link *link)
{
	link_count(link, 0);
	deframer_fini(&link->deframer);
}

/** Sorts by name, so that links of one peer are adjacent. Peers on this host are named after their
 * user. */
static int by_peer(const void *a, const void *b)
{
	const struct link *x = *(struct link *const *)a, *y = *(struct link *const *)b;

	return strcmp(x->peer.name, y->peer.name);
}

/** All links in @part with incomplete frames, @n of them, sorted by peer; for the caller to
 * free. */
static struct link **hub_holders(const struct link_hub *hub, enum link_part part, size_t *n)
{
	struct link *link, **list = NULL;

	*n = 0;
	LIST_FOREACH (link, &hub->links, entry) {
		if (link->part != part || !link->unfinished)
			continue;
		list = memory_room(list, *n, sizeof(*list));
		list[(*n)++] = link;
	}
	if (*n)
		qsort(list, *n, sizeof(*list), by_peer);
	return list;
}

/** Of the peer whose links hold most together, the link that holds most. */
static struct link *hub_worst(const struct link_hub *hub, enum link_part part)
{
	struct link *worst = NULL, *largest, **list;
	size_t n, most = 0, sum;

	list = hub_holders(hub, part, &n);
	for (size_t i = 0, from; i < n; i = from) {
		largest = list[i];
		sum = 0;
		for (from = i; from < n && by_peer(&list[i], &list[from]) == 0; from++) {
			sum += list[from]->unfinished;
			if (list[from]->unfinished > largest->unfinished)
				largest = list[from];
		}
		if (sum > most)
			worst = largest;
		most = sum > most ? sum : most;
	}
	free(list);
	return worst;
}

/** Too much is held: close a link of the peer that holds most, as others may be honest. */
static void hub_relieve(struct link_hub *hub, enum link_part part)
{
	size_t most = unfinished_most[part];
	struct link *worst;
	struct error why;

	while (hub->unfinished[part] > most && (worst = hub_worst(hub, part))) {
		errorf(&why,
		       "%s was dropped: it held %zu bytes of a frame that is not whole, and all "
		       "together more than %zu",
		       link_noun(worst), worst->unfinished, most);
		link_count(worst, 0);
		link_refuse(worst, ENOBUFS, &why);
	}
}

/** The end of what was received, perhaps within a frame. */
static void link_account(struct link *link)
{
	unsigned proofs = link->to ? ANSWER_PROOFS : QUESTION_PROOFS;

	link_count(link, deframer_unfinished(&link->deframer));
	if (link->state == LINK_READY && deframer_partial(&link->deframer) &&
	    !evtimer_pending(&link->timer, NULL)) {
		link->frames = deframer_frames(&link->deframer);
		link_timer_set(link, proofs * link->hub->proof_ms);
	}
	hub_relieve(link->hub, link->part);
}

/** A frame began some time ago. Is it still incomplete? */
static void link_frame_check(struct link *link)
{
	struct error why;

	if (!deframer_partial(&link->deframer))
		return;
	/* a paused link waits for us, not for the peer */
	if (link->paused || deframer_frames(&link->deframer) != link->frames) {
		link_account(link);
		return;
	}
	errorf(&why, "%s did not end a frame within %g s", link_noun(link),
	       (link->to ? ANSWER_PROOFS : QUESTION_PROOFS) * link->hub->proof_ms / 1000.0);
	link_refuse(link, ETIMEDOUT, &why);
}

/* ---- reading ---- */

/** Frames are left: let others go on first, and receive nothing meanwhile. */
static void link_pause(struct link *link)
{
	static const struct timeval now = {0, 0};
	struct link_hub *hub = link->hub;

	transport_keep(&link->transport);
	event_del(&link->readable);
	TAILQ_INSERT_TAIL(&hub->paused, link, paused_entry);
	hub->n_paused++;
	link->paused = true;
	/* not event_active(), which would run before the loop polls the sockets */
	if (!evtimer_pending(&hub->turn, NULL))
		evtimer_add(&hub->turn, &now);
}

void link_unpause(struct link *link)
{
	if (!link->paused)
		return;
	TAILQ_REMOVE(&link->hub->paused, link, paused_entry);
	link->hub->n_paused--;
	link->paused = false;
}

/** Read a portion of what was received, and decrypt it. Returns the number of bytes, 0 if there are
 * none, -1 if the link ends. */
static ssize_t link_receive(struct link *link)
{
	size_t room, portion = link_portion(link);
	unsigned char *to = deframer_room(&link->deframer, &room);
	struct error e;
	ssize_t n = transport_read(&link->transport, to, room < portion ? room : portion,
				   link_noun(link), &e);

	if (n > 0)
		deframer_filled(&link->deframer, (size_t)n);
	else if (n < 0)
		link_fail(link, &e);
	return n;
}

/** Hand out what was received, until @until_ns; @fresh: there may be more in the socket. */
static void link_read(struct link *link, bool fresh, uint64_t until_ns)
{
	ssize_t n = 1;
	int left;

	while ((left = link_frames(link, until_ns)) == 0 && n > 0 &&
	       (fresh || transport_more(&link->transport))) {
		fresh = false;
		n = link_receive(link);
	}
	if (left < 0 || n < 0)
		return;
	if (left)
		link_pause(link);
	else
		deframer_rest(&link->deframer);
	/* TLS itself may have to answer, however little the peer reads */
	if (link_waiting(link) && !link_crowded(link))
		hub_queue(link->hub, link);
	if (link_hears(link))
		link_account(link);
}

void hub_turn(evutil_socket_t fd, short what, void *arg)
{
	struct link_hub *hub = arg;
	static const struct timeval now = {0, 0};
	const uint64_t end = clock_mono_ns() + 2 * (uint64_t)TURN_NS;
	unsigned n = hub->n_paused;
	struct link *link;

	(void)fd;
	(void)what;
	/* Links that still have frames queue behind the rest. Each handles at least one frame, so
	 * many links would take long: the rest goes on in the next turn. */
	for (unsigned left = n; left > 0 && (link = TAILQ_FIRST(&hub->paused)); left--) {
		if (clock_mono_ns() >= end)
			break;
		link_unpause(link);
		event_add(&link->readable, NULL);
		link_read(link, false, turn_until(n));
	}
	if (!TAILQ_EMPTY(&hub->paused))
		evtimer_add(&hub->turn, &now);
}

static void link_handshake(struct link *link)
{
	struct transport *t = &link->transport;
	struct error e;
	int done = transport_handshake(t, link_noun(link), &e);

	if (done < 0) {
		link_fail(link, &e);
		return;
	}
	hub_queue(link->hub, link);
	if (!done)
		return;
	link->state = LINK_HELLO;
	if (t->ssl && (tls_peer(t->ssl, &link->peer, &e) < 0 ||
		       /* revoked since the handshake began */
		       (tls_is_outdated(link->hub->tls, t->ssl) &&
			!tls_trusts(link->hub->tls, t->ssl, &e)))) {
		link_refuse(link, EACCES, &e);
	} else if (link->to && !(link->peer.roles & ROLE_AGENT)) {
		errorf(&e, "\"%s\" is not an agent: its certificate has another role",
		       link->peer.name);
		link_refuse(link, EACCES, &e);
	} else {
		link_hello_send(link);
	}
}

void link_watch(struct link *link)
{
	event_assign(&link->readable, link->hub->base, link->transport.fd, EV_READ | EV_PERSIST,
		     link_readable, link);
	event_assign(&link->writable, link->hub->base, link->transport.fd, EV_WRITE, link_writable,
		     link);
	event_add(&link->readable, NULL);
}

void link_connected(struct link *link)
{
	link->state = LINK_HANDSHAKE;
	link_timer_set(link, link->proof_ms);
	link_handshake(link);
}

/** Everything is sent; drop what is received until the other side closes, too. */
static void link_drain(struct link *link)
{
	ssize_t n = recv(link->transport.fd, scratch(link->hub), LINK_RECEIVE, 0);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		link_bury(link);
}

void link_readable(evutil_socket_t fd, short what, void *arg)
{
	struct link *link = arg;
	struct error e;
	int filled;

	(void)fd;
	(void)what;
	if (link->state == LINK_LINGERING) {
		link_drain(link);
		return;
	}
	filled = transport_fill(&link->transport, scratch(link->hub), link_portion(link),
				link_noun(link), &e);
	if (filled < 0)
		link_fail(link, &e);
	if (filled <= 0)
		return;
	link->came_ns = clock_mono_ns();
	if (link->state == LINK_HANDSHAKE)
		link_handshake(link);
	if (link_hears(link))
		link_read(link, true, turn_until(link->hub->n_paused + 1));
}

void link_flush(struct link *link)
{
	struct error e;
	int result = transport_flush(&link->transport, link_noun(link), &e);

	if (result == 0) {
		event_add(&link->writable, NULL);
	} else if (result < 0 && !link->paused) {
		/* the other side may have said why before it left */
		if (link->state == LINK_HANDSHAKE || link_hears(link))
			link_readable(link->transport.fd, EV_READ, link);
		link_fail(link, &e);
	}
}

void link_writable(evutil_socket_t fd, short what, void *arg)
{
	struct link *link = arg;
	socklen_t room = sizeof(int);
	int code = 0;
	struct error e;

	(void)what;
	if (link->state != LINK_CONNECTING) {
		link_flush(link);
		return;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &room) < 0)
		code = errno;
	if (!code) {
		link_watch(link);
		link_connected(link);
		return;
	}
	errno = code;
	if (link_dial_next(link, &e) < 0)
		link_fail(link, &e);
}

void link_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct link *link = arg;
	struct error e;

	(void)fd;
	(void)what;
	switch (link->state) {
	case LINK_CONNECTING:
		errno = ETIMEDOUT;
		if (link_dial_next(link, &e) < 0)
			link_fail(link, &e);
		break;
	case LINK_HANDSHAKE:
	case LINK_HELLO:
		errorf(&e, "%s did not say who it is within %g s", link_noun(link),
		       link->proof_ms / 1000.0);
		link_refuse(link, ETIMEDOUT, &e);
		break;
	case LINK_READY:
		link_frame_check(link);
		break;
	default:
		link_bury(link);
	}
}
