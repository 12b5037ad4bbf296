/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of tests/apps/calls have in common: numbers to send, checks, waiting. */
#include <stdarg.h>
#include <stdio.h>

#include "tests/apps/calls.h"

void calls_on(struct calls *on, MPI_Comm comm)
{
	on->comm = comm;
	MPI_Comm_rank(comm, &on->rank);
	MPI_Comm_size(comm, &on->size);
	on->right = (on->rank + 1) % on->size;
	on->left = (on->rank + on->size - 1) % on->size;
}

static int value_of(int from, int what, int i)
{
	return from * 1000003 + what * 1009 + i;
}

void calls_fill(int *buf, int n, int from, int what)
{
	for (int i = 0; i < n; i++)
		buf[i] = value_of(from, what, i);
}

void calls_check(const char *op, const int *buf, int n, int from, int what)
{
	for (int i = 0; i < n; i++)
		calls_must(buf[i] == value_of(from, what, i),
			   "%s: number %d from rank %d is %d, not %d", op, i, from, buf[i],
			   value_of(from, what, i));
}

void calls_must(int good, const char *format, ...)
{
	char text[256];
	va_list args;
	int rank;

	if (good)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	fprintf(stderr, "calls: rank %d: %s\n", rank, text);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

void calls_wait(const char *op, MPI_Request *request, uint64_t bytes)
{
	COUNT(MPI_Wait, 0);
	MPI_Wait(request, MPI_STATUS_IGNORE);
	counts_done(op, 1, bytes);
}
