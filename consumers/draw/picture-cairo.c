/* SPDX-License-Identifier: BSD-3-Clause */
/* Paints pictures by cairo. An object of its own, which is loaded where one is written: agents and
 * other commands load no library for that. */
#include "consumers/draw/picture.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <string.h>

static void mark_paint(cairo_t *c, const struct mark *m)
{
	cairo_set_source_rgb(c, (m->colour >> 16 & 255) / 255.0, (m->colour >> 8 & 255) / 255.0,
			     (m->colour & 255) / 255.0);
	switch (m->kind) {
	case MARK_LINE:
		cairo_set_line_width(c, m->size);
		cairo_move_to(c, m->x, m->y);
		cairo_line_to(c, m->to_x, m->to_y);
		cairo_stroke(c);
		break;
	case MARK_BAR:
		cairo_rectangle(c, m->x, m->y, m->to_x - m->x, m->to_y - m->y);
		cairo_fill(c);
		break;
	case MARK_DOT:
		cairo_arc(c, m->x, m->y, m->size, 0, 2 * M_PI);
		cairo_fill(c);
		break;
	case MARK_TEXT:
		cairo_set_font_size(c, m->size);
		cairo_move_to(c, m->x, m->y);
		cairo_show_text(c, m->text);
		break;
	}
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
	for (size_t i = 0; i < picture->n; i++)
		mark_paint(c, &picture->marks[i]);
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
