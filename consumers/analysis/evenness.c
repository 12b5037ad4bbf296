/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the first three moments of the numbers of each communicator. */
#include "consumers/analysis/evenness.h"

#include <math.h>
#include <stdlib.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* Most communicators (1 MB); of others nobody knows. */
#define COMMS_MOST 8192u

/* How far from what is expected a fair sample may be, in standard deviations; and how many numbers
 * may be of operations that are in no collective class, as MPI_Comm_dup. */
#define DEVIATIONS 5.0
#define OTHERS	   0.2

struct evenness_comm {
	uint32_t comm, base;	    /* the number that came first */
	int32_t low, high;	    /* since that */
	double n, sum, sum_squares; /* of numbers since that */
	UT_hash_handle hh;
};

struct evenness {
	struct evenness_comm *comms;
};

struct evenness *evenness_new(void)
{
	return memory_new(1, sizeof(struct evenness));
}

void evenness_free(struct evenness *s)
{
	struct evenness_comm *c, *next;

	if (!s)
		return;
	HASH_ITER(hh, s->comms, c, next)
	{
		HASH_DEL(s->comms, c);
		free(c);
	}
	free(s);
}

void evenness_add(struct evenness *s, uint32_t comm, uint32_t number)
{
	struct evenness_comm *c;
	int32_t since;

	HASH_FIND(hh, s->comms, &comm, sizeof(comm), c);
	if (!c && HASH_COUNT(s->comms) == COMMS_MOST)
		return;
	if (!c) {
		c = memory_new(1, sizeof(*c));
		c->comm = comm;
		c->base = number;
		HASH_ADD(hh, s->comms, comm, sizeof(comm), c);
	}
	since = (int32_t)(number - c->base);
	c->low = since < c->low ? since : c->low;
	c->high = since > c->high ? since : c->high;
	c->n++;
	c->sum += since;
	c->sum_squares += (double)since * since;
}

bool evenness_is_fair(const struct evenness *s, uint32_t comm, double share)
{
	const struct evenness_comm *c;
	double numbers, half, mean, square, came;

	HASH_FIND(hh, s->comms, &comm, sizeof(comm), c);
	if (!c || c->n < 10)
		return false;
	numbers = (double)c->high - c->low + 1;
	half = (numbers - 1) / 2;
	/* about the middle one, relative to the half: 0 and 1/3 of what is even */
	mean = c->sum / c->n - (c->low + half);
	square = c->sum_squares / c->n - 2 * (c->low + half) * c->sum / c->n +
		 (c->low + half) * (c->low + half);
	came = c->n / numbers / share - 1;
	return fabs(mean / half) < DEVIATIONS / sqrt(3 * c->n) &&
	       fabs(square / half / half - 1 / 3.0) < DEVIATIONS * 0.3 / sqrt(c->n) &&
	       came < DEVIATIONS / sqrt(c->n) && came > -OTHERS - DEVIATIONS / sqrt(c->n);
}
