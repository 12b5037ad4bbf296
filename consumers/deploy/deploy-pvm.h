/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of evspace-pvm share: the virtual machine. */
#ifndef EVSPACE_DEPLOY_PVM_H
#define EVSPACE_DEPLOY_PVM_H

/** Say on stderr what could not be done, of what, by PVM's error number. Returns -1. */
int machine_complain(const char *what, const char *of, int code);

/** Print the hosts and tasks of the machine that runs, a line each: "host TID NAME", "task TID
 * HOST-TID PROGRAM" ("-": not known). Starts none. Returns the exit code. */
int machine_list(void);

#endif
