/* SPDX-License-Identifier: BSD-3-Clause */
/* Subprocesses: finds and starts other programs, and reads their output. */
#ifndef EVSPACE_SUBPROCESS_H
#define EVSPACE_SUBPROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pathmap/base/error.h"

/** How a program is started. */
struct subprocess_way {
	int fds[3];	      /* standard input, output and error; -1: /dev/null */
	bool session;	      /* new session, without a terminal, and SIGPIPE ends it */
	const sigset_t *mask; /* signals blocked in it; NULL: those blocked here */
	int dies;	      /* it gets this signal when this process ends; 0: none */
};

/** Find the file that execvp(3) would start for @command. Returns true with its path in @buf. */
bool subprocess_find(const char *command, char *buf, size_t n);

/** Start @argv (ended by NULL) as execvp(3) does. Returns 0 with *@pid, or -1 with errno. */
int subprocess_start(char *const *argv, const struct subprocess_way *way, pid_t *pid);

/**
 * Run @argv (ended by NULL, searched in $PATH) for @seconds at most. Returns its standard output
 * for the caller to free(), or NULL with @e: it cannot be started (errno ENOENT: there is no such
 * program), it did not end in time and was killed, or it failed: then @e has the last line of its
 * standard error.
 */
char *subprocess_run(char *const *argv, unsigned seconds, struct error *e);

/** The last line of @text that is not empty, cut out of it and cleaned; NULL: none. */
char *subprocess_last_line(char *text);

#endif
