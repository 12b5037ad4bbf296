/* SPDX-License-Identifier: BSD-3-Clause */
/* Student's t distribution, as a finite sum. */
#include "consumers/analysis/student.h"

#include <math.h>

double student_beyond(double t, unsigned freedom)
{
	double theta = atan(fabs(t) / sqrt(freedom)), c = cos(theta), within = 0;
	double term = freedom % 2 ? c : 1;

	for (unsigned i = freedom % 2 ? 3 : 2; i <= freedom; i += 2) {
		within += term;
		term *= c * c * (i - 1) / i;
	}
	within *= sin(theta);
	if (freedom % 2)
		within = M_2_PI * (theta + within);
	return fmax(0, 1 - within);
}

double student_unlike(double value, double mean, double squares, unsigned n)
{
	double spread = sqrt(squares / (n - 1) * (1 + 1.0 / n)), away = fabs(value - mean);

	return away > 0 ? student_beyond(away / spread, n - 1) : 1;
}
