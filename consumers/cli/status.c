/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace status: an agent and its processes, and why something is not (fully) collected. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/clocks.h"
#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/options.h"
#include "consumers/cli/tally.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

static const char status_help[] =
	"usage: evspace status [options]\n"
	"\n"
	"Show an agent: its node, its load, the processes whose elements it holds,\n"
	"and why something is not, or not fully, collected: what is switched off (evspace\n"
	"collect), what had no room, and which processes have the collector but no\n"
	"elements.\n"
	"\n"
	"With --clocks: how the clock of each host of an entry agent's map relates to the\n"
	"entry's. Agents ping each other while somebody looks at a program; if nobody\n"
	"does, they do it for a second now.\n"
	"\n"
	"  CLOCK   what events are stamped with there: the processor's counter (tsc, or\n"
	"          cntvct on aarch64), or CLOCK_MONOTONIC (monotonic)\n"
	"  OFFSET  by how much it is ahead, within the bound of the error; times that\n"
	"          are shown are corrected by it\n"
	"  DRIFT   how much it gains, and the bound\n"
	"  AGE     of the newest ping\n"
	"  STEPS   how often pings did not fit those before: somebody set the clock or\n"
	"          slews it, or the host slept\n"
	"\n"
	"examples:\n"
	"  evspace status                          # this host's agent\n"
	"  evspace status --connect gw4w:7440 --json\n"
	"  evspace status --connect gw4w:7440 --clocks\n";

struct status {
	struct common common;
	bool all; /* show all classes */
	bool clocks;
	const char *command;
	int code;
};

static const struct option_row status_rows[] = {
	{"all", .at = offsetof(struct status, all),
	 .help = "show all classes, not only each run's 20 busiest"},
	{"clocks", .at = offsetof(struct status, clocks),
	 .help = "show how the clocks of all hosts relate to the entry agent's"},
	{0},
};

static const struct usage status_usage = {
	.help = status_help,
	.own = status_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON,
	.live = "it asks agents; evspace archive info DIR tells of one"};

static const char *process_state(const struct evspace_process *p)
{
	return p->alive ? p->finished ? "finishing" : "running" : p->finished ? "finished" : "died";
}

/* name and state are always shown */
static const struct table_column process_columns[] = {
	{.pad = -16, .least = 8},
	{.pad = -10, .gap = 1},
	{.pad = -8, .gap = 1, .drop = 3},
	{.pad = -9, .gap = 1},
	{.pad = 7, .gap = 1, .drop = 2},
	{.pad = 8, .gap = 1, .drop = 1},
	{.pad = 14, .gap = 1},
	{.pad = 10, .gap = 1, .drop = 4},
	{.pad = 9, .gap = 1, .drop = 5},
	{.least = 7, .drop = 6},
};

static void process_add(struct table *t, const struct evspace_process *p)
{
	char events[UNIT_TEXT], bytes[UNIT_TEXT], age[UNIT_TEXT];

	table_cell(t, "%s", p->run);
	table_cell(t, "%s", p->name);
	table_cell(t, "%u", p->pid);
	table_cell(t, "%s", process_state(p));
	table_cell(t, "%u", p->threads);
	table_cell(t, "%u", p->elements);
	table_cell(t, "%s", unit_count(events, p->events));
	table_cell(t, "%s", unit_bytes(bytes, p->bytes));
	table_cell(t, "%s", unit_duration(age, p->age_ms * 1000000u));
	table_cell(t, "%s", p->program);
	if (p->overflowed)
		table_line(t, "%-16s   %llu event%s went to no element and %s counted as lost", "",
			   (unsigned long long)p->overflowed, plural(p->overflowed, "s"),
			   p->overflowed == 1 ? "is" : "are");
	if (p->notes[0])
		table_line(t, "%-16s   not fully collected: %s", "", p->notes);
	if (p->not_traced[0])
		table_line(t, "%-16s   not traced: %s", "", p->not_traced);
}

static void print_processes(const struct evspace_agent *s)
{
	static const char *const heads[] = {"run",	"process", "pid",    "state", "threads",
					    "elements", "events",  "memory", "age",   "program"};
	struct table t;

	table_heads(&t, process_columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; i < s->n_processes; i++)
		process_add(&t, &s->processes[i]);
	putchar('\n');
	table_print(&t, stdout);
	table_fini(&t);
}

/* The classes of the same run as those at @from; *to is after its last. */
static struct classes *run_classes(const struct evspace_agent *s, size_t from, size_t *to)
{
	struct classes *classes = classes_new();

	for (*to = from; *to < s->n_classes; ++*to) {
		if (strcmp(s->classes[*to].run, s->classes[from].run) != 0)
			break;
		tally_add(classes, &s->classes[*to]);
	}
	return classes;
}

static struct accounting run_fate(const struct evspace_agent *s, const char *run)
{
	struct accounting sum = {0};

	for (size_t i = 0; i < s->n_processes; i++) {
		const struct evspace_process *p = &s->processes[i];

		if (strcmp(p->run, run) != 0)
			continue;
		sum.written += p->events;
		sum.held += p->held;
		sum.discarded += p->discarded;
		sum.lost += p->overflowed;
	}
	return sum;
}

static void print_classes(const struct evspace_agent *s, bool all)
{
	struct accounting accounting;
	size_t next;

	for (size_t i = 0; i < s->n_classes; i = next) {
		struct classes *classes = run_classes(s, i, &next);

		printf("\nrun %s:\n", s->classes[i].run);
		tally_print(classes, "  ", all ? 0 : TALLY_MOST, "--all shows them", stdout);
		accounting = run_fate(s, s->classes[i].run);
		tally_print_fate(&accounting, "  ", stdout);
		classes_free(classes);
	}
}

static void print_status(const struct evspace_agent *s, bool all)
{
	char uptime[UNIT_TEXT], memory[UNIT_TEXT], cpu[UNIT_TEXT], kept[UNIT_TEXT];

	table_say(stdout, "agent %s%s%s, version %s, pid %u, up %s", s->node,
		  s->cluster[0] ? " of cluster " : "", s->cluster, s->version, s->pid,
		  unit_duration(uptime, s->uptime_ms * 1000000u));
	if (s->replaced)
		table_say(stdout, "its program file has been replaced since: start it again to "
				  "have the new one");
	if (strcmp(s->version, PACKAGE_VERSION) != 0)
		fprintf(stderr, "evspace status: this is version %s, the agent is %s\n",
			PACKAGE_VERSION, s->version);
	table_say(stdout,
		  "CPU %s, memory %s, %u connection%s, %u scope%s; entry is %s; ended processes "
		  "are kept %s",
		  unit_duration(cpu, s->cpu_us * 1000u), unit_bytes(memory, s->memory), s->links,
		  plural(s->links, "s"), s->scopes, plural(s->scopes, "s"), s->entry,
		  unit_duration(kept, s->retention_ms * 1000000u));
	if (s->n_processes)
		print_processes(s);
	else
		puts("no process of a program is collected here");
	print_classes(s, all);
	for (size_t i = 0; i < s->n_refused; i++)
		table_say(stdout, "not collected: %s", s->refused[i]);
	for (size_t i = 0; i < s->n_remote; i++)
		table_say(stdout, "remote: %s", s->remote[i]);
}

/* A time in ms, in ns. */
static json_t *ms_json(uint64_t ms)
{
	return json_count(ms < UINT64_MAX / 1000000 ? ms * 1000000 : UINT64_MAX);
}

static json_t *process_json(const struct evspace_process *p)
{
	return json_pack(
		"{s:o,s:i,s:o,s:o,s:o,s:s,s:i,s:i,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o}", "name",
		json_text(p->name), "pid", (int)p->pid, "run", json_text(p->run), "program",
		json_text(p->program), "host", json_text(p->host), "state", process_state(p),
		"threads", (int)p->threads, "elements", (int)p->elements, "events",
		(json_int_t)p->events, "overflowed", (json_int_t)p->overflowed, "held",
		(json_int_t)p->held, "discarded", (json_int_t)p->discarded, "bytes",
		(json_int_t)p->bytes, "cost_ns",
		json_figure(p->cost_ps ? (double)p->cost_ps / 1000 : -1), "notes",
		json_text(p->notes), "not_traced", json_text(p->not_traced), "age_ns",
		ms_json(p->age_ms), "dead_ns", p->dead_ms ? ms_json(p->dead_ms) : json_null());
}

static json_t *classes_json(const struct evspace_agent *s)
{
	json_t *array = json_array(), *each, *object;
	size_t next, k;

	for (size_t i = 0; i < s->n_classes; i = next) {
		struct classes *classes = run_classes(s, i, &next);

		each = tally_json(classes);
		json_array_foreach(each, k, object)
			json_object_set_new(object, "run", json_text(s->classes[i].run));
		json_array_extend(array, each);
		json_decref(each);
		classes_free(classes);
	}
	return array;
}

static void print_json(const struct evspace_agent *s)
{
	json_t *processes = json_array(), *refused = json_array(), *remote = json_array(), *o;

	for (size_t i = 0; i < s->n_processes; i++)
		json_array_append_new(processes, process_json(&s->processes[i]));
	for (size_t i = 0; i < s->n_refused; i++)
		json_array_append_new(refused, json_text(s->refused[i]));
	for (size_t i = 0; i < s->n_remote; i++)
		json_array_append_new(remote, json_text(s->remote[i]));
	o = json_pack("{s:o,s:o,s:o,s:o,s:i,s:I,s:I,s:I,s:i,s:i,s:I,s:i,s:b,s:o,s:o,s:o,s:o}",
		      "node", json_text(s->node), "cluster", json_text(s->cluster), "version",
		      json_text(s->version), "entry", json_text(s->entry), "pid", (int)s->pid,
		      "uptime_ms", (json_int_t)s->uptime_ms, "cpu_us", (json_int_t)s->cpu_us,
		      "memory", (json_int_t)s->memory, "links", (int)s->links, "scopes",
		      (int)s->scopes, "retention_ms", (json_int_t)s->retention_ms, "wire",
		      (int)s->wire, "replaced", (int)s->replaced, "processes", processes, "refused",
		      refused, "remote", remote, "classes", classes_json(s));
	json_print(o, stdout);
}

static void status_answered(const struct evspace_reply *reply, void *arg)
{
	struct status *status = arg;

	if (!options_answered(status->command, reply, &status->code))
		return;
	if (status->common.json)
		print_json(reply->status);
	else
		print_status(reply->status, status->all);
}

int status_main(int argc, char **argv)
{
	struct status status = {.command = argv[0], .code = EXIT_FINE};
	int code = options_parse(argc, argv, &status_usage, &status, &status.common);
	struct evspace_connection *connection;

	if (code >= 0)
		return code;
	if (status.clocks)
		return clocks_show(argv[0], &status.common);
	connection = evspace_connect(&status.common.look);
	evspace_status(connection, status_answered, &status);
	options_await(connection);
	return status.code;
}
