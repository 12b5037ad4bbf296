/* SPDX-License-Identifier: BSD-3-Clause */
/* The phase space of P processes in three dimensions: a cube that stands on its diagonal (Gomez,
 * Cai, Schubert 2016, section 3.3). Pure. */
#ifndef EVSPACE_AXES_H
#define EVSPACE_AXES_H

#include <stdint.h>

/** A point, or a direction; z is up. */
struct axes_point {
	double x, y, z;
};

/**
 * The unit vector of the axis of @process of @processes: as the paper has it, at an angle of pi/3
 * with the horizontal plane, 2 pi / P after the one before; that of process 0 is above x.
 */
struct axes_point axes_unit(unsigned process, unsigned processes);

/** Where a process in block @value moves @point: that many unit vectors of its axis further. */
static inline struct axes_point axes_add(struct axes_point point, struct axes_point unit,
					 double value)
{
	return (struct axes_point){point.x + unit.x * value, point.y + unit.y * value,
				   point.z + unit.z * value};
}

#endif
