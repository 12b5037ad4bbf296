/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the program alive when its segment's file is cut short: that is a SIGBUS for who writes. */
#ifndef EVSPACE_COLLECT_FAULT_H
#define EVSPACE_COLLECT_FAULT_H

#include <stdbool.h>

#include "node-agent/segment/segment.h"

/**
 * Catch SIGBUS for addresses in @s, the segment of this process: memory of its own takes the file's
 * place, nothing more is collected, an empty file beside it says so (store.c has the words), and
 * the program goes on. For all else the signal does what it did before, as if nobody were between.
 * Once in a process, for all of its segments; the path costs nothing more.
 *
 * Covered are all threads, and handlers that the program has installed before its segment is made
 * (in MPI_Init, or the first call of a PVM task) or that pass on what is not theirs. Not covered
 * are those that it installs later and that keep all for themselves, threads that block SIGBUS (the
 * kernel ends a program whose fault is blocked), and a file that is cut while it is still being
 * made. What is asked for by sigaction(2) is our handler.
 */
void collect_fault_catch(const struct segment *s);

/** Has the file of the segment that was given last been cut short? */
bool collect_fault_lost(void);

/** That segment is to be unmapped. */
void collect_fault_forget(void);

/** Memory of our own takes the place of the segment's, where what is under way may still write. For
 * signal handlers, too. False: there is none. */
bool collect_fault_replace(const struct segment *s);

#endif
