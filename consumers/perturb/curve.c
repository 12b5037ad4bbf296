/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws a curve by cairo: rate to the right, in decades; slowdown upwards. An object of its own,
 * which is loaded where something is drawn: agents and other commands load no library for that.
 */
#include "consumers/perturb/curve.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 720, HEIGHT = 480, LEFT = 70, RIGHT = 20, TOP = 40, BOTTOM = 55 };

/* Where what lies on the paper. */
struct axes {
	cairo_t *c;
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

static void text_at(cairo_t *c, double x, double y, const char *text)
{
	cairo_move_to(c, x, y);
	cairo_show_text(c, text);
}

static void line(cairo_t *c, double x, double y, double to_x, double to_y)
{
	cairo_move_to(c, x, y);
	cairo_line_to(c, to_x, to_y);
	cairo_stroke(c);
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

	cairo_set_source_rgb(a->c, 0.8, 0.8, 0.8);
	cairo_set_line_width(a->c, 0.5);
	for (int i = 0; i <= 6; i++)
		line(a->c, LEFT, at_y(a, a->least + i * step), WIDTH - RIGHT,
		     at_y(a, a->least + i * step));
	for (double d = a->low; d <= a->high; d++)
		line(a->c, at_x(a, pow(10, d)), TOP, at_x(a, pow(10, d)), HEIGHT - BOTTOM);
	cairo_set_source_rgb(a->c, 0, 0, 0);
	cairo_set_font_size(a->c, 12);
	for (int i = 0; i <= 6; i++) {
		snprintf(text, sizeof(text), "%.3f", a->least + i * step);
		text_at(a->c, 20, at_y(a, a->least + i * step) + 4, text);
	}
	for (double d = a->low; d <= a->high; d++) {
		snprintf(text, sizeof(text), "%g", pow(10, d));
		text_at(a->c, at_x(a, pow(10, d)) - 8, HEIGHT - BOTTOM + 18, text);
	}
	text_at(a->c, WIDTH / 2.0 - 60, HEIGHT - 12, "waves a second that came");
	text_at(a->c, LEFT, 16, title);
	text_at(a->c, 8, TOP - 10, "slowdown");
}

static void points_draw(const struct axes *a, const struct pareto_point *points, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct pareto_point *p = &points[i];
		double x = at_x(a, p->rate_hz), y = at_y(a, p->slowdown);

		cairo_set_line_width(a->c, 1);
		if (isfinite(p->low) && isfinite(p->high))
			line(a->c, x, at_y(a, p->low), x, at_y(a, p->high));
		cairo_arc(a->c, x, y, p->best ? 4 : 2.5, 0, 2 * M_PI);
		cairo_fill(a->c);
		text_at(a->c, x + 6, y - 6, p->label);
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
	const struct pareto_point *p = best_after(curve, 0);

	cairo_set_line_width(a->c, 2);
	cairo_new_path(a->c);
	for (; p; p = best_after(curve, p->rate_hz))
		cairo_line_to(a->c, at_x(a, p->rate_hz), at_y(a, p->slowdown));
	cairo_stroke(a->c);
}

static void curve_paint(const struct curve *curve, cairo_t *c)
{
	struct axes a = {.c = c, .low = 1, .high = 2, .least = 1, .most = 1.1};

	axes_reach(&a, curve->points, curve->n);
	axes_reach(&a, curve->others, curve->n_others);
	cairo_set_source_rgb(c, 1, 1, 1);
	cairo_paint(c);
	axes_draw(&a, curve->title);
	cairo_set_font_size(c, 10);
	cairo_set_source_rgb(c, 0.6, 0.6, 0.6);
	points_draw(&a, curve->others, curve->n_others);
	cairo_set_source_rgb(c, 0.1, 0.3, 0.7);
	best_draw(&a, curve);
	points_draw(&a, curve->points, curve->n);
}

/* What it is loaded for: draw @curve into the file @path, which it replaces; SVG if its name ends
 * so, else PNG. Returns NULL, or why it could not. */
__attribute__((visibility("default"))) const char *curve_draw(const struct curve *curve,
							      const char *path);

const char *curve_draw(const struct curve *curve, const char *path)
{
	size_t n = strlen(path);
	int svg = n > 4 && strcmp(path + n - 4, ".svg") == 0;
	cairo_surface_t *surface =
		svg ? cairo_svg_surface_create(path, WIDTH, HEIGHT)
		    : cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
	cairo_t *c = cairo_create(surface);
	cairo_status_t status;

	curve_paint(curve, c);
	status = cairo_status(c);
	cairo_destroy(c);
	cairo_surface_flush(surface);
	if (!svg && status == CAIRO_STATUS_SUCCESS)
		status = cairo_surface_write_to_png(surface, path);
	cairo_surface_finish(surface);
	if (status == CAIRO_STATUS_SUCCESS)
		status = cairo_surface_status(surface);
	cairo_surface_destroy(surface);
	return status == CAIRO_STATUS_SUCCESS ? NULL : cairo_status_to_string(status);
}
