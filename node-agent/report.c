/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts an agent's Status together from its store, its sessions and the kernel's accounts. */
#include "config.h"
#include "node-agent/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "node-agent/absent.h"
#include "node-agent/fate.h"
#include "node-agent/remote-report.h"
#include "node-agent/resident.h"
#include "node-agent/rights.h"
#include "node-agent/store-run.h"
#include "node-agent/switch.h"
#include "pathmap/memory.h"
#include "tree/muster.h"

/* A process of the report, with the room that its texts need. */
struct entry {
	Evspace__Process message;
	char notes[512], modes[512];
	struct fate fate;
	uint32_t threads, elements, finished, note, cost_ps;
	const struct segment *segment;
};

static uint64_t resident_bytes(void)
{
	unsigned long total = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%lu %lu", &total, &resident) != 2)
		resident = 0;
	fclose(f);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* Everything that is read from a segment, under its guard. */
static int entry_read(void *arg)
{
	struct entry *en = arg;
	const struct segment *s = en->segment;

	en->finished = atomic_load(&s->header->finished);
	en->note = atomic_load(&s->header->note);
	en->cost_ps = segment_cost(s);
	en->threads = segment_threads(s);
	en->elements = segment_elements(s);
	return 0;
}

static int entry_init(struct entry *en, struct store_segment *s)
{
	Evspace__Process *m = &en->message;
	uint64_t now = clock_mono_ns();

	en->segment = &s->segment;
	if (segment_guarded(entry_read, en) < 0 || fate_read(&s->segment, FATE_ALL, &en->fate) < 0)
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
	m->events = en->fate.written;
	m->held = en->fate.held;
	m->discarded = en->fate.discarded;
	m->overflowed = en->fate.lost;
	m->bytes = s->segment.size;
	m->cost_ps = en->cost_ps;
	segment_notes(en->note, s->segment.said.removed, en->notes, sizeof(en->notes));
	m->notes = en->notes;
	m->modes = (char *)(uintptr_t)switch_modes(s, en->modes, sizeof(en->modes));
	m->age_ms = (now - s->born.mono_ns) / 1000000u;
	m->dead_ms = s->alive ? 0 : (now - s->died_mono_ns) / 1000000u;
	return 0;
}

/* Has the file of this program been replaced, or removed? proc(5) */
static bool is_replaced(void)
{
	static const char gone[] = " (deleted)";
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
	size_t end = sizeof(gone) - 1;

	return n > (ssize_t)end && memcmp(path + n - end, gone, end) == 0;
}

static size_t report_processes(const struct session_host *host, const struct peer *peer,
			       Evspace__Status *status, struct entry *entries,
			       Evspace__Process **list)
{
	struct store_segment *s;
	size_t n = 0;

	TAILQ_FOREACH (s, &host->sources->store->segments, link) {
		if (!rights_see(peer, s->run) || !source_holds(host->sources, NULL, s) ||
		    entry_init(&entries[n], s) < 0)
			continue;
		list[n] = &entries[n].message;
		n++;
	}
	status->n_processes = n;
	status->processes = list;
	return n;
}

static void report_fill(const struct session_host *host, Evspace__Status *status)
{
	const struct source_host *here = host->sources;
	size_t scopes, links = session_count(host, &scopes);

	status->node = (char *)(uintptr_t)here->node;
	status->cluster = (char *)(uintptr_t)pathmap_cluster(host->chart->map, here->node);
	if (!status->cluster)
		status->cluster = (char *)(uintptr_t) "";
	status->entry = (char *)(uintptr_t)pathmap_entry(host->chart->map);
	status->version = (char *)(uintptr_t)PACKAGE_VERSION;
	status->uptime_ms = (clock_mono_ns() - host->born_ns) / 1000000u;
	status->pid = (uint32_t)getpid();
	status->scopes = (uint32_t)scopes;
	status->links = (uint32_t)links;
	status->cpu_us = cpu_us();
	status->memory = resident_bytes();
	status->retention_ms = host->retention_ns / 1000000u;
	status->wire = WIRE_VERSION;
	status->replaced = is_replaced();
	status->certified = host->tls != NULL;
	status->expires_s = host->tls ? tls_expires_in(host->tls) : 0;
}

static int elements_count(void *arg)
{
	struct entry *en = arg;

	en->elements = segment_elements(en->segment);
	return 0;
}

/* Processes and elements, in numbers only. */
static void report_count(const struct session_host *host, const struct limits *limits,
			 Evspace__Status *status)
{
	const struct store_segment *s;

	TAILQ_FOREACH (s, &host->sources->store->segments, link) {
		struct entry en = {.segment = &s->segment};

		if (!rights_within(limits, s->run) || !source_holds(host->sources, NULL, s) ||
		    segment_guarded(elements_count, &en) < 0)
			continue;
		status->collected++;
		status->elements += en.elements;
	}
}

/* ---- runs ---- */

struct report_runs {
	struct store_run *sums;
	Evspace__Run *messages, **list;
};

static bool holds_here(const void *arg, const struct store_segment *s)
{
	return source_holds(arg, NULL, s);
}

static void report_runs_init(const struct session_host *host, Evspace__Status *status,
			     struct report_runs *r)
{
	size_t n = store_runs_held(host->sources->store, holds_here, host->sources, &r->sums);

	r->messages = memory_new(n + 1, sizeof(*r->messages));
	r->list = memory_new(n + 1, sizeof(*r->list));
	for (size_t i = 0; i < n; i++) {
		const struct store_run *sum = &r->sums[i];
		Evspace__Run *m = &r->messages[i];

		evspace__run__init(m);
		m->name = r->sums[i].name;
		m->program = r->sums[i].program;
		m->processes = sum->processes;
		m->alive = sum->alive;
		m->finished = sum->finished;
		m->world = sum->world_size;
		m->events = sum->events;
		m->overflowed = sum->overflowed;
		m->bytes = sum->bytes;
		m->born_ns = sum->born_real_ns;
		m->idle_ns = sum->idle_ns;
		r->list[i] = m;
	}
	status->n_runs = n;
	status->runs = r->list;
	status->user = (char *)(uintptr_t)limits_own_name();
	status->uid = (uint32_t)geteuid();
}

static void report_runs_fini(struct report_runs *r)
{
	free(r->sums);
	free(r->messages);
	free(r->list);
}

/* Leave out the runs that @peer may not see, which are freed where they were @received. */
static void runs_hide(const struct peer *peer, Evspace__Status *status, bool received)
{
	size_t kept = 0;

	for (size_t i = 0; i < status->n_runs; i++) {
		if (rights_see_there(peer, status, status->runs[i]->name))
			status->runs[kept++] = status->runs[i];
		else if (received)
			evspace__run__free_unpacked(status->runs[i], NULL);
	}
	status->n_runs = kept;
}

/* Who asked waits for an answer, be it that there is none. */
static void report_say(struct link *link, const Evspace__Frame *frame)
{
	if (link_send(link, frame, NULL) < 0 && errno == EMSGSIZE)
		link_send_error(link, frame->status->scope, EMSGSIZE,
				"its status is more than fits into a frame; remove ended runs "
				"(evspace purge)");
}

void report_answer(const struct session_host *host, struct link *link, Evspace__Frame *frame,
		   const struct limits *limits, const char *run)
{
	const struct peer *peer = link_peer(link);
	struct residents residents = {.n = 0};
	Evspace__Status *status = frame->status;
	struct report_runs runs;

	report_fill(host, status);
	report_count(host, limits, status);
	report_runs_init(host, status, &runs);
	runs_hide(peer, status, false);
	for (size_t i = 0; i < status->n_below; i++)
		runs_hide(peer, status->below[i], true);
	if (run)
		residents_init(&residents, host->sources->store, host->sources, run);
	status->n_processes = residents.n;
	status->processes = residents.processes;
	status->n_comms = residents.n_comms;
	status->comms = residents.comms;
	muster_fit(frame);
	report_say(link, frame);
	residents_fini(&residents);
	report_runs_fini(&runs);
}

/* ---- classes, by run ---- */

/* Those of one run, as messages. */
struct run_classes {
	struct classes *classes;
	Evspace__Class **messages;
};

static void run_classes_read(const struct session_host *host, const char *run,
			     struct run_classes *of)
{
	const struct store_segment *s;

	of->classes = classes_new();
	TAILQ_FOREACH (s, &host->sources->store->segments, link) {
		if (strcmp(s->run, run) == 0 && source_holds(host->sources, NULL, s))
			(void)switch_read(s, of->classes);
	}
	of->messages = classes_wire(of->classes, run);
}

struct report {
	Evspace__Status status;
	struct store_run *runs;
	struct run_classes *of;
	size_t n_runs;
	struct entry *entries;
	Evspace__Process **processes;
	struct absent absent;
	struct remote_report remote;
};

static void report_classes(const struct session_host *host, const struct peer *peer,
			   struct report *r)
{
	size_t n = 0;

	r->n_runs = store_runs(host->sources->store, &r->runs);
	for (size_t i = 0; i < r->n_runs; i++) {
		if (rights_see(peer, r->runs[i].name))
			r->runs[n++] = r->runs[i];
	}
	r->n_runs = n;
	n = 0;
	r->of = memory_new(r->n_runs + 1, sizeof(*r->of));
	for (size_t i = 0; i < r->n_runs; i++) {
		run_classes_read(host, r->runs[i].name, &r->of[i]);
		n += classes_count(r->of[i].classes);
	}
	r->status.classes = memory_new(n + 1, sizeof(*r->status.classes));
	for (size_t i = 0; i < r->n_runs; i++) {
		n = classes_count(r->of[i].classes);
		memcpy(&r->status.classes[r->status.n_classes], r->of[i].messages,
		       n * sizeof(*r->status.classes));
		r->status.n_classes += n;
	}
}

static void report_refused(const struct session_host *host, struct report *r)
{
	const struct store *store = host->sources->store;
	const struct store_refusal *refusal;
	size_t n = 0;

	absent_init(&r->absent, store);
	TAILQ_FOREACH (refusal, &store->refusals, link)
		n++;
	r->status.refused = memory_new(n + r->absent.n + 1, sizeof(char *));
	TAILQ_FOREACH (refusal, &store->refusals, link)
		r->status.refused[r->status.n_refused++] = (char *)(uintptr_t)refusal->text;
	for (size_t i = 0; i < r->absent.n; i++)
		r->status.refused[r->status.n_refused++] = r->absent.texts[i];
}

static void report_fini(struct report *r)
{
	for (size_t i = 0; i < r->n_runs; i++) {
		classes_free(r->of[i].classes);
		free(r->of[i].messages);
	}
	absent_fini(&r->absent);
	remote_report_fini(&r->remote);
	free(r->of);
	free(r->runs);
	free(r->entries);
	free(r->processes);
	free(r->status.classes);
	free(r->status.refused);
}

void report_send(const struct session_host *host, struct link *link)
{
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	struct report r = {.status = EVSPACE__STATUS__INIT};
	const struct peer *peer = link_peer(link);
	const struct store_segment *s;
	size_t n = 1;

	TAILQ_FOREACH (s, &host->sources->store->segments, link)
		n++;
	r.entries = memory_new(n, sizeof(*r.entries));
	r.processes = memory_new(n, sizeof(*r.processes));
	report_fill(host, &r.status);
	report_count(host, peer->limits, &r.status);
	report_processes(host, peer, &r.status, r.entries, r.processes);
	report_classes(host, peer, &r);
	/* These are lines of any run. */
	if (!peer->limits) {
		report_refused(host, &r);
		remote_report_init(&r.remote, host->sources);
	}
	r.status.n_remote = r.remote.n;
	r.status.remote = r.remote.texts;
	frame.kind_case = EVSPACE__FRAME__KIND_STATUS;
	frame.status = &r.status;
	report_say(link, &frame);
	report_fini(&r);
}
