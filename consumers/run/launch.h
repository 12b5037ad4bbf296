/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line that starts a program: which program, by which launcher, on which hosts. */
#ifndef EVSPACE_LAUNCH_H
#define EVSPACE_LAUNCH_H

#include <stdbool.h>

#include "pathmap/base/error.h"
#include "pathmap/model/hostlist.h"

/** The launcher, which determines how processes get their environment. */
enum launcher {
	LAUNCHER_NONE,	   /* an unknown program: what it starts inherits the environment */
	LAUNCHER_INHERITS, /* srun and others, which pass the environment on everywhere */
	LAUNCHER_OPEN_MPI, /* mpirun: ranks on other hosts get what -x names */
	LAUNCHER_HYDRA,	   /* MPICH's mpiexec: ranks get what -genv names, too */
};

/** A parsed command line. */
struct launch {
	enum launcher launcher;
	char **argv;	     /* the command, ended by NULL; owned */
	const char *program; /* the word that is probably the program; points into argv */
	bool inherits;	     /* the launcher itself needs LD_PRELOAD in its environment */
};

/** Parse the command @argv (ended by NULL, copied). Asks mpirun for its version, to recognize Open
 * MPI's. */
void launch_init(struct launch *launch, char *const *argv);
void launch_fini(struct launch *launch);

/**
 * Make the launcher give LD_PRELOAD=@preload and @variables to ranks on other hosts. For Open MPI,
 * adds `-x` options to every part of its command line, except for what the user forwards already;
 * in the user's LD_PRELOAD, puts @preload first. If the user has mca_base_env_list, which excludes
 * -x, extends that instead. For MPICH's Hydra, adds `-genv` options.
 */
void launch_forward(struct launch *launch, const char *preload, const char *const *variables);

/** Append the hosts in the command line or the launcher's variables (-host, -hostfile, Slurm's
 * allocation) to @hosts, if there are any. */
void launch_hosts(const struct launch *launch, struct hostlist *hosts);

/** Why nothing can be preloaded into the program (program_complaint()). */
char *launch_complaint(const struct launch *launch);

/**
 * Why nothing can be preloaded into @command: it is statically linked, has its MPI linked into it
 * (libmpich.a), or gets another user's rights; for a script: it names such a program. Returns a
 * text for the caller to free(), or NULL: no reason is known. (program.c)
 */
char *program_complaint(const char *command);

#endif
