/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace plan: which event classes to trace and which to sample, under a budget. */
#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/options.h"
#include "consumers/perturb/planning.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "pathmap/base/utf8.h"
#include "tree/scope/classes.h"

#define PLANS_DEFAULT 5u
#define PLANS_MAX     100u
/* Time to measure: a lease, two of them and some more, is an hour at most. */
#define DURATION_LEAST_NS UINT64_C(100000000)
#define DURATION_MOST_NS  (UINT64_C(1500) * 1000000000)

static const char plan_help[] =
	"usage: evspace plan FILE --max-frequency HZ [options]\n"
	"       evspace plan FILE --budget PERCENT --t-report TIME [options]\n"
	"       evspace plan --budget PERCENT [--reduce] [--apply] [options]\n"
	"\n"
	"Say which classes of events to trace, so that each event is recorded, and which\n"
	"to leave to one probe that looks at fixed intervals, so that what is collected\n"
	"tells most and collecting costs no more than the budget (Metz, Lencevicius,\n"
	"Gonzalez: Performance Data Collection Using a Hybrid Approach).\n"
	"\n"
	"FILE (- is standard input) has a line for each class below one with the names\n"
	"of the columns: class, frequency (events a second), weight (what an event of it\n"
	"tells), duty (event time over period, from 0 to 1). Columns that may be there:\n"
	"t_trace (time to record an event, instead of --t-report), t_detect (time to see\n"
	"one that is not recorded), t_sampling (time of a probe that hits one, instead\n"
	"of --t-sampling), minimum (Hz that it is to be seen with at least),\n"
	"interrupted (how often an event of it is on average interrupted), deduced_from\n"
	"(the class that tells all of it, or -).\n";

static const char plan_more[] =
	"Without FILE the classes of a running program are measured: of a process on\n"
	"average, the channels on MPI_COMM_WORLD (p2p@world) and elsewhere (p2p), with\n"
	"what an event costs it, and a look at its heartbeat. --apply traces and samples\n"
	"them as the best plan says, looks at them at its rate, and plans again as\n"
	"frequencies change; classes whose events take too much to be seen it has only\n"
	"counted. Nobody else can switch meanwhile; Ctrl-C, or its death, puts all back.\n"
	"\n"
	"A plan's information is the sum over the classes of weight times the events a\n"
	"second that are recorded; of what is left to the probe these are those that the\n"
	"probe hits. The best plans are found exactly, or it is said by how much a plan\n"
	"may at most be surpassed. The greedy plan of the paper tells at least half of\n"
	"what the best one does, if all reports cost the same and no class has a\n"
	"minimum. Exit code 1 when no plan keeps the budget; with --apply all is only\n"
	"counted until one does.\n"
	"\n"
	"examples:\n"
	"  evspace plan classes --max-frequency 925\n"
	"  evspace plan --budget 0.5% --reduce --apply\n"
	"  evspace plan --budget 0.5% --weight p2p@world=2 --apply\n"
	"  evspace plan classes --budget 5% --t-report 54us --t-sampling 200us\n"
	"  evspace plan classes --budget 1% --t-report 20ns --reduce --t-detect 2ns\n";

static int max_frequency_take(void *into, const char *value, struct error *e)
{
	return plan_number(value, "frequency", DBL_MIN, DBL_MAX, &((struct planning *)into)->max_hz,
			   e);
}

static int budget_take(void *into, const char *value, struct error *e)
{
	return quantity_share(value, &((struct planning *)into)->budget, e);
}

static int t_report_take(void *into, const char *value, struct error *e)
{
	return plan_seconds(value, "time", &((struct planning *)into)->t_report, e);
}

static int t_sampling_take(void *into, const char *value, struct error *e)
{
	return plan_seconds(value, "time", &((struct planning *)into)->t_sampling, e);
}

static int t_detect_take(void *into, const char *value, struct error *e)
{
	return plan_seconds(value, "time", &((struct planning *)into)->t_detect, e);
}

static int figure_take(struct class_figures *figures, const char *value, const char *what,
		       struct error *e)
{
	const char *equal = strchr(value, '=');
	struct class_figure *w = &figures->of[figures->n];
	Evspace__Choice choice = EVSPACE__CHOICE__INIT;
	char quoted[UTF8_QUOTED];

	if (!equal)
		return errorf(e, "it is CLASS and the %s, as p2p@world=2", what);
	if (figures->n == CLASS_FIGURES_MAX)
		return errorf(e, "it is there more than %u times", CLASS_FIGURES_MAX);
	if (plan_number(equal + 1, what, 0, DBL_MAX, &w->number, e))
		return -1;
	w->name = memory_format("%.*s", (int)(equal - value), value);
	figures->n++;
	if (class_choice(w->name, &choice, e))
		return -1;
	if (choice.channel < 0 || choice.comm)
		return errorf(e, "%s is not one class: they are p2p, p2p@world and the like",
			      utf8_quote(w->name, quoted));
	return 0;
}

static int weight_take(void *into, const char *value, struct error *e)
{
	return figure_take(&((struct planning *)into)->weights, value, "weight", e);
}

static int minimum_take(void *into, const char *value, struct error *e)
{
	return figure_take(&((struct planning *)into)->minimums, value, "minimum", e);
}

static const struct option_row plan_rows[] = {
	{"max-frequency", "HZ", .take = max_frequency_take,
	 .help = "record at most so many events a second, all equally dear: the paper's MaxF"},
	{"budget", "PERCENT", .take = budget_take,
	 .help = "slow the program down by at most so much, with --t-report"},
	{"t-report", "TIME", .take = t_report_take,
	 .help = "time to record an event: 20ns, 54us, or seconds"},
	{"t-sampling", "TIME", .take = t_sampling_take,
	 .help = "time of a probe; else as --t-report"},
	{"reduce", .at = offsetof(struct planning, reduce),
	 .help = "there is no probe: reduce each class to the part of its events that fits, the "
		 "rest being detected only (problem 1)"},
	{"t-detect", "TIME", .take = t_detect_take,
	 .help = "time for an event that is not recorded; else none, or without FILE as "
		 "measured"},
	{"weight", "CLASS=W", .take = weight_take,
	 .help = "without FILE: what an event of the class tells; else 1; may be repeated"},
	{"minimum", "CLASS=HZ", .take = minimum_take,
	 .help = "without FILE: see the class at least so often; may be repeated"},
	{"duration", "TIME", OPTION_TIME, .at = offsetof(struct planning, duration_ns),
	 .help = "without FILE: measure for so long, and with --apply so often; else 5s"},
	{"table", .at = offsetof(struct planning, print_table),
	 .help = "without FILE: print the table, as FILE is to be, and the costs, and end"},
	{"apply", .at = offsetof(struct planning, apply),
	 .help = "without FILE: switch the program by the best plan, and go on planning"},
	{"keep", .at = offsetof(struct planning, keep),
	 .help = "with --apply: leave modes as they are at its end"},
	{"plans", "N", OPTION_COUNT, .at = offsetof(struct planning, most), .most = PLANS_MAX,
	 .help = "show the best N plans; else 5"},
	{0},
};

static const struct usage plan_usage = {.help = plan_help,
					.after = plan_more,
					.own = plan_rows,
					.takes = OPTIONS_LOOK | OPTIONS_VIEW | OPTIONS_JSON,
					.live = "it measures what events cost a program that runs",
					.words_max = 1};

int plan_end(enum exit_code code, const char *why)
{
	fprintf(stderr, "evspace plan: %s\n", why);
	return code;
}

/* The same without a file. */
static const char *plan_live_wrong(const struct planning *p)
{
	if (p->max_hz > 0 || p->t_report > 0 || p->t_sampling > 0)
		return "a running program is measured: without FILE, give --budget PERCENT alone";
	if (p->duration_ns < DURATION_LEAST_NS)
		return "--duration: measure for 100ms at least";
	if (p->apply && p->duration_ns > DURATION_MOST_NS)
		return "--duration: with --apply measure each 25m at least";
	if (p->budget <= 0 && !p->print_table)
		return "it needs a budget: --budget PERCENT, or a FILE and --max-frequency HZ";
	return NULL;
}

/* What of the options does not go together, or NULL. */
static const char *plan_wrong(const struct planning *p)
{
	if (p->common.n_words > 0 &&
	    (p->apply || p->print_table || p->weights.n > 0 || p->minimums.n > 0))
		return "--apply, --table, --weight and --minimum are about a running program: no "
		       "FILE";
	if (p->keep && !p->apply)
		return "--keep goes with --apply";
	if (p->common.n_words == 0)
		return plan_live_wrong(p);
	if (p->max_hz > 0 && p->budget > 0)
		return "--max-frequency and --budget are two budgets: give one";
	if (p->max_hz <= 0 && p->budget <= 0)
		return "it needs a budget: --max-frequency HZ, or --budget PERCENT with "
		       "--t-report TIME";
	if (p->budget > 0 && p->t_report <= 0)
		return "--budget needs --t-report TIME, the time to record an event";
	if (p->max_hz > 0 && (p->t_report > 0 || p->t_sampling > 0 || p->t_detect > 0))
		return "--max-frequency counts all events alike: times go with --budget";
	if (p->t_sampling > 0 && p->reduce)
		return "with --reduce nothing is probed: no --t-sampling";
	return NULL;
}

/* Returns EXIT_FINE, or the exit code after a message. */
static int plan_read(struct planning *p)
{
	const char *path = p->common.words[0];
	bool given = strcmp(path, "-") == 0;
	FILE *in = given ? stdin : fopen(path, "re");
	struct error e;
	int failed;

	if (!in) {
		fprintf(stderr, "evspace plan: %s: %s\n", path, strerror(errno));
		return EXIT_USAGE;
	}
	failed = plan_table_read(&p->table, in, given ? "standard input" : path,
				 p->max_hz > 0 ? 1 : p->t_report, p->t_detect, &e);
	if (!given)
		fclose(in);
	if (failed)
		return plan_end(EXIT_USAGE, e.text);
	if (p->max_hz > 0 && p->table.said_times)
		return plan_end(EXIT_USAGE, "--max-frequency counts all events alike: with "
					    "a column t_trace, t_detect or t_sampling, give "
					    "--budget");
	p->limits.share = p->max_hz > 0 ? p->max_hz : p->budget;
	p->limits.t_sampling =
		p->max_hz > 0 ? 1
			      : plan_table_sampling(&p->table, p->t_sampling > 0 ? p->t_sampling
										 : p->t_report);
	return EXIT_FINE;
}

/* Does anything tell something? Returns EXIT_FINE, or the exit code after a message. */
int plan_weighs(const struct planning *p)
{
	for (size_t i = 0; i < p->table.n; i++)
		if (p->table.classes[i].weight > 0)
			return EXIT_FINE;
	return plan_end(EXIT_USAGE, "the weight of each class is 0, so that no plan tells "
				    "anything: give what matters a weight above 0");
}

/* What the whole table takes if all of it is traced. */
static double plan_tracing(const struct planning *p)
{
	double all = 0;

	for (size_t i = 0; i < p->table.n; i++)
		all += p->table.classes[i].frequency * p->table.classes[i].t_trace;
	return all;
}

/* What it takes to see all events of the table. */
static double plan_detecting(const struct planning *p)
{
	double all = 0;

	for (size_t i = 0; i < p->table.n; i++)
		all += p->table.classes[i].frequency * p->table.classes[i].t_detect;
	return all;
}

bool plan_all_fit(const struct planning *p)
{
	return plan_tracing(p) <= p->limits.share;
}

/* ---- output ---- */

const char *plan_amount(char buf[UNIT_TEXT], const struct planning *p, double amount)
{
	if (p->max_hz <= 0)
		return unit_share(buf, amount);
	snprintf(buf, UNIT_TEXT, "%.6g Hz", amount);
	return buf;
}

char *plan_names(const struct planning *p, const bool *traced, bool which)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < p->table.n; i++)
		if (traced[i] == which)
			fprintf(out, "%s%s", ftell(out) > 0 ? ", " : "", p->table.names[i]);
	if (ftell(out) == 0)
		fputs("-", out);
	fclose(out);
	return text;
}

json_t *plan_json_classes(const struct planning *p, const bool *traced, bool which)
{
	json_t *names = json_array();

	for (size_t i = 0; i < p->table.n; i++)
		if (traced[i] == which)
			json_array_append_new(names, json_text(p->table.names[i]));
	return names;
}

json_t *plan_json_names(char *const *names, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, json_text(names[i]));
	return array;
}

static double plan_gap(const struct probing_plan *plan, double bound)
{
	return bound > plan->information ? bound / plan->information - 1 : 0;
}

static void print_json(const struct planning *p, const struct probing_plan *plans, size_t n,
		       double bound, const struct probing_plan *greedy)
{
	for (size_t i = 0; i < n; i++) {
		double gap = plan_gap(&plans[i], bound);

		json_print(json_pack("{s:s,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:b}", "type",
				     "plan", "plan", (int)i + 1, "traced",
				     plan_json_classes(p, plans[i].traced, true), "sampled",
				     plan_json_classes(p, plans[i].traced, false), "deduced",
				     plan_json_names(p->table.deduced, p->table.n_deduced),
				     "counted",
				     plan_json_names(p->table.counted, p->table.n_counted),
				     "probing_hz", json_figure(plans[i].probing_hz), "information",
				     json_figure(plans[i].information), "exact", gap <= 0, "gap",
				     json_figure(gap), "greedy",
				     greedy ? json_figure(greedy->information) : json_null(),
				     "all_fit", plan_all_fit(p)),
			   stdout);
	}
}

static bool plan_samples(const struct planning *p, const struct probing_plan *plan)
{
	for (size_t i = 0; i < p->table.n; i++)
		if (!plan->traced[i])
			return true;
	return false;
}

void plan_notes(const struct planning *p, bool samples)
{
	char all[UNIT_TEXT], most[UNIT_TEXT];

	plan_amount(all, p, plan_tracing(p));
	plan_amount(most, p, p->limits.share);
	if (plan_all_fit(p))
		table_say(stdout,
			  "Tracing all %zu class%s takes %s and fits the budget, %s: there is "
			  "no need to sample%s.%s",
			  p->table.n, plural(p->table.n, "es"), all, most,
			  p->live ? ", and --apply does not" : "",
			  samples ? " By the formula of the plans below, a probe that hits an "
				    "event again and again tells more than its record, which "
				    "has all of it."
				  : "");
	else
		table_say(stdout, "Tracing all %zu class%s takes %s; the budget is %s.", p->table.n,
			  plural(p->table.n, "es"), all, most);
	for (size_t i = 0; i < p->table.n_deduced; i++)
		table_say(stdout, "%s is in no plan, as another class tells it.",
			  p->table.deduced[i]);
	for (size_t i = 0; i < p->table.n_counted; i++)
		table_say(stdout, "%s is only counted: to see its events takes too much.",
			  p->table.counted[i]);
}

static void print_greedy(const struct planning *p, const struct probing_plan *plans,
			 const struct probing_plan *greedy)
{
	char share[UNIT_TEXT], *traced;

	if (plans[0].information <= 0)
		table_say(stdout, "No plan tells anything under this budget; raise it.");
	if (!greedy || plans[0].information <= 0)
		return;
	traced = plan_names(p, greedy->traced, true);
	table_say(stdout, "The paper's greedy plan tells %.6g, %s of plan 1; it traces %s.",
		  greedy->information,
		  unit_share(share, greedy->information / plans[0].information),
		  strcmp(traced, "-") ? traced : "nothing");
	free(traced);
}

static void print_text(const struct planning *p, const struct probing_plan *plans, size_t n,
		       double bound, const struct probing_plan *greedy)
{
	static const char *const heads[] = {"plan", "information", "probe", "traced", "sampled"};
	static const struct table_column columns[] = {
		{.pad = 4},
		{.pad = 11},
		{0},
		{.wraps = true, .least = 20},
		{.wraps = true, .least = 20},
	};
	char share[UNIT_TEXT];
	struct table table;

	plan_notes(p, plan_samples(p, &plans[0]));
	table_heads(&table, columns, heads, 5);
	for (size_t i = 0; i < n; i++) {
		char *traced = plan_names(p, plans[i].traced, true);
		char *sampled = plan_names(p, plans[i].traced, false);

		table_cell(&table, "%zu", i + 1);
		table_cell(&table, "%.6g", plans[i].information);
		table_cell(&table, "%.6g Hz", plans[i].probing_hz);
		table_cell(&table, "%s", traced);
		table_cell(&table, "%s", sampled);
		free(traced);
		free(sampled);
	}
	table_print(&table, stdout);
	table_fini(&table);
	if (plan_gap(&plans[0], bound) <= 0)
		table_say(stdout, "No plan tells more than plan 1.");
	else
		table_say(stdout, "No plan tells more than %s above plan 1.",
			  unit_share(share, plan_gap(&plans[0], bound)));
	print_greedy(p, plans, greedy);
}

/* ---- the plans ---- */

int plan_probing(const struct planning *p)
{
	size_t n = p->table.n, most = p->most, found;
	struct probing_plan *plans = knapsack_plans_new(most + 1, n), *greedy = &plans[most];
	double bound;

	found = knapsack_probing(p->table.classes, n, &p->limits, plans, most, &bound);
	if (!knapsack_greedy(p->table.classes, n, &p->limits, greedy))
		greedy = NULL;
	if (found == 0)
		fprintf(stderr,
			"evspace plan: no plan keeps the budget and each class's minimum%s: lower "
			"the minimums, or raise the budget\n",
			plan_detecting(p) > p->limits.share
				? ", as to see all events takes more already"
				: "");
	else if (p->common.json)
		print_json(p, plans, found, bound, greedy);
	else
		print_text(p, plans, found, bound, greedy);
	if (p->live && found > 0 && plan_samples(p, &plans[0]))
		plan_live_may(p->live, plans[0].probing_hz);
	knapsack_plans_free(plans);
	return found > 0 ? EXIT_FINE : EXIT_BAD_NEWS;
}

/* Returns the exit code. */
static int plan_do(struct planning *p)
{
	const char *wrong = plan_wrong(p);
	int code;

	if (wrong)
		return plan_end(EXIT_USAGE, wrong);
	if (p->common.n_words == 0)
		return planning_live(p);
	code = plan_read(p);
	if (code == EXIT_FINE)
		code = plan_weighs(p);
	if (code != EXIT_FINE)
		return code;
	return p->reduce ? plan_reduced(p) : plan_probing(p);
}

int plan_main(int argc, char **argv)
{
	struct planning p = {.most = PLANS_DEFAULT, .duration_ns = UINT64_C(5000000000)};
	int code = options_parse(argc, argv, &plan_usage, &p, &p.common);

	if (code < 0)
		code = plan_do(&p);
	class_figures_fini(&p.weights);
	class_figures_fini(&p.minimums);
	plan_table_fini(&p.table);
	return code;
}
