/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace tune: what looking costs a running program in which setting, and draws it. */
#include "consumers/perturb/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/perturb/curve.h"
#include "node-agent/segment/segment-class.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/table.h"

#define EACH_NS	 (UINT64_C(20) * 1000000000)
#define BLOCK_NS UINT64_C(300000000)

/* What the paper has measured (section 6.2). */
static const struct pareto_point paper[] = {
	{.rate_hz = 25, .slowdown = 1.07, .low = 1.07, .high = 1.07, .label = "paper"},
	{.rate_hz = 58, .slowdown = 1.36, .low = 1.36, .high = 1.36, .label = "paper"},
	{.rate_hz = 106, .slowdown = 1.50, .low = 1.50, .high = 1.50, .label = "paper"},
};
#define PAPER (sizeof(paper) / sizeof(paper[0]))

/* ---- measuring ---- */

static void label_add(char *label, size_t room, const char *word)
{
	size_t used = strlen(label);

	snprintf(label + used, room - used, "%s%s", used > 0 ? ", " : "", word);
}

/* Write what was chosen there, and is not as it is elsewhere. */
static void point_label(const struct tune *t, const struct tune_point *of, char *label, size_t room)
{
	char window[32], mode[64];

	snprintf(window, sizeof(window), "%u under way", of->window);
	snprintf(mode, sizeof(mode), "%s%s%s", of->classes ? of->classes : "",
		 of->classes ? " " : "", of->mode);
	label[0] = '\0';
	if (of->tree)
		label_add(label, room, of->tree);
	if (of->classes || t->modes.n || t->classes.n)
		label_add(label, room, mode);
	if (t->urgencies.n)
		label_add(label, room, urgency_word(of->urgency));
	if (t->windows.n)
		label_add(label, room, window);
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
	char rate[32], label[PARETO_LABEL];
	int code;

	t->x.common.look.tree = of->tree;
	t->x.common.look.rate_hz = of->asked_hz;
	t->x.common.look.window = of->window;
	t->x.common.look.urgency = (enum evspace_urgency)of->urgency;
	t->x.common.look.hurry = 0;
	t->x.mode = (enum evspace_mode)segment_mode_find(of->mode);
	t->x.classes = of->classes;
	code = experiment_view(&t->x);
	if (code != EXIT_FINE)
		return of->tree && code == EXIT_USAGE ? EXIT_FINE : code;
	snprintf(rate, sizeof(rate), "%g", of->asked_hz);
	point_label(t, of, label, sizeof(label));
	fprintf(stderr, "evspace tune: %s waves a second%s%s, for %.0f s\n",
		of->asked_hz > 0 ? rate : "as many as can be", label[0] ? ", " : "", label,
		(double)t->x.ab_ns / 1e9);
	code = experiment_run(&t->x);
	if (code == EXIT_FINE)
		point_add(t, of);
	return code;
}

/* Returns EXIT_FINE, or EXIT_USAGE after a message. */
static int tune_check(const struct tune *t)
{
	if (tune_count(t) <= TUNE_POINTS_MAX)
		return EXIT_FINE;
	fprintf(stderr,
		"evspace tune: these are %zu settings, which would take %.0f s; %u at most: try "
		"fewer of a kind\n",
		tune_count(t), (double)tune_count(t) * (double)t->x.ab_ns / 1e9, TUNE_POINTS_MAX);
	return EXIT_USAGE;
}

static int tune_all(struct tune *t)
{
	unsigned channels = 0;
	int code = EXIT_FINE;

	t->said = t->x.common.look.urgency;
	if (!tune_is_said(t))
		channels = experiment_classes(&t->x);
	if (t->x.code != EXIT_FINE)
		return t->x.code;
	tune_settle(t, channels);
	for (size_t i = 0;
	     i < t->n_settings && code == EXIT_FINE && !experiment_stopped && !t->x.ended; i++)
		code = tune_one(t, &t->settings[i]);
	if (t->x.ended)
		fprintf(stderr, "evspace tune: %zu of %zu settings were measured\n", t->n,
			t->n_settings);
	return t->x.ended || experiment_stopped ? EXIT_FINE : code;
}

/* ---- output ---- */

static const char *point_tree(const struct tune_point *of)
{
	return of->tree ? of->tree : "as the map has it";
}

/* "count of p2p" */
static const char *point_mode(const struct tune_point *of, char *buf, size_t room)
{
	snprintf(buf, room, "%s%s%s", of->mode, of->classes ? " of " : "",
		 of->classes ? of->classes : "");
	return buf;
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

		json_print(json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:f,s:f,s:f,s:o,s:o,s:I,s:b}",
				     "type", "point", "tree", point_tree(of), "mode", of->mode,
				     "classes", of->classes ? of->classes : "all", "urgency",
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
	char mode[64];

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
		table_cell(&table, "%s", point_mode(&t->of[i], mode, sizeof(mode)));
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
	if (code < 0 && tune_check(t) != EXIT_FINE)
		code = EXIT_USAGE;
	if (code < 0) {
		code = experiment_open(&t->x);
		if (code == EXIT_FINE)
			code = tune_report(t, tune_all(t));
		experiment_close(&t->x);
	}
	tune_fini(t);
	free(t);
	return code;
}
