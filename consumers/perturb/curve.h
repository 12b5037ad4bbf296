/* SPDX-License-Identifier: BSD-3-Clause */
/* What is drawn of slowdowns over rates, by an object that is loaded for it (curve.c). */
#ifndef EVSPACE_CURVE_H
#define EVSPACE_CURVE_H

#include <stddef.h>

#include "consumers/budget/pareto.h"
#include "pathmap/base/error.h"

/** Points that were measured, of which the best make the curve, and those of others. */
struct curve {
	const char *title;
	const struct pareto_point *points, *others;
	size_t n, n_others;
};

/** Can @path be drawn: does it end in .svg or .png, may it be written, and is there an object that
 * draws? Returns 0, or -1 with @e. */
int draw_check(const char *path, struct error *e);

/** Draw it. Returns 0, or -1 with @e. */
int draw_curve(const struct curve *curve, const char *path, struct error *e);

#endif
