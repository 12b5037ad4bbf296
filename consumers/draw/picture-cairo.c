/* SPDX-License-Identifier: BSD-3-Clause */
/* Paints pictures by cairo. An object of its own, which is loaded where one is written: agents and
 * other commands load no library for that. */
#include "consumers/draw/picture.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* So many marks that are alike are one path at most: long ones take long to be painted. */
#define PATH_MOST 256u

/* Is @b painted with the same pen as @a? */
static bool is_alike(const struct mark *a, const struct mark *b)
{
	return a->kind == b->kind && (a->kind == MARK_LINE || a->kind == MARK_DOT) &&
	       !(a->size < b->size || a->size > b->size) && a->colour == b->colour;
}

/* In eighths of a point, which nobody sees: shorter to write. */
static double eighths(double place)
{
	return round(place * 8) / 8;
}

/* A dot is where a round pen comes down; a line goes on where the last one has ended. */
static void line_add(cairo_t *c, const struct mark *m, bool first)
{
	bool dot = m->kind == MARK_DOT;
	double x = eighths(m->x), y = eighths(m->y), last_x, last_y;

	cairo_get_current_point(c, &last_x, &last_y);
	if (first || dot || fabs(last_x - x) > 0 || fabs(last_y - y) > 0)
		cairo_move_to(c, x, y);
	cairo_line_to(c, dot ? x : eighths(m->to_x), dot ? y : eighths(m->to_y));
}

/* Paint the first of these @n marks, and those behind it that are alike. Returns how many. */
static size_t marks_paint(cairo_t *c, const struct mark *m, size_t n)
{
	bool dot = m->kind == MARK_DOT;
	size_t k = 0;

	cairo_set_source_rgb(c, (m->colour >> 16 & 255) / 255.0, (m->colour >> 8 & 255) / 255.0,
			     (m->colour & 255) / 255.0);
	switch (m->kind) {
	case MARK_LINE:
	case MARK_DOT:
		cairo_set_line_width(c, dot ? 2 * m->size : m->size);
		cairo_set_line_cap(c, dot ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
		for (; k < n && k < PATH_MOST && (k == 0 || is_alike(m, m + k)); k++)
			line_add(c, m + k, k == 0);
		cairo_stroke(c);
		return k;
	case MARK_BAR:
		cairo_rectangle(c, m->x, m->y, m->to_x - m->x, m->to_y - m->y);
		cairo_fill(c);
		break;
	case MARK_TEXT:
		cairo_set_font_size(c, m->size);
		cairo_move_to(c, m->x, m->y);
		cairo_show_text(c, m->text);
		break;
	}
	return 1;
}

/* What it is loaded for: paint @picture into the file @path; SVG if its name ends so, else PNG.
 * Returns NULL, or why it could not. */
__attribute__((visibility("default"))) const char *picture_paint(const struct picture *picture,
								 const char *path);

const char *picture_paint(const struct picture *picture, const char *path)
{
	size_t n = strlen(path);
	int svg = n > 4 && strcmp(path + n - 4, ".svg") == 0;
	cairo_surface_t *surface =
		svg ? cairo_svg_surface_create(path, picture->width, picture->height)
		    : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)picture->width,
						 (int)picture->height);
	cairo_t *c = cairo_create(surface);
	cairo_status_t status;

	cairo_set_source_rgb(c, 1, 1, 1);
	cairo_paint(c);
	cairo_set_line_join(c, CAIRO_LINE_JOIN_BEVEL);
	for (size_t i = 0; i < picture->n;)
		i += marks_paint(c, &picture->marks[i], picture->n - i);
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
