/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that call MPI at once (MPI_THREAD_MULTIPLE): each plays ping-pong with its twin on the
 * neighbouring rank, on a communicator of its own, and now and then one thread completes what
 * another one started, or all wait for copies of their handles. What they did is counted as in
 * tests/apps/calls.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/apps/app.h"
#include "tests/apps/counts.h"

enum { THREADS_MAX = 64, N = 32, TAG = 3, CROSSED = 4 };

static struct {
	long json, threads, rounds, moved;
} want = {.threads = 3, .rounds = 100};

static const struct app_option options[] = {
	{"threads", APP_NUMBER, &want.threads, 1, THREADS_MAX, NULL, "threads in each rank (3)"},
	{"rounds", APP_NUMBER, &want.rounds, 1, 100000000, NULL, "messages each way (100)"},
	{"moved", APP_FLAG, &want.moved, 0, 0, NULL, "wait for copies of handles"},
	{"json", APP_FLAG, &want.json, 0, 0, NULL, "print the counts, a line per rank and call"},
	{0},
};

/* One thread. Its requests lie here, so that another thread can complete them. */
struct player {
	int number;
	pthread_t thread;
	MPI_Comm comm;
	MPI_Request requests[2]; /* receive, send */
	int out[N], in[N];
};

static struct player players[THREADS_MAX];
static pthread_barrier_t barrier; /* of this rank's threads */
static int rank, ranks, peer;

static const uint64_t bytes = N * sizeof(int);

static void must(int good, const struct player *p, long round)
{
	if (good)
		return;
	fprintf(stderr, "threads: rank %d, thread %d, round %ld: a wrong message\n", rank,
		p->number, round);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int value_of(int from, const struct player *p, long round, int i)
{
	return (int)((from * THREADS_MAX + p->number) * 1009 + round * 17 + i);
}

static void start_receive(struct player *p)
{
	COUNT(MPI_Irecv, bytes);
	MPI_Irecv(p->in, N, MPI_INT, peer, TAG, p->comm, &p->requests[0]);
}

static void start_send(struct player *p, long round)
{
	for (int i = 0; i < N; i++)
		p->out[i] = value_of(rank, p, round, i);
	COUNT(MPI_Isend, bytes);
	MPI_Isend(p->out, N, MPI_INT, peer, TAG, p->comm, &p->requests[1]);
}

static void wait_for(MPI_Request *request, const char *op)
{
	COUNT(MPI_Wait, 0);
	MPI_Wait(request, MPI_STATUS_IGNORE);
	counts_done(op, 1, bytes);
}

/* The even rank serves. One that plays with itself does both at once. */
static void ping_pong(struct player *p, long round)
{
	start_receive(p);
	if (peer < rank)
		wait_for(&p->requests[0], "MPI_Irecv");
	start_send(p, round);
	if (peer >= rank)
		wait_for(&p->requests[0], "MPI_Irecv");
	wait_for(&p->requests[1], "MPI_Isend");
}

/* Both start at once; then each thread completes what the thread before it started. */
static void crossed(struct player *p, long round)
{
	struct player *other = &players[(p->number + 1) % want.threads];

	start_receive(p);
	start_send(p, round);
	pthread_barrier_wait(&barrier);
	COUNT(MPI_Waitall, 0);
	MPI_Waitall(2, other->requests, MPI_STATUSES_IGNORE);
	counts_done("MPI_Irecv", 1, bytes);
	counts_done("MPI_Isend", 1, bytes);
	pthread_barrier_wait(&barrier);
}

/* Start one after the other; then, in the reverse order, each waits for its own, of which it has
 * copied the handles. */
static void moved(struct player *p, long round)
{
	MPI_Request copies[2];

	for (int t = 0; t < want.threads; t++) {
		if (t == p->number) {
			start_receive(p);
			start_send(p, round);
		}
		pthread_barrier_wait(&barrier);
	}
	copies[0] = p->requests[0];
	copies[1] = p->requests[1];
	for (long t = want.threads - 1; t >= 0; t--) {
		if (t == p->number) {
			wait_for(&copies[0], "MPI_Irecv");
			wait_for(&copies[1], "MPI_Isend");
		}
		pthread_barrier_wait(&barrier);
	}
}

static void *play(void *arg)
{
	struct player *p = arg;

	for (long round = 0; round < want.rounds; round++) {
		if (want.moved)
			moved(p, round);
		else if (round % CROSSED == CROSSED - 1)
			crossed(p, round);
		else
			ping_pong(p, round);
		for (int i = 0; i < N; i++)
			must(p->in[i] == value_of(peer, p, round, i), p, round);
	}
	return NULL;
}

/* The first thread is the one that called MPI_Init_thread. */
static void players_run(void)
{
	/* The last of an odd number of ranks plays with itself. */
	peer = (rank ^ 1) < ranks ? rank ^ 1 : rank;
	pthread_barrier_init(&barrier, NULL, (unsigned)want.threads);
	for (int t = 0; t < want.threads; t++) {
		players[t].number = t;
		COUNT(MPI_Comm_dup, 0);
		MPI_Comm_dup(MPI_COMM_WORLD, &players[t].comm);
	}
	for (int t = 1; t < want.threads; t++) {
		if (pthread_create(&players[t].thread, NULL, play, &players[t])) {
			fprintf(stderr, "threads: no thread %d\n", t);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
	play(&players[0]);
	for (int t = 1; t < want.threads; t++)
		pthread_join(players[t].thread, NULL);
	for (int t = 0; t < want.threads; t++) {
		COUNT(MPI_Comm_free, 0);
		MPI_Comm_free(&players[t].comm);
	}
	pthread_barrier_destroy(&barrier);
}

int main(int argc, char **argv)
{
	enum app_parsed parsed = app_parse(argc, argv, options);
	int provided;

	COUNT(MPI_Init_thread, 0);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (parsed == APP_RUN && provided < MPI_THREAD_MULTIPLE)
		parsed = app_wrong("this MPI lacks MPI_THREAD_MULTIPLE");
	if (parsed == APP_RUN) {
		players_run();
		if (want.json)
			counts_print();
		else if (rank == 0)
			printf("threads: %d ranks x %ld threads, all messages are right\n", ranks,
			       want.threads);
	} else if (rank == 0) {
		app_explain(parsed, "Threads that call MPI at once, and what they called.",
			    options);
	}
	MPI_Finalize();
	return app_exit_code(parsed);
}
