/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what colop has found, for people: a table and sentences. */
#include "consumers/colop/colop.h"

#include <stdlib.h>

#include "consumers/cli/words.h"
#include "consumers/client/client-replay.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/op.h"
#include "tree/data/process.h"

/* A mean that is so many times the median is said, too. */
#define UNLIKE 1.5

/* ---- words ---- */

static const char *duration(char buf[UNIT_TEXT], double ns)
{
	return unit_duration(buf, ns > 0 ? (uint64_t)(ns + 0.5) : 0);
}

static void add_process(char buf[WORDS_TEXT], const struct colop *c, uint32_t process)
{
	int32_t rank = attendance_rank(c->attendance, process);
	char who[PROCESS_NAME];

	words_add(buf, "%s",
		  rank >= 0 ? process_words(who, rank)
			    : attendance_process(c->attendance, process));
}

/* "3.1 ms (+- 20 us)"; on one host there is no doubt. */
static void add_late(char buf[WORDS_TEXT], double late_ns, double error_ns)
{
	char late[UNIT_TEXT], error[UNIT_TEXT];

	words_add(buf, "%s", duration(late, late_ns));
	if (error_ns > 0)
		words_add(buf, " (± %s)", duration(error, error_ns));
}

static void add_site(char buf[WORDS_TEXT], const struct colop *c, uint32_t site)
{
	if (site)
		words_add(buf, " at %s", attendance_site(c->attendance, site));
}

static void add_class(char buf[WORDS_TEXT], const struct colop *c, const struct lateness_class *of)
{
	char key[96];

	if (!of->comm) {
		words_add(buf, "%s@others", op_name(of->op));
		return;
	}
	words_class(key, sizeof(key), c->follow.client, op_name(of->op), of->comm);
	words_add(buf, "%s", key);
}

/* " of 32 B at solver.f90:212" */
static void add_kind(char buf[WORDS_TEXT], const struct colop *c, const struct lateness_class *of,
		     uint32_t site)
{
	char text[UNIT_TEXT];

	if (of->magnitude)
		words_add(buf, " of %s", unit_bytes(text, of->bytes / of->members));
	add_site(buf, c, site);
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	{.pad = -24, .least = 12},
	{.pad = -16, .drop = 4, .least = 10},
	{.pad = 8, .gap = 1, .drop = 5},
	{.pad = 9, .gap = 1},
	{.pad = 9, .gap = 1},
	{.pad = 9, .gap = 1, .drop = 3},
	{.pad = 9, .gap = 1, .drop = 4},
	{.pad = 8, .gap = 1},
	{.pad = 9, .gap = 1},
	{.pad = 9, .gap = 1, .drop = 2},
	{.pad = 11, .gap = 1, .drop = 1},
};

static void row(const struct colop *c, const struct lateness_class *of, struct table *t)
{
	double times = (double)of->meetings;
	char name[WORDS_TEXT] = "", text[UNIT_TEXT];

	add_class(name, c, of);
	table_cell(t, "%s", name);
	table_cell(t, "%s", of->site ? attendance_site(c->attendance, of->site) : "-");
	table_cell(t, "%s", of->magnitude ? unit_bytes(text, of->bytes / of->members) : "-");
	table_cell(t, "%s", unit_count(text, of->meetings));
	table_cell(t, "%s", duration(text, of->spread_ns / times));
	table_cell(t, "%s", duration(text, of->spread_most_ns));
	table_cell(t, "#%u", of->most_number);
	table_cell(t, "%s",
		   of->kind == WAIT_NONE
			   ? "-"
			   : unit_share(text, lateness_cost(c->lateness, of, of->waited_ns)));
	table_cell(t, "%s", duration(text, of->inside_ns / times));
	if (colop_has_imbalance(c, of))
		table_cell(t, "%.2f", of->busiest_ns / of->between_ns);
	else
		table_cell(t, "-");
	if (of->bytes && of->inside_ns > 0)
		table_cell(t, "%s/s",
			   unit_bytes(text, (uint64_t)((double)of->bytes * 1e9 / of->inside_ns)));
	else
		table_cell(t, "-");
}

static int compare_waited(const void *a, const void *b)
{
	const struct lateness_class *x = *(const struct lateness_class *const *)a;
	const struct lateness_class *y = *(const struct lateness_class *const *)b;

	return (x->waited_ns < y->waited_ns) - (x->waited_ns > y->waited_ns);
}

static void show_table(const struct colop *c, FILE *out)
{
	static const char *const heads[] = {"OPERATION", "CALLED AT", "SIZE", "TIMES",
					    "SPREAD",	 "MOST",      "IN",   "WAITED",
					    "INSIDE",	 "IMBALANCE", "RATE"};
	const struct lateness_class *const *classes;
	const struct lateness_class **order;
	size_t n = lateness_classes(c->lateness, &classes);
	struct table t;

	if (n == 0) {
		table_say(out, "no collective operation has come from all ranks yet");
		return;
	}
	order = memory_new(n, sizeof(*order));
	for (size_t i = 0; i < n; i++)
		order[i] = classes[i];
	qsort(order, n, sizeof(*order), compare_waited);
	table_heads(&t, columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; i < n && i < c->top; i++)
		row(c, order[i], &t);
	table_print(&t, out);
	table_fini(&t);
	if (n > c->top)
		table_say(out, "and %zu more kinds of operations (--top)", n - c->top);
	free(order);
}

/* ---- sentences ---- */

void colop_say_often(const struct colop *c, const struct late_often *f, const char *when, FILE *out)
{
	const struct lateness_class *of = f->member->of;
	char text[WORDS_TEXT] = "", count[UNIT_TEXT], share[UNIT_TEXT], mean[UNIT_TEXT];

	add_process(text, c, f->member->process);
	words_add(text, " is late in ");
	add_class(text, c, of);
	add_kind(text, c, of, f->member->site);
	words_add(text, " in %s of %s operation%s (%.0f to %.0f), by ",
		  unit_share(share, f->share.share), unit_count(count, f->meetings),
		  plural(f->meetings, "s"), f->share.low * 100, f->share.high * 100);
	add_late(text, f->late_ns, f->error_ns);
	/* a few long ones may cost what the middle one does not */
	if (f->mean_ns > UNLIKE * f->late_ns)
		words_add(text, ", on average by %s", duration(mean, f->mean_ns));
	words_add(text, "; costs %s of %s", unit_share(share, f->cost), when);
	table_say(out, "%s", text);
}

static void say_once(const struct colop *c, const struct late_once *late, FILE *out)
{
	char text[WORDS_TEXT] = "", clock[32], waited[UNIT_TEXT];

	words_clock(clock, sizeof(clock), late->start_ns, 6);
	add_process(text, c, late->process);
	words_add(text, " was late in ");
	add_class(text, c, late->of);
	words_add(text, " #%u", late->number);
	add_kind(text, c, late->of, late->site);
	words_add(text, " at %s, by ", clock);
	add_late(text, late->late_ns, late->error_ns);
	words_add(text, "; the others have waited %s for it, all together",
		  duration(waited, late->caused_ns));
	table_say(out, "%s", text);
}

/* Those that were late once, if that is worth a word. */
static void show_once(const struct colop *c, FILE *out)
{
	size_t said = 0;

	for (size_t i = 0; i < c->n_once; i++) {
		if (lateness_share(c->lateness, c->once[i].caused_ns) < c->least)
			continue;
		say_once(c, &c->once[i], out);
		said++;
	}
	if (c->all_once > said)
		table_say(out, "and %llu times more somebody was late by more than is usual",
			  (unsigned long long)(c->all_once - said));
}

/* ---- messages ---- */

/* One side of a flow that has waited. */
struct flow_line {
	const struct message_flow *flow;
	enum flow_kind kind;
};

static int compare_flows(const void *a, const void *b)
{
	const struct flow_line *x = a, *y = b;
	double p = x->flow->waits[x->kind].waited_ns, q = y->flow->waits[y->kind].waited_ns;

	return (p < q) - (p > q);
}

/* "rank 0 has waited for rank 1 in MPI_Recv@world in 20 of 100 messages (Late Sender: MPI_Send), …"
 */
static void say_flow(const struct colop *c, const struct flow_line *line, FILE *out)
{
	const struct message_flow *f = line->flow;
	const struct flow_waits *w = &f->waits[line->kind];
	const struct flow_key *k = &f->key;
	const bool sender = line->kind == FLOW_LATE_SENDER;
	char text[WORDS_TEXT] = "", key[96], times[UNIT_TEXT], all[UNIT_TEXT], most[UNIT_TEXT];

	add_process(text, c, sender ? k->to : k->from);
	words_add(text, " has waited for ");
	add_process(text, c, sender ? k->from : k->to);
	words_class(key, sizeof(key), c->follow.client, op_name(sender ? k->to_op : k->from_op),
		    k->comm);
	words_add(text, " in %s", key);
	add_site(text, c, sender ? k->to_site : k->from_site);
	words_add(text, " in %s of %s message%s", unit_count(times, w->times),
		  unit_count(all, f->messages), plural(f->messages, "s"));
	if (sender && f->unknown)
		words_add(text, ", of which %s are untold", unit_count(all, f->unknown));
	words_add(text, " (%s: %s", flow_name(line->kind), op_name(sender ? k->from_op : k->to_op));
	add_site(text, c, sender ? k->from_site : k->to_site);
	words_add(text, "), by ");
	add_late(text, w->waited_ns / (double)w->times, w->error_ns / (double)w->times);
	words_add(text, ", at most %s; costs %s of the run", duration(most, w->most_ns),
		  unit_share(all, message_flows_share(messages_flows(c->messages), w->waited_ns)));
	table_say(out, "%s", text);
}

static void show_messages(const struct colop *c, FILE *out)
{
	const struct message_flows *flows = messages_flows(c->messages);
	const struct message_flow *const *all;
	size_t n = message_flows_all(flows, &all), n_lines = 0;
	struct flow_line *lines = memory_new(FLOW_KINDS * n + 1, sizeof(*lines));

	for (size_t i = 0; i < FLOW_KINDS * n; i++) {
		const struct flow_line line = {all[i / FLOW_KINDS], i % FLOW_KINDS};
		double waited = line.flow->waits[line.kind].waited_ns;

		if (waited > 0 && !colop_unmatched(c, line.flow->key.comm) &&
		    message_flows_share(flows, waited) >= c->least)
			lines[n_lines++] = line;
	}
	qsort(lines, n_lines, sizeof(*lines), compare_flows);
	for (size_t i = 0; i < n_lines && i < c->top; i++)
		say_flow(c, &lines[i], out);
	if (n_lines > c->top)
		table_say(out, "and %zu more who wait for messages", n_lines - c->top);
	free(lines);
}

static bool has_sites(const struct colop *c)
{
	const struct lateness_class *const *classes;
	size_t n = lateness_classes(c->lateness, &classes);

	for (size_t i = 0; i < n; i++) {
		if (classes[i]->site)
			return true;
	}
	return n == 0;
}

void colop_say_sites(const struct colop *c, FILE *out)
{
	if (!has_sites(c))
		table_say(out, "call sites are told of runs whose elements are split by them: "
			       "evspace run --elements collective=site, or the map (element site)");
}

void colop_show(const struct colop *c, FILE *out)
{
	struct late_often *found = memory_new(c->top, sizeof(*found));
	size_t n = lateness_often(c->lateness, c->least, found, c->top);

	show_table(c, out);
	for (size_t i = 0; i < n; i++)
		colop_say_often(c, &found[i], "the run", out);
	show_once(c, out);
	free(found);
	if (c->messages)
		show_messages(c, out);
}

/* ---- what became of all ---- */

struct arrivals_counts colop_left_out(const struct colop *c)
{
	struct arrivals_counts out = {0};
	struct evspace_counts n;

	if (!c->reduced)
		return *arrivals_counts(c->arrivals);
	/* joined records do not tell */
	evspace_counts(c->follow.client, &n);
	out.unnumbered = n.filtered - evspace_sampled(c->follow.client);
	return out;
}

static void account_write(FILE *line, const void *arg)
{
	static const char *const gaps[MEETING_GAPS] = {
		[MEETING_BEFORE] = "that had begun before",
		[MEETING_LOST] = "with lost events",
		[MEETING_ABSENT] = "that not all ranks have come to",
		[MEETING_CROWDED] = "given up, as too many were open",
		[MEETING_UNSIZED] = "of communicators whose members are not known",
	};
	const struct colop *c = arg;
	const struct meetings_counts *n = colop_counts(c);
	const struct arrivals_counts out = colop_left_out(c);
	const uint64_t others = n->strays + n->refused, kinds = lateness_left_out(c->lateness);
	char text[UNIT_TEXT];

	fprintf(line, "%s operation%s of all ranks", unit_count(text, n->n[MEETING_WHOLE]),
		plural(n->n[MEETING_WHOLE], "s"));
	for (size_t i = 0; i < MEETING_GAPS; i++) {
		if (i != MEETING_WHOLE && n->n[i])
			fprintf(line, ", %s %s", unit_count(text, n->n[i]), gaps[i]);
	}
	if (n->mixed)
		fprintf(line, ", %s in which ranks CALL DIFFERENT ONES",
			unit_count(text, n->mixed));
	if (out.unnumbered)
		fprintf(line, ", %s event%s without a valid number",
			unit_count(text, out.unnumbered), plural(out.unnumbered, "s"));
	if (out.parted)
		fprintf(line, ", %s event%s of barriers for some of a group alone",
			unit_count(text, out.parted), plural(out.parted, "s"));
	if (kinds)
		fprintf(line, ", %s of too many kinds to be judged", unit_count(text, kinds));
	if (c->grouped)
		fprintf(line, ", %s event%s of groups of PVM, which are not joined on the way",
			unit_count(text, c->grouped), plural(c->grouped, "s"));
	if (others)
		fprintf(line, ", %s event%s too late or too many", unit_count(text, others),
			plural(others, "s"));
}

static void messages_write(FILE *line, const void *arg)
{
	const struct colop *c = arg;
	const struct message_counts *n = messages_counts(c->messages);
	const uint64_t many = n->crowded + message_flows_left_out(messages_flows(c->messages));
	const uint64_t untold = messages_unknown(c->messages), skipped = colop_unmatched(c, 0);
	const uint64_t foreign = messages_foreign(c->messages);
	char text[UNIT_TEXT];

	fprintf(line, "%s message%s", unit_count(text, n->matched), plural(n->matched, "s"));
	if (n->open)
		fprintf(line, ", %s event%s without the other side", unit_count(text, n->open),
			plural(n->open, "s"));
	if (n->lost)
		fprintf(line, ", %s of ranks of which events are missing",
			unit_count(text, n->lost));
	if (n->strange)
		fprintf(line, ", %s that do not fit to each other", unit_count(text, n->strange));
	if (many)
		fprintf(line, ", %s too many", unit_count(text, many));
	if (foreign)
		fprintf(line, ", %s event%s of or with spawned processes, which are not matched",
			unit_count(text, foreign), plural(foreign, "s"));
	if (untold)
		fprintf(line,
			"; %s receive%s untold: the calls that have waited for them were not "
			"recorded (mode), or overwritten",
			unit_count(text, untold), plural(untold, "s"));
	if (skipped)
		fprintf(line,
			"; %s call%s no event, as the mode of their class has it: nothing is told "
			"of messages on these communicators",
			unit_count(text, skipped), skipped == 1 ? " is" : "s are");
}

/* What is not recorded, and what that means for shares of time. */
static void recorded_write(FILE *line, const void *arg)
{
	const struct colop *c = arg;
	const struct counted_calls n = counted_calls(c->counted, CHANNEL_COLLECTIVE, 0);
	const struct lateness_class *const *classes;
	const size_t n_classes = lateness_classes(c->lateness, &classes);
	char some[UNIT_TEXT], all[UNIT_TEXT], share[UNIT_TEXT];
	const uint64_t unseen = counted_unseen(c->counted, CHANNEL_COLLECTIVE);
	bool scaled = true;

	for (size_t i = 0; i < n_classes; i++)
		scaled = scaled &&
			 (classes[i]->scale > 1 || colop_recorded(c, classes[i]->comm) >= 1);
	fprintf(line,
		"%s of %s calls of collectives are recorded (%s), as their modes have it: WAITED "
		"and costs are %s",
		unit_count(some, n.calls - n.skipped), unit_count(all, n.calls),
		unit_share(share, colop_recorded(c, 0)),
		scaled ? "scaled to all" : "of these alone, where they are no fair sample");
	if (unseen)
		fprintf(line, "; of %s on communicators of which none is recorded nothing is said",
			unit_count(some, unseen));
}

static void lost_write(FILE *line, const void *arg)
{
	const struct evspace_counts *n = arg;
	char some[UNIT_TEXT], all[UNIT_TEXT];

	fprintf(line,
		"%s of %s events were overwritten before they were read, or had no element: all is "
		"said of the others",
		unit_count(some, n->lost), unit_count(all, n->lost + n->read));
}

/* "in MPI_Barrier@world #40 /A/a0 left 3.1 ms before /B/b1 came …" */
static void clocks_write(FILE *line, const void *arg)
{
	const struct colop *c = arg;
	const struct crossing_counts *n = crossings_counts(c->crossings);
	const struct crossing_fault *w = &n->worst;
	char key[96], ns[UNIT_TEXT], error[UNIT_TEXT], times[UNIT_TEXT], all[UNIT_TEXT];

	words_class(key, sizeof(key), c->follow.client, op_name(w->op), w->comm);
	fprintf(line,
		"CLOCKS ARE WRONG: in %s #%u %s left %s before %s came, and their clocks should be "
		"off by %s at most; %s of %s operations say so",
		key, w->number, attendance_host(c->attendance, w->left), duration(ns, w->ns),
		attendance_host(c->attendance, w->came), duration(error, w->error_ns),
		unit_count(times, n->faults), unit_count(all, n->meetings));
}

static void surer_write(FILE *line, const void *arg)
{
	const struct crossing_counts *n = crossings_counts(((const struct colop *)arg)->crossings);
	const double times = (double)n->corrected;
	char was[UNIT_TEXT], now[UNIT_TEXT], corrected[UNIT_TEXT];

	fprintf(line,
		"clocks: that nobody leaves before the last has come makes the times of %s "
		"operation%s surer, to %s instead of %s",
		unit_count(corrected, n->corrected), plural(n->corrected, "s"),
		duration(now, n->bound_ns / times), duration(was, n->was_ns / times));
}

void colop_account(const struct colop *c, FILE *out)
{
	const struct crossing_counts *clocks = crossings_counts(c->crossings);
	struct evspace_counts counts;

	evspace_counts(c->follow.client, &counts);
	table_say_of(out, account_write, c);
	if (colop_recorded(c, 0) < 1)
		table_say_of(out, recorded_write, c);
	if (!counted_is_known(c->counted))
		table_say(out,
			  "nobody tells which share of the calls is recorded (%s): all is said of "
			  "those that are",
			  client_replay_folder(c->follow.common.look.connect)
				  ? counted_is_damaged(c->counted)
					    ? "the archive's counts are damaged"
					    : "the archive has no counts"
				  : "not all hosts have answered");
	if (counts.lost)
		table_say_of(out, lost_write, &counts);
	if (clocks->faults)
		table_say_of(out, clocks_write, c);
	if (clocks->corrected)
		table_say_of(out, surer_write, c);
	colop_say_sites(c, out);
	if (c->messages)
		table_say_of(out, messages_write, c);
}
