/* SPDX-License-Identifier: BSD-3-Clause */
/* Is one PVM task, forks a child that is none, and then is another task, which ends without a word.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pvm3.h>

static char group[] = "twice";

static void pack(void)
{
	int value = 1;

	pvm_initsend(PvmDataRaw);
	pvm_pkint(&value, 1, 1);
}

int main(void)
{
	int first = pvm_mytid(), second;

	pack();
	if (pvm_joingroup(group) < 0 || pvm_barrier(group, 1) < 0)
		return 1;
	if (fork() == 0) {
		pack();
		_exit(0);
	}
	wait(NULL);
	pvm_exit();
	second = pvm_mytid();
	pack();
	if (pvm_joingroup(group) < 0 || pvm_barrier(group, 1) < 0 || pvm_lvgroup(group) < 0)
		return 1;
	return first < 0 || second < 0 || first == second;
}
