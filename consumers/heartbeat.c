/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace heartbeat: the paper's monitor, the last event of each thread compared over time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/command.h"
#include "consumers/heartbeat.h"
#include "consumers/options.h"
#include "tree/clock.h"

static const char heartbeat_help[] =
	"usage: evspace heartbeat [options]\n"
	"\n"
	"Show what each thread of a run does now, how long already, and who is stuck waiting for "
	"whom.\n"
	"\n"
	"examples:\n"
	"  evspace heartbeat                              # this host's agent, the only live run\n"
	"  evspace heartbeat --check --duration 5s        # exit code 1 if a thread is stuck\n"
	"  evspace heartbeat --once --json                # one look, for scripts\n"
	"\n"
	"  --stuck-after TIME  how long in one operation is stuck (default 1s)\n"
	"  --check           say only who is stuck; exit code 1 if somebody is, 0 if all make "
	"progress\n"
	"                    (looks for 3 s unless --count or --duration say otherwise)\n"
	"  --once            look once\n";

enum { STUCK_AFTER = 256, CHECK, ONCE };

static const struct own_option own[] = {
	{"stuck-after", true, STUCK_AFTER},
	{"check", false, CHECK},
	{"once", false, ONCE},
	{NULL, false, 0},
};

static int own_take(void *arg, int code, const char *value, struct error *e)
{
	struct heartbeat *h = arg;
	uint64_t ns;

	switch (code) {
	case STUCK_AFTER:
		if (unit_time(value, &ns, e) < 0)
			return -1;
		h->stuck_after_ns = (int64_t)ns;
		return 0;
	case CHECK:
		h->check = true;
		return 0;
	default:
		h->common.count = 1;
		return 0;
	}
}

/* ---- pulses ---- */

static int by_name(const void *a, const void *b)
{
	const struct pulse *x = a, *y = b;

	return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
				  : strcmp(x->name, y->name);
}

static struct pulse *pulse_of(struct heartbeat *h, const char *name)
{
	struct pulse *more;

	for (size_t i = 0; i < h->n; i++) {
		if (strcmp(h->pulses[i].name, name) == 0)
			return &h->pulses[i];
	}
	if (h->n == h->room) {
		h->room = h->room ? 2 * h->room : 64;
		more = realloc(h->pulses, h->room * sizeof(*more));
		if (!more)
			abort();
		h->pulses = more;
	}
	more = &h->pulses[h->n++];
	*more = (struct pulse){.rank = -1};
	snprintf(more->name, sizeof(more->name), "%s", name);
	return more;
}

static void pulse_set(struct pulse *p, const struct evspace_event *ev)
{
	p->rank = ev->rank;
	snprintf(p->op, sizeof(p->op), "%s", ev->op);
	p->op_number = ev->op_number;
	p->running = ev->flags & EVSPACE_RUNNING;
	p->peer = ev->peer;
	p->seq = ev->seq_or_tag;
	p->comm = ev->comm;
	p->bytes = ev->bytes;
	p->start_ns = ev->start_ns;
	p->end_ns = ev->end_ns;
	p->error_ns = ev->error_ns;
}

/* Take a wave in: every thread's last event, and for how long it has been that. */
static void heartbeat_take(struct heartbeat *h)
{
	const struct evspace_wave *w = evspace_wave(h->client);
	struct evspace_event ev;

	while (evspace_event(h->client, &ev))
		pulse_set(pulse_of(h, ev.name), &ev);
	qsort(h->pulses, h->n, sizeof(*h->pulses), by_name);
	for (size_t i = 0; i < h->n; i++) {
		struct pulse *p = &h->pulses[i];
		int64_t since = p->running ? p->start_ns : p->end_ns;

		p->still_ns = w->taken_ns > since ? w->taken_ns - since : 0;
	}
	h->stuck = stall_find(h->pulses, h->n, h->stuck_after_ns, heartbeat_members, h);
}

size_t heartbeat_members(void *arg, uint32_t comm, int32_t *members, size_t room)
{
	const struct heartbeat *h = arg;

	return evspace_members(h->client, comm, members, room);
}

/* ---- looking ---- */

static int look_once(struct heartbeat *h)
{
	uint64_t now = clock_mono_ns();
	int left = -1, rc;

	if (h->end_ns && now >= h->end_ns)
		return 0;
	if (h->end_ns)
		left = (int)((h->end_ns - now) / 1000000u) + 1;
	rc = evspace_next(h->client, left);
	if (rc <= 0)
		return rc;
	heartbeat_take(h);
	if (!h->check && heartbeat_show(h) < 0)
		return 0;
	/* One look tells a check whether somebody is stuck; that all make progress takes the whole
	 * time. */
	if (h->check && h->stuck)
		return 0;
	return h->common.count == 0 || evspace_wave(h->client)->number < h->common.count;
}

static int heartbeat_look(struct heartbeat *h)
{
	int rc;

	do
		rc = look_once(h);
	while (rc > 0);
	if (rc < 0) {
		fprintf(stderr, "evspace heartbeat: the connection is lost: %s\n",
			evspace_why(h->client));
		return EXIT_NO_CONNECTION;
	}
	if (!h->check)
		return EXIT_FINE;
	heartbeat_verdict(h);
	return h->stuck ? EXIT_BAD_NEWS : EXIT_FINE;
}

int heartbeat_main(int argc, char **argv)
{
	struct heartbeat h = {
		.common.look = {.view = "heartbeat", .rate_hz = 1},
		.stuck_after_ns = 1000000000,
	};
	int code = options_parse(argc, argv, heartbeat_help, own, own_take, &h, &h.common);

	if (code >= 0)
		return code;
	h.client = options_open(argv[0], &h.common, &code);
	if (!h.client)
		return code;
	options_catch_signals(h.client);
	if (h.check && !h.common.count && !h.common.duration_ns)
		h.common.duration_ns = 3000000000u;
	if (h.common.duration_ns)
		h.end_ns = clock_mono_ns() + h.common.duration_ns;
	h.redraw = isatty(STDOUT_FILENO) && !h.common.json;
	h.colour = h.redraw && !getenv("NO_COLOR");
	code = heartbeat_look(&h);
	heartbeat_summary(&h);
	evspace_close(h.client);
	free(h.pulses);
	return code;
}
