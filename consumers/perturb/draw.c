/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads what draws curves, if this was built with cairo. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/preload.h"
#include "consumers/perturb/curve.h"

#define OBJECT "libevspace-draw.so"

typedef const char *curve_drawing(const struct curve *curve, const char *path);

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n > m && strcmp(path + n - m, end) == 0;
}

static void *drawing; /* the object, once it is loaded */

/* It is beside the collector. */
static curve_drawing *drawing_find(struct error *e)
{
	char path[PATH_MAX], library[PATH_MAX];
	curve_drawing *draw = NULL;

	if (preload_library(path, sizeof(path), e) < 0)
		return NULL;
	path[strcspn(path, ":")] = '\0';
	*(strrchr(path, '/') + 1) = '\0';
	snprintf(library, sizeof(library), "%.*s%s", (int)(sizeof(library) - sizeof(OBJECT)), path,
		 OBJECT);
	if (!drawing)
		drawing = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (drawing)
		*(void **)(void *)&draw = dlsym(drawing, "curve_draw");
	if (draw)
		return draw;
	errno = ENOTSUP;
	errorf(e,
	       "nothing can be drawn: this evspace was built without cairo (libcairo2-dev), or "
	       "there is no %.300s; --json says what would be drawn",
	       library);
	return NULL;
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
