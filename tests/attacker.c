/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does to an agent's port what somebody without the right certificate can do, and says what came of
 * it on stdout:
 *
 *	attacker crowd HOST:PORT N	N connections, all at once, that say nothing, until closed
 *	attacker flood HOST:PORT N	N connections, 200 at a time, that say what is no TLS
 *	attacker drip HOST:PORT		one that says a byte of a handshake every 20 ms
 *	attacker alerts HOST:PORT	one for each alert that there might be in TLS
 *	attacker record HOST:PORT PORT FILE	passes one connection on, keeps what the client said
 *	attacker orders HOST:PORT DIR NAME	asks for all that a certificate NAME might not allow
 *	attacker agent HOST:PORT DIR NAME	the same as agent NAME
 *	attacker large HOST:PORT DIR NAME	as agent NAME selects by 300 patterns, asks with a
 *			part of 600 kB, and orders 65 classes at once
 *	attacker frames HOST:PORT DIR NAME ELSEWHERE	asks for all that there is, also for
 *			parts of trees at the address ELSEWHERE, and prints all that comes as it is
 */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tree/link/address.h"
#include "tree/scope/classes.h"
#include "tree/data/clock.h"
#include "tree/link/link.h"
#include "tree/link/link-hub.h"

#define AT_ONCE	    200
#define DRIP_MS	    20
#define CONNECT_MS  60000
#define ANSWERS_MS  20000
#define NOISE_BYTES 64

static struct address target;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "attacker: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A connection that is under way. */
static int knock(void)
{
	int fd = socket(target.at[0].any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		die("socket");
	if (connect(fd, &target.at[0].any, target.bytes[0]) < 0 && errno != EINPROGRESS &&
	    errno != EAGAIN)
		die("connect");
	return fd;
}

/* One that is there. */
static int enter(void)
{
	int fd = knock();
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	if (poll(&p, 1, CONNECT_MS) != 1)
		die("nobody accepts");
	return fd;
}

/* Has the other side ended it? What it says is of no interest. */
static bool is_over(int fd)
{
	char data[4096];
	ssize_t n;

	while ((n = recv(fd, data, sizeof(data), 0)) > 0) {
	}
	return n == 0 || (errno != EAGAIN && errno != EINTR);
}

/* ---- crowd ---- */

/* Wait until all that are still open have been closed by the other side. */
static void crowd_wait(struct pollfd *all, int n)
{
	int open = n;

	while (open > 0) {
		if (poll(all, (nfds_t)n, CONNECT_MS) <= 0)
			die("it keeps some for ever");
		for (int i = 0; i < n; i++) {
			if (all[i].fd < 0 || !all[i].revents || !is_over(all[i].fd))
				continue;
			close(all[i].fd);
			all[i].fd = -1;
			open--;
		}
	}
}

static int crowd(int n)
{
	struct pollfd *all = memory_new((size_t)n, sizeof(*all));
	uint64_t began = clock_mono_ns();

	for (int i = 0; i < n; i++)
		all[i] = (struct pollfd){.fd = knock(), .events = POLLIN};
	puts("here");
	fflush(stdout);
	crowd_wait(all, n);
	printf("all %d were closed within %llu ms\n", n,
	       (unsigned long long)(clock_mono_ns() - began) / 1000000u);
	free(all);
	return 0;
}

/* ---- flood ---- */

static int flood(int n)
{
	static const char noise[NOISE_BYTES] = "GET / HTTP/1.1\r\n\r\n";
	struct pollfd all[AT_ONCE];
	int begun = 0, ended = 0;

	for (int i = 0; i < AT_ONCE; i++)
		all[i].fd = -1;
	while (ended < n) {
		for (int i = 0; i < AT_ONCE && begun < n; i++) {
			if (all[i].fd >= 0)
				continue;
			all[i] = (struct pollfd){.fd = knock(), .events = POLLIN | POLLOUT};
			begun++;
		}
		if (poll(all, AT_ONCE, CONNECT_MS) <= 0)
			die("it does not answer any more");
		for (int i = 0; i < AT_ONCE; i++) {
			if (all[i].fd < 0 || !all[i].revents)
				continue;
			if (all[i].revents & POLLOUT &&
			    send(all[i].fd, noise, sizeof(noise), MSG_NOSIGNAL) > 0)
				all[i].events = POLLIN;
			if (!(all[i].revents & (POLLIN | POLLHUP | POLLERR)) || !is_over(all[i].fd))
				continue;
			close(all[i].fd);
			all[i].fd = -1;
			ended++;
		}
	}
	printf("%d refused\n", ended);
	return 0;
}

/* ---- drip, alerts ---- */

/* A handshake that will never be whole: the longest record, of one long ClientHello. */
static int drip(void)
{
	static const unsigned char begin[] = {22, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc, 3, 3};
	int fd = enter();
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t began = clock_mono_ns();
	unsigned long sent = 0;

	while (!(poll(&p, 1, DRIP_MS) > 0 && is_over(fd))) {
		unsigned char byte = sent < sizeof(begin) ? begin[sent] : 'x';

		if (clock_mono_ns() - began > CONNECT_MS * UINT64_C(1000000))
			die("it listens for ever");
		sent += send(fd, &byte, 1, MSG_NOSIGNAL) == 1;
	}
	printf("closed after %llu ms and %lu bytes\n",
	       (unsigned long long)(clock_mono_ns() - began) / 1000000u, sent);
	close(fd);
	return 0;
}

static int alerts(void)
{
	for (int i = 0; i < 256; i++) {
		unsigned char alert[] = {21, 3, 3, 0, 2, 2, (unsigned char)i};
		int fd = enter();
		struct pollfd p = {.fd = fd, .events = POLLIN};

		if (send(fd, alert, sizeof(alert), MSG_NOSIGNAL) < 0 ||
		    poll(&p, 1, CONNECT_MS) != 1)
			die("an alert");
		close(fd);
	}
	puts("256 said");
	return 0;
}

/* ---- record ---- */

static int passage_open(const char *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 1) < 0)
		die(port);
	puts("here");
	fflush(stdout);
	return fd;
}

static int record(const char *port, const char *path)
{
	int door = passage_open(port), file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct pollfd p[2] = {{.fd = accept(door, NULL, NULL), .events = POLLIN},
			      {.fd = enter(), .events = POLLIN}};
	size_t kept = 0;
	char data[65536];

	if (file < 0 || p[0].fd < 0)
		die(path);
	if (fcntl(p[1].fd, F_SETFL, 0) < 0)
		die("fcntl");
	while (poll(p, 2, CONNECT_MS) > 0) {
		int i = p[0].revents ? 0 : 1;
		ssize_t n = recv(p[i].fd, data, sizeof(data), 0);

		if (n <= 0)
			break;
		if (i == 0 && write(file, data, (size_t)n) != n)
			die(path);
		kept += i == 0 ? (size_t)n : 0;
		if (send(p[1 - i].fd, data, (size_t)n, MSG_NOSIGNAL) != n)
			break;
	}
	printf("%zu bytes\n", kept);
	close(file);
	return 0;
}

/* ---- orders ---- */

struct orders {
	struct event_base *base;
	int wanted, answered;
	const char *elsewhere;
};

static void say(struct link *link, struct orders *o, Evspace__Frame *frame)
{
	o->wanted++;
	link_send(link, frame, NULL);
}

/* What a program of ours would not send with this certificate, or would not send at all. */
static void orders_ready(struct link *link, void *arg)
{
	struct orders *o = arg;
	Evspace__Place place = EVSPACE__PLACE__INIT;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	Evspace__MapTexts texts = EVSPACE__MAP_TEXTS__INIT;
	Evspace__MapApply apply = EVSPACE__MAP_APPLY__INIT;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	unsigned char id[16] = {1};
	char *all = (char *)(uintptr_t) "/**";

	place.node = place.cluster = place.address = (char *)(uintptr_t) "w0";
	place.leaf = true;
	open.scope = 1;
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.place = &place;
	frame.kind_case = EVSPACE__FRAME__KIND_OPEN;
	frame.open = &open;
	say(link, o, &frame);

	ask.view = (char *)(uintptr_t) "events";
	frame.kind_case = EVSPACE__FRAME__KIND_SWITCH_ASK;
	frame.switch_ask = &ask;
	for (ask.scope = 2; ask.scope < 6; ask.scope++) {
		ask.change = ask.scope == 2;
		ask.discard = ask.scope == 3 || ask.scope == 5;
		ask.place = ask.scope > 3 ? &place : NULL;
		ask.select = &all;
		ask.n_select = ask.place ? 1 : 0;
		ask.who = (char *)(uintptr_t)(ask.place ? "bob (10.0.0.7:51422)" : "");
		say(link, o, &frame);
	}

	frame.kind_case = EVSPACE__FRAME__KIND_MAP_APPLY;
	frame.map_apply = &apply;
	say(link, o, &frame);
	apply.texts = &texts;
	say(link, o, &frame);
}

static void orders_frame(struct link *link, void *arg, const struct frame *frame)
{
	const Evspace__Frame *f = frame->header;
	struct orders *o = arg;

	if (f->kind_case == EVSPACE__FRAME__KIND_ERROR)
		printf("refused: %s\n", f->error->text);
	else
		printf("granted: a frame of kind %d\n", (int)f->kind_case);
	if (++o->answered == o->wanted) {
		link_close(link);
		event_base_loopbreak(o->base);
	}
}

static void orders_closed(struct link *link, void *arg, const struct error *why)
{
	const struct orders *o = arg;

	(void)link;
	printf("closed: %s\n", why->text);
	event_base_loopbreak(o->base);
}

/* ---- frames ---- */

/* Parts for an agent that is nowhere in the map: nobody may be led there. */
static void frames_parts(struct link *link, struct orders *o)
{
	Evspace__Place place = EVSPACE__PLACE__INIT, below = EVSPACE__PLACE__INIT,
		       *children = &below;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__StatusAsk status = EVSPACE__STATUS_ASK__INIT;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	unsigned char id[16] = {2};

	place.node = place.cluster = below.node = below.cluster = (char *)(uintptr_t) "x";
	place.address = below.address = (char *)(uintptr_t)o->elsewhere;
	below.leaf = true;
	below.index = 1;
	place.n_children = 1;
	place.children = &children;
	open.scope = 20;
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.place = &place;
	frame.kind_case = EVSPACE__FRAME__KIND_OPEN;
	frame.open = &open;
	say(link, o, &frame);
	status.scope = 21;
	status.place = &place;
	frame.kind_case = EVSPACE__FRAME__KIND_STATUS_ASK;
	frame.status_ask = &status;
	say(link, o, &frame);
}

static void frames_ready(struct link *link, void *arg)
{
	Evspace__StatusAsk status = EVSPACE__STATUS_ASK__INIT;
	Evspace__SwitchAsk classes = EVSPACE__SWITCH_ASK__INIT;
	Evspace__MapAsk map = EVSPACE__MAP_ASK__INIT;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	unsigned char id[16] = {1};

	frame.kind_case = EVSPACE__FRAME__KIND_STATUS_ASK;
	frame.status_ask = &status;
	say(link, arg, &frame);
	status.all = true;
	status.scope = 10;
	say(link, arg, &frame);
	frame.kind_case = EVSPACE__FRAME__KIND_MAP_ASK;
	frame.map_ask = &map;
	say(link, arg, &frame);
	classes.view = (char *)(uintptr_t) "events";
	classes.scope = 11;
	frame.kind_case = EVSPACE__FRAME__KIND_SWITCH_ASK;
	frame.switch_ask = &classes;
	say(link, arg, &frame);
	open.scope = 12;
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.view = classes.view;
	open.backlog = true;
	frame.kind_case = EVSPACE__FRAME__KIND_OPEN;
	frame.open = &open;
	say(link, arg, &frame);
	ask.scope = open.scope;
	ask.wave = ask.count = 1;
	ask.deadline_ms = ANSWERS_MS / 4;
	frame.kind_case = EVSPACE__FRAME__KIND_ASK;
	frame.ask = &ask;
	say(link, arg, &frame);
	frames_parts(link, arg);
}

static void frames_frame(struct link *link, void *arg, const struct frame *frame)
{
	size_t n = evspace__frame__get_packed_size(frame->header);
	unsigned char *packed = memory_new(n, 1);
	struct orders *o = arg;

	evspace__frame__pack(frame->header, packed);
	printf("kind %d:", (int)frame->header->kind_case);
	fwrite(packed, 1, n, stdout);
	if (frame->bytes)
		fwrite(frame->buffer->data + frame->at, 1, frame->bytes, stdout);
	putchar('\n');
	free(packed);
	if (++o->answered == o->wanted) {
		link_close(link);
		event_base_loopbreak(o->base);
	}
}

/* ---- much ---- */

static void large_ready(struct link *link, void *arg)
{
	enum { PATTERNS = 300, HOLDS = 600000 };
	Evspace__Place place = EVSPACE__PLACE__INIT;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	Evspace__StatusAsk status = EVSPACE__STATUS_ASK__INIT;
	Evspace__SwitchAsk order = EVSPACE__SWITCH_ASK__INIT;
	Evspace__Choice choice = EVSPACE__CHOICE__INIT, *choices[CHOICES_MAX + 1];
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	char *patterns[PATTERNS];

	place.node = place.cluster = place.address = (char *)(uintptr_t) "w0";
	open.scope = 1;
	open.place = &place;
	open.n_select = PATTERNS;
	open.select = patterns;
	for (int i = 0; i < PATTERNS; i++)
		patterns[i] = (char *)(uintptr_t) "/**";
	frame.kind_case = EVSPACE__FRAME__KIND_OPEN;
	frame.open = &open;
	say(link, arg, &frame);
	place.holds = memory_new(HOLDS + 1, 1);
	memset(place.holds, '1', HOLDS);
	status.scope = 2;
	status.place = &place;
	frame.kind_case = EVSPACE__FRAME__KIND_STATUS_ASK;
	frame.status_ask = &status;
	say(link, arg, &frame);
	free(place.holds);
	order.scope = 3;
	order.n_choices = CHOICES_MAX + 1;
	order.choices = choices;
	for (unsigned i = 0; i < order.n_choices; i++)
		choices[i] = &choice;
	frame.kind_case = EVSPACE__FRAME__KIND_SWITCH_ASK;
	frame.switch_ask = &order;
	say(link, arg, &frame);
}

static const struct link_events large_events = {large_ready, orders_frame, orders_closed};
static const struct link_events orders_events = {orders_ready, orders_frame, orders_closed};
static const struct link_events frames_events = {frames_ready, frames_frame, orders_closed};

static int orders(const char *address, const char *dir, const char *name, bool agent,
		  const struct link_events *events, const char *elsewhere)
{
	const struct link_self self = {agent ? name : "", 0};
	static const struct timeval most = {.tv_sec = ANSWERS_MS / 1000};
	struct orders o = {.base = event_base_new(), .elsewhere = elsewhere};
	struct error e;
	struct tls *tls = tls_new(dir, name, &e);
	struct link_hub *hub = tls ? link_hub_new(o.base, tls, &self) : NULL;

	if (!hub || !link_dial(hub, address, NULL, events, &o, &e)) {
		fprintf(stderr, "attacker: %s\n", e.text);
		return 1;
	}
	event_base_loopexit(o.base, &most);
	event_base_dispatch(o.base);
	link_hub_free(hub);
	tls_free(tls);
	event_base_free(o.base);
	return o.answered < o.wanted;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	struct error e;

	if (*what && address_parse(&target, argv[2], false, &e) < 0) {
		fprintf(stderr, "attacker: %s\n", e.text);
		return 2;
	}
	if (!strcmp(what, "crowd") && argc == 4)
		return crowd(atoi(argv[3]));
	if (!strcmp(what, "flood") && argc == 4)
		return flood(atoi(argv[3]));
	if (!strcmp(what, "drip"))
		return drip();
	if (!strcmp(what, "alerts"))
		return alerts();
	if (!strcmp(what, "record") && argc == 5)
		return record(argv[3], argv[4]);
	if (!strcmp(what, "orders") && argc == 5)
		return orders(argv[2], argv[3], argv[4], false, &orders_events, NULL);
	if (!strcmp(what, "agent") && argc == 5)
		return orders(argv[2], argv[3], argv[4], true, &orders_events, NULL);
	if (!strcmp(what, "large") && argc == 5)
		return orders(argv[2], argv[3], argv[4], true, &large_events, NULL);
	if (!strcmp(what, "frames") && argc == 6)
		return orders(argv[2], argv[3], argv[4], false, &frames_events, argv[5]);
	fputs("attacker: see its source\n", stderr);
	return 2;
}
