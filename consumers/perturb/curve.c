/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts slowdowns over rates onto a picture. */
#include "consumers/perturb/curve.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 720, HEIGHT = 480, LEFT = 70, RIGHT = 20, TOP = 40, BOTTOM = 55 };

enum { BLACK = 0x000000, GRID = 0xcccccc, OTHERS = 0x999999, MEASURED = 0x1a4db3 };

/* Where what lies on the paper. */
struct axes {
	struct picture *p;
	double low, high; /* decades of the rate */
	double least, most;
};

static double at_x(const struct axes *a, double rate_hz)
{
	double share = (log10(fmax(rate_hz, 1e-3)) - a->low) / (a->high - a->low);

	return LEFT + share * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct axes *a, double slowdown)
{
	double share = (slowdown - a->least) / (a->most - a->least);

	return HEIGHT - BOTTOM - fmin(fmax(share, 0), 1) * (HEIGHT - TOP - BOTTOM);
}

static void text_at(const struct axes *a, double x, double y, const char *text)
{
	picture_text(a->p, (double[]){x, y}, 12, BLACK, text);
}

static void axes_reach(struct axes *a, const struct pareto_point *points, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (points[i].rate_hz <= 0)
			continue;
		a->low = fmin(a->low, floor(log10(points[i].rate_hz)));
		a->high = fmax(a->high, ceil(log10(points[i].rate_hz) + 0.01));
		a->least = fmin(a->least, points[i].slowdown);
		a->most = fmax(a->most, points[i].slowdown);
	}
}

static void axes_draw(const struct axes *a, const char *title)
{
	double step = (a->most - a->least) / 6;
	char text[32];

	for (int i = 0; i <= 6; i++) {
		double y = at_y(a, a->least + i * step);

		picture_line(a->p, (double[]){LEFT, y}, (double[]){WIDTH - RIGHT, y}, 0.5, GRID);
		snprintf(text, sizeof(text), "%.3f", a->least + i * step);
		text_at(a, 20, y + 4, text);
	}
	for (double d = a->low; d <= a->high; d++) {
		double x = at_x(a, pow(10, d));

		picture_line(a->p, (double[]){x, TOP}, (double[]){x, HEIGHT - BOTTOM}, 0.5, GRID);
		snprintf(text, sizeof(text), "%g", pow(10, d));
		text_at(a, x - 8, HEIGHT - BOTTOM + 18, text);
	}
	text_at(a, WIDTH / 2.0 - 60, HEIGHT - 12, "waves a second that came");
	text_at(a, LEFT, 16, title);
	text_at(a, 8, TOP - 10, "slowdown");
}

static void points_draw(const struct axes *a, const struct pareto_point *points, size_t n,
			unsigned colour)
{
	for (size_t i = 0; i < n; i++) {
		const struct pareto_point *p = &points[i];
		double x = at_x(a, p->rate_hz), y = at_y(a, p->slowdown);

		if (isfinite(p->low) && isfinite(p->high))
			picture_line(a->p, (double[]){x, at_y(a, p->low)},
				     (double[]){x, at_y(a, p->high)}, 1, colour);
		picture_dot(a->p, (double[]){x, y}, p->best ? 4 : 2.5, colour);
		picture_text(a->p, (double[]){x + 6, y - 6}, 10, colour, p->label);
	}
}

/* The best one with the least rate above @rate_hz; NULL: none. */
static const struct pareto_point *best_after(const struct curve *curve, double rate_hz)
{
	const struct pareto_point *next = NULL;

	for (size_t i = 0; i < curve->n; i++) {
		const struct pareto_point *p = &curve->points[i];

		if (p->best && p->rate_hz > rate_hz && (!next || p->rate_hz < next->rate_hz))
			next = p;
	}
	return next;
}

static void best_draw(const struct axes *a, const struct curve *curve)
{
	const struct pareto_point *p = best_after(curve, 0), *next;

	for (; p && (next = best_after(curve, p->rate_hz)); p = next)
		picture_line(a->p, (double[]){at_x(a, p->rate_hz), at_y(a, p->slowdown)},
			     (double[]){at_x(a, next->rate_hz), at_y(a, next->slowdown)}, 2,
			     MEASURED);
}

void curve_draw(const struct curve *curve, struct picture *picture)
{
	struct axes a = {.p = picture, .low = 1, .high = 2, .least = 1, .most = 1.1};

	picture->width = WIDTH;
	picture->height = HEIGHT;
	axes_reach(&a, curve->points, curve->n);
	axes_reach(&a, curve->others, curve->n_others);
	axes_draw(&a, curve->title);
	points_draw(&a, curve->others, curve->n_others, OTHERS);
	best_draw(&a, curve);
	points_draw(&a, curve->points, curve->n, MEASURED);
}
