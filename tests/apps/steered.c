/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes random blocking collectives, and the same by MPI's nonblocking ones, which nobody steers,
 * or by messages of its own, where values have gaps, with which these fail in Open MPI 4.1 and
 * MPICH 4.0: "steered CASES SEED [VALUES [FILE]]" says how many differ, with at most so many values
 * (700; with more than 40 blocking operations of these libraries fail in places, too, unless they
 * are steered). Operations, datatypes, counts, communicators, roots and MPI_IN_PLACE are chosen
 * alike on all ranks. It ends early when FILE is there.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_MOST 700
#define BYTES_MOST (COUNT_MOST * 64)
#define ROOM_MOST  (BYTES_MOST * 64)

enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, KINDS };

static const char *const kind_names[KINDS] = {"barrier", "bcast",   "reduce",	"allreduce",
					      "gather",	 "scatter", "allgather"};

/* A type, with reductions that are exact on small whole numbers. */
struct kind_of_value {
	MPI_Datatype type;
	MPI_Op ops[3];
	int n_ops;
	void (*fill)(void *at, int i); /* value @i, whose gaps are left alone */
	int extent;
	int gaps;
};

static unsigned long long state;
static unsigned count_most = COUNT_MOST;

/* Alike on all ranks. */
static unsigned chance(unsigned n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(state >> 33) % n;
}

static int value_of(int i)
{
	static int rank = -1;

	if (rank < 0)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return (int)(((unsigned)i * 2654435761u ^ (unsigned)(rank + 1) * 40503u ^
		      (unsigned)(state >> 40)) %
		     7u);
}

/* ---- types ---- */

static void fill_int(void *at, int i)
{
	((int *)at)[i] = value_of(i);
}

static void fill_double(void *at, int i)
{
	((double *)at)[i] = value_of(i);
}

struct pair {
	double value;
	int index;
};

static void fill_pair(void *at, int i)
{
	((struct pair *)at)[i].value = value_of(i);
	((struct pair *)at)[i].index = value_of(i + 1);
}

/* Three ints at 4, 12 and 16 of 24 bytes. */
static void fill_gaps(void *at, int i)
{
	int *to = (int *)(void *)((char *)at + (size_t)i * 24);

	to[1] = value_of(i);
	to[3] = value_of(i + 1);
	to[4] = value_of(i + 2);
}

/* 2 x 2 matrices over the field of 7: products do not commute. */
static void fill_matrix(void *at, int i)
{
	for (int k = 0; k < 4; k++)
		((int *)at)[4 * i + k] = value_of(4 * i + k);
}

static void matrices_multiply(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int *a = in, *b = inout, c[4];

	(void)type;
	for (int i = 0; i < *n; i++, a += 4, b += 4) {
		for (int k = 0; k < 4; k++)
			c[k] = (a[k & 2] * b[k & 1] + a[(k & 2) + 1] * b[2 + (k & 1)]) % 7;
		memcpy(b, c, sizeof(c));
	}
}

static void gaps_add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *n; i++) {
		int *a = (int *)(void *)((char *)in + (size_t)i * 24);
		int *b = (int *)(void *)((char *)inout + (size_t)i * 24);

		b[1] += a[1];
		b[3] = a[3] > b[3] ? a[3] : b[3];
		b[4] ^= a[4];
	}
}

static struct kind_of_value values[5];

static void values_make(void)
{
	int lengths[2] = {1, 2}, places[2] = {1, 3};
	MPI_Datatype some, gaps, matrix;
	MPI_Op multiply, add;

	MPI_Type_indexed(2, lengths, places, MPI_INT, &some);
	MPI_Type_create_resized(some, 0, 24, &gaps);
	MPI_Type_commit(&gaps);
	MPI_Type_free(&some);
	MPI_Type_contiguous(4, MPI_INT, &matrix);
	MPI_Type_commit(&matrix);
	MPI_Op_create(matrices_multiply, 0, &multiply);
	MPI_Op_create(gaps_add, 1, &add);
	values[0] =
		(struct kind_of_value){MPI_INT, {MPI_SUM, MPI_BXOR, MPI_MIN}, 3, fill_int, 4, 0};
	values[1] = (struct kind_of_value){
		MPI_DOUBLE, {MPI_SUM, MPI_MAX, MPI_MIN}, 3, fill_double, 8, 0};
	values[2] = (struct kind_of_value){
		MPI_DOUBLE_INT, {MPI_MAXLOC, MPI_MINLOC}, 2, fill_pair, 16, 1};
	values[3] = (struct kind_of_value){gaps, {add}, 1, fill_gaps, 24, 1};
	values[4] = (struct kind_of_value){matrix, {multiply}, 1, fill_matrix, 16, 0};
}

/* ---- communicators ---- */

#define COMMS 5

static MPI_Comm comms[COMMS];

static void comms_make(void)
{
	int rank, size;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
	MPI_Comm_split(MPI_COMM_WORLD, rank < (size + 1) / 2, -rank, &comms[3]);
	MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank * 7 % 5, &comms[4]);
}

/* Now and then one is freed and made again: its handle may be the same. */
static void comm_renew(void)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_free(&comms[2]);
	MPI_Comm_split(MPI_COMM_WORLD, (rank + (int)chance(3)) % 3 == 0, rank, &comms[2]);
}

/* ---- cases ---- */

struct trial {
	int kind, count, root, n, me;
	MPI_Comm comm;
	const struct kind_of_value *of;
	MPI_Op op;
	int in_place;
};

static struct trial trial_choose(void)
{
	struct trial t = {.kind = (int)chance(KINDS), .comm = comms[chance(COMMS)]};

	MPI_Comm_size(t.comm, &t.n);
	MPI_Comm_rank(t.comm, &t.me);
	t.of = &values[chance(5)];
	t.op = t.of->ops[chance((unsigned)t.of->n_ops)];
	t.count = chance(4) ? (int)chance(9) : (int)chance(count_most);
	t.root = (int)(chance(64) % (unsigned)t.n);
	t.in_place = chance(3) == 0;
	return t;
}

static char *send_room, *recv_room, *same_room, *keep_room;

static void fill(const struct trial *t, char *at, int n)
{
	for (int i = 0; i < n; i++)
		t->of->fill(at, i);
}

/* All members' values to @root, in the order of ranks. */
static void values_gather(const struct trial *t, const void *own, char *all, int root)
{
	size_t each = (size_t)t->count * (size_t)t->of->extent;

	if (t->me != root)
		MPI_Send(own, t->count, t->of->type, root, 1, t->comm);
	for (int i = 0; t->me == root && i < t->n; i++) {
		char *to = all + (size_t)i * each;

		if (i != root)
			MPI_Recv(to, t->count, t->of->type, i, 1, t->comm, MPI_STATUS_IGNORE);
		else if (own != to)
			MPI_Sendrecv(own, t->count, t->of->type, 0, 2, to, t->count, t->of->type, 0,
				     2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	}
}

/* The same @n values from @root to all. */
static void values_spread(const struct trial *t, void *at, int n, int root)
{
	for (int i = 0; t->me == root && i < t->n; i++)
		if (i != root)
			MPI_Send(at, n, t->of->type, i, 3, t->comm);
	if (t->me != root)
		MPI_Recv(at, n, t->of->type, root, 3, t->comm, MPI_STATUS_IGNORE);
}

/* Reduce at @root: from the last rank on, as the left operand is the one of the lower rank. */
static void values_reduce(const struct trial *t, const void *own, char *recv, int root)
{
	static char *all;
	size_t each = (size_t)t->count * (size_t)t->of->extent;
	char *sum;

	if (!all)
		all = malloc(ROOM_MOST);
	if (!all)
		MPI_Abort(MPI_COMM_WORLD, 2);
	values_gather(t, own, all, root);
	if (t->me != root)
		return;
	sum = all + (size_t)(t->n - 1) * each;
	for (int i = t->n - 2; i >= 0; i--)
		MPI_Reduce_local(all + (size_t)i * each, sum, t->count, t->of->type, t->op);
	MPI_Sendrecv(sum, t->count, t->of->type, 0, 2, recv, t->count, t->of->type, 0, 2,
		     MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* What make() does, by messages alone. */
static void make_by_messages(const struct trial *t, char *recv)
{
	size_t each = (size_t)t->count * (size_t)t->of->extent;
	int at_root = t->me == t->root;
	int all_in_place = t->in_place && (t->kind == ALLREDUCE || t->kind == ALLGATHER);
	char *own = all_in_place || (t->in_place && at_root) ? recv : send_room;

	switch (t->kind) {
	case BARRIER:
		break;
	case BCAST:
		values_spread(t, recv, t->count, t->root);
		break;
	case REDUCE:
		values_reduce(t, own, recv, t->root);
		break;
	case ALLREDUCE:
		values_reduce(t, own, recv, 0);
		values_spread(t, recv, t->count, 0);
		break;
	case GATHER:
		own += own == recv ? (size_t)t->me * each : 0;
		values_gather(t, own, recv, t->root);
		break;
	case SCATTER:
		for (int i = 0; at_root && i < t->n; i++)
			if (i != t->root)
				MPI_Send(send_room + (size_t)i * each, t->count, t->of->type, i, 1,
					 t->comm);
		if (!at_root)
			MPI_Recv(recv, t->count, t->of->type, t->root, 1, t->comm,
				 MPI_STATUS_IGNORE);
		else if (!t->in_place)
			MPI_Sendrecv(send_room + (size_t)t->me * each, t->count, t->of->type, 0, 2,
				     recv, t->count, t->of->type, 0, 2, MPI_COMM_SELF,
				     MPI_STATUS_IGNORE);
		break;
	default:
		own += own == recv ? (size_t)t->me * each : 0;
		values_gather(t, own, recv, 0);
		values_spread(t, recv, t->count * t->n, 0);
	}
}

/* The blocking call, or the nonblocking one, on @recv. */
static void make(const struct trial *t, char *recv, int steered)
{
	MPI_Datatype type = t->of->type;
	int at_root = t->me == t->root, n = t->count;
	void *send = t->in_place && (at_root || t->kind == ALLREDUCE || t->kind == ALLGATHER)
			     ? MPI_IN_PLACE
			     : send_room;
	void *into = t->kind == SCATTER && t->in_place && at_root ? MPI_IN_PLACE : recv;
	MPI_Request r = MPI_REQUEST_NULL;

	switch (t->kind) {
	case BARRIER:
		steered ? MPI_Barrier(t->comm) : MPI_Ibarrier(t->comm, &r);
		break;
	case BCAST:
		steered ? MPI_Bcast(recv, n, type, t->root, t->comm)
			: MPI_Ibcast(recv, n, type, t->root, t->comm, &r);
		break;
	case REDUCE:
		steered ? MPI_Reduce(send, recv, n, type, t->op, t->root, t->comm)
			: MPI_Ireduce(send, recv, n, type, t->op, t->root, t->comm, &r);
		break;
	case ALLREDUCE:
		steered ? MPI_Allreduce(send, recv, n, type, t->op, t->comm)
			: MPI_Iallreduce(send, recv, n, type, t->op, t->comm, &r);
		break;
	case GATHER:
		steered ? MPI_Gather(send, n, type, recv, n, type, t->root, t->comm)
			: MPI_Igather(send, n, type, recv, n, type, t->root, t->comm, &r);
		break;
	case SCATTER:
		steered ? MPI_Scatter(send_room, n, type, into, n, type, t->root, t->comm)
			: MPI_Iscatter(send_room, n, type, into, n, type, t->root, t->comm, &r);
		break;
	default:
		steered ? MPI_Allgather(send, n, type, recv, n, type, t->comm)
			: MPI_Iallgather(send, n, type, recv, n, type, t->comm, &r);
	}
	if (!steered)
		MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Both ways on the same bytes, gaps and what is behind too. Returns whether they differ. */
static int differs(const struct trial *t, int number)
{
	size_t room = (size_t)(t->count + 2) * 32 * (size_t)t->n;
	int all = t->count * t->n, differ;

	for (size_t i = 0; i < room; i++)
		recv_room[i] = send_room[i] = (char)(i * 7 + 1);
	fill(t, send_room, all);
	if (t->in_place || t->kind == BCAST)
		fill(t, recv_room, all);
	memcpy(same_room, recv_room, room);
	memcpy(keep_room, send_room, room);
	make(t, recv_room, 1);
	differ = memcmp(keep_room, send_room, room) != 0;
	if (t->of->gaps)
		make_by_messages(t, same_room);
	else
		make(t, same_room, 0);
	differ |= memcmp(same_room, recv_room, room) != 0;
	if (differ)
		printf("case %d differs: %s, rank %d of %d, root %d, type %d, %d values%s\n",
		       number, kind_names[t->kind], t->me, t->n, t->root, (int)(t->of - values),
		       t->count, t->in_place ? ", in place" : "");
	return differ;
}

/* Does rank 0 see the file @stop? */
static int stopped(const char *stop)
{
	int is = stop && access(stop, F_OK) == 0;

	MPI_Bcast(&is, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return is;
}

int main(int argc, char **argv)
{
	int cases = argc > 1 ? atoi(argv[1]) : 1000, bad = 0, all = 0, rank, i;

	if (argc > 3 && (unsigned)atoi(argv[3]) < COUNT_MOST)
		count_most = (unsigned)atoi(argv[3]) + 1;
	state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	values_make();
	comms_make();
	send_room = calloc(1, ROOM_MOST);
	recv_room = calloc(1, ROOM_MOST);
	same_room = calloc(1, ROOM_MOST);
	keep_room = calloc(1, ROOM_MOST);
	if (!send_room || !recv_room || !same_room || !keep_room)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (i = 0; i < cases; i++) {
		struct trial t = trial_choose();

		bad += differs(&t, i);
		if (i % 97 != 96)
			continue;
		comm_renew();
		if (stopped(argc > 4 ? argv[4] : NULL))
			break;
	}
	MPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("steered: %d cases, %d differ\n", i, all);
	MPI_Finalize();
	return all > 0;
}
