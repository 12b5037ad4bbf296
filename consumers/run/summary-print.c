/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the summary of a run: for people, and as JSON. */
#include "consumers/run/summary.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/cli/tally.h"
#include "node-agent/segment/segment-read.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/process.h"

/* Most classes that are shown. */
#define CLASS_LINES 8

static uint64_t overwritten(const struct summary *s)
{
	return s->written - s->kept - s->discarded - s->overflowed;
}

static double cost_share(const struct summary *s)
{
	return s->life_ns && s->cost_ns ? (double)s->cost_ns / (double)s->life_ns : NAN;
}

/* NAN: of so few events none was timed. */
static double cost_per_event(const struct summary *s)
{
	return s->written && s->cost_ns ? (double)s->cost_ns / (double)s->written : NAN;
}

/* ---- for people ---- */

static void print_head(const struct summary *s, const struct summary_about *about, FILE *out)
{
	char time[UNIT_TEXT];

	unit_duration(time, about->span.ended_ns - about->span.began_ns);
	fprintf(out, "evspace run: %s: ", about->run);
	if (s->n_processes == 0)
		fprintf(out, "no process was collected");
	else if (s->expected == 0)
		fprintf(out, "%zu PVM task%s collected", s->n_processes,
			plural(s->n_processes, "s"));
	else if (s->worlds > 1)
		fprintf(out, "%zu of %zu process%s in %zu MPI programs collected", s->n_processes,
			s->expected, plural(s->expected, "es"), s->worlds);
	else
		fprintf(out, "%zu of %zu process%s collected", s->n_processes, s->expected,
			plural(s->expected, "es"));
	if (about->signal)
		fprintf(out, ", %s, ended by signal %d (%s)\n", time, about->signal,
			strsignal(about->signal));
	else
		fprintf(out, ", %s, exit code %d\n", time, about->exit_code);
}

/* First what is known of other hosts, then those that nothing is known of. */
static void print_other_hosts(const struct summary *s, const struct summary_about *about, FILE *out)
{
	const struct hostlist *hosts = about->hosts;
	size_t unknown = 0;
	unsigned processes;
	const char *why;

	for (size_t i = 0; i < hosts->n; i++) {
		enum elsewhere_state state;

		if (summary_has_host(s, hosts->names[i]))
			continue;
		state = elsewhere_of(&about->elsewhere, hosts->names[i], &processes, &why);
		if (state == ELSEWHERE_SILENT)
			fprintf(out, "  other host  %s: its agent is not there: %s\n",
				hosts->names[i], why);
		else if (state == ELSEWHERE_HELD && processes)
			fprintf(out, "  other host  %s: %u collected, which its agent holds\n",
				hosts->names[i], processes);
		else if (state == ELSEWHERE_HELD)
			fprintf(out, "  other host  %s: none collected, its agent says\n",
				hosts->names[i]);
	}
	for (size_t i = 0; i < hosts->n; i++)
		if (!summary_has_host(s, hosts->names[i]) &&
		    elsewhere_of(&about->elsewhere, hosts->names[i], &processes, &why) ==
			    ELSEWHERE_UNKNOWN)
			fprintf(out, "%s%s", unknown++ ? ", " : "  other hosts ", hosts->names[i]);
	if (unknown)
		fprintf(out, ": not looked at from here; with an agent on each, `evspace runs "
			     "--connect ENTRY` counts what they hold\n");
}

static void print_missing(const struct summary *s, const struct summary_about *about, FILE *out)
{
	size_t count;

	for (size_t i = 0; i < s->worlds; i++) {
		char *ranks = summary_missing(s, i, &count);

		if (count)
			fprintf(out,
				"  not here    rank%s %s: on other hosts, where their agents hold "
				"them, or not collected\n",
				count > 1 ? "s" : "", ranks);
		free(ranks);
	}
	print_other_hosts(s, about, out);
}

/* The signal that killed the first process, from a launcher's exit code. 0: none, or the user ended
 * the run. */
static int signal_of(const struct summary_about *about)
{
	int number = about->signal || about->exit_code <= 128 ? 0 : about->exit_code - 128;

	return number < NSIG ? number : 0;
}

static bool is_ended_by_user(const struct summary_about *about)
{
	int number = about->signal ? about->signal : signal_of(about);

	/* launchers that are told to end have exit codes of their own, and kill processes that do
	 * not end */
	if (about->told && (!number || number == SIGKILL || number == about->told))
		return true;
	return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

static void print_died(const struct summary *s, const struct summary_about *about, FILE *out)
{
	const struct summary_process *first = summary_died_first(s);
	int number = signal_of(about);
	size_t n = 0;

	for (size_t i = 0; i < s->n_processes; i++)
		n += s->processes[i].died;
	if (!first || is_ended_by_user(about))
		return;
	fprintf(out, "  died        rank %d on %s%s", first->rank, first->host,
		n > 1 ? ", it seems first" : "");
	if (first->aborts)
		fprintf(out, ", by MPI_Abort");
	else if (number)
		fprintf(out, ", by signal %d (%s)", number, strsignal(number));
	if (n > 1)
		fprintf(out, "; then %zu more", n - 1);
	fputc('\n', out);
}

/* Ranks that are not to be collected. */
static void print_left_out(const struct summary *s, FILE *out)
{
	const struct interval_set *ranks = &s->unwanted;
	char *list = interval_set_text(ranks);

	if (ranks->n)
		table_say(out, "  left out    rank%s %s: not among those that are to be collected",
			  ranks->n > 1 || ranks->items[0].to - ranks->items[0].from > 1 ? "s" : "",
			  list);
	free(list);
}

/* Ranks that are to be collected, and are none of the program, as far as all are known. */
static void print_no_ranks(const struct summary *s, const struct summary_about *about, FILE *out)
{
	const struct interval_set *left = &s->unwanted;
	uint64_t n =
		!s->n_processes && !about->hosts->n && left->n ? left->items[left->n - 1].to : 0;
	struct interval_set ranks = {0};
	char *list;

	for (size_t i = 0; i < s->n_processes; i++)
		if (!process_is_task(s->processes[i].rank) &&
		    s->processes[i].world_size > (int32_t)n)
			n = (uint64_t)s->processes[i].world_size;
	if (!about->ranks || !n)
		return;
	interval_set_read(&ranks, about->ranks);
	interval_set_remove(&ranks, 0, n);
	list = interval_set_text(&ranks);
	if (ranks.n)
		table_say(out, "  no ranks    %s: the program has ranks 0 to %llu", list,
			  (unsigned long long)n - 1);
	interval_set_fini(&ranks);
	free(list);
}

static void print_reasons(const struct summary *s, const struct summary_about *about, FILE *out)
{
	const struct store_refusal *r;
	char notes[512];

	if (about->why_none)
		table_say(out, "  why         %s", about->why_none);
	TAILQ_FOREACH (r, &about->store->refusals, link)
		if (!r->unwanted && !strcmp(r->run, about->run))
			table_say(out, "  refused     %s", r->text);
	print_left_out(s, out);
	print_no_ranks(s, about, out);
	if (s->notes)
		table_say(out, "  note        %s",
			  segment_notes(s->notes, s->removed, notes, sizeof(notes)));
}

static void events_write(FILE *out, const void *arg)
{
	const struct summary *s = arg;
	char count[UNIT_TEXT];
	int n = 0;

	fprintf(out, "  events      %s", unit_count(count, s->written));
	for (unsigned c = 0; c < CHANNEL_PROGRAMS; c++)
		if (s->channel_events[c])
			fprintf(out, "%s%s %s%s", n++ ? ", " : "  (", channel_name(c),
				unit_count(count, s->channel_events[c]),
				c == CHANNEL_COMPLETION ? " (ends of nonblocking calls)" : "");
	fputs(n ? ")" : "", out);
}

static void print_events(const struct summary *s, FILE *out)
{
	char count[UNIT_TEXT], kept[UNIT_TEXT];

	table_say_of(out, events_write, s);
	if (overwritten(s))
		table_say(out,
			  "  kept        %s of %s event%s, the newest: older ones have only "
			  "consumers that read them in time; --capacity keeps more",
			  unit_count(kept, s->kept), unit_count(count, s->written),
			  plural(s->written, "s"));
	if (s->discarded)
		table_say(out,
			  "  discarded   %s event%s: on request, or as older than the lifetime of "
			  "their elements",
			  unit_count(count, s->discarded), plural(s->discarded, "s"));
	if (s->overflowed)
		table_say(
			out,
			"  lost        %s event%s for which no element had room: raise --threads, "
			"or --reserve if elements are split",
			unit_count(count, s->overflowed), plural(s->overflowed, "s"));
	if (!overwritten(s) && !s->overflowed && !s->discarded)
		table_say(out, "  kept        all%s, 0 lost",
			  s->inside || s->left ? " that were recorded" : "");
	if (s->polls)
		table_say(out,
			  "  not recorded  %s poll%s that found nothing (MPI_Test, MPI_Iprobe and "
			  "the like)",
			  unit_count(count, s->polls), plural(s->polls, "s"));
	if (s->inside)
		table_say(
			out,
			"  not recorded  %s call%s within other calls, of functions of the program "
			"that MPI calls (error handlers, operations, attributes)",
			unit_count(count, s->inside), plural(s->inside, "s"));
	if (s->left)
		table_say(out, "  not recorded  %s call%s left by an exception or longjmp",
			  unit_count(count, s->left), s->left == 1 ? " that was" : "s that were");
}

static void print_classes(const struct summary *s, FILE *out)
{
	char count[UNIT_TEXT];
	uint64_t skipped = 0;

	for (size_t i = 0; i < classes_count(s->classes); i++)
		skipped += classes_at(s->classes, i)->skipped;
	if (skipped)
		fprintf(out, "  skipped     %s call%s counted, not recorded: not in mode trace\n",
			unit_count(count, skipped), skipped == 1 ? " was" : "s were");
	tally_print(s->classes, "    ", CLASS_LINES, "--json has all", out);
}

static void print_op(const struct summary_op *op, const char *label, int running, FILE *out)
{
	char time[UNIT_TEXT], bytes[UNIT_TEXT], peer[PROCESS_NAME];

	fprintf(out, "  %-11s %s %s%s for %s", label, op->name, running ? "inside " : "",
		op_name(op->tuple.op), unit_duration(time, op->duration_ns));
	if (op->tuple.peer >= 0)
		fprintf(out, ", peer %s", process_words(peer, op->tuple.peer));
	else if (op->tuple.peer == TUPLE_ANY_PEER)
		fprintf(out, ", any peer");
	if (op->tuple.bytes)
		fprintf(out, ", %s", unit_bytes(bytes, op->tuple.bytes));
	fprintf(out, ", %s %.3f s\n", running ? "since" : "at", (double)op->start_ns / 1e9);
}

static void print_ops(const struct summary *s, FILE *out)
{
	for (size_t i = 0; i < s->n_slowest; i++)
		print_op(&s->slowest[i], i ? "" : "slowest", 0, out);
	for (size_t i = 0; i < s->n_stuck; i++)
		print_op(&s->stuck[i], i ? "" : "at the end", 1, out);
	if (s->all_stuck > s->n_stuck)
		fprintf(out, "              and %zu more inside an operation at the end\n",
			s->all_stuck - s->n_stuck);
}

static void print_cost(const struct summary *s, FILE *out)
{
	char share[UNIT_TEXT];

	if (isfinite(cost_per_event(s)))
		fprintf(out, "  cost        %.0f ns an event, %s of the processes' time\n",
			cost_per_event(s), unit_share(share, cost_share(s)));
	else
		fputs("  cost        not known: of so few events none was timed\n", out);
}

void summary_print(const struct summary *s, const struct summary_about *about, FILE *out)
{
	print_head(s, about, out);
	print_died(s, about, out);
	print_missing(s, about, out);
	print_reasons(s, about, out);
	if (!s->n_processes)
		return;
	print_events(s, out);
	print_classes(s, out);
	print_ops(s, out);
	print_cost(s, out);
	fprintf(out, "  elements    %s: %s\n", about->stays ? "kept" : "removed", about->stays_why);
}

/* ---- JSON ---- */

static json_t *json_ops(const struct summary_op *ops, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct tuple *t = &ops[i].tuple;

		json_array_append_new(array,
				      json_pack("{s:o,s:s,s:o,s:I,s:o,s:I,s:I,s:I}", "name",
						json_text(ops[i].name), "op", op_name(t->op),
						"peer", json_process(t->peer), "seq_or_tag",
						(json_int_t)t->seq_or_tag, "comm",
						json_comm(t->comm), "bytes", (json_int_t)t->bytes,
						"start_ns", (json_int_t)ops[i].start_ns,
						"duration_ns", (json_int_t)ops[i].duration_ns));
	}
	return array;
}

static json_t *json_channels(const struct summary *s)
{
	json_t *object = json_object();

	for (unsigned c = 0; c < CHANNEL_PROGRAMS; c++)
		json_object_set_new(object, channel_name(c),
				    json_pack("{s:I,s:I,s:I}", "events",
					      (json_int_t)s->channel_events[c], "calls",
					      (json_int_t)s->channel_calls[c], "bytes",
					      (json_int_t)s->channel_bytes[c]));
	return object;
}

static json_t *json_missing_ranks(const struct summary *s)
{
	json_t *array = json_array();
	size_t count;

	for (size_t i = 0; i < s->worlds; i++) {
		char *ranks = summary_missing(s, i, &count);

		if (count)
			json_array_append_new(array, json_string(ranks));
		free(ranks);
	}
	return array;
}

static json_t *json_other_hosts(const struct summary *s, const struct hostlist *hosts)
{
	json_t *array = json_array();

	for (size_t i = 0; i < hosts->n; i++)
		if (!summary_has_host(s, hosts->names[i]))
			json_array_append_new(array, json_text(hosts->names[i]));
	return array;
}

/* How many processes the agents of other hosts hold, by host; without hosts that do not say. */
static json_t *json_elsewhere(const struct summary *s, const struct summary_about *about)
{
	json_t *object = json_object();
	unsigned processes;
	const char *why;

	for (size_t i = 0; i < about->hosts->n; i++) {
		const char *host = about->hosts->names[i];

		if (!summary_has_host(s, host) &&
		    elsewhere_of(&about->elsewhere, host, &processes, &why) == ELSEWHERE_HELD)
			json_object_set_new(object, host, json_integer(processes));
	}
	return object;
}

static json_t *json_refused(const struct summary_about *about)
{
	const struct store_refusal *r;
	json_t *array = json_array();

	TAILQ_FOREACH (r, &about->store->refusals, link)
		if (!strcmp(r->run, about->run))
			json_array_append_new(array, json_text(r->text));
	return array;
}

/* null: none. */
static json_t *json_signal(int number)
{
	return number ? json_integer(number) : json_null();
}

/* The process that died first; null: none, or unknown. */
static json_t *json_died(const struct summary *s, const struct summary_about *about)
{
	const struct summary_process *first = summary_died_first(s);

	if (!first || is_ended_by_user(about))
		return json_null();
	return json_pack("{s:i,s:o,s:o}", "rank", (int)first->rank, "host", json_text(first->host),
			 "signal", json_signal(first->aborts ? 0 : signal_of(about)));
}

void summary_json(const struct summary *s, const struct summary_about *about, FILE *out)
{
	char notes[512];
	json_t *object =
		json_pack("{s:o,s:i,s:o,s:f}", "run", json_text(about->run), "exit",
			  about->exit_code, "signal", json_signal(about->signal), "seconds",
			  (double)(about->span.ended_ns - about->span.began_ns) / 1e9);

	json_object_update_new(
		object,
		json_pack("{s:I,s:I,s:I,s:I,s:o,s:o}", "processes", (json_int_t)s->n_processes,
			  "expected", (json_int_t)s->expected, "worlds", (json_int_t)s->worlds,
			  "alive", (json_int_t)s->alive, "missing_ranks", json_missing_ranks(s),
			  "other_hosts", json_other_hosts(s, about->hosts)));
	json_object_update_new(
		object,
		json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "written", (json_int_t)s->written,
			  "kept", (json_int_t)s->kept, "discarded", (json_int_t)s->discarded,
			  "overwritten", (json_int_t)overwritten(s), "overflowed",
			  (json_int_t)s->overflowed, "inside", (json_int_t)s->inside, "left",
			  (json_int_t)s->left, "channels", json_channels(s)));
	json_object_update_new(object, json_pack("{s:o,s:o,s:I,s:o,s:o}", "slowest",
						 json_ops(s->slowest, s->n_slowest), "stuck",
						 json_ops(s->stuck, s->n_stuck), "stuck_threads",
						 (json_int_t)s->all_stuck, "cost_ns_per_event",
						 json_figure(cost_per_event(s)), "cost_percent",
						 json_figure(100 * cost_share(s))));
	json_object_update_new(
		object,
		json_pack("{s:o,s:o,s:o,s:b,s:o}", "why_none", json_text(about->why_none), "notes",
			  json_text(segment_notes(s->notes, s->removed, notes, sizeof(notes))),
			  "refused", json_refused(about), "stays", (int)about->stays, "stays_why",
			  json_text(about->stays_why)));
	json_object_set_new(object, "polls_in_vain", json_integer((json_int_t)s->polls));
	json_object_set_new(object, "died_first", json_died(s, about));
	json_object_set_new(object, "elsewhere", json_elsewhere(s, about));
	json_object_set_new(object, "classes", tally_json(s->classes));
	json_print(object, out);
}
