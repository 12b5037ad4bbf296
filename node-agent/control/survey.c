/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads all segments of a host once, and drops the result at the end of the turn. */
#include "node-agent/control/survey.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/source/accounting.h"
#include "node-agent/store/store-run.h"
#include "node-agent/control/switch.h"
#include "pathmap/base/memory.h"
#include "tree/scope/classes.h"
#include "tree/data/clock.h"

struct survey {
	const struct source_host *here;
	Evspace__Status *status; /* NULL: not asked for in this turn */
	struct event *over;
};

/* ---- processes ---- */

/* A process, with buffers for its texts. */
struct survey_entry {
	Evspace__Process message;
	char notes[512], modes[512];
	struct accounting accounting;
	uint32_t threads, elements, finished, note, cost_ps;
	const struct segment *segment;
};

/* A guarded read of all that is needed of a segment. */
static int entry_read(void *arg)
{
	struct survey_entry *en = arg;
	const struct segment *s = en->segment;

	en->finished = atomic_load(&s->header->finished);
	en->note = atomic_load(&s->header->note);
	en->cost_ps = segment_cost(s);
	en->threads = segment_threads(s);
	en->elements = segment_elements(s);
	return 0;
}

static int entry_init(struct survey_entry *en, struct store_segment *s)
{
	Evspace__Process *m = &en->message;
	uint64_t now = clock_mono_ns();

	en->segment = &s->segment;
	if (segment_guarded(entry_read, en) < 0 ||
	    accounting_read(&s->segment, ACCOUNTING_ALL, &en->accounting) < 0)
		return -1;
	evspace__process__init(m);
	m->name = s->name;
	m->pid = (uint32_t)s->pid;
	m->run = s->run;
	m->program = s->segment.said.program;
	m->host = s->host;
	m->alive = s->alive;
	m->finished = en->finished;
	m->threads = en->threads;
	m->elements = en->elements;
	m->events = en->accounting.written;
	m->held = en->accounting.held;
	m->discarded = en->accounting.discarded;
	m->overflowed = en->accounting.lost;
	m->bytes = s->segment.size;
	m->cost_ps = en->cost_ps;
	segment_notes(en->note, s->segment.said.removed, en->notes, sizeof(en->notes));
	m->notes = en->notes;
	m->modes = (char *)(uintptr_t)switch_modes(s, en->modes, sizeof(en->modes));
	m->age_ms = (now - s->born.mono_ns) / 1000000u;
	m->dead_ms = s->alive ? 0 : (now - s->died_mono_ns) / 1000000u;
	return 0;
}

static size_t processes_read(const struct source_host *here, struct survey_entry *entries,
			     Evspace__Process **list)
{
	struct store_segment *s;
	size_t n = 0;

	TAILQ_FOREACH (s, &here->store->segments, link) {
		if (!source_holds(here, NULL, s) || entry_init(&entries[n], s) < 0)
			continue;
		list[n] = &entries[n].message;
		n++;
	}
	return n;
}

/* ---- classes, by run ---- */

/* The classes of one run, as messages. */
struct run_classes {
	struct classes *classes;
	Evspace__Class **messages;
};

static void run_classes_read(const struct source_host *here, const char *run,
			     struct run_classes *of)
{
	const struct store_segment *s;

	of->classes = classes_new();
	TAILQ_FOREACH (s, &here->store->segments, link) {
		if (strcmp(s->run, run) == 0 && source_holds(here, NULL, s))
			(void)switch_read(s, of->classes);
	}
	of->messages = classes_wire(of->classes, run);
}

/* A list of all classes in @of, which still owns them; the caller must free the list. */
static Evspace__Class **classes_list(struct run_classes *of, size_t runs, size_t *n)
{
	Evspace__Class **list;

	*n = 0;
	for (size_t i = 0; i < runs; i++)
		*n += classes_count(of[i].classes);
	list = memory_new(*n + 1, sizeof(*list));
	*n = 0;
	for (size_t i = 0; i < runs; i++) {
		size_t more = classes_count(of[i].classes);

		memcpy(&list[*n], of[i].messages, more * sizeof(*list));
		*n += more;
	}
	return list;
}

/* ---- the whole survey ---- */

static Evspace__Status *survey_read(const struct source_host *here)
{
	Evspace__Status status = EVSPACE__STATUS__INIT, *copy;
	const struct store_segment *s;
	struct run_classes *of;
	struct store_run *runs;
	struct survey_entry *entries;
	size_t n = 1, n_runs;

	TAILQ_FOREACH (s, &here->store->segments, link)
		n++;
	entries = memory_new(n, sizeof(*entries));
	status.processes = memory_new(n, sizeof(*status.processes));
	status.n_processes = processes_read(here, entries, status.processes);
	n_runs = store_runs(here->store, &runs);
	of = memory_new(n_runs + 1, sizeof(*of));
	for (size_t i = 0; i < n_runs; i++)
		run_classes_read(here, runs[i].name, &of[i]);
	status.classes = classes_list(of, n_runs, &status.n_classes);
	/* a copy, since segments may be removed before the turn ends */
	copy = (Evspace__Status *)wire_copy(&status.base);
	for (size_t i = 0; i < n_runs; i++) {
		classes_free(of[i].classes);
		free(of[i].messages);
	}
	free(of);
	free(runs);
	free(entries);
	free(status.processes);
	free(status.classes);
	return copy;
}

static void survey_drop(struct survey *survey)
{
	if (survey->status)
		evspace__status__free_unpacked(survey->status, NULL);
	survey->status = NULL;
}

static void survey_over(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	survey_drop(arg);
}

struct survey *survey_new(struct event_base *base, const struct source_host *here)
{
	struct survey *survey = memory_new(1, sizeof(*survey));

	survey->here = here;
	survey->over = evtimer_new(base, survey_over, survey);
	if (!survey->over)
		abort();
	return survey;
}

void survey_free(struct survey *survey)
{
	if (!survey)
		return;
	event_free(survey->over);
	survey_drop(survey);
	free(survey);
}

const Evspace__Status *survey_take(struct survey *survey)
{
	if (!survey->status) {
		survey->status = survey_read(survey->here);
		/* runs after all else in this turn */
		event_active(survey->over, EV_TIMEOUT, 1);
	}
	return survey->status;
}
