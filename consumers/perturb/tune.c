/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace tune: what looking costs a running program at which rate, by which tree, and draws it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/perturb/curve.h"
#include "consumers/perturb/experiment.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

#define EACH_NS	 (UINT64_C(20) * 1000000000)
#define BLOCK_NS UINT64_C(300000000)

/* Settings that are walked. */
#define RATES_MAX  32u
#define WORDS_MAX  8u
#define POINTS_MAX (RATES_MAX * WORDS_MAX * 2)

static const char tune_help[] =
	"usage: evspace tune [options]\n"
	"\n"
	"Find out what looking at a view costs a running program: for each rate, tree\n"
	"and mode of collecting, an experiment as of `evspace perturb` (blocks with\n"
	"nothing, with collecting, and with looks as well, in random order). The\n"
	"settings that no other one beats, as often for less, are the curve to choose\n"
	"from; --plot draws it, with the points of the paper that EventSpace comes from\n"
	"(2003, two clusters).\n";

static const char tune_more[] =
	"Ctrl-C ends it: modes are as before, and what was measured so far is printed\n"
	"and drawn. Needs a control certificate, or to be the agent's user on its host.\n"
	"A tree that the map does not let consumers choose is left out. Exit code 1 when\n"
	"nothing could be measured.\n"
	"\n"
	"examples:\n"
	"  evspace tune --view heartbeat --plot curve.svg\n"
	"  evspace tune --view latest --rates 25,106,1000 --trees by-cluster,flat --json\n";

/* What the paper has measured (section 6.2). */
static const struct pareto_point paper[] = {
	{.rate_hz = 25, .slowdown = 1.07, .low = 1.07, .high = 1.07, .label = "paper"},
	{.rate_hz = 58, .slowdown = 1.36, .low = 1.36, .high = 1.36, .label = "paper"},
	{.rate_hz = 106, .slowdown = 1.50, .low = 1.50, .high = 1.50, .label = "paper"},
};
#define PAPER (sizeof(paper) / sizeof(paper[0]))

struct choices {
	char *text; /* cut into the words */
	const char *word[WORDS_MAX];
	size_t n;
};

struct tune {
	struct experiment x;
	double rates[RATES_MAX];
	size_t n_rates;
	struct choices trees, modes;
	const char *plot;
	struct pareto_point points[POINTS_MAX];
	struct tune_point {
		const char *tree, *mode;
		double asked_hz;
		uint64_t rounds;
	} of[POINTS_MAX];
	size_t n;
};

/* ---- options ---- */

static int take_rates(void *into, const char *text, struct error *e)
{
	struct tune *t = into;

	t->n_rates = 0;
	for (const char *at = text; *at; at += strspn(at, ",")) {
		size_t n = strcspn(at, ",");
		char word[32];

		if (t->n_rates == RATES_MAX)
			return errorf(e, "more than %u rates", RATES_MAX);
		snprintf(word, sizeof(word), "%.*s", (int)(n < 31 ? n : 31), at);
		if (unit_rate(word, &t->rates[t->n_rates], e) < 0)
			return -1;
		t->n_rates++;
		at += n;
	}
	return t->n_rates ? 0 : errorf(e, "there is no rate in it; write 25,106,1000");
}

static int take_words(struct choices *words, const char *text, struct error *e)
{
	char *rest;

	free(words->text);
	words->text = memory_copy(text);
	words->n = 0;
	for (char *w = strtok_r(words->text, ",", &rest); w; w = strtok_r(NULL, ",", &rest)) {
		if (words->n == WORDS_MAX)
			return errorf(e, "more than %u of them", WORDS_MAX);
		words->word[words->n++] = w;
	}
	return words->n ? 0 : errorf(e, "there is nothing in it");
}

static int take_trees(void *into, const char *text, struct error *e)
{
	return take_words(&((struct tune *)into)->trees, text, e);
}

static int take_modes(void *into, const char *text, struct error *e)
{
	struct choices *modes = &((struct tune *)into)->modes;

	if (take_words(modes, text, e) < 0)
		return -1;
	for (size_t i = 0; i < modes->n; i++)
		if (strcmp(modes->word[i], "trace") != 0 && strcmp(modes->word[i], "count") != 0)
			return errorf(e, "'%.40s' is neither trace nor count", modes->word[i]);
	return 0;
}

static int take_plot(void *into, const char *path, struct error *e)
{
	((struct tune *)into)->plot = path;
	return draw_check(path, e);
}

static const struct option_row tune_rows[] = {
	{"rates", "LIST", .take = take_rates,
	 .help = "waves a second to try, such as 25,106,max (default 10,25,58,106,250,1000)"},
	{"trees", "LIST", .take = take_trees,
	 .help = "trees to try: by-cluster, flat, \"fanout 8\", with commas (default: as the map "
		 "has it)"},
	{"modes", "LIST", .take = take_modes,
	 .help = "what is collected of all classes meanwhile: trace, count (default: trace)"},
	{"each", "TIME", OPTION_SPAN, .at = offsetof(struct tune, x.ab_ns),
	 .help = "how long to measure each setting; else 20s"},
	{"block", "TIME", OPTION_SPAN, .at = offsetof(struct tune, x.block_ns),
	 .help = "how long a block is to be, about; else 300ms"},
	{"plot", "FILE", .take = take_plot, .help = "draw it: FILE.svg or FILE.png"},
	{0},
};

static const struct usage tune_usage = {
	.help = tune_help,
	.after = tune_more,
	.own = tune_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON | OPTIONS_VIEW | OPTIONS_WAVES,
	.lacks = " rate budget window tree count duration monitored wait ",
};

/* ---- measuring ---- */

static void point_add(struct tune *t, const char *tree, const char *mode, double asked_hz)
{
	struct effect_interval i = experiment_effect(&t->x, EXPERIMENT_OBSERVE);
	struct pareto_point *p = &t->points[t->n];

	if (i.n < EFFECT_PAIRS_LEAST) {
		fprintf(stderr,
			"evspace tune: %llu rounds are too few for an interval: measure longer "
			"(--each), or in shorter blocks (--block)\n",
			(unsigned long long)i.n);
		return;
	}
	*p = (struct pareto_point){.rate_hz = experiment_rate(&t->x),
				   .slowdown = 1 + i.estimate,
				   .low = 1 + i.low,
				   .high = 1 + i.high};
	snprintf(p->label, sizeof(p->label), "%s%s%s", tree ? tree : "",
		 tree && t->modes.n ? ", " : "", t->modes.n ? mode : "");
	t->of[t->n++] = (struct tune_point){tree ? tree : "as the map has it", mode, asked_hz, i.n};
}

/* Returns EXIT_FINE, also if the map does not allow the tree, or the exit code after a message. */
static int tune_one(struct tune *t, const char *tree, const char *mode, double asked_hz)
{
	char rate[32];
	int code;

	t->x.common.look.tree = tree;
	t->x.common.look.rate_hz = asked_hz;
	t->x.common.look.window = asked_hz > 50 || asked_hz <= 0 ? 16 : 2;
	t->x.common.look.hurry = 0;
	t->x.mode = strcmp(mode, "count") == 0 ? EVSPACE_COUNT : EVSPACE_TRACE;
	code = experiment_view(&t->x);
	if (code != EXIT_FINE)
		return tree && code == EXIT_USAGE ? EXIT_FINE : code;
	snprintf(rate, sizeof(rate), "%g", asked_hz);
	fprintf(stderr, "evspace tune: %s waves a second%s%s, %s, for %.0f s\n",
		asked_hz > 0 ? rate : "as many as can be", tree ? ", " : "", tree ? tree : "", mode,
		(double)t->x.ab_ns / 1e9);
	code = experiment_run(&t->x);
	if (code == EXIT_FINE)
		point_add(t, tree, mode, asked_hz);
	return code;
}

static int tune_all(struct tune *t)
{
	static const struct choices as_it_is = {.n = 1}, traced = {.word = {"trace"}, .n = 1};
	const struct choices *trees = t->trees.n ? &t->trees : &as_it_is;
	const struct choices *modes = t->modes.n ? &t->modes : &traced;
	int code = EXIT_FINE;

	for (size_t i = 0; i < trees->n; i++)
		for (size_t m = 0; m < modes->n; m++)
			for (size_t r = 0; r < t->n_rates; r++) {
				if (code != EXIT_FINE || experiment_stopped || t->n == POINTS_MAX)
					return code;
				code = tune_one(t, trees->word[i], modes->word[m], t->rates[r]);
			}
	return code;
}

/* ---- output ---- */

static void print_json(const struct tune *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct pareto_point *p = &t->points[i];

		json_print(json_pack("{s:s,s:s,s:s,s:f,s:f,s:f,s:o,s:o,s:I,s:b}", "type", "point",
				     "tree", t->of[i].tree, "mode", t->of[i].mode, "asked_hz",
				     t->of[i].asked_hz, "rate_hz", p->rate_hz, "slowdown",
				     p->slowdown, "low", json_number(p->low), "high",
				     json_number(p->high), "rounds", (json_int_t)t->of[i].rounds,
				     "best", p->best),
			   stdout);
	}
	for (size_t i = 0; i < PAPER; i++)
		json_print(json_pack("{s:s,s:f,s:f}", "type", "paper", "rate_hz", paper[i].rate_hz,
				     "slowdown", paper[i].slowdown),
			   stdout);
}

static void print_text(const struct tune *t)
{
	static const char *const heads[] = {"",	    "waves/s", "asked", "slowdown",
					    "95 %", "tree",    "mode"};
	struct table table;

	table_heads(&table, NULL, heads, 7);
	for (size_t i = 0; i < t->n; i++) {
		const struct pareto_point *p = &t->points[i];

		table_cell(&table, "%s", p->best ? "*" : "");
		table_cell(&table, "%.1f", p->rate_hz);
		if (t->of[i].asked_hz > 0)
			table_cell(&table, "%g", t->of[i].asked_hz);
		else
			table_cell(&table, "max");
		table_cell(&table, "%.4f", p->slowdown);
		table_cell(&table, "%.4f to %.4f", p->low, p->high);
		table_cell(&table, "%s", t->of[i].tree);
		table_cell(&table, "%s", t->of[i].mode);
	}
	table_print(&table, stdout);
	table_fini(&table);
	table_say(stdout, "* no other setting looks as often for less. The paper: 1.07 at 25, 1.36 "
			  "at 58, 1.50 at 106.");
}

static int tune_report(struct tune *t, int code)
{
	const struct curve curve = {"What looking costs", t->points, paper, t->n, PAPER};
	struct error e;

	pareto_mark(t->points, t->n);
	if (t->n == 0)
		return code == EXIT_FINE ? EXIT_BAD_NEWS : code;
	if (t->x.common.json)
		print_json(t);
	else
		print_text(t);
	if (!t->plot || draw_curve(&curve, t->plot, &e) == 0)
		return code;
	fprintf(stderr, "evspace tune: %s\n", e.text);
	return EXIT_BAD_NEWS;
}

int tune_main(int argc, char **argv)
{
	struct tune *t = memory_new(1, sizeof(*t));
	int code;

	*t = (struct tune){.x = {.command = "evspace tune",
				 .ab_ns = EACH_NS,
				 .block_ns = BLOCK_NS,
				 .code = EXIT_FINE},
			   .rates = {10, 25, 58, 106, 250, 1000},
			   .n_rates = 6};
	code = options_parse(argc, argv, &tune_usage, t, &t->x.common);
	if (code < 0) {
		code = experiment_open(&t->x);
		if (code == EXIT_FINE)
			code = tune_report(t, tune_all(t));
		experiment_close(&t->x);
	}
	free(t->trees.text);
	free(t->modes.text);
	free(t);
	return code;
}
