/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks: in which functions the threads of another process are, by ptrace(2) and elfutils. */
#ifndef EVSPACE_STACK_H
#define EVSPACE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pathmap/base/error.h"

/** Most frames of a thread, and most threads of a process. */
#define STACK_FRAMES  64u
#define STACK_THREADS 256u

/** A function that has been called and has not returned. */
struct stack_frame {
	const char *name;   /* NULL: not known */
	const char *file;   /* that it is in at `line`; NULL: not known */
	const char *module; /* or the executable or library; NULL: none */
	int line;
};

/** A thread: the innermost function first. */
struct stack_thread {
	int tid;
	char name[16];	     /* the kernel's */
	uint64_t stopped_ns; /* for so long, to be looked at */
	size_t n;
	struct stack_frame frames[STACK_FRAMES];
	char why[96]; /* it could not be read, or not to its end; "": it could */
};

/** Most frames, and until when (CLOCK_MONOTONIC) to look at threads, and for names. */
struct stack_limits {
	unsigned depth;
	uint64_t threads_ns, names_ns;
	/** Look into files of debugging information alone, too, which takes longer. */
	bool elsewhere;
};

/** Who is told of each thread. What it points to is valid during the call. */
typedef void stack_take(void *arg, const struct stack_thread *thread);

/**
 * Tell @take the stacks of all threads of process @pid, as deep as @limits say. One thread after
 * the other is stopped for as long as it takes to walk along its frames (some 0.1 ms; the names are
 * looked up afterwards), and goes on also if this process is killed meanwhile; a system call that
 * the kernel cannot go on with (epoll_wait(2)) ends with EINTR. Threads that are not looked at by
 * then say so, and frames have no names that are not. Blocks; for a process that ends soon: threads
 * that did not stop in time, and stop later, go on during the next call, or then, and names are
 * kept. Returns 0, or -1 with @e: nothing of the process, or not all of its threads, can be read.
 */
int stack_read(pid_t pid, const struct stack_limits *limits, stack_take *take, void *arg,
	       struct error *e);

#endif
