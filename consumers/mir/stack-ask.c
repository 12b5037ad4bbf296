/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks for processes and their stacks by the question for the status, and takes them into a
 * snapshot. */
#include "consumers/mir/stack-ask.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/client/connection.h"
#include "pathmap/base/memory.h"
#include "tree/wire/wire.h"

/* Most threads of all hosts that are taken. */
#define THREADS_MOST 1000000u

static void thread_take(struct snapshot *s, const char *process, const Evspace__Stack *from)
{
	bool numbered = from->thread != UINT32_MAX;
	char *name = memory_format(numbered ? "%s/t%u" : "%s/%u", process,
				   numbered ? from->thread : from->tid);
	struct mir_thread *t;

	if (from->why[0])
		snapshot_miss(&s->unread, &s->n_unread, name, from->why);
	s->looked += from->stopped_ns > 0;
	s->stopped_ns += from->stopped_ns;
	if (from->stopped_ns > s->longest_ns)
		s->longest_ns = from->stopped_ns;
	t = snapshot_thread(s, name);
	t->title = numbered ? NULL : memory_copy(from->name);
	t->stack = memory_new(from->n_frames + 1, sizeof(*t->stack));
	for (size_t i = 0; i < from->n_frames; i++)
		t->stack[t->n_stack++] = memory_copy(from->frames[i]);
}

static void status_take(struct snapshot *s, const Evspace__Status *status)
{
	char *host = memory_format("/%s/%s", status->cluster, status->node);

	if (status->why && s->depth > 0)
		snapshot_miss(&s->unread, &s->n_unread, host, wire_missing(status->why));
	for (size_t i = 0; i < status->n_processes; i++) {
		const Evspace__Process *p = status->processes[i];
		char *name;

		/* its name is a part of one */
		if (p->misplaced || !p->name[0] || strchr(p->name, '/'))
			continue;
		name = memory_format("%s/%s", host, p->name);
		s->lives |= p->alive;
		if (!p->alive) {
			s->gone = memory_room(s->gone, s->n_gone, sizeof(*s->gone));
			s->gone[s->n_gone++] = name;
			continue;
		}
		if (p->unread[0])
			snapshot_miss(&s->unread, &s->n_unread, name, p->unread);
		for (size_t k = 0; k < p->n_stacks && s->n_threads < THREADS_MOST; k++)
			thread_take(s, name, p->stacks[k]);
		free(name);
	}
	free(host);
}

static void stacks_answered(const struct asker *asker, Evspace__Frame **frame,
			    enum evspace_failure failure, const char *why)
{
	struct snapshots *snapshots = asker->arg;
	struct snapshot *s = &snapshots->coming;

	(void)failure;
	snapshots->stacks = NULL;
	if (!*frame) {
		if (s->depth > 0)
			snapshot_miss(&s->unread, &s->n_unread, "", why);
		return;
	}
	status_take(s, (*frame)->status);
	for (size_t i = 0; i < (*frame)->status->n_below; i++)
		status_take(s, (*frame)->status->below[i]);
}

void stack_ask(struct snapshots *snapshots, unsigned depth, unsigned deadline_ms)
{
	struct asker asker = {stacks_answered, NULL, snapshots, ""};
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;
	const char *run = snapshots->options->run;
	char *name = memory_copy(run ? run : "");

	ask.all = ask.process_tables = true;
	ask.stacks = depth < STACK_ASK_FRAMES ? depth : STACK_ASK_FRAMES;
	ask.run = name;
	ask.deadline_ms = deadline_ms;
	snapshots->stacks =
		question_new(snapshots->connection, &WIRE_FRAME(STATUS_ASK, status_ask, &ask),
			     EVSPACE__FRAME__KIND_STATUS, deadline_ms, &asker, NULL);
	free(name);
}

void stack_ask_end(struct snapshots *snapshots)
{
	evspace_cancel(snapshots->stacks);
	snapshots->stacks = NULL;
}
