/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the program alive when its segment's file is cut short, which is a SIGBUS for writers. */
#ifndef EVSPACE_COLLECT_FAULT_H
#define EVSPACE_COLLECT_FAULT_H

#include <stdbool.h>

#include "node-agent/segment/segment.h"

/**
 * Catch SIGBUS for addresses in @s, the segment of this process: private memory replaces the file,
 * nothing more is collected, an empty file beside it says so (store.c has the text), and the
 * program goes on. For all other addresses the signal does what it did before. The handler is
 * installed once in a process, for all of its segments, and costs nothing on the path.
 *
 * This works in all threads, and with handlers that the program installs before its segment is made
 * (in MPI_Init, or the first call of a PVM task) or that pass on faults which are not theirs. It
 * does not work with handlers that are installed later and pass on nothing, in threads that block
 * SIGBUS (the kernel ends a program whose fault is blocked), and for a file that is cut while it is
 * being made. sigaction(2) shows the program our handler.
 */
void collect_fault_catch(const struct segment *s);

/** Has the file of the last segment that was passed been cut short? */
bool collect_fault_lost(void);

/** Call before that segment is unmapped. */
void collect_fault_forget(void);

/** Replace the segment's pages by private memory, since operations under way may still write
 * there. Safe in signal handlers. False: there is no memory. */
bool collect_fault_replace(const struct segment *s);

#endif
