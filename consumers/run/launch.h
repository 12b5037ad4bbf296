/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line that starts a program: which program, by which launcher, on which hosts. */
#ifndef EVSPACE_LAUNCH_H
#define EVSPACE_LAUNCH_H

#include <stdbool.h>

#include "pathmap/base/error.h"
#include "pathmap/model/hostlist.h"

/** Who starts the processes, and so how they get their environment. */
enum launcher {
	LAUNCHER_NONE,	   /* nobody we know: whoever it starts inherits the environment */
	LAUNCHER_INHERITS, /* srun and others: these carry the environment everywhere */
	LAUNCHER_OPEN_MPI, /* mpirun: ranks on other hosts get what -x says */
	LAUNCHER_HYDRA,	   /* MPICH's mpiexec: ranks get what -genv says, too */
};

/** A command line, looked at. */
struct launch {
	enum launcher launcher;
	char **argv;	     /* what to start, ended by NULL; owned */
	const char *program; /* which of it is probably the program; points into argv */
	bool inherits;	     /* the launcher itself must have LD_PRELOAD in its environment */
};

/**
 * Look at the command @argv (ended by NULL, copied). To know Open MPI's mpirun from others it is
 * asked for its version.
 */
void launch_init(struct launch *launch, char *const *argv);
void launch_fini(struct launch *launch);

/**
 * Have the launcher give LD_PRELOAD=@preload and @variables to ranks on other hosts: for Open MPI
 * by
 * `-x` options in every part of its command line; what the user forwards already is left, but for
 * LD_PRELOAD, where @preload comes in front. If the user has mca_base_env_list, which excludes -x,
 * that is made longer instead. For MPICH's Hydra by `-genv` options.
 */
void launch_forward(struct launch *launch, const char *preload, const char *const *variables);

/**
 * Append the hosts that the command line or the launcher's variables name (-host, -hostfile,
 * Slurm's allocation) to @hosts. None are named: nothing is appended.
 */
void launch_hosts(const struct launch *launch, struct hostlist *hosts);

/** Why nothing can be preloaded into the program (program_complaint()). */
char *launch_complaint(const struct launch *launch);

/**
 * Why nothing can be preloaded into @command: it is statically linked, has its MPI linked into it
 * (libmpich.a), or gets another user's rights; of a script, that it names such a program. Returns a
 * text for the caller to free(), or NULL: nothing speaks against it, or that cannot be told.
 * (program.c)
 */
char *program_complaint(const char *command);

#endif
