/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All group operations of PVM, to which given tasks come late: pvm_groups TASKS ROUNDS US [WHERE].
 * Of each kind there are ROUNDS, by the group "work"; US late are task 1 to barriers, task 2 to
 * reductions and gathers, and task 0, the root, to scatters and broadcasts. The group "pace" lets
 * all begin each of them together. In each fifth round tasks 1 and 3 have a barrier alone. The
 * first task prints which is which; the others are on host WHERE, or on any.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <pvm3.h>

#define TASKS_MOST 16
#define TAG_DATA   40
#define TAG_WORD   50

struct team {
	int n, me, rounds;
	long us;
};

static char work[] = "work", pace[] = "pace";

static void check(int right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "pvm_groups: not so: %s\n", what);
	pvm_exit();
	exit(1);
}

#define CHECK(what) check(what, #what)

static void late(const struct team *t, int who)
{
	const struct timespec time = {t->us / 1000000, t->us % 1000000 * 1000};

	if (t->me == who)
		nanosleep(&time, NULL);
}

/* All are where it begins. */
static void together(const struct team *t)
{
	CHECK(pvm_barrier(pace, t->n) == 0);
}

static void reduce_and_gather(const struct team *t)
{
	int sums[4] = {t->me, 1, 2, 3};
	double mine[2] = {t->me, 1}, all[2 * TASKS_MOST] = {0}, sum = 0;

	late(t, 2);
	CHECK(pvm_reduce(PvmSum, sums, 4, PVM_INT, TAG_DATA, work, 0) == 0);
	CHECK(t->me > 0 || (sums[0] == t->n * (t->n - 1) / 2 && sums[1] == t->n));
	together(t);
	late(t, 2);
	CHECK(pvm_gather(all, mine, 2, PVM_DOUBLE, TAG_DATA + 1, work, 0) == 0);
	for (int i = 0; i < t->n; i++)
		sum += all[2 * i + 1];
	CHECK(t->me > 0 || (int)sum == t->n);
	together(t);
}

static void scatter_and_broadcast(const struct team *t)
{
	int all[TASKS_MOST], mine = 0;

	for (int i = 0; i < t->n; i++)
		all[i] = 7;
	late(t, 0);
	CHECK(pvm_scatter(&mine, all, 1, PVM_INT, TAG_DATA + 2, work, 0) == 0);
	CHECK(mine == 7);
	together(t);
	late(t, 0);
	if (t->me == 0) {
		pvm_initsend(PvmDataRaw);
		CHECK(pvm_pkint(all, 1, 1) == 0 && pvm_bcast(work, TAG_WORD) == 0);
	} else {
		CHECK(pvm_recv(-1, TAG_WORD) > 0 && pvm_upkint(&mine, 1, 1) == 0);
	}
	together(t);
}

static void run(const struct team *t)
{
	together(t);
	for (int k = 0; k < t->rounds; k++) {
		late(t, 1);
		CHECK(pvm_barrier(work, t->n) == 0);
		together(t);
		if (k % 5 == 2 && (t->me == 1 || t->me == 3))
			CHECK(pvm_barrier(work, 2) == 0);
		together(t);
		reduce_and_gather(t);
		scatter_and_broadcast(t);
	}
}

/* The others have one more argument: which one they are. */
static void others_start(char **argv, int n, char *where)
{
	char program[512], number[12];
	char *args[] = {argv[1], argv[2], argv[3], where, number, NULL};
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int flag = *where ? PvmTaskHost : PvmTaskDefault, tid;

	CHECK(length > 0);
	program[length] = '\0';
	for (int i = 1; i < n; i++) {
		snprintf(number, sizeof(number), "%d", i);
		CHECK(pvm_spawn(program, args, flag, where, 1, &tid) == 1);
		printf("%d t%x\n", i, (unsigned)tid);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char any[] = "", *where = argc > 4 ? argv[4] : any;
	struct team t = {.n = argc > 3 ? atoi(argv[1]) : 0, .me = argc > 5 ? atoi(argv[5]) : 0};
	int tid;

	if (t.n < 4 || t.n > TASKS_MOST) {
		fputs("usage: pvm_groups TASKS ROUNDS US [WHERE], 4 to 16 tasks\n", stderr);
		return 2;
	}
	t.rounds = atoi(argv[2]);
	t.us = atol(argv[3]);
	tid = pvm_mytid();
	CHECK(tid > 0);
	/* the first one is instance 0, as all others join after it has */
	CHECK(pvm_joingroup(work) >= 0);
	if (t.me == 0) {
		printf("0 t%x\n", (unsigned)tid);
		others_start(argv, t.n, where);
	}
	CHECK(pvm_joingroup(pace) >= 0);
	run(&t);
	CHECK(pvm_exit() == 0);
	return 0;
}
