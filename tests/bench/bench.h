/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benches share: options, waiting that Ctrl-C ends, processes that end with the bench. */
#ifndef EVSPACE_BENCH_H
#define EVSPACE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pathmap/base/error.h"

/** What every bench of the gather tree can be told. */
struct bench_options {
	bool json;	  /* one object a line instead of a table */
	double seconds;	  /* that one measurement takes */
	unsigned rounds;  /* of measurements that are compared */
	const char *only; /* the one case that is asked for; NULL: all */
	bool quick;	  /* a first look: cases that tell least may be left out */
};

/**
 * Read the options of @argv into @o, which holds the defaults; @quick are those of --quick. Ends
 * the process after --help (0) and for what it does not understand (2). @about: what --help says
 * of the bench.
 */
void bench_parse(int argc, char **argv, struct bench_options *o, const struct bench_options *quick,
		 const char *about);

/**
 * Have SIGINT, SIGTERM, SIGHUP and SIGCHLD wait until bench_wait() looks for them, so that nothing
 * ends the bench before it has cleaned up.
 */
void bench_begin(void);

/**
 * Wait for @seconds. Returns 0, or -1 with @e when a signal asks for the end (EINTR) or a child
 * ended meanwhile (ECHILD), which none does unasked: the last lines of its log go to stderr.
 */
int bench_wait(double seconds, struct error *e);

/**
 * Wait until @is_true says so, asked every few ms, @seconds at most. Returns 0, or -1 as
 * bench_wait(), or with ETIMEDOUT and @what in @e.
 */
int bench_until(bool (*is_true)(void *arg), void *arg, double seconds, const char *what,
		struct error *e);

/** fork(); the child dies with us, and its signals are as they were before bench_begin(). */
pid_t bench_fork(void);

/**
 * Run @argv to its end with stdout and stderr going to the file @log. Returns 0, or -1 with the end
 * of what it said in @e.
 */
int bench_run(char *const *argv, const char *log, struct error *e);

/** Start @argv with stdout and stderr going to the file @log. Returns its pid, or -1 with @e. */
pid_t bench_start(char *const *argv, const char *log, struct error *e);

/** End a child with @signal, and with SIGKILL when it has not ended within some seconds. */
void bench_end(pid_t pid, int signal);

/** Has the child @pid ended (and nobody taken notice yet)? */
bool bench_has_ended(pid_t pid);

/** Append the last line of the file @log to @e. Returns -1. */
int bench_quote(const char *log, struct error *e);

/** Seconds of CLOCK_MONOTONIC. */
double bench_seconds(void);

/** Let MPI programs run here: as root, with more ranks than cores. What somebody has set stays. */
void bench_mpi(void);

/** Path of a file of the build (@name "evspace") or of the sources. Returns @path. */
const char *bench_built(const char *name, char *path, size_t n);
const char *bench_source(const char *name, char *path, size_t n);

#endif
