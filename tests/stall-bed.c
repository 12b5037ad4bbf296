/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads as tests of stalls make them up, one after the other. */
#include "tests/stall-bed.h"

#include <stdarg.h>
#include <stdio.h>

#include "tests/tap.h"
#include "tree/data/op.h"
#include "tree/data/tuple.h"

struct thread_state bed_threads[256];
size_t bed_n_threads;
static int32_t bed_world_size;
struct stall *bed_stall;

size_t bed_members(void *arg, uint32_t comm, int32_t *ranks, size_t room)
{
	size_t n = comm == WORLD ? (size_t)bed_world_size : comm == PAIR ? 2 : 0;

	(void)arg;
	for (size_t i = 0; i < n && i < room; i++)
		ranks[i] = (int32_t)i + (comm == PAIR);
	return n;
}

void bed_begin(int32_t size)
{
	stall_free(bed_stall);
	bed_stall = stall_new();
	bed_world_size = size;
	bed_n_threads = 0;
}

/* Ranks must be added in order. */
static struct thread_state *add(int32_t rank, const char *op, uint32_t comm, double still_s)
{
	struct thread_state *p = &bed_threads[bed_n_threads++];

	*p = (struct thread_state){
		.rank = rank,
		.op_number = op_find(op),
		.peer = TUPLE_NO_PEER,
		.comm = comm,
		.error_ns = 100,
		.still_ns = (int64_t)(still_s * 1e9),
	};
	CU_ASSERT_NOT_EQUAL(p->op_number, 0);
	snprintf(p->name, sizeof(p->name), "/c/n/rank%d/t%zu", rank, bed_n_threads);
	snprintf(p->op, sizeof(p->op), "%s", op);
	return p;
}

struct thread_state *bed_in_collective(int32_t rank, const char *op, uint32_t comm, uint32_t number,
				       double still_s)
{
	struct thread_state *p = add(rank, op, comm, still_s);

	p->running = true;
	p->seq = number;
	p->start_ns = NOW - p->still_ns;
	return p;
}

struct thread_state *bed_after(int32_t rank, const char *op, uint32_t comm, uint32_t number,
			       double still_s)
{
	struct thread_state *p = add(rank, op, comm, still_s);

	p->seq = number;
	p->end_ns = NOW - p->still_ns;
	p->start_ns = p->end_ns - 1000;
	return p;
}

struct thread_state *bed_in_message(int32_t rank, const char *op, int32_t peer, uint32_t tag,
				    double still_s)
{
	struct thread_state *p = bed_in_collective(rank, op, WORLD, tag, still_s);

	p->peer = peer;
	return p;
}

size_t bed_find(void)
{
	return stall_find(bed_stall, bed_threads, bed_n_threads, SECOND, bed_members, NULL);
}

bool bed_waits(size_t at, enum stall_why why, ...)
{
	const struct thread_state *p = &bed_threads[at];
	size_t n = 0;
	va_list list;
	int rank;
	bool same = p->why == why;

	va_start(list, why);
	for (; (rank = va_arg(list, int)) >= 0; n++)
		same = same && n < p->n_awaits && p->awaits[n] == rank;
	va_end(list);
	same = same && n == p->n_awaits;
	if (!same)
		tap_note("%s waits (%d) for %zu, the first is %d", p->name, (int)p->why,
			 p->n_awaits, p->n_awaits ? p->awaits[0] : -1);
	return same;
}
