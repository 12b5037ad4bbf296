/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts an execution onto a picture: the cube on its diagonal, components over states and against
 * each other, entropy over time; of a subset, its cube and entropy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "consumers/phase/space.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

enum { WIDTH = 560, HEIGHT = 420, HEAD = 56, LEFT = 62, RIGHT = 18, TOP = 30, BOTTOM = 40 };

enum { BLACK = 0x000000, GREY = 0x777777, GRID = 0xd8d8d8 };

/* Of runs, as in the paper's figures. */
static const unsigned run_colour[] = {0x1a4db3, 0x1d8a34, 0xc62828, 0x1593a8, 0xb0289c};

/* More processes have no room for their numbers, nor an outline for all its edges. */
#define LABELS	 20u
#define OUTLINES 24u

/* From where the cube is seen, its horizontal radius being 1. */
#define TURN	 0.45
#define TILT	 0.22
#define DISTANCE 5.0

/* One of the pictures, and the range of what is on it. */
struct panel {
	struct picture *p;
	const struct space *s;
	double left, top; /* of its frame */
	double least[2], most[2];
};

static unsigned colour_of(const struct point *point)
{
	return run_colour[(point->run - 1) % (sizeof(run_colour) / sizeof(run_colour[0]))];
}

/* How many points from @from on are of the same run. */
static size_t run_length(const struct space *s, size_t from)
{
	size_t to = from;

	while (to < s->n && s->points[to].run == s->points[from].run)
		to++;
	return to - from;
}

/* Of a dot: later ones are larger, in steps, as dots that are alike take less room. */
static double radius_of(const struct point *point, const struct point *last)
{
	return (7 + floor(18.0 * (double)point->number / (double)last->number)) / 10;
}

/* ---- the cube on its diagonal ---- */

struct cube {
	struct panel *panel;
	unsigned processes;
	struct axes_point middle;
	double radius, height; /* from the middle */
};

static struct cube cube_of(struct panel *panel, unsigned processes)
{
	const struct space *s = panel->s;
	double reach = s->blocks > 1 ? s->blocks - 1 : 1;
	struct axes_point half = {0, 0, 0}, all = {0, 0, 0};

	for (unsigned i = 0; i < processes; i++) {
		all = axes_add(all, axes_unit(i, processes), 1);
		if (i < (processes + 1) / 2)
			half = axes_add(half, axes_unit(i, processes), 1);
	}
	return (struct cube){
		.panel = panel,
		.processes = processes,
		.middle = {0, 0, all.z * (s->base + (s->blocks - 1) / 2.0)},
		.radius = hypot(half.x, half.y) * reach,
		.height = all.z * reach / 2,
	};
}

/* Where @at is on the paper. */
static void cube_place(const struct cube *c, struct axes_point at, double place[2])
{
	double x = (at.x - c->middle.x) / c->radius, y = (at.y - c->middle.y) / c->radius;
	double z = (at.z - c->middle.z) / c->height;
	double across = x * cos(TURN) - y * sin(TURN), deep = x * sin(TURN) + y * cos(TURN);
	double up = z * cos(TILT) - deep * sin(TILT);
	double nearer = DISTANCE / (DISTANCE + deep * cos(TILT) + z * sin(TILT));

	place[0] = c->panel->left + WIDTH / 2.0 + across * nearer * WIDTH * 0.30;
	place[1] = c->panel->top + TOP + (HEIGHT - TOP) / 2.0 - up * nearer * HEIGHT * 0.38;
}

/* Along edges from the state with all in the first block to that with all in the last: the axes of
 * process @first and those after it in the direction @step, one after the other. */
static void cube_edge(const struct cube *c, unsigned first, int step)
{
	const struct space *s = c->panel->s;
	unsigned n = c->processes, stride = (n + OUTLINES - 1) / OUTLINES, k = 0;
	struct axes_point at = {0, 0, c->middle.z - c->height};
	double from[2], to[2];

	while (k < n) {
		cube_place(c, at, from);
		for (unsigned i = 0; i < stride && k < n; i++, k++)
			at = axes_add(at, axes_unit((first + n + (unsigned)((int)k * step)) % n, n),
				      s->blocks - 1);
		cube_place(c, at, to);
		picture_line(c->panel->p, from, to, 0.5, GRID);
	}
}

/* The numbers of processes at their axes, and of blocks at both ends of the diagonal. */
static void cube_labels(const struct cube *c, const bool *in)
{
	const struct space *s = c->panel->s;
	struct axes_point end = c->middle, start = c->middle;
	double place[2];
	char text[48];

	start.z -= c->height;
	end.z += c->height;
	for (unsigned i = 0, k = 0; i < s->processes && c->processes <= LABELS; i++) {
		if (in && !in[i])
			continue;
		cube_place(c, axes_add(start, axes_unit(k++, c->processes), s->blocks * 1.02 - 1),
			   place);
		snprintf(text, sizeof(text), "%u", i);
		picture_text(c->panel->p, place, 9, GREY, text);
	}
	cube_place(c, start, place);
	snprintf(text, sizeof(text), "all in block %u", s->base);
	picture_text(c->panel->p, (double[]){place[0] + 8, place[1] + 10}, 10, GREY, text);
	cube_place(c, end, place);
	snprintf(text, sizeof(text), "all in block %u", s->base + s->blocks - 1);
	picture_text(c->panel->p, (double[]){place[0] + 8, place[1] - 4}, 10, GREY, text);
}

static struct axes_point at_of(const struct point *point, bool subset)
{
	return subset ? point->subset_at : point->at;
}

static void cube_draw(struct panel *panel, bool subset)
{
	const struct space *s = panel->s;
	struct cube c = cube_of(panel, subset ? s->n_subset : s->processes);
	unsigned stride = (c.processes + OUTLINES - 1) / OUTLINES;
	double low[2], high[2];

	for (unsigned i = 0; i < c.processes; i += stride) {
		cube_edge(&c, i, 1);
		cube_edge(&c, i, -1);
	}
	cube_place(&c, (struct axes_point){0, 0, c.middle.z - c.height}, low);
	cube_place(&c, (struct axes_point){0, 0, c.middle.z + c.height}, high);
	picture_line(panel->p, low, high, 0.7, GREY);
	cube_labels(&c, subset ? s->in_subset : NULL);
	for (size_t i = 0, n; i < s->n; i += n) {
		n = run_length(s, i);
		for (size_t k = i; k < i + n; k++) {
			double place[2];

			cube_place(&c, at_of(&s->points[k], subset), place);
			picture_dot(panel->p, place,
				    radius_of(&s->points[k], &s->points[i + n - 1]),
				    colour_of(&s->points[k]));
		}
	}
}

/* ---- figures over each other ---- */

/* What is shown of a point, from left to right and upwards. */
typedef void point_figures(const struct point *point, double figure[2]);

static void component_over_states(const struct point *point, double figure[2])
{
	figure[0] = (double)point->number;
	figure[1] = point->score[0];
}

static void components(const struct point *point, double figure[2])
{
	figure[0] = point->score[0];
	figure[1] = point->score[1];
}

static void entropy_over_time(const struct point *point, double figure[2])
{
	figure[0] = point->time;
	figure[1] = point->entropy;
}

static void subset_over_time(const struct point *point, double figure[2])
{
	figure[0] = point->time;
	figure[1] = point->subset_entropy;
}

static void panel_place(const struct panel *l, const double figure[2], double place[2])
{
	place[0] = l->left + LEFT +
		   (figure[0] - l->least[0]) / (l->most[0] - l->least[0]) * (WIDTH - LEFT - RIGHT);
	place[1] = l->top + HEIGHT - BOTTOM -
		   (figure[1] - l->least[1]) / (l->most[1] - l->least[1]) * (HEIGHT - TOP - BOTTOM);
}

static void panel_reach(struct panel *l, point_figures *of)
{
	double figure[2];

	for (size_t i = 0; i < l->s->n; i++) {
		of(&l->s->points[i], figure);
		for (int k = 0; k < 2; k++) {
			l->least[k] = i ? fmin(l->least[k], figure[k]) : figure[k];
			l->most[k] = i ? fmax(l->most[k], figure[k]) : figure[k];
		}
	}
	for (int k = 0; k < 2; k++)
		if (!(l->most[k] - l->least[k] > 1e-9 * fabs(l->most[k])))
			l->most[k] = l->least[k] + fmax(1, 1e-6 * fabs(l->least[k]));
}

/* A step of 1, 2 or 5 times a power of ten: some five of them are @range. */
static double step_of(double range)
{
	double power = pow(10, floor(log10(range / 5))), part = range / 5 / power;

	return power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
}

static void panel_grid(const struct panel *l)
{
	const double *least = l->least, *most = l->most;
	char text[32];

	for (int k = 0; k < 2; k++) {
		double step = step_of(most[k] - least[k]), value = ceil(least[k] / step) * step;

		for (; value <= most[k] + 1e-9 * step; value += step) {
			double low[2] = {least[0], least[1]}, high[2] = {most[0], most[1]};
			double from[2], to[2];

			low[k] = high[k] = value;
			panel_place(l, low, from);
			panel_place(l, high, to);
			picture_line(l->p, from, to, 0.5, GRID);
			snprintf(text, sizeof(text), "%.6g", fabs(value) < step / 2 ? 0 : value);
			picture_text(l->p,
				     (double[]){k ? l->left + 12 : from[0] - 8,
						k ? from[1] + 4 : from[1] + 16},
				     10, GREY, text);
		}
	}
}

static void panel_dots(const struct panel *l, point_figures *of, size_t from, size_t n)
{
	const struct point *points = l->s->points + from;
	double figure[2], place[2];

	for (size_t i = 0; i < n; i++) {
		of(&points[i], figure);
		panel_place(l, figure, place);
		picture_dot(l->p, place, radius_of(&points[i], &points[n - 1]),
			    colour_of(&points[i]));
	}
}

/* A state lasts until the next one. */
static void panel_line(const struct panel *l, point_figures *of, size_t from, size_t n)
{
	const struct point *points = l->s->points + from;
	double figure[2], place[2], last[2];

	for (size_t i = 0; i < n; i++) {
		of(&points[i], figure);
		panel_place(l, figure, place);
		if (i > 0) {
			double corner[2] = {place[0], last[1]};

			picture_line(l->p, last, corner, 0.8, colour_of(&points[i]));
			picture_line(l->p, corner, place, 0.8, colour_of(&points[i]));
		}
		last[0] = place[0];
		last[1] = place[1];
	}
}

static void panel_draw(struct panel *l, point_figures *of, const char *across,
		       void (*draw)(const struct panel *, point_figures *, size_t, size_t))
{
	panel_reach(l, of);
	panel_grid(l);
	picture_text(l->p, (double[]){l->left + WIDTH / 2.0 - 40, l->top + HEIGHT - 6}, 11, GREY,
		     across);
	for (size_t i = 0, n; i < l->s->n; i += n) {
		n = run_length(l->s, i);
		draw(l, of, i, n);
	}
}

/* ---- the whole ---- */

/* The @number-th panel, with its title. */
static struct panel panel_at(const struct space *s, struct picture *p, unsigned number,
			     const char *title)
{
	struct panel l = {.p = p,
			  .s = s,
			  .left = number % 2 * (double)WIDTH,
			  .top = HEAD + number / 2 * (double)HEIGHT};

	picture_text(p, (double[]){l.left + LEFT, l.top + 16}, 12, BLACK, title);
	return l;
}

static void components_draw(const struct space *s, struct picture *p)
{
	struct panel l;
	char text[96];

	if (s->n_components == 0) {
		panel_at(s, p, 1, "no components: this evspace was built without LAPACKE");
		return;
	}
	snprintf(text, sizeof(text), "component 1 over states: %.3g%% of the variance",
		 100 * s->explained[0]);
	l = panel_at(s, p, 1, text);
	panel_draw(&l, component_over_states, "state of the run", panel_line);
	if (s->n_components < 2)
		return;
	snprintf(text, sizeof(text), "component 2 over component 1: %.3g%% of the variance",
		 100 * (s->explained[0] + s->explained[1]));
	l = panel_at(s, p, 2, text);
	panel_draw(&l, components, "component 1", panel_dots);
}

/* What it is of. */
static void title_draw(const struct space *s, struct picture *p)
{
	char each[64] = "", *text;

	if (s->each > 1)
		snprintf(each, sizeof(each), ", one in %llu is shown", (unsigned long long)s->each);
	text = memory_format("%s: %llu states of %u process%s, %llu run%s%s", s->name,
			     (unsigned long long)s->states, s->processes,
			     plural(s->processes, "es"), (unsigned long long)s->runs,
			     plural(s->runs, "s"), each);
	picture_text(p, (double[]){LEFT, 28}, 15, BLACK, text);
	free(text);
}

void space_draw(const struct space *s, struct picture *picture)
{
	struct panel l;

	picture->width = 2 * WIDTH;
	picture->height = HEAD + (s->n_subset > 0 ? 3 : 2) * HEIGHT;
	title_draw(s, picture);
	l = panel_at(s, picture, 0, "states: blocks of all processes; along the line, all alike");
	cube_draw(&l, false);
	components_draw(s, picture);
	l = panel_at(s, picture, 3,
		     "entropy over time: bits, of how processes are spread over blocks");
	panel_draw(&l, entropy_over_time, "time", panel_line);
	if (s->n_subset == 0)
		return;
	l = panel_at(s, picture, 4, "states of the subset");
	cube_draw(&l, true);
	l = panel_at(s, picture, 5, "entropy of the subset over time: bits");
	panel_draw(&l, subset_over_time, "time", panel_line);
}
