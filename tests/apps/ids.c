/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes communicators in ways in which ids could go wrong. On each it sends nothing to nobody, with
 * a number as the tag that this communicator alone has, on all its members; then it says how many
 * numbers there are: what is on record can be held against that.
 */
#include <mpi.h>
#include <stdio.h>

#include "tests/apps/app.h"

enum { TAGS = 300, FAILING = 100, MADE = 10, CHILDREN = 2, MEETINGS = 3 };

static struct {
	const char *what;
	long rounds;
} want = {.rounds = 1000};

static const struct app_option options[] = {
	{"make", APP_WORD, &want.what, 0, 0, "rounds|groups|worlds|idup|retry|churn|nobody",
	 "what is made"},
	{"rounds", APP_NUMBER, &want.rounds, 1, 1000000, NULL, "of churn (1000)"},
	{0},
};

static int rank, size;

static void label(MPI_Comm comm, int number)
{
	MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, number, comm);
}

static void label_free(MPI_Comm comm, int number)
{
	label(comm, number);
	MPI_Comm_free(&comm);
}

static int rounds_make(void)
{
	MPI_Group all;
	MPI_Comm made;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	for (int i = 0; i < 2 * TAGS; i++) {
		MPI_Comm_create_group(MPI_COMM_WORLD, all, i % TAGS, &made);
		label_free(made, i);
	}
	MPI_Group_free(&all);
	return 2 * TAGS;
}

/* A group without rank 0 and the same with it, by turns, of one tag. */
static int groups_make(void)
{
	MPI_Group all, some;
	MPI_Comm made;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_excl(all, 1, (int[]){0}, &some);
	for (int i = 0; i < 2 * MADE; i++) {
		if (i % 2 == 0 && rank == 0)
			continue;
		MPI_Comm_create_group(MPI_COMM_WORLD, i % 2 ? all : some, 0, &made);
		label_free(made, i);
	}
	MPI_Group_free(&some);
	MPI_Group_free(&all);
	return 2 * MADE;
}

/* Waiting fails for who is alone (tests/preload/failing.c), and then nothing is there. */
static int idup_make(void)
{
	MPI_Request request;
	MPI_Comm made;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < FAILING; i++) {
		MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
		if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS)
			MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (int i = 0; i < MADE; i++) {
		MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
		MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
		label_free(made, i);
	}
	return MADE;
}

static int refusals;

static int refuse(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	(void)comm;
	(void)key;
	(void)extra;
	(void)in;
	(void)out;
	*flag = 0;
	return refusals-- > 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* One rank alone fails, before the others hear of it: its second try is for their first. */
static int retry_make(void)
{
	MPI_Comm from, made;
	int key;

	MPI_Comm_dup(MPI_COMM_WORLD, &from);
	MPI_Comm_set_errhandler(from, MPI_ERRORS_RETURN);
	MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(from, key, NULL);
	refusals = rank == 0;
	for (int i = 0; i < MADE; i++) {
		while (MPI_Comm_dup(from, &made) != MPI_SUCCESS)
			;
		label_free(made, i);
	}
	MPI_Comm_free_keyval(&key);
	MPI_Comm_free(&from);
	return MADE;
}

/* Many come and go; the last one, in the reverse order, stays. */
static int churn_make(void)
{
	MPI_Comm made;

	for (long i = 0; i < want.rounds; i++) {
		MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &made);
		MPI_Comm_free(&made);
	}
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made);
	label(made, 0);
	return 1;
}

/* Of two worlds that are merged; @inter is what the one has with the other. */
static int worlds_make(MPI_Comm inter, int child)
{
	MPI_Comm merged, ours, made;
	MPI_Group all;
	int number = 0;

	label(inter, number++);
	MPI_Intercomm_merge(inter, child, &merged);
	label(merged, number++);
	MPI_Comm_dup(merged, &made);
	label_free(made, number++);
	MPI_Comm_split(merged, child, 0, &ours);
	label(ours, number + child);
	number += 2;
	MPI_Comm_split(merged, rank % 2, 0, &made);
	label_free(made, number + rank % 2);
	number += 2;
	MPI_Comm_split(inter, rank % 2, 0, &made);
	label_free(made, number + rank % 2);
	number += 2;
	MPI_Comm_group(merged, &all);
	MPI_Comm_create_group(merged, all, 1, &made);
	label_free(made, number++);
	MPI_Group_free(&all);
	for (int i = 0; i < MEETINGS; i++, number += 2) {
		/* nothing is known to both sides: each has a number of its own */
		MPI_Intercomm_create(ours, 0, merged, child ? 0 : size, 1, &made);
		label_free(made, number + child);
	}
	MPI_Comm_free(&ours);
	MPI_Comm_free(&merged);
	return number;
}

static int worlds_begin(char *program)
{
	char make[] = "--make", worlds[] = "worlds", *arguments[] = {make, worlds, NULL};
	MPI_Comm inter;
	int child, n;

	MPI_Comm_get_parent(&inter);
	child = inter != MPI_COMM_NULL;
	if (!child)
		MPI_Comm_spawn(program, arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
			       &inter, MPI_ERRCODES_IGNORE);
	n = worlds_make(inter, child);
	MPI_Comm_disconnect(&inter);
	return child ? 0 : n;
}

/* All that receives, from nobody. Returns how often. */
static int nobody_receive(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int to = 0, from = 0;

	MPI_Recv(&to, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, statuses);
	MPI_Irecv(&to, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests);
	MPI_Wait(requests, statuses);
	MPI_Irecv(&to, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests);
	MPI_Irecv(&to, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, requests + 1);
	MPI_Waitall(2, requests, statuses);
	MPI_Recv_init(&to, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests);
	MPI_Start(requests);
	MPI_Wait(requests, MPI_STATUS_IGNORE);
	MPI_Request_free(requests);
	MPI_Sendrecv(&from, 1, MPI_INT, MPI_PROC_NULL, 1, &to, 1, MPI_INT, MPI_PROC_NULL, 1,
		     MPI_COMM_WORLD, statuses);
	return 6;
}

int main(int argc, char **argv)
{
	enum app_parsed parsed = app_parse(argc, argv, options);
	int n = 0;

	if (parsed == APP_RUN && !want.what)
		parsed = app_wrong("--make is missing");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (parsed == APP_RUN) {
		switch (want.what[0]) {
		case 'r':
			n = want.what[1] == 'o' ? rounds_make() : retry_make();
			break;
		case 'w':
			n = worlds_begin(argv[0]);
			break;
		case 'g':
			n = groups_make();
			break;
		case 'i':
			n = idup_make();
			break;
		case 'c':
			n = churn_make();
			break;
		case 'n':
			n = nobody_receive();
			break;
		}
		if (rank == 0 && n)
			printf("%d\n", n);
	} else if (rank == 0) {
		app_explain(parsed, "Makes communicators whose ids could go wrong.", options);
	}
	MPI_Finalize();
	return app_exit_code(parsed);
}
