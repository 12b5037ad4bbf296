/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's scheduling of processes: this one's class and how long it has waited for cores, and
 * what another one does (sched(7), proc(5)). */
#ifndef EVSPACE_SCHEDULE_H
#define EVSPACE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pathmap/base/error.h"
#include "tree/data/urgency.h"

/** This process's class; URGENCY_UNSAID: one that is none of ours, such as a real-time one. */
enum urgency schedule_class(void);

/** Change it. Returns 0, or -1 with errno and @e. */
int schedule_class_set(enum urgency urgency, struct error *e);

/** Once idle, could this process become more urgent again? Without CAP_SYS_NICE it needs a limit of
 * RLIMIT_NICE that has its nice value in it. Finds out by a thread, for which it does not wait;
 * false: it could not. Call it once. */
bool schedule_returns(void);

/** Open what schedule_waited() reads, of the calling process. Returns a descriptor, or -1 with
 * errno: this kernel does not count. */
int schedule_waited_open(void);

/** How long it has waited for a core so far, in ns. Returns 0, or -1. */
int schedule_waited(int fd, uint64_t *ns);

/** Which process of this host, in terms that hold in all pid namespaces that see it. Plain data. */
struct schedule_process {
	pid_t pid;	  /* 0: unknown */
	uint64_t started; /* clock ticks after boot: another process with that number has another */
};

/** This one; pid 0 if /proc does not say. */
struct schedule_process schedule_self(void);

/** Its state, a letter of proc(5): R runs or waits for a core, T is stopped; '?' if it is not
 * there, or may not be seen. */
char schedule_state(const struct schedule_process *p);

#endif
