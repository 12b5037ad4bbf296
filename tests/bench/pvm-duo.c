/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two PVM tasks that send 8 bytes to and fro, directly. The first one starts the second, and for
 * each byte on its stdin prints the nanoseconds of a stretch of it.
 */
#include <pvm3.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "tree/data/clock.h"

enum { ROUNDS = 100, TAG = 1 };

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void give(int to)
{
	double value = 1;

	pvm_initsend(PvmDataRaw);
	pvm_pkdouble(&value, 1, 1);
	pvm_send(to, TAG);
}

/* Returns -1 when there is nobody any more. */
static int get(int from)
{
	double value;

	return pvm_recv(from, TAG) < 0 || pvm_upkdouble(&value, 1, 1) < 0 ? -1 : 0;
}

static void echo(int parent)
{
	while (get(parent) == 0)
		give(parent);
}

static double stretch(int child)
{
	uint64_t ns = clock_mono_ns();

	for (int i = 0; i < ROUNDS; i++) {
		give(child);
		if (get(child) < 0)
			return 0;
	}
	return (double)(clock_mono_ns() - ns) / ROUNDS;
}

int main(int argc, char **argv)
{
	int parent = pvm_parent(), child = -1;
	char byte;

	(void)argc;
	pvm_setopt(PvmRoute, PvmRouteDirect);
	pin(parent < 0 ? 0 : 1);
	if (parent >= 0) {
		echo(parent);
		return 0;
	}
	if (pvm_spawn(argv[0], NULL, PvmTaskDefault, NULL, 1, &child) != 1)
		return 1;
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		printf("%.3f\n", stretch(child));
		fflush(stdout);
	}
	pvm_kill(child);
	pvm_exit();
	return 0;
}
