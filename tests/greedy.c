/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A consumer that takes no notice of what it is told of its share: it always has as many waves
 *under way as there can be, and says in the end what it has got:
 *
 *	greedy HOST:PORT DIR NAME RUN VIEW SECONDS [again]
 *
 * `again`: it asks once, closes the view and opens it again, for each wave.
 *
 * "WAVES waves, PERCENT % of a host's processor": what agents say that they took, each host's on
 * average, shared by who rode on them.
 */
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/data/clock.h"
#include "tree/link/link.h"
#include "tree/link/link-hub.h"

#define WINDOW	64
#define WAVE_MS 5000

static struct event_base *base;
static char *run, *view;
static uint64_t asked, waves, began_ns;
static double seconds;
static bool again;
static uint32_t scope;

static void ask(struct link *link, uint32_t count)
{
	Evspace__Ask ask = EVSPACE__ASK__INIT;

	ask.scope = scope;
	ask.wave = again ? 1 : asked + 1;
	ask.count = count;
	ask.deadline_ms = WAVE_MS;
	ask.have = again ? 0 : waves;
	asked += count;
	link_send(link, &WIRE_FRAME(ASK, ask, &ask), NULL);
}

static void view_open(struct link *link)
{
	Evspace__Open open = EVSPACE__OPEN__INIT;
	unsigned char id[16] = {7};

	scope++;
	for (unsigned i = 0; i < sizeof(scope); i++)
		id[i + 1] = (unsigned char)(scope >> 8 * i);
	open.scope = scope;
	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.run = run;
	open.view = view;
	link_send(link, &WIRE_FRAME(OPEN, open, &open), NULL);
}

static void view_close(struct link *link)
{
	Evspace__Close close = EVSPACE__CLOSE__INIT;

	close.scope = scope;
	link_send(link, &WIRE_FRAME(CLOSE, close, &close), NULL);
}

static void on_ready(struct link *link, void *arg)
{
	(void)arg;
	view_open(link);
}

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
	const Evspace__Frame *f = frame->header;

	(void)arg;
	if (f->kind_case == EVSPACE__FRAME__KIND_OPENED && (again || asked == 0)) {
		if (!began_ns)
			began_ns = clock_mono_ns();
		ask(link, again ? 1 : WINDOW);
	} else if (f->kind_case == EVSPACE__FRAME__KIND_ANSWER) {
		const Evspace__Answer *a = f->answer;

		waves++;
		seconds += a->cpu_us * 1e-6 / (a->leaves ? a->leaves : 1) /
			   (a->riders ? a->riders : 1);
		if (again) {
			view_close(link);
			view_open(link);
		} else {
			ask(link, 1);
		}
	} else if (f->kind_case == EVSPACE__FRAME__KIND_ERROR) {
		fprintf(stderr, "greedy: %s\n", f->error->text);
		exit(1);
	}
}

static void on_closed(struct link *link, void *arg, const struct error *why)
{
	(void)link;
	(void)arg;
	fprintf(stderr, "greedy: %s\n", why->text);
	exit(1);
}

int main(int argc, char **argv)
{
	static const struct link_events events = {on_ready, on_frame, on_closed};
	static const struct link_self self = {"", 0};
	struct link_hub *hub;
	struct tls *tls;
	struct error e;
	struct timeval within;

	again = argc == 8 && strcmp(argv[7], "again") == 0;
	if (argc != 7 + again || !(tls = tls_new(argv[2], argv[3], &e))) {
		fprintf(stderr, "greedy: %s\n", argc != 7 + again ? "see its source" : e.text);
		return 2;
	}
	run = argv[4];
	view = argv[5];
	within = (struct timeval){strtol(argv[6], NULL, 10), 0};
	base = event_base_new();
	hub = link_hub_new(base, tls, &self);
	if (!link_dial(hub, argv[1], NULL, &events, NULL, &e)) {
		fprintf(stderr, "greedy: %s\n", e.text);
		return 2;
	}
	event_base_loopexit(base, &within);
	event_base_dispatch(base);
	printf("%llu waves, %.3f %% of a host's processor\n", (unsigned long long)waves,
	       100 * seconds * 1e9 / (double)(clock_mono_ns() - began_ns));
	link_hub_free(hub);
	tls_free(tls);
	event_base_free(base);
	return 0;
}
