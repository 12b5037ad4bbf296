/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads what draws curves, if this was built with cairo. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/module.h"
#include "consumers/perturb/curve.h"

#define OBJECT "libevspace-draw.so"

typedef const char *curve_drawing(const struct curve *curve, const char *path);

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n > m && strcmp(path + n - m, end) == 0;
}

static curve_drawing *drawing_find(struct error *e)
{
	curve_drawing *draw = NULL;

	*(void **)(void *)&draw = module_function(OBJECT, "curve_draw", "cairo (libcairo2-dev)", e);
	if (!draw)
		error_prefix(e, "nothing can be drawn (--json says what would be)");
	return draw;
}

/* Better now than when all has been measured. */
static int path_check(const char *path, struct error *e)
{
	char folder[PATH_MAX] = ".";
	const char *slash = strrchr(path, '/');

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path + 1), path);
	if (access(path, W_OK) == 0 || (errno == ENOENT && access(folder, W_OK) == 0))
		return 0;
	return errorf(e, "cannot write %.200s: %s", path, strerror(errno));
}

int draw_check(const char *path, struct error *e)
{
	if (ends_with(path, ".svg") || ends_with(path, ".png"))
		return path_check(path, e) < 0 || !drawing_find(e) ? -1 : 0;
	errno = EINVAL;
	return errorf(e, "'%.80s' ends in neither .svg nor .png", path);
}

int draw_curve(const struct curve *curve, const char *path, struct error *e)
{
	curve_drawing *draw = drawing_find(e);
	const char *why = draw ? draw(curve, path) : NULL;

	if (!draw || !why)
		return draw ? 0 : -1;
	errno = EIO;
	return errorf(e, "cannot draw %.200s: %s", path, why);
}
