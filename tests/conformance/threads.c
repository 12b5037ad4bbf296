/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads at once, each on a communicator of its own; what they saw is told at the end. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/conformance/suite.h"

enum { THREADS = 3, ROUNDS = 50, N = 4, TAG = 700 };

struct worker {
	pthread_t thread;
	struct suite on; /* its own communicator */
	int number, wrong, sum;
};

static void round_do(struct worker *w, int round)
{
	const struct suite *s = &w->on;
	int out[N], in[N] = {0}, probed[N] = {0}, all = s->rank + round;
	MPI_Request r[2];
	MPI_Status st[2], found;
	MPI_Message message;

	suite_fill(out, N, s->rank, round);
	MPI_Irecv(in, N, MPI_INT, MPI_ANY_SOURCE, TAG, s->comm, &r[0]);
	MPI_Isend(out, N, MPI_INT, s->right, TAG, s->comm, &r[1]);
	MPI_Waitall(2, r, st);
	w->wrong += st[0].MPI_SOURCE != s->left || in[N - 1] != suite_value(s->left, round, N - 1);
	MPI_Isend(out, round % N, MPI_INT, s->right, TAG + 1, s->comm, &r[0]);
	MPI_Mprobe(s->left, TAG + 1, s->comm, &message, &found);
	MPI_Mrecv(probed, N, MPI_INT, &message, &found);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	w->wrong += round % N && probed[0] != suite_value(s->left, round, 0);
	MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, s->comm);
	w->sum += all;
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;

	for (int round = 0; round < ROUNDS; round++)
		round_do(w, round);
	return NULL;
}

void suite_threads(const struct suite *s)
{
	struct worker workers[THREADS];

	if (!s->threads) {
		suite_say("one thread");
		return;
	}
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.on = *s, .number = i};
		SUITE(MPI_Comm_dup(s->comm, &workers[i].on.comm));
	}
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]) != 0)
			MPI_Abort(s->comm, 1);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		suite_say("thread %d: %d wrong, sum %d", workers[i].number, workers[i].wrong,
			  workers[i].sum);
		SUITE(MPI_Comm_free(&workers[i].on.comm));
	}
}
