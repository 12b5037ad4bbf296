/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures: marks on paper, in points (1/72 inch) from its upper left corner, written as SVG or
 * PNG. */
#ifndef EVSPACE_PICTURE_H
#define EVSPACE_PICTURE_H

#include <stddef.h>

#include "pathmap/base/error.h"

enum mark_kind {
	MARK_LINE, /* from (x, y) to (to_x, to_y) */
	MARK_BAR,  /* filled, with these corners */
	MARK_DOT,  /* filled, with its middle at (x, y) */
	MARK_TEXT, /* from (x, y), its base line */
};

/** One mark. Later ones lie on earlier ones. */
struct mark {
	enum mark_kind kind;
	double x, y, to_x, to_y;
	double size;	 /* width of a line, radius of a dot, height of letters */
	unsigned colour; /* 0xrrggbb */
	char *text;	 /* of a text; UTF-8 */
};

/** Plain data; zeroed but for its size: white paper. */
struct picture {
	double width, height;
	struct mark *marks;
	size_t n;
};

/** Add a mark in @colour. */
void picture_line(struct picture *p, const double from[2], const double to[2], double width,
		  unsigned colour);
void picture_bar(struct picture *p, const double corner[2], const double other[2], unsigned colour);
void picture_dot(struct picture *p, const double at[2], double radius, unsigned colour);
void picture_text(struct picture *p, const double at[2], double height, unsigned colour,
		  const char *text);

/** Forget all marks. */
void picture_fini(struct picture *p);

/** Can @path be written: does it end in .svg or .png, is its folder there, and is there an object
 * that paints? Returns 0, or -1 with @e. */
int picture_check(const char *path, struct error *e);

/** Is there a place for the file @path? Better asked now than when all has been measured. Returns
 * 0, or -1 with @e. */
int picture_place(const char *path, struct error *e);

/** Write it, in the place of what is there. Returns 0, or -1 with @e. */
int picture_write(const struct picture *p, const char *path, struct error *e);

#endif
