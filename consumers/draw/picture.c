/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects marks, and loads what paints them, if this was built with cairo. */
#include "consumers/draw/picture.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/module.h"
#include "pathmap/base/memory.h"

#define OBJECT "libevspace-draw.so"

typedef const char *picture_painting(const struct picture *picture, const char *path);

/* ---- marks ---- */

static void mark_add(struct picture *p, struct mark mark)
{
	p->marks = memory_room(p->marks, p->n, sizeof(*p->marks));
	p->marks[p->n++] = mark;
}

void picture_line(struct picture *p, const double from[2], const double to[2], double width,
		  unsigned colour)
{
	mark_add(p, (struct mark){.kind = MARK_LINE,
				  .x = from[0],
				  .y = from[1],
				  .to_x = to[0],
				  .to_y = to[1],
				  .size = width,
				  .colour = colour});
}

void picture_bar(struct picture *p, const double corner[2], const double other[2], unsigned colour)
{
	mark_add(p, (struct mark){.kind = MARK_BAR,
				  .x = corner[0],
				  .y = corner[1],
				  .to_x = other[0],
				  .to_y = other[1],
				  .colour = colour});
}

void picture_dot(struct picture *p, const double at[2], double radius, unsigned colour)
{
	mark_add(p, (struct mark){.kind = MARK_DOT,
				  .x = at[0],
				  .y = at[1],
				  .size = radius,
				  .colour = colour});
}

void picture_text(struct picture *p, const double at[2], double height, unsigned colour,
		  const char *text)
{
	mark_add(p, (struct mark){.kind = MARK_TEXT,
				  .x = at[0],
				  .y = at[1],
				  .size = height,
				  .colour = colour,
				  .text = memory_copy(text)});
}

void picture_fini(struct picture *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->marks[i].text);
	free(p->marks);
	p->marks = NULL;
	p->n = 0;
}

/* ---- files ---- */

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n > m && strcmp(path + n - m, end) == 0;
}

static picture_painting *painting_find(struct error *e)
{
	picture_painting *paint = NULL;

	*(void **)(void *)&paint =
		module_function(OBJECT, "picture_paint", "cairo (libcairo2-dev)", e);
	if (!paint)
		error_prefix(e, "nothing can be drawn (--json says what would be)");
	return paint;
}

int picture_place(const char *path, struct error *e)
{
	char folder[PATH_MAX] = ".";
	const char *slash = strrchr(path, '/');

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path + 1), path);
	if (access(path, W_OK) == 0 || (errno == ENOENT && access(folder, W_OK) == 0))
		return 0;
	return errorf(e, "cannot write %.200s: %s", path, strerror(errno));
}

int picture_check(const char *path, struct error *e)
{
	if (ends_with(path, ".svg") || ends_with(path, ".png"))
		return picture_place(path, e) < 0 || !painting_find(e) ? -1 : 0;
	errno = EINVAL;
	return errorf(e, "'%.80s' ends in neither .svg nor .png", path);
}

int picture_write(const struct picture *p, const char *path, struct error *e)
{
	picture_painting *paint = painting_find(e);
	const char *why = paint ? paint(p, path) : NULL;

	if (!paint || !why)
		return paint ? 0 : -1;
	errno = EIO;
	return errorf(e, "cannot draw %.200s: %s", path, why);
}
