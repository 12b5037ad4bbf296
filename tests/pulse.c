/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An honest peer that asks an agent over and over whether it is there, and says how long the agent
 * took at most, in ms:
 *
 *	thread state HOST:PORT DIR NAME PID SECONDS
 *
 * What the agent, or this process, waited for a processor meanwhile is not counted (the second
 *field of /proc/PID/schedstat): on a loaded machine that says nothing of the agent.
 */
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tree/data/clock.h"
#include "tree/link/link.h"
#include "tree/link/link-hub.h"

#define PAUSE_US 5000

struct thread_state {
	struct event_base *base;
	struct link *link;
	struct event *timer;
	int waits[2]; /* schedstat of the agent, of this process */
	uint64_t sent_ns, waited_ns, end_ns, worst_ns, worst_whole_ns;
	unsigned long n, slow;
	int broken;
};

/* For how long they have waited for a processor. */
static uint64_t waited(const struct thread_state *p)
{
	unsigned long long ran, waits, sum = 0;
	char text[100];

	for (int i = 0; i < 2; i++) {
		ssize_t n = pread(p->waits[i], text, sizeof(text) - 1, 0);

		text[n > 0 ? n : 0] = '\0';
		if (sscanf(text, "%llu %llu", &ran, &waits) == 2)
			sum += waits;
	}
	return sum;
}

static void ask(evutil_socket_t fd, short what, void *arg)
{
	struct thread_state *p = arg;

	(void)fd;
	(void)what;
	p->waited_ns = waited(p);
	p->sent_ns = clock_mono_ns();
	link_send_ping(p->link, p->sent_ns);
}

static void on_ready(struct link *link, void *arg)
{
	struct thread_state *p = arg;

	p->link = link;
	ask(-1, 0, p);
}

static void on_frame(struct link *link, void *arg, const struct frame *frame)
{
	static const struct timeval pause = {0, PAUSE_US};
	struct thread_state *p = arg;
	uint64_t now = clock_mono_ns(), whole = now - p->sent_ns, wait, took;

	(void)link;
	if (frame->header->kind_case != EVSPACE__FRAME__KIND_PING)
		return;
	wait = waited(p) - p->waited_ns;
	took = whole > wait ? whole - wait : 0;
	if (took > p->worst_ns)
		p->worst_ns = took;
	if (whole > p->worst_whole_ns)
		p->worst_whole_ns = whole;
	p->slow += took > 50000000;
	p->n++;
	if (now > p->end_ns)
		event_base_loopbreak(p->base);
	else
		evtimer_add(p->timer, &pause);
}

static void on_closed(struct link *link, void *arg, const struct error *why)
{
	struct thread_state *p = arg;

	(void)link;
	fprintf(stderr, "pulse: %s\n", why->text);
	p->broken = 1;
	event_base_loopbreak(p->base);
}

int main(int argc, char **argv)
{
	static const struct link_events events = {on_ready, on_frame, on_closed};
	static const struct link_self self = {"", 0};
	struct thread_state p = {.base = event_base_new()};
	struct link_hub *hub;
	struct tls *tls;
	struct error e;
	char path[64];

	if (argc != 6 || !(tls = tls_new(argv[2], argv[3], &e))) {
		fprintf(stderr, "pulse: %s\n", argc != 6 ? "see its source" : e.text);
		return 2;
	}
	snprintf(path, sizeof(path), "/proc/%s/schedstat", argv[4]);
	p.waits[0] = open(path, O_RDONLY | O_CLOEXEC);
	p.waits[1] = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	p.end_ns = clock_mono_ns() + strtoul(argv[5], NULL, 10) * UINT64_C(1000000000);
	p.timer = evtimer_new(p.base, ask, &p);
	hub = link_hub_new(p.base, tls, &self);
	link_hub_proof_set(hub, 60000);
	if (!link_dial(hub, argv[1], NULL, &events, &p, &e)) {
		fprintf(stderr, "pulse: %s\n", e.text);
		return 2;
	}
	event_base_dispatch(p.base);
	printf("%lu ms at most, of %lu times %lu above 50 ms; %lu ms with waiting for a "
	       "processor\n",
	       (unsigned long)(p.worst_ns / 1000000), p.n, p.slow,
	       (unsigned long)(p.worst_whole_ns / 1000000));
	event_free(p.timer);
	link_hub_free(hub);
	tls_free(tls);
	event_base_free(p.base);
	return p.broken;
}
