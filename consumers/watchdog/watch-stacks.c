/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the stacks of all ranks, as the agents of their hosts read them. */
#include <stdio.h>
#include <string.h>

#include "consumers/cli/options.h"
#include "consumers/watchdog/watch.h"
#include "tree/wire/wire.h"

/* How long agents may take, and how deep they look. */
#define DEADLINE_MS 10000
#define FRAMES	    64u

static void thread_write(const Evspace__Stack *s, FILE *out)
{
	fprintf(out, "  thread %u (%s)\n", s->tid, s->name);
	for (size_t i = 0; i < s->n_frames; i++)
		fprintf(out, "    %s\n", s->frames[i]);
	if (s->why[0])
		fprintf(out, "    %s\n", s->why);
}

static void host_write(const Evspace__Status *status, FILE *out)
{
	if (status->why)
		fprintf(out, "/%s/%s: none to be had: %s\n", status->cluster, status->node,
			wire_missing(status->why));
	for (size_t i = 0; i < status->n_processes; i++) {
		const Evspace__Process *p = status->processes[i];

		if (p->misplaced)
			continue;
		fprintf(out, "/%s/%s/%s, process %u\n", status->cluster, status->node, p->name,
			p->pid);
		if (p->unread[0])
			fprintf(out, "  none to be had: %s\n", p->unread);
		for (size_t k = 0; k < p->n_stacks; k++)
			thread_write(p->stacks[k], out);
	}
}

void watch_stacks(const struct watch *w, FILE *out)
{
	struct evspace_options look = w->heartbeat.common.look;
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;
	enum evspace_failure failure;
	Evspace__Frame *reply;
	struct error e;

	look.deadline_ms = DEADLINE_MS;
	ask.all = ask.process_tables = true;
	ask.stacks = FRAMES;
	ask.run = w->name;
	ask.deadline_ms = DEADLINE_MS;
	reply = options_ask_once(&look, &WIRE_FRAME(STATUS_ASK, status_ask, &ask),
				 EVSPACE__FRAME__KIND_STATUS, &failure, &e);
	if (!reply) {
		fprintf(out, "none to be had: %s\n", e.text);
		return;
	}
	host_write(reply->status, out);
	for (size_t i = 0; i < reply->status->n_below; i++)
		host_write(reply->status->below[i], out);
	wire_header_free(reply);
}
