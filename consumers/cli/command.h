/* SPDX-License-Identifier: BSD-3-Clause */
/* Subcommands of evspace: one const entry each, one file each. */
#ifndef EVSPACE_COMMAND_H
#define EVSPACE_COMMAND_H

#include <stdbool.h>

/**
 * Exit codes of all subcommands (docs/consumers.md). A fault that is known without looking at a
 * run, such as a wrong option or a view that is in no map, is wrong usage; one that only looking
 * shows is bad news, also that no host has the run, now or by the end of --wait.
 */
enum exit_code {
	EXIT_FINE = 0,
	EXIT_BAD_NEWS = 1,	/* failed, no such run, or a check found trouble */
	EXIT_USAGE = 2,		/* wrong options or arguments, no such view, or several runs */
	EXIT_NO_CONNECTION = 3, /* no agent, refused, or lost and not found again */
	EXIT_RUN_FAILED = 125,	/* of `run` and `exec`: evspace itself failed, not the program */
};

/** A subcommand: argv[0] is "evspace NAME", for messages. Returns the exit code. */
struct command {
	const char *name;
	const char *summary; /* one line for `evspace --help` */
	int (*main)(int argc, char **argv);
	bool looks; /* it uses a profile */
};

int agent_main(int argc, char **argv);
int archive_main(int argc, char **argv);
int collect_main(int argc, char **argv);
int colop_main(int argc, char **argv);
int deploy_main(int argc, char **argv);
int discard_main(int argc, char **argv);
int element_main(int argc, char **argv);
int doctor_main(int argc, char **argv);
int entropy_main(int argc, char **argv);
int events_main(int argc, char **argv);
int exec_main(int argc, char **argv);
int export_main(int argc, char **argv);
int heartbeat_main(int argc, char **argv);
int map_main(int argc, char **argv);
int mir_main(int argc, char **argv);
int perturb_main(int argc, char **argv);
int phase_main(int argc, char **argv);
int tune_main(int argc, char **argv);
int plan_main(int argc, char **argv);
int profile_main(int argc, char **argv);
int purge_main(int argc, char **argv);
int run_main(int argc, char **argv);
int runs_main(int argc, char **argv);
int status_main(int argc, char **argv);
int view_main(int argc, char **argv);
int watch_main(int argc, char **argv);

#endif
