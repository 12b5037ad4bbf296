/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An observer that opens very many scopes, says what came of it, and holds them until its stdin
 * ends:
 *
 *	opener HOST:PORT DIR NAME RUN VIEW CONNECTIONS SCOPES [same]
 *
 * SCOPES on each of CONNECTIONS, each asked for a wave once it is open; `same`: all of one id.
 */
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "tree/link/link.h"
#include "tree/link/link-hub.h"

#define WAVE_MS 20000

static struct event_base *base;
static char *run, *view;
static unsigned scopes, left, open_now, refused;
static bool same;

static void settled(void)
{
	if (--left > 0)
		return;
	printf("%u open, %u refused\n", open_now, refused);
	fflush(stdout);
}

static void on_ready(struct link *link, void *arg)
{
	(void)arg;
	for (uint32_t i = 1; i <= scopes; i++) {
		Evspace__Open open = EVSPACE__OPEN__INIT;
		Evspace__Frame frame = EVSPACE__FRAME__INIT;
		unsigned char id[16] = {1};

		if (!same && getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id))
			abort();
		open.scope = i;
		open.id = (ProtobufCBinaryData){sizeof(id), id};
		open.run = run;
		open.view = view;
		open.backlog = true;
		frame.kind_case = EVSPACE__FRAME__KIND_OPEN;
		frame.open = &open;
		link_send(link, &frame, NULL);
	}
}

static void ask(struct link *link, uint32_t scope)
{
	Evspace__Ask ask = EVSPACE__ASK__INIT;

	ask.scope = scope;
	ask.wave = ask.count = 1;
	ask.deadline_ms = WAVE_MS;
	link_send(link, &WIRE_FRAME(ASK, ask, &ask), NULL);
}

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
	const Evspace__Frame *f = frame->header;

	(void)arg;
	if (f->kind_case == EVSPACE__FRAME__KIND_OPENED) {
		open_now++;
		ask(link, f->opened->scope);
		settled();
	} else if (f->kind_case == EVSPACE__FRAME__KIND_ERROR) {
		if (refused++ == 0)
			fprintf(stderr, "opener: %s\n", f->error->text);
		settled();
	}
}

static void on_closed(struct link *link, void *arg, const struct error *why)
{
	(void)link;
	(void)arg;
	fprintf(stderr, "opener: %s\n", why->text);
	exit(1);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
	char byte;

	(void)what;
	(void)arg;
	if (read(fd, &byte, 1) <= 0)
		event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
	static const struct link_events events = {on_ready, on_frame, on_closed};
	static const struct link_self self = {"", 0};
	struct event *end;
	struct link_hub *hub;
	struct tls *tls;
	struct error e;
	unsigned links;

	same = argc == 9;
	if (argc - same != 8 || !(tls = tls_new(argv[2], argv[3], &e))) {
		fprintf(stderr, "opener: %s\n", argc - same != 8 ? "see its source" : e.text);
		return 2;
	}
	run = argv[4];
	view = argv[5];
	links = (unsigned)strtoul(argv[6], NULL, 10);
	scopes = (unsigned)strtoul(argv[7], NULL, 10);
	left = links * scopes;
	base = event_base_new();
	end = event_new(base, STDIN_FILENO, EV_READ | EV_PERSIST, on_end, NULL);
	event_add(end, NULL);
	hub = link_hub_new(base, tls, &self);
	for (unsigned i = 0; i < links; i++) {
		if (!link_dial(hub, argv[1], NULL, &events, NULL, &e)) {
			fprintf(stderr, "opener: %s\n", e.text);
			return 2;
		}
	}
	event_base_dispatch(base);
	event_free(end);
	link_hub_free(hub);
	tls_free(tls);
	event_base_free(base);
	return 0;
}
