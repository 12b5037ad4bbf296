/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks all agents what the processes of a run use. */
#include "consumers/mir/usages.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/client/connection.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/wire/wire.h"

#define DEADLINE_MS 900
#define NS_PER_MS   1e6

void usages_fini(struct usages *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->items[i].name);
	for (size_t i = 0; i < u->n_gaps; i++) {
		free(u->gaps[i].host);
		free(u->gaps[i].why);
	}
	for (size_t i = 0; i < USAGES_COUNTERS; i++)
		free(u->uncounted[i]);
	free(u->gaps);
	free(u->items);
	free(u->why);
	*u = (struct usages){0};
}

static struct mir_usage *usage_add(struct usages *u, char *name)
{
	u->items = memory_room(u->items, u->n, sizeof(*u->items));
	u->items[u->n] = (struct mir_usage){.name = name};
	return &u->items[u->n++];
}

static void thread_take(struct usages *u, const char *process, const Evspace__Used *used)
{
	struct mir_usage *t = usage_add(
		u, used->thread == UINT32_MAX ? memory_format("%s/others", process)
					      : memory_format("%s/t%u", process, used->thread));

	t->of_thread = true;
	t->figures[METRIC_RAN] = (double)used->ran_ns / NS_PER_MS;
	t->figures[METRIC_BLOCKS] = (double)used->blocks;
	t->figures[METRIC_SWITCHES] = (double)used->blocks + (double)used->preempted;
	t->figures[METRIC_FAULTS] = (double)used->faults;
	t->figures[METRIC_BLOCKED] = (double)used->blocked_ns / NS_PER_MS;
}

static void gap_note(struct usages *u, const Evspace__Status *s, char *why)
{
	u->gaps = memory_room(u->gaps, u->n_gaps, sizeof(*u->gaps));
	u->gaps[u->n_gaps++] =
		(struct usage_gap){memory_format("/%s/%s", s->cluster, s->node), why};
}

static void counters_take(struct usages *u, const Evspace__Status *s, const Evspace__Process *p,
			  struct mir_usage *whole)
{
	for (size_t i = 0; i < p->n_counters; i++) {
		const Evspace__Counter *c = p->counters[i];

		if (c->event >= USAGES_COUNTERS)
			continue;
		whole->figures[METRIC_CYCLES + c->event] = (double)c->count;
		if (c->why && c->why[0] && !u->uncounted[c->event])
			u->uncounted[c->event] =
				memory_format("/%s/%s: %.300s", s->cluster, s->node, c->why);
	}
}

const char *usages_uncounted(const struct usages *u, const struct metric *m)
{
	return metric_is_counted(m) ? u->uncounted[m->what - METRIC_CYCLES] : NULL;
}

static void status_take(struct usages *u, const Evspace__Status *s)
{
	if (s->why)
		gap_note(u, s, memory_copy(wire_missing(s->why)));
	if (s->unread)
		gap_note(u, s,
			 memory_format("%u processes are not read, as there are too many threads",
				       s->unread));
	for (size_t i = 0; i < s->n_processes; i++) {
		const Evspace__Process *p = s->processes[i];
		struct mir_usage *whole;

		if (p->misplaced || p->n_used == 0)
			continue;
		whole = usage_add(u, memory_format("/%s/%s/%s", s->cluster, s->node, p->name));
		whole->figures[METRIC_ANONYMOUS] = (double)p->anonymous_bytes;
		whole->figures[METRIC_FILES] = (double)p->file_bytes;
		counters_take(u, s, p, whole);
		for (size_t k = 0; k < p->n_used; k++) {
			/* it may move when one is added */
			char *name = memory_format("/%s/%s/%s", s->cluster, s->node, p->name);

			thread_take(u, name, p->used[k]);
			free(name);
		}
	}
}

static void usages_answered(const struct asker *asker, Evspace__Frame **frame,
			    enum evspace_failure failure, const char *why)
{
	struct usages *u = asker->arg;
	uint64_t since_ns = u->asked_ns;
	uint32_t counters = u->counters;

	(void)failure;
	usages_fini(u);
	u->counters = counters;
	u->since_ns = since_ns;
	if (!*frame) {
		u->why = memory_copy(why);
		return;
	}
	status_take(u, (*frame)->status);
	for (size_t i = 0; i < (*frame)->status->n_below; i++)
		status_take(u, (*frame)->status->below[i]);
}

const struct usages *usages_since(struct usages *usages, struct evspace_connection *connection,
				  const char *run, uint64_t since_ns)
{
	struct asker asker = {usages_answered, NULL, usages, ""};
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;
	char *name;

	if (usages->since_ns >= since_ns)
		return usages;
	if (usages->asked_ns > 0)
		return NULL;
	name = memory_copy(run ? run : "");
	ask.all = ask.process_tables = ask.used = true;
	ask.run = name;
	ask.deadline_ms = DEADLINE_MS;
	ask.counters = usages->counters;
	usages->asked_ns = clock_mono_ns();
	question_new(connection, &WIRE_FRAME(STATUS_ASK, status_ask, &ask),
		     EVSPACE__FRAME__KIND_STATUS, ask.deadline_ms, &asker, NULL);
	free(name);
	return NULL;
}
