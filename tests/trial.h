/* SPDX-License-Identifier: BSD-3-Clause */
/* The ground of the store's tests: a base in a temp folder, and processes with segments in it. */
#ifndef EVSPACE_TESTS_TRIAL_H
#define EVSPACE_TESTS_TRIAL_H

#include "node-agent/segment-class.h"
#include "node-agent/store.h"

/** Where the present case plays. */
struct trial {
	char top[128];	/* made for the case, and removed with all that is in it */
	char base[160]; /* in top; not made yet */
	struct store store;
};

extern struct trial trial;

/** Before and after each case. */
void trial_begin(void);
void trial_end(void);

/**
 * Start a process that makes a segment of @run for @rank (of rank + 4) with one element of 16
 * tuples, writes @events tuples, opens the region "region" and waits. Returns when it has.
 */
pid_t maker_start(const char *run, int rank, unsigned events);

/** Kill it and wait for that. */
void maker_end(pid_t pid);

/** Open the store on the base. */
void trial_start(bool watch);

/** Segments in the store; the one of a name or a process; a refusal that says @part. NULL: none. */
unsigned trial_count(void);
struct store_segment *trial_find(const char *name);
struct store_segment *trial_find_pid(pid_t pid);
const char *trial_refusal(const char *part);

/** Is @fd readable, within ten seconds; is it not, just now? */
bool trial_readable(int fd);
bool trial_quiet(int fd);

/** Refresh at every change until there are @n segments; false after ten seconds without a change.
 */
bool trial_becomes(unsigned n);

/** Make the file @name of @run. */
void trial_file(const char *run, const char *name, const char *text);

/** Does this path below the base exist? */
bool trial_exists(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Remove a folder and all that is in it. */
void trial_remove(const char *path);

#endif
