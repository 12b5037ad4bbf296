/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two PVM tasks wait in a barrier for the third, which waits for a message that never comes:
 * pvm_stuck [HOST], until somebody ends it; the two are on HOST, or where the third is. The first
 * task prints "stuck" when it begins to wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <pvm3.h>

#define TASKS	  3
#define TAG_NEVER 7

int main(int argc, char **argv)
{
	char program[512], group[] = "stuck", here[] = ".", *where = argc > 1 ? argv[1] : here;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int tids[TASKS], parent = pvm_parent();

	if (length < 0)
		return 1;
	program[length] = '\0';
	if (parent < 0 &&
	    pvm_spawn(program, NULL, PvmTaskHost, where, TASKS - 1, tids) != TASKS - 1)
		return 1;
	if (pvm_joingroup(group) < 0)
		return 1;
	if (parent >= 0)
		return pvm_barrier(group, TASKS) < 0;
	puts("stuck");
	fflush(stdout);
	pvm_recv(tids[0], TAG_NEVER);
	pvm_exit();
	return 0;
}
