/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of Figure 5 of Özmen's "An Entropy-Based Algorithm for Time-Driven Software
 * Instrumentation in Parallel Systems", its functions as regions:
 * pvm_figure5 [SLAVES [MS [TRIPS]]], MS being how long foo() takes, and init() twice that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <pvm3.h>

#include "node-agent/collect/core/evspace.h"

#define TASKS_MAX   16
#define TAG_BEGIN   1
#define TAG_RESULT  2
#define FOOS	    4
#define ROUND_TRIPS 3
#define WORDS	    4 /* before the tasks */

struct family {
	int tids[TASKS_MAX + 1]; /* the parent first */
	int n, me, ms, trips;
};

static void compute(int ms)
{
	struct timespec now, begun;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < ms);
}

static void init(int ms)
{
	evspace_region("init", EVSPACE_BEGIN);
	compute(2 * ms);
	evspace_region("init", EVSPACE_END);
}

static void foo(int ms)
{
	evspace_region("foo", EVSPACE_BEGIN);
	compute(ms);
	evspace_region("foo", EVSPACE_END);
}

static int send_to(int tid, int tag, int *words, int n)
{
	return pvm_initsend(PvmDataDefault) < 0 || pvm_pkint(words, n, 1) < 0 ||
			       pvm_send(tid, tag) < 0
		       ? -1
		       : 0;
}

static int do_calc(struct family *f)
{
	init(f->ms);
	for (int i = 0; i < FOOS; i++)
		foo(f->ms);
	for (int i = 0; i < f->n; i++) {
		if (i == f->me) {
			for (int k = 0; k < f->n; k++)
				if (k != i && send_to(f->tids[k], TAG_RESULT, &i, 1) < 0)
					return -1;
		} else if (pvm_recv(f->tids[i], TAG_RESULT) < 0) {
			return -1;
		}
	}
	return 0;
}

static int family_begin(struct family *f, int slaves)
{
	char program[512], here[] = ".";
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int words[TASKS_MAX + 1 + WORDS];

	if (length < 0)
		return -1;
	program[length] = '\0';
	f->tids[0] = pvm_mytid();
	f->n = slaves + 1;
	for (int i = 1; i <= slaves; i++)
		if (pvm_spawn(program, NULL, PvmTaskHost, here, 1, &f->tids[i]) != 1)
			return -1;
	words[0] = f->n;
	words[1] = f->ms;
	words[3] = f->trips;
	for (int i = 0; i < f->n; i++)
		words[WORDS + i] = f->tids[i];
	for (int i = 1; i < f->n; i++) {
		words[2] = i;
		if (send_to(f->tids[i], TAG_BEGIN, words, WORDS + f->n) < 0)
			return -1;
	}
	return 0;
}

static int family_join(struct family *f, int parent)
{
	int words[WORDS];

	if (pvm_recv(parent, TAG_BEGIN) < 0 || pvm_upkint(words, WORDS, 1) < 0 || words[0] < 1 ||
	    words[0] > TASKS_MAX + 1)
		return -1;
	f->n = words[0];
	f->ms = words[1];
	f->me = words[2];
	f->trips = words[3];
	return pvm_upkint(f->tids, f->n, 1) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	int slaves = argc > 1 ? atoi(argv[1]) : 2;
	struct family f = {.ms = argc > 2 ? atoi(argv[2]) : 20,
			   .trips = argc > 3 ? atoi(argv[3]) : ROUND_TRIPS};
	int parent = pvm_parent();

	if (slaves < 1 || slaves > TASKS_MAX || f.ms < 1 || f.trips < 1)
		return 2;
	if ((parent < 0 ? family_begin(&f, slaves) : family_join(&f, parent)) < 0)
		return 1;
	for (int i = 0; i < f.trips; i++)
		if (do_calc(&f) < 0)
			return 1;
	pvm_exit();
	return 0;
}
