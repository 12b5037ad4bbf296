/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's life as a PVM task: it becomes one with its first call, and ends with pvm_exit. */
#ifndef EVSPACE_PVM_PROCESS_H
#define EVSPACE_PVM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/tuple.h"

/** What the process is. PVM is for one thread at a time, and so is this. */
struct pvm_process {
	bool task;	/* it is a task whose segment there is */
	bool joining;	/* the call that may make it one is under way */
	bool never;	/* it is not to be collected, or its segment could not be made */
	uint32_t tasks; /* that it has been */
	int32_t tid;
};

extern struct pvm_process pvm_process;

/** Enter a call of a process that is no task yet. False: it is not to be recorded. */
bool pvm_process_enter(void);

/** pvm_exit has returned well: the segment is finished; the next call may make another task. */
void pvm_process_left(void);

/** What spawned tasks get in their environment, while this one's stays as it is. */
struct pvm_exports {
	char **before; /* environ; NULL: nothing was changed */
};

/** Have pvm_spawn() export, beside what PVM_EXPORT says, what makes the new tasks collect. */
void pvm_exports_add(struct pvm_exports *exports);
void pvm_exports_remove(const struct pvm_exports *exports);

#endif
