/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads from segments which process runs where, by guarded reads. */
#include "node-agent/control/process-table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/control/usage.h"
#include "node-agent/source/row-names.h"
#include "node-agent/segment/segment-table.h"
#include "pathmap/base/memory.h"
#include "tree/data/names-comm.h"
#include "tree/wire/dictionary.h"
#include "tree/data/process.h"

static Evspace__Process *process_new(const struct store_segment *s)
{
	const struct segment_header *said = &s->segment.said;
	Evspace__Process *p = memory_new(1, sizeof(*p));

	evspace__process__init(p);
	p->name = memory_copy(s->name);
	p->pid = (uint32_t)s->pid;
	p->run = memory_copy(s->run);
	p->program = memory_copy(said->program);
	p->host = memory_copy(s->host);
	p->alive = s->alive;
	p->age_ms = (clock_mono_ns() - s->born.mono_ns) / 1000000u;
	p->rank = s->rank;
	p->world = s->world;
	p->world_size = (uint32_t)said->world_size;
	p->cpu = said->cpu;
	p->cpus = memory_copy(said->cpus);
	return p;
}

/* Is the first member here? Then this agent reports the communicator, and no other. */
static bool comm_is_ours(const struct process_tables *r, const struct name_comm *c)
{
	int32_t first = c->world ? 0 : c->members && c->size ? c->members[0] : -1;

	if (c->label)
		return false;
	if (first < 0 || process_is_task(first))
		return true;
	for (size_t i = 0; i < r->n; i++)
		if (r->processes[i]->rank == first)
			return true;
	return false;
}

static void process_tables_comms(struct process_tables *r, const struct names *names)
{
	r->comms = memory_new(names_comm_count(names) + 1, sizeof(*r->comms));
	for (size_t i = 0; i < names_comm_count(names); i++) {
		const struct name_comm *c = names_comm_at(names, i);
		Evspace__Comm *m;

		if (!comm_is_ours(r, c))
			continue;
		m = memory_new(1, sizeof(*m));
		dictionary_comm(m, c);
		m->members = memory_new(m->n_members + 1, sizeof(*m->members));
		if (c->members)
			memcpy(m->members, c->members, c->size * sizeof(*m->members));
		r->comms[r->n_comms++] = m;
	}
}

static bool is_of_host(const struct source_host *here, const char *host)
{
	char own[sizeof(((struct store_segment *)0)->host)] = "";

	gethostname(own, sizeof(own) - 1);
	return strcmp(host, here->node) == 0 || strcmp(host, own) == 0;
}

void process_tables_init(struct process_tables *r, const struct store *store,
			 const struct source_host *here, const char *run, bool used)
{
	struct names *names = names_new(0);
	const struct store_segment *s;
	unsigned left = USAGE_THREADS;
	size_t most = 0;

	TAILQ_FOREACH (s, &store->segments, link)
		most++;
	*r = (struct process_tables){.processes = memory_new(most + 1, sizeof(Evspace__Process *))};
	TAILQ_FOREACH (s, &store->segments, link) {
		bool held = !here || source_holds(here, NULL, s);

		if (process_is_monitor(s->rank) || strcmp(s->run, run) != 0 ||
		    (!held && !is_of_host(here, s->host)))
			continue;
		r->processes[r->n] = process_new(s);
		if (used && held && !usage_fill(s, r->processes[r->n], &left))
			r->unread++;
		r->processes[r->n++]->misplaced = !held;
		/* if it fails, what was learnt before is still right */
		(void)row_comms_take(&s->segment, names, &(struct row_comms){0});
	}
	process_tables_comms(r, names);
	names_free(names);
}

void process_tables_fini(struct process_tables *r)
{
	for (size_t i = 0; i < r->n; i++)
		evspace__process__free_unpacked(r->processes[i], NULL);
	for (size_t i = 0; i < r->n_comms; i++)
		evspace__comm__free_unpacked(r->comms[i], NULL);
	free(r->processes);
	free(r->comms);
	*r = (struct process_tables){0};
}
