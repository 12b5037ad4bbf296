/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that treats a guest badly: it closes descriptors, forks, execs, changes its user or its
 * root folder, calls MPI from signal handlers and within other calls, leaves calls by longjmp, and
 * uses MPI when that is over; what it computes and prints is the same. */
#include <errno.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/apps/app.h"

enum { ROUNDS = 200, TAG = 5, NOBODY = 65534, EVERY_US = 300 };

static struct {
	long code, late;
	const char *act, *until;
} want = {.act = "nothing"};

static const struct app_option options[] = {
	{"do", APP_WORD, &want.act, 0, 0,
	 "nothing|close|fork|exec|user|chroot|signal|jump|nest|late", "the bad deed (nothing)"},
	{"late", APP_FLAG, &want.late, 0, 0, NULL, "do it after MPI_Init, not before"},
	{"until", APP_WORD, &want.until, 0, 0, NULL, "wait for this file to be there at the end"},
	{"code", APP_NUMBER, &want.code, 0, 100, NULL, "exit code (0)"},
	{0},
};

static int rank, ranks;

static int acts(const char *act)
{
	return strcmp(want.act, act) == 0;
}

/* ---- deeds ---- */

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "guest: %s: %s\n", what, strerror(errno));
	_exit(99);
}

/* The child knows MPI as little as any program does that is started by one. */
static void start_child(int becomes_another)
{
	pid_t child;
	int status = 0;

	fflush(stdout);
	child = fork();
	must(child, "fork");
	if (child == 0) {
		if (becomes_another)
			execl("/bin/true", "true", (char *)NULL);
		_exit(becomes_another ? 99 : 0);
	}
	must(waitpid(child, &status, 0), "waitpid");
	printf("guest: a child has ended with %d\n", status);
}

/* Once, as a wrapper does that prepares something and then becomes the program. */
static void become_again(char **argv)
{
	if (getenv("GUEST_AGAIN"))
		return;
	setenv("GUEST_AGAIN", "1", 1);
	must(execv("/proc/self/exe", argv), "execv");
}

static void on_signal(int number)
{
	MPI_Request none = MPI_REQUEST_NULL;
	int saved = errno, flag;

	(void)number;
	MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
	errno = saved;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct itimerval often = {.it_interval = {0, EVERY_US}, .it_value = {0, EVERY_US}};

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void act(char **argv)
{
	if (acts("close"))
		closefrom(3);
	else if (acts("fork"))
		start_child(0);
	else if (acts("exec") && want.late)
		start_child(1);
	else if (acts("exec"))
		become_again(argv);
	else if (acts("user"))
		must(setresuid(NOBODY, NOBODY, NOBODY), "setresuid");
	else if (acts("chroot"))
		must(chroot("/usr"), "chroot");
	else if (acts("signal"))
		catch_signals();
}

/* ---- every round ---- */

static jmp_buf before;

static void on_error(MPI_Comm *comm, int *rc, ...)
{
	(void)comm;
	(void)rc;
	longjmp(before, 1);
}

static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	(void)comm;
	(void)key;
	(void)extra;
	(void)in;
	(void)out;
	*flag = 0;
	return MPI_Barrier(MPI_COMM_SELF);
}

/* To nobody: the handler does not return. */
static __attribute__((noinline)) void fail_below(void)
{
	if (!setjmp(before))
		MPI_Send(&rank, 1, MPI_INT, ranks, TAG, MPI_COMM_WORLD);
}

static void call_within(void)
{
	MPI_Comm copy;

	MPI_Comm_dup(MPI_COMM_SELF, &copy);
	MPI_Comm_free(&copy);
}

static void prepare_rounds(void)
{
	MPI_Errhandler handler;
	int key;

	if (acts("jump")) {
		MPI_Comm_create_errhandler(on_error, &handler);
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
		MPI_Errhandler_free(&handler);
	} else if (acts("nest")) {
		MPI_Comm_create_keyval(on_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
		MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
	}
}

/* ---- work ---- */

/* Within a collected call, and in the midst of the library's own work. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)type;
	if (acts("signal"))
		raise(SIGUSR1);
	for (int i = 0; i < *n; i++)
		((long *)inout)[i] += ((const long *)in)[i];
}

static __attribute__((noinline)) long exchange(MPI_Op op, long sum, int round)
{
	const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	long all = 0, got = 0;

	MPI_Sendrecv(&sum, 1, MPI_LONG, right, TAG, &got, 1, MPI_LONG, left, TAG, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Allreduce(&got, &all, 1, MPI_LONG, op, MPI_COMM_WORLD);
	return (all * 7 + got + round) % 1000003;
}

static long work(void)
{
	volatile long sum = rank;
	MPI_Op op;

	prepare_rounds();
	MPI_Op_create(add, 1, &op);
	for (volatile int round = 0; round < ROUNDS; round++) {
		/* what follows is called from deeper on the stack, and from as deep */
		if (acts("jump") && round % 2 == 0)
			fail_below();
		else if (acts("jump") && !setjmp(before))
			MPI_Send(&rank, 1, MPI_INT, ranks, TAG, MPI_COMM_WORLD);
		if (acts("nest"))
			call_within();
		sum = exchange(op, sum, round);
	}
	MPI_Op_free(&op);
	return sum;
}

static void wait_for(const char *file)
{
	const struct timespec pause = {0, 20000000};

	while (file && access(file, F_OK) != 0)
		nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
	enum app_parsed parsed = app_parse(argc, argv, options);
	long sum;

	if (parsed == APP_RUN && !want.late)
		act(argv);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (parsed != APP_RUN) {
		if (rank == 0)
			app_explain(parsed, "Computes a sum, and does something bad.", options);
		MPI_Finalize();
		return app_exit_code(parsed);
	}
	if (want.late)
		act(argv);
	sum = work();
	if (rank == 0)
		printf("guest: %ld\n", sum);
	fflush(stdout);
	wait_for(want.until);
	if (acts("signal"))
		setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	MPI_Finalize();
	if (acts("late"))
		MPI_Send(&sum, 1, MPI_SHORT, 0, TAG, MPI_COMM_WORLD);
	return (int)want.code;
}
