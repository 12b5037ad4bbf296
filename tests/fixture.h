/* SPDX-License-Identifier: BSD-3-Clause */
/* The ground of the store's tests: a base in a temp folder, and processes with segments in it. */
#ifndef EVSPACE_TESTS_TRIAL_H
#define EVSPACE_TESTS_TRIAL_H

#include "node-agent/segment/segment-class.h"
#include "node-agent/store/store.h"

/** Where the present case plays. */
struct fixture {
	char top[128];	/* made for the case, and removed with all that is in it */
	char base[160]; /* in top; not made yet */
	struct store store;
};

extern struct fixture fixture;

/** Before and after each case. */
void fixture_begin(void);
void fixture_end(void);

/**
 * Start a process that makes a segment of @run for @rank (of rank + 4) with one element of 16
 * tuples, writes @events tuples, opens the region "region" and waits. Returns when it has.
 */
pid_t maker_start(const char *run, int rank, unsigned events);

/** Kill it and wait for that. */
void maker_end(pid_t pid);

/** Open the store on the base. */
void fixture_start(bool watch);

/** Segments in the store; the one of a name or a process; a refusal that says @part. NULL: none. */
unsigned fixture_count(void);
struct store_segment *fixture_find(const char *name);
struct store_segment *fixture_find_pid(pid_t pid);
const char *fixture_refusal(const char *part);

/** Is @fd readable, within ten seconds; is it not, just now? */
bool fixture_readable(int fd);
bool fixture_quiet(int fd);

/** Refresh at every change until there are @n segments; false after ten seconds without a change.
 */
bool fixture_becomes(unsigned n);

/** Make the file @name of @run. */
void fixture_file(const char *run, const char *name, const char *text);

/** Does this path below the base exist? */
bool fixture_exists(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Remove a folder and all that is in it. */
void fixture_remove(const char *path);

#endif
