/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace tune: what looking costs a running program in which setting, and draws it. */
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
#include "tree/data/urgency.h"

#define EACH_NS	 (UINT64_C(20) * 1000000000)
#define BLOCK_NS UINT64_C(300000000)

/* Settings that are walked. */
#define RATES_MAX  32u
#define WORDS_MAX  8u
#define POINTS_MAX 1024u
#define WINDOW_MAX 64u

static const char tune_help[] =
	"usage: evspace tune [options]\n"
	"\n"
	"Find out what looking at a view costs a running program: for each rate, number\n"
	"of waves under way, urgency of agents, tree and mode of collecting, an\n"
	"experiment as of `evspace perturb` (blocks with nothing, with collecting, and\n"
	"with looks as well, in random order). The settings that no other one beats, as\n"
	"often for less, are the curve to choose from; --plot draws it, with the points\n"
	"of the paper that EventSpace comes from (2003, two clusters).\n";

static const char tune_more[] =
	"Ctrl-C ends it: modes are as before, and what was measured so far is printed\n"
	"and drawn. Needs a control certificate, or to be the agent's user on its host.\n"
	"A tree that the map does not let consumers choose is left out. Exit code 1 when\n"
	"nothing could be measured.\n"
	"\n"
	"examples:\n"
	"  evspace tune --view heartbeat --plot curve.svg\n"
	"  evspace tune --view latest --rates 25,106,1000 --trees by-cluster,flat --json\n"
	"  evspace tune --view latest --rates 106 --urgencies idle,batch --windows 1,16\n";

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
	struct choices trees, modes, urgencies, windows;
	const char *plot;
	struct pareto_point points[POINTS_MAX];
	struct tune_point {
		const char *tree, *mode; /* tree: NULL: as the map has it */
		enum urgency urgency;
		unsigned window;
		double asked_hz;
		uint64_t rounds;
	} of[POINTS_MAX];
	size_t n;
	enum evspace_urgency said; /* by --urgency */
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

static int take_urgencies(void *into, const char *text, struct error *e)
{
	struct choices *urgencies = &((struct tune *)into)->urgencies;
	enum urgency urgency;

	if (take_words(urgencies, text, e) < 0)
		return -1;
	for (size_t i = 0; i < urgencies->n; i++)
		if (urgency_parse(urgencies->word[i], &urgency, e) < 0)
			return -1;
	return 0;
}

static int take_windows(void *into, const char *text, struct error *e)
{
	struct choices *windows = &((struct tune *)into)->windows;
	unsigned window;

	if (take_words(windows, text, e) < 0)
		return -1;
	for (size_t i = 0; i < windows->n; i++)
		if (quantity_count(windows->word[i], 1, WINDOW_MAX, &window, e) < 0)
			return -1;
	return 0;
}

static int take_plot(void *into, const char *path, struct error *e)
{
	((struct tune *)into)->plot = path;
	return picture_check(path, e);
}

static const struct option_row tune_rows[] = {
	{"rates", "LIST", .take = take_rates,
	 .help = "waves a second to try, such as 25,106,max (default 10,25,58,106,250,1000)"},
	{"trees", "LIST", .take = take_trees,
	 .help = "trees to try: by-cluster, flat, \"fanout 8\", with commas (default: as the map "
		 "has it)"},
	{"windows", "LIST", .take = take_windows,
	 .help = "waves under way at once to try, such as 1,16 (default: 2, above 50 waves a "
		 "second 16)"},
	{"urgencies", "LIST", .take = take_urgencies,
	 .help = "urgencies of agents to try: idle, batch, normal (default: as --urgency)"},
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

/* Writes what was chosen there into @label; nothing was, where it is as it is. */
static void point_label(const struct tune *t, const struct tune_point *of, char *label, size_t room)
{
	char window[32];

	snprintf(window, sizeof(window), "%u under way", of->window);
	snprintf(label, room, "%s%s%s%s%s%s%s", of->tree ? of->tree : "",
		 of->tree && t->modes.n ? ", " : "", t->modes.n ? of->mode : "",
		 t->urgencies.n && (of->tree || t->modes.n) ? ", " : "",
		 t->urgencies.n ? urgency_word(of->urgency) : "",
		 t->windows.n && (of->tree || t->modes.n || t->urgencies.n) ? ", " : "",
		 t->windows.n ? window : "");
}

static void point_add(struct tune *t, const struct tune_point *of)
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
	point_label(t, of, p->label, sizeof(p->label));
	t->of[t->n] = *of;
	t->of[t->n++].rounds = i.n;
}

/* Returns EXIT_FINE, also if the map does not allow the tree, or the exit code after a message. */
static int tune_one(struct tune *t, const struct tune_point *of)
{
	char rate[32];
	int code;

	t->x.common.look.tree = of->tree;
	t->x.common.look.rate_hz = of->asked_hz;
	t->x.common.look.window = of->window;
	t->x.common.look.urgency = (enum evspace_urgency)of->urgency;
	t->x.common.look.hurry = 0;
	t->x.mode = strcmp(of->mode, "count") == 0 ? EVSPACE_COUNT : EVSPACE_TRACE;
	code = experiment_view(&t->x);
	if (code != EXIT_FINE)
		return of->tree && code == EXIT_USAGE ? EXIT_FINE : code;
	snprintf(rate, sizeof(rate), "%g", of->asked_hz);
	fprintf(stderr, "evspace tune: %s waves a second, %u under way%s%s%s%s, %s, for %.0f s\n",
		of->asked_hz > 0 ? rate : "as many as can be", of->window, of->tree ? ", " : "",
		of->tree ? of->tree : "", t->urgencies.n ? ", " : "",
		t->urgencies.n ? urgency_word(of->urgency) : "", of->mode,
		(double)t->x.ab_ns / 1e9);
	code = experiment_run(&t->x);
	if (code == EXIT_FINE)
		point_add(t, of);
	return code;
}

/* The word that @at stands for, of which it is divided by so many; NULL: there is no choice. */
static const char *choose(const struct choices *words, size_t *at)
{
	size_t n = words->n ? words->n : 1, i = *at % n;

	*at /= n;
	return words->n ? words->word[i] : NULL;
}

/* The setting of that number; rates change fastest. False: these were all. */
static bool tune_setting(const struct tune *t, size_t at, struct tune_point *of)
{
	const char *window, *urgency;
	struct error e;

	*of = (struct tune_point){.asked_hz = t->rates[at % t->n_rates],
				  .urgency = (enum urgency)t->said};
	at /= t->n_rates;
	window = choose(&t->windows, &at);
	urgency = choose(&t->urgencies, &at);
	of->mode = choose(&t->modes, &at);
	of->tree = choose(&t->trees, &at);
	if (!of->mode)
		of->mode = "trace";
	of->window = of->asked_hz > 50 || of->asked_hz <= 0 ? 16 : 2;
	if (window)
		(void)quantity_count(window, 1, WINDOW_MAX, &of->window, &e);
	if (urgency)
		(void)urgency_parse(urgency, &of->urgency, &e);
	return at == 0;
}

static int tune_all(struct tune *t)
{
	struct tune_point of;
	int code = EXIT_FINE;

	t->said = t->x.common.look.urgency;
	for (size_t at = 0; code == EXIT_FINE && !experiment_stopped && t->n < POINTS_MAX &&
			    tune_setting(t, at, &of);
	     at++)
		code = tune_one(t, &of);
	return code;
}

/* ---- output ---- */

static const char *point_tree(const struct tune_point *of)
{
	return of->tree ? of->tree : "as the map has it";
}

static const char *point_urgency(const struct tune_point *of)
{
	return urgency_word(of->urgency ? of->urgency : URGENCY_DEFAULT);
}

static void print_json(const struct tune *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct pareto_point *p = &t->points[i];
		const struct tune_point *of = &t->of[i];

		json_print(json_pack("{s:s,s:s,s:s,s:s,s:I,s:f,s:f,s:f,s:o,s:o,s:I,s:b}", "type",
				     "point", "tree", point_tree(of), "mode", of->mode, "urgency",
				     point_urgency(of), "window", (json_int_t)of->window,
				     "asked_hz", of->asked_hz, "rate_hz", p->rate_hz, "slowdown",
				     p->slowdown, "low", json_number(p->low), "high",
				     json_number(p->high), "rounds", (json_int_t)of->rounds, "best",
				     p->best),
			   stdout);
	}
	for (size_t i = 0; i < PAPER; i++)
		json_print(json_pack("{s:s,s:f,s:f}", "type", "paper", "rate_hz", paper[i].rate_hz,
				     "slowdown", paper[i].slowdown),
			   stdout);
}

static void print_text(const struct tune *t)
{
	static const char *const heads[] = {"",	    "waves/s", "asked",	  "slowdown", "95 %",
					    "tree", "mode",    "urgency", "under way"};
	struct table table;

	table_heads(&table, NULL, heads, 9);
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
		table_cell(&table, "%s", point_tree(&t->of[i]));
		table_cell(&table, "%s", t->of[i].mode);
		table_cell(&table, "%s", point_urgency(&t->of[i]));
		table_cell(&table, "%u", t->of[i].window);
	}
	table_print(&table, stdout);
	table_fini(&table);
	table_say(stdout, "* no other setting looks as often for less. The paper: 1.07 at 25, 1.36 "
			  "at 58, 1.50 at 106.");
}

static int tune_report(struct tune *t, int code)
{
	const struct curve curve = {"What looking costs", t->points, paper, t->n, PAPER};
	struct picture picture = {0};
	struct error e;
	int rc;

	pareto_mark(t->points, t->n);
	if (t->n == 0)
		return code == EXIT_FINE ? EXIT_BAD_NEWS : code;
	if (t->x.common.json)
		print_json(t);
	else
		print_text(t);
	if (!t->plot)
		return code;
	curve_draw(&curve, &picture);
	rc = picture_write(&picture, t->plot, &e);
	picture_fini(&picture);
	if (rc == 0)
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
	free(t->urgencies.text);
	free(t->windows.text);
	free(t);
	return code;
}
