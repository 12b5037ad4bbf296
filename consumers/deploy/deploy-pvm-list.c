/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace-pvm list: what the virtual machine of PVM consists of, for evspace map discover. */
#include <stdio.h>
#include <stdlib.h>

#include <pvm3.h>

#include "consumers/deploy/deploy-pvm.h"

int machine_list(void)
{
	struct pvmhostinfo *hosts;
	struct pvmtaskinfo *tasks;
	int n, arches, own, code;

	pvm_setopt(PvmAutoErr, 0);
	own = pvm_mytid();
	if (own < 0) {
		machine_complain("your pvmd does not answer", "", own);
		return 1;
	}
	code = pvm_config(&n, &arches, &hosts);
	for (int i = 0; code >= 0 && i < n; i++)
		printf("host %x %s\n", (unsigned)hosts[i].hi_tid, hosts[i].hi_name);
	if (code >= 0)
		code = pvm_tasks(0, &n, &tasks);
	for (int i = 0; code >= 0 && i < n; i++)
		if (tasks[i].ti_tid != own)
			printf("task %x %x %s\n", (unsigned)tasks[i].ti_tid,
			       (unsigned)tasks[i].ti_host,
			       tasks[i].ti_a_out && *tasks[i].ti_a_out ? tasks[i].ti_a_out : "-");
	if (code < 0)
		machine_complain("cannot ask the virtual machine", "", code);
	pvm_exit();
	return code < 0 || fflush(stdout) == EOF ? 1 : 0;
}
