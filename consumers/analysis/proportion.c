/* SPDX-License-Identifier: BSD-3-Clause */
/* Wilson's interval of a binomial proportion. */
#include "consumers/analysis/proportion.h"

#include <math.h>

double proportion_deviations(double confidence)
{
	double low = 0, high = 38; /* erfc() is 0 there */

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (erfc(middle / sqrt(2)) > 1 - confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}

struct proportion proportion_of(uint64_t times, uint64_t n, double z)
{
	double count = (double)n, share, middle, half;

	if (n == 0)
		return (struct proportion){0, 0, 1};
	share = (double)times / count;
	middle = (share + z * z / (2 * count)) / (1 + z * z / count);
	half = z / (1 + z * z / count) *
	       sqrt(share * (1 - share) / count + z * z / (4 * count * count));
	return (struct proportion){share, times ? fmax(middle - half, 0) : 0,
				   times < n ? fmin(middle + half, 1) : 1};
}
