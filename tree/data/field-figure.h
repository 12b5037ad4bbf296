/* SPDX-License-Identifier: BSD-3-Clause */
/* A figure: what the values of one field of typed tuples come to; merges in any order. */
#ifndef EVSPACE_FIELD_FIGURE_H
#define EVSPACE_FIELD_FIGURE_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/fields.h"

/** Figures of a field of many tuples of the element, or group, that the run is named after. Values
 * are as exact as doubles. The layout is that on the wire. */
struct field_figure {
	uint64_t count; /* values */
	double min, max;
	double mean, m2; /* m2: sum of squared differences from the mean */
	uint8_t fold;	 /* enum total_fold: the one that was asked for */
	uint8_t pad[7];
	char field[FIELDS_NAME];
};

/** For struct run_record: numbers, and then bytes. */
#define FIELD_FIGURE_WIDTHS \
	"88888"             \
	"1111111111111111111111111111111111111111"

_Static_assert(sizeof(struct field_figure) == 80, "a figure is 80 bytes");

/** Add a value, which is a number, to @f (zeroed at first, but for its field and fold). */
void field_figure_add(struct field_figure *f, double value);

/** A number for its field's name. */
uint64_t field_figure_key(const struct field_figure *f);

/** For struct run_record. Both are of the same field. */
void field_figure_merge(void *into, const void *of);
bool field_figure_sound(const void *record);

#endif
