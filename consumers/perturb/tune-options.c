/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of evspace tune, and the settings that they mean. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/draw/picture.h"
#include "consumers/perturb/tune.h"
#include "node-agent/segment/segment-class.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/model/shape.h"
#include "tree/data/op.h"

#define WINDOW_MAX  64u
#define ALL_CLASSES "all"

static const char tune_help[] =
	"usage: evspace tune [options]\n"
	"\n"
	"Find out what looking at a view costs a running program: for each rate, number\n"
	"of waves under way, urgency of agents, tree, and mode of a class of operations,\n"
	"an experiment as of `evspace perturb` (blocks with nothing, with collecting, and\n"
	"with looks as well, in random order). If only rates are said, or nothing, these\n"
	"are tried, and at the middle one trees by cluster and flat, and each class that\n"
	"the program calls only counted. The settings that no other one beats, as often\n"
	"for less, are the curve to choose from; --plot draws it, with the points of the\n"
	"paper that EventSpace comes from (2003, two clusters).\n";

static const char tune_more[] =
	"Ctrl-C ends it: modes are as before, and what was measured so far is printed\n"
	"and drawn. Needs a control certificate, or to be the agent's user on its host.\n"
	"A tree that the map does not let consumers choose is left out. Exit code 1 when\n"
	"nothing could be measured.\n"
	"\n"
	"examples:\n"
	"  evspace tune --view heartbeat --plot curve.svg\n"
	"  evspace tune --view latest --rates 25,106,1000 --trees by-cluster,flat --json\n"
	"  evspace tune --view latest --rates 106 --urgencies idle,batch --windows 1,16\n"
	"  evspace tune --rates 25 --classes p2p,collective --modes count,1/8\n";

/* ---- options ---- */

static int take_rates(void *into, const char *text, struct error *e)
{
	struct tune *t = into;

	t->n_rates = 0;
	for (const char *at = text; *at; at += strspn(at, ",")) {
		size_t n = strcspn(at, ",");
		char word[32];

		if (t->n_rates == TUNE_RATES_MAX)
			return errorf(e, "more than %u rates", TUNE_RATES_MAX);
		snprintf(word, sizeof(word), "%.*s", (int)(n < 31 ? n : 31), at);
		if (unit_rate(word, &t->rates[t->n_rates], e) < 0)
			return -1;
		t->n_rates++;
		at += n;
	}
	return t->n_rates ? 0 : errorf(e, "there is no rate in it; write 25,106,1000");
}

/* Words of an option, each of which @check finds right. */
static int take_words(struct tune_choices *words, const char *text,
		      int (*check)(const char *word, struct error *e), struct error *e)
{
	char *rest;

	free(words->text);
	words->text = memory_copy(text);
	words->n = 0;
	for (char *w = strtok_r(words->text, ",", &rest); w; w = strtok_r(NULL, ",", &rest)) {
		if (words->n == TUNE_WORDS_MAX)
			return errorf(e, "more than %u of them", TUNE_WORDS_MAX);
		if (check(w, e) < 0)
			return -1;
		words->word[words->n++] = w;
	}
	return words->n ? 0 : errorf(e, "there is nothing in it");
}

static int check_tree(const char *word, struct error *e)
{
	struct shape shape;

	return shape_read(word, &shape, e);
}

static int take_trees(void *into, const char *text, struct error *e)
{
	return take_words(&((struct tune *)into)->trees, text, check_tree, e);
}

static int check_mode(const char *word, struct error *e)
{
	if (segment_mode_find(word) >= 0)
		return 0;
	return errorf(e,
		      "'%.40s' is not a mode: they are trace, off, count, time, sample, and 1/2 to "
		      "1/65536",
		      word);
}

static int take_modes(void *into, const char *text, struct error *e)
{
	return take_words(&((struct tune *)into)->modes, text, check_mode, e);
}

static int check_class(const char *word, struct error *e)
{
	int channel = channel_find(word);

	if (strcmp(word, ALL_CLASSES) == 0 || (channel >= 0 && channel < CHANNEL_PROGRAMS))
		return 0;
	return errorf(e,
		      "'%.40s' is not a class of operations; they are p2p, wait, collective and "
		      "the like (evspace collect lists them), or all",
		      word);
}

static int take_classes(void *into, const char *text, struct error *e)
{
	return take_words(&((struct tune *)into)->classes, text, check_class, e);
}

static int check_urgency(const char *word, struct error *e)
{
	enum urgency urgency;

	return urgency_parse(word, &urgency, e);
}

static int take_urgencies(void *into, const char *text, struct error *e)
{
	return take_words(&((struct tune *)into)->urgencies, text, check_urgency, e);
}

static int check_window(const char *word, struct error *e)
{
	unsigned window;

	return quantity_count(word, 1, WINDOW_MAX, &window, e);
}

static int take_windows(void *into, const char *text, struct error *e)
{
	return take_words(&((struct tune *)into)->windows, text, check_window, e);
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
	{"classes", "LIST", .take = take_classes,
	 .help = "classes of operations to try in each mode, alone, such as p2p,collective,all "
		 "(default: all together)"},
	{"modes", "LIST", .take = take_modes,
	 .help = "what is collected of them: trace, count, time, sample, 1/8, off (default: "
		 "trace; with --classes count)"},
	{"each", "TIME", OPTION_SPAN, .at = offsetof(struct tune, x.ab_ns),
	 .help = "how long to measure each setting; else 20s"},
	{"block", "TIME", OPTION_SPAN, .at = offsetof(struct tune, x.block_ns),
	 .help = "how long a block is to be, about; else 300ms"},
	{"plot", "FILE", .take = take_plot, .help = "draw it: FILE.svg or FILE.png"},
	{0},
};

const struct usage tune_usage = {
	.help = tune_help,
	.after = tune_more,
	.own = tune_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON | OPTIONS_VIEW | OPTIONS_WAVES,
	.lacks = " from speed rate budget window tree count duration monitored wait ",
	.live = "it measures what looks cost a program that runs",
};

/* ---- settings ---- */

/* The word that @at stands for, of which it is divided by so many; NULL: there is no choice. */
static const char *choose(const struct tune_choices *words, size_t *at)
{
	size_t n = words->n ? words->n : 1, i = *at % n;

	*at /= n;
	return words->n ? words->word[i] : NULL;
}

static struct tune_point plain_setting(const struct tune *t, double rate_hz)
{
	return (struct tune_point){
		.asked_hz = rate_hz,
		.mode = "trace",
		.urgency = (enum urgency)t->said,
		.window = rate_hz > 50 || rate_hz <= 0 ? 16 : 2,
	};
}

/* The setting of that number; rates change fastest. False: these were all. */
static bool setting_of(const struct tune *t, size_t at, struct tune_point *of)
{
	const char *window, *urgency, *mode, *classes;
	struct error e;

	*of = plain_setting(t, t->rates[at % t->n_rates]);
	at /= t->n_rates;
	window = choose(&t->windows, &at);
	urgency = choose(&t->urgencies, &at);
	mode = choose(&t->modes, &at);
	classes = choose(&t->classes, &at);
	of->tree = choose(&t->trees, &at);
	if (mode || classes)
		of->mode = mode ? mode : "count";
	if (classes && strcmp(classes, ALL_CLASSES) != 0)
		of->classes = classes;
	if (window)
		(void)quantity_count(window, 1, WINDOW_MAX, &of->window, &e);
	if (urgency)
		(void)urgency_parse(urgency, &of->urgency, &e);
	return at == 0;
}

size_t tune_count(const struct tune *t)
{
	const struct tune_choices *const all[] = {&t->windows, &t->urgencies, &t->modes,
						  &t->classes, &t->trees};
	size_t n = t->n_rates;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		n *= all[i]->n ? all[i]->n : 1;
	return n;
}

bool tune_is_said(const struct tune *t)
{
	return t->trees.n || t->modes.n || t->classes.n || t->urgencies.n || t->windows.n;
}

static void setting_add(struct tune *t, const struct tune_point *of)
{
	if (t->n_settings < TUNE_POINTS_MAX)
		t->settings[t->n_settings++] = *of;
}

void tune_settle(struct tune *t, unsigned channels)
{
	static const char *const trees[] = {"by-cluster", "flat"};
	struct tune_point of;

	for (size_t at = 0; setting_of(t, at, &of); at++)
		setting_add(t, &of);
	if (tune_is_said(t))
		return;
	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		of = plain_setting(t, t->rates[t->n_rates / 2]);
		of.tree = trees[i];
		setting_add(t, &of);
	}
	for (unsigned i = 0; i < CHANNEL_PROGRAMS; i++) {
		of = plain_setting(t, t->rates[t->n_rates / 2]);
		of.mode = "count";
		of.classes = channel_name(i);
		if (channels >> i & 1)
			setting_add(t, &of);
	}
}

void tune_fini(struct tune *t)
{
	free(t->trees.text);
	free(t->modes.text);
	free(t->classes.text);
	free(t->urgencies.text);
	free(t->windows.text);
}
