/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process uses of its host, by the kernel's accounts: processor time and waits of its
 * threads, memory. */
#ifndef EVSPACE_USAGE_H
#define EVSPACE_USAGE_H

#include "node-agent/store/store.h"
#include "tree/wire/wire.h"

/** The `thread` of an account that is of all threads together which have no number in names. */
#define USAGE_OTHERS UINT32_MAX

/** Threads that are looked at for a question, of all processes: three files in /proc each, some 30
 * to 50 ms of the agent's loop in all. */
#define USAGE_THREADS 1024u

/** Add to @p what the living process of @s uses, with at most 256 of its threads; what may not be
 * read is left out. @left: threads that may still be looked at, at first USAGE_THREADS. Returns
 * false if these are too few for a process: nothing is added then. */
bool usage_fill(const struct store_segment *s, Evspace__Process *p, unsigned *left);

#endif
