/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds where the processes of a run are: in this host's segments, or by asking the agents. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/options.h"
#include "consumers/deploy/discover.h"
#include "node-agent/control/process-table.h"
#include "node-agent/store/store-run.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/data/names-comm.h"
#include "tree/wire/dictionary.h"
#include "tree/data/process.h"
#include "tree/data/span.h"

/* Time for agents to answer. */
#define AGENTS_WITHIN_MS 5000

/* ---- common to both ---- */

static char *cpus_text(const Evspace__Process *p)
{
	if (p->cpus[0] && strpbrk(p->cpus, ",-"))
		return memory_format("cpus %.59s", p->cpus);
	if (p->cpus[0])
		return memory_format("cpu %.59s", p->cpus);
	return p->cpu ? memory_format("cpu %u at first", p->cpu - 1) : memory_copy("");
}

static void process_take(struct finding *f, const Evspace__Process *p, const char *node)
{
	struct finding_process found = {
		.number = p->rank,
		.spawned = p->world,
		.node = finding_node(f, node),
		.name = memory_copy(p->name),
		.program = memory_copy(p->program),
		.cpus = cpus_text(p),
		.pid = p->pid,
		.sure = p->alive && !p->misplaced,
		.age_ms = p->age_ms,
	};

	if (p->world == 0 && p->world_size > f->ranks)
		f->ranks = p->world_size;
	if (!f->application)
		f->application = memory_copy(p->program);
	finding_process(f, &found);
}

static void comms_take(struct finding *f, Evspace__Comm *const *comms, size_t n)
{
	struct names_talk talk = {
		.comms = NAMES_COMM_MAX, .members = NAMES_MEMBERS_MAX, .moves = NAMES_MEMBERS_MAX};

	if (!f->comms)
		f->comms = names_new(0);
	dictionary_take(comms, n, f->comms, &talk);
}

/* Check that all ranks were found. Returns 0, or -1 with @e. */
static int run_end(struct finding *f, const char *run, struct error *e)
{
	const struct finding_process *first = f->processes;

	if (f->n_processes == 0)
		return *run ? errorf(e, "no process of run %s is collected there", run)
			    : errorf(e, "no run is live there");
	if (f->ranks)
		f->what = memory_format("run %s, %u rank%s of %s", run, f->ranks,
					plural(f->ranks, "s"), first->program);
	else
		f->what = memory_format("run %s, %zu task%s of %s", run, f->n_processes,
					plural(f->n_processes, "s"), first->program);
	return finding_order(f, e);
}

/* ---- this host ---- */

static int run_choose(const struct store *store, const char *run, char *chosen, size_t room,
		      struct error *e)
{
	struct store_run *runs;
	size_t n = store_runs(store, &runs), live = 0, used = 0;
	char list[400] = "";
	int code = EXIT_FINE;

	for (size_t i = 0; i < n; i++) {
		if (span_is_run(runs[i].name) ||
		    (run ? strcmp(run, runs[i].name) != 0 : !runs[i].alive))
			continue;
		live++;
		snprintf(chosen, room, "%s", runs[i].name);
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, " %s",
						 runs[i].name);
	}
	free(runs);
	if (live > 1) {
		errno = ENOTUNIQ;
		errorf(e, "several runs are live; say which with --run:%s", list);
		code = EXIT_USAGE;
	} else if (live == 0) {
		errno = ENOENT;
		if (run)
			errorf(e, "there is no run %s in %s; evspace runs lists them", run,
			       store->base);
		else
			errorf(e, "no run is live in %s", store->base);
		code = EXIT_BAD_NEWS;
	}
	return code;
}

/* A single host needs no address and no certificates: its agent is on a Unix socket. */
static void hosts_are(struct finding *f)
{
	char own[64] = "";

	gethostname(own, sizeof(own) - 1);
	f->cluster = memory_copy(f->n_nodes > 1 ? "hosts" : "local");
	f->engine =
		f->n_nodes == 1 && strcmp(f->nodes[0].name, own) == 0 ? ENGINE_LOCAL : ENGINE_SSH;
}

int discover_segments(struct finding *f, const char *run, struct error *e)
{
	char base[200], chosen[sizeof(((struct store_run *)0)->name)];
	struct process_tables process_tables;
	struct store store;
	int code;

	if (!folder_base_path(base, sizeof(base), e) || store_init(&store, base, false, e) < 0)
		return EXIT_BAD_NEWS;
	code = run_choose(&store, run, chosen, sizeof(chosen), e);
	if (code == EXIT_FINE) {
		f->missing =
			": name an agent that reaches all its hosts (--connect), or wait until "
			"all have begun; what has ended long ago may have been removed";
		process_tables_init(&process_tables, &store, NULL, chosen, false);
		for (size_t i = 0; i < process_tables.n; i++)
			process_take(f, process_tables.processes[i],
				     process_tables.processes[i]->host);
		comms_take(f, process_tables.comms, process_tables.n_comms);
		process_tables_fini(&process_tables);
	}
	store_fini(&store);
	if (code != EXIT_FINE || run_end(f, chosen, e) < 0)
		return code == EXIT_FINE ? EXIT_BAD_NEWS : code;
	hosts_are(f);
	return EXIT_FINE;
}

/* ---- agents ---- */

static int agents_ask(const struct evspace_options *look, const Evspace__Frame *question,
		      Evspace__Frame__KindCase answer, Evspace__Frame **reply, struct error *e)
{
	enum evspace_failure failure = EVSPACE_FINE;

	*reply = options_ask_once(look, question, answer, &failure, e);
	return *reply ? EXIT_FINE : options_failure(failure);
}

/* Get the agents' maps, in which what is found is written. */
static int maps_ask(struct finding *f, const struct evspace_options *look, struct error *e)
{
	Evspace__Frame *reply;
	Evspace__MapAsk ask = EVSPACE__MAP_ASK__INIT;
	const Evspace__MapTexts *texts;
	int code;

	code = agents_ask(look, &WIRE_FRAME(MAP_ASK, map_ask, &ask), EVSPACE__FRAME__KIND_MAP,
			  &reply, e);
	if (code != EXIT_FINE)
		return code;
	texts = reply->map->texts;
	f->hidden = reply->map->hidden;
	if (texts)
		texts_set(&f->maps, texts->application, texts->cluster, texts->mapping);
	evspace__frame__free_unpacked(reply, NULL);
	return EXIT_FINE;
}

/* Without a name for the run, each host reports its only live one. */
static int status_take(struct finding *f, const Evspace__Status *s, char *run, size_t room,
		       struct error *e)
{
	if (s->why) {
		fprintf(stderr, "evspace map discover: %s is not there: %s\n", s->node, s->text);
		return EXIT_FINE;
	}
	for (size_t i = 0; i < s->n_processes; i++) {
		const Evspace__Process *p = s->processes[i];

		if (!run[0])
			snprintf(run, room, "%s", p->run);
		if (strcmp(run, p->run) != 0) {
			errorf(e, "several runs are live; say which with --run: %s %.60s", run,
			       p->run);
			return EXIT_USAGE;
		}
		process_take(f, p, s->node);
	}
	comms_take(f, s->comms, s->n_comms);
	return EXIT_FINE;
}

int discover_agents(struct finding *f, const struct evspace_options *look, struct error *e)
{
	char run[sizeof(((struct store_run *)0)->name)] = "";
	Evspace__Frame *reply;
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;
	int code = maps_ask(f, look, e);

	if (code != EXIT_FINE)
		return code;
	f->missing = ": wait until all have begun, or start the agents of their hosts again; "
		     "segments that are gone do not come back";
	ask.all = true;
	ask.process_tables = true;
	ask.run = (char *)(uintptr_t)(look->run ? look->run : "");
	ask.deadline_ms = AGENTS_WITHIN_MS;
	code = agents_ask(look, &WIRE_FRAME(STATUS_ASK, status_ask, &ask),
			  EVSPACE__FRAME__KIND_STATUS, &reply, e);
	if (code != EXIT_FINE)
		return code;
	code = status_take(f, reply->status, run, sizeof(run), e);
	for (size_t i = 0; code == EXIT_FINE && i < reply->status->n_below; i++)
		code = status_take(f, reply->status->below[i], run, sizeof(run), e);
	evspace__frame__free_unpacked(reply, NULL);
	if (code == EXIT_FINE && run_end(f, look->run ? look->run : run, e) < 0)
		code = EXIT_BAD_NEWS;
	return code;
}
