/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit vectors of phase space. */
#include "consumers/phase/axes.h"

#include <math.h>

struct axes_point axes_unit(unsigned process, unsigned processes)
{
	double around = 2 * M_PI * process / processes;

	return (struct axes_point){cos(M_PI / 3) * cos(around), cos(M_PI / 3) * sin(around),
				   sin(M_PI / 3)};
}
