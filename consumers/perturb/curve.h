/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture of slowdowns over rates. Pure. */
#ifndef EVSPACE_CURVE_H
#define EVSPACE_CURVE_H

#include <stddef.h>

#include "consumers/budget/pareto.h"
#include "consumers/draw/picture.h"

/** Points that were measured, of which the best make the curve, and those of others. */
struct curve {
	const char *title;
	const struct pareto_point *points, *others;
	size_t n, n_others;
};

/** Put it onto the empty @picture: rate to the right, in decades; slowdown upwards. */
void curve_draw(const struct curve *curve, struct picture *picture);

#endif
