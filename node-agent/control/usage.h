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

/** Most threads of a process that are looked at. */
#define USAGE_TIDS 256u

/** The kernel's numbers of the threads that have one in names, by that one. */
struct usage_tids {
	uint32_t tid[USAGE_TIDS]; /* 0: not known */
	uint32_t n;
};

/** Read them of a segment. Returns 0, or -1 with errno, and none. */
int usage_tids_read(struct usage_tids *tids, const struct segment *segment);

/** The number in names of the thread with the kernel's number @tid, or USAGE_OTHERS. */
uint32_t usage_tids_find(const struct usage_tids *tids, uint32_t tid);

/** Add to @p what the living process of @s uses, with at most 256 of its threads; what may not be
 * read is left out. @left: threads that may still be looked at, at first USAGE_THREADS. Returns
 * false if these are too few for a process: nothing is added then. */
bool usage_fill(const struct store_segment *s, Evspace__Process *p, unsigned *left);

/** What this process uses: resident bytes, and processor time so far. */
uint64_t usage_own_bytes(void);
uint64_t usage_own_cpu_us(void);

#endif
