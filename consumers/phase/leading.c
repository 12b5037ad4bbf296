/* SPDX-License-Identifier: BSD-3-Clause */
/* Block Lanczos with full orthogonalisation (Golub, Underwood 1977): the matrix is multiplied with
 * a few vectors at a time, and solved as far as they span. A block finds eigenvalues that are
 * equal. */
#include "consumers/phase/leading.h"

#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/phase/vectors.h"

#define BLOCK  4u
#define MOST   480u /* vectors that are spanned */
#define LOOK   4u   /* blocks, then it is looked whether that is enough */
#define EXACT  1e-7 /* a value is as exact as the square of that, by its distance from others */
#define SEED   UINT64_C(0x9e3779b97f4a7c15)
#define VALUES 8u
#define ABSENT 1e-13 /* a part that is smaller is none */

struct leading {
	const double *matrix;
	size_t n;
	uint64_t seed;
	unsigned spanned; /* vectors of the basis that were multiplied; BLOCK more are there */
	double *basis;	  /* orthonormal */
	double *image;	  /* of the last block */
	double *projected, *copy;  /* the matrix between spanned vectors, MOST * MOST; for LAPACK */
	double rest[BLOCK][BLOCK]; /* of the image of the last spanned block, in the next one */
	double value[MOST], *solved; /* and vectors within the basis */
};

/* ---- vectors ---- */

VECTORS static void add_times(double *restrict to, const double *restrict from, double by, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += by * from[i];
}

static double product(const double *a, const double *b, size_t n)
{
	double sum[4] = {0};
	size_t i = 0;

	for (; i + 4 <= n; i += 4)
		for (unsigned k = 0; k < 4; k++)
			sum[k] += a[i + k] * b[i + k];
	for (; i < n; i++)
		sum[0] += a[i] * b[i];
	return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Row by row, which are columns. */
VECTORS static void block_multiply(const double *restrict matrix, size_t n,
				   const double *restrict x, double *restrict y)
{
	for (size_t row = 0; row < n; row++) {
		const double *restrict a = matrix + row * n;
		double x0 = x[row], x1 = x[n + row], x2 = x[2 * n + row], x3 = x[3 * n + row];

		for (size_t i = 0; i < n; i++) {
			y[i] += x0 * a[i];
			y[n + i] += x1 * a[i];
			y[2 * n + i] += x2 * a[i];
			y[3 * n + i] += x3 * a[i];
		}
	}
}

/* ---- the basis ---- */

static double *basis_at(const struct leading *l, unsigned k)
{
	return l->basis + k * l->n;
}

/* Take from @v what is along the first @k vectors; twice, as the first time is not exact. */
static void v_free(const struct leading *l, double *v, unsigned k)
{
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < k; i++)
			add_times(v, basis_at(l, i), -product(basis_at(l, i), v, l->n), l->n);
}

static void random_make(struct leading *l, double *v)
{
	for (size_t i = 0; i < l->n; i++) {
		l->seed = l->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		v[i] = (double)(int64_t)l->seed;
	}
}

/* Vector @k of the basis is @v, which is free of those before, or any if it is too short to have a
 * direction. Returns its length, or 0. */
static double basis_set(struct leading *l, unsigned k, const double *v, double least)
{
	double *to = basis_at(l, k), length = v ? sqrt(product(v, v, l->n)) : 0, all;
	bool absent = !(length > least);

	if (absent)
		random_make(l, to);
	else
		memcpy(to, v, l->n * sizeof(*to));
	all = 1 / sqrt(product(to, to, l->n));
	for (size_t i = 0; i < l->n; i++)
		to[i] *= all;
	if (!absent)
		return length;
	v_free(l, to, k);
	all = 1 / sqrt(product(to, to, l->n));
	for (size_t i = 0; i < l->n; i++)
		to[i] *= all;
	return 0;
}

static double projected_most(const struct leading *l)
{
	double most = 0;

	for (unsigned i = 0; i < l->spanned; i++)
		most = fmax(most, fabs(l->projected[(size_t)i * MOST + i]));
	return most;
}

/* Multiply the last block, note what it has along the basis, and make the next one of the rest. */
static void block_step(struct leading *l)
{
	unsigned begin = l->spanned, end = begin + BLOCK;

	memset(l->image, 0, BLOCK * l->n * sizeof(*l->image));
	block_multiply(l->matrix, l->n, basis_at(l, begin), l->image);
	for (unsigned c = 0; c < BLOCK; c++) {
		for (unsigned i = 0; i < end; i++) {
			double p = product(basis_at(l, i), l->image + c * l->n, l->n);

			l->projected[(size_t)i * MOST + begin + c] = p;
			l->projected[(size_t)(begin + c) * MOST + i] = p;
		}
	}
	l->spanned = end;
	memset(l->rest, 0, sizeof(l->rest));
	for (unsigned c = 0; c < BLOCK; c++) {
		double *v = l->image + c * l->n;

		v_free(l, v, end);
		for (unsigned pass = 0; pass < 2; pass++) {
			for (unsigned d = 0; d < c; d++) {
				double p = product(basis_at(l, end + d), v, l->n);

				l->rest[d][c] += p;
				add_times(v, basis_at(l, end + d), -p, l->n);
			}
		}
		l->rest[c][c] = basis_set(l, end + c, v, ABSENT * projected_most(l));
	}
}

/* ---- what is found ---- */

/* How far is the matrix times the vector @s, within the basis, from being along it? */
static double residual(const struct leading *l, const double *s)
{
	double squares = 0;

	for (unsigned d = 0; d < BLOCK; d++) {
		double sum = 0;

		for (unsigned c = d; c < BLOCK; c++)
			sum += l->rest[d][c] * s[l->spanned - BLOCK + c];
		squares += sum * sum;
	}
	return sqrt(squares);
}

/* Returns 1: they are known, 0: not yet, -1: LAPACK fails. */
static int values_look(struct leading *l, unsigned wanted)
{
	lapack_int k = (lapack_int)l->spanned, found = 0, support[2 * VALUES];

	memcpy(l->copy, l->projected, (size_t)MOST * MOST * sizeof(*l->copy));
	if (LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'U', k, l->copy, MOST, 0, 0,
			   k - (lapack_int)wanted + 1, k, 0, &found, l->value, l->solved, MOST,
			   support) ||
	    found < (lapack_int)wanted)
		return -1;
	for (unsigned i = 0; i < wanted; i++)
		if (residual(l, l->solved + (size_t)i * MOST) > EXACT * fabs(l->value[wanted - 1]))
			return 0;
	return 1;
}

static int values_find(struct leading *l, unsigned wanted)
{
	int known = 0;

	for (unsigned c = 0; c < BLOCK; c++)
		basis_set(l, c, NULL, 0);
	for (unsigned step = 1; known == 0 && l->spanned + BLOCK <= MOST; step++) {
		block_step(l);
		if (step % LOOK == 0)
			known = values_look(l, wanted);
	}
	return known;
}

static void found_write(const struct leading *l, unsigned wanted, double *value, double *vector)
{
	for (unsigned k = 0; k < wanted; k++) {
		const double *s = l->solved + (size_t)(wanted - 1 - k) * MOST;
		double *to = vector + k * l->n;

		value[k] = l->value[wanted - 1 - k];
		memset(to, 0, l->n * sizeof(*to));
		for (unsigned i = 0; i < l->spanned; i++)
			add_times(to, basis_at(l, i), s[i], l->n);
	}
}

const char *leading_find(const double *matrix, unsigned n, unsigned wanted, double *value,
			 double *vector)
{
	struct leading l = {.matrix = matrix, .n = n, .seed = SEED};
	const char *why = "there is not enough memory for its components";
	int known;

	l.basis = malloc((size_t)(MOST + BLOCK) * n * sizeof(*l.basis));
	l.image = malloc((size_t)BLOCK * n * sizeof(*l.image));
	l.projected = calloc((size_t)MOST * MOST, sizeof(*l.projected));
	l.copy = malloc((size_t)MOST * MOST * sizeof(*l.copy));
	l.solved = malloc((size_t)MOST * VALUES * sizeof(*l.solved));
	if (l.basis && l.image && l.projected && l.copy && l.solved) {
		known = values_find(&l, wanted);
		why = known > 0 ? NULL : "its components are too close to each other to be found";
		if (!why)
			found_write(&l, wanted, value, vector);
	}
	free(l.basis);
	free(l.image);
	free(l.projected);
	free(l.copy);
	free(l.solved);
	return why;
}
