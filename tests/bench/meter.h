/* SPDX-License-Identifier: BSD-3-Clause */
/* The meter: what a wave costs a tree of processes, taken from outside of them. */
#ifndef EVSPACE_BENCH_METER_H
#define EVSPACE_BENCH_METER_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pathmap/base/error.h"

/** What a consumer says of itself while it runs, in memory that it shares with the bench. */
struct tally {
	_Atomic uint64_t waves;	 /* that came whole */
	_Atomic uint32_t tuples; /* in the last one */
	_Atomic uint32_t failed; /* set (release) after `why`: the consumer has given up */
	char why[512];
};

/** A tally in shared memory. Aborts when there is none. */
struct tally *tally_new(void);
void tally_free(struct tally *tally);

/** Give up: note the reason, for the bench to see. */
void tally_fail(struct tally *tally, const char *why);

bool tally_failed(const struct tally *tally);

/** The processes of a tree. */
struct tree_processes {
	pid_t consumer, root;
	pid_t *others; /* all but these two */
	size_t n_others;
	struct sockaddr_in *ends; /* where all of them listen */
	size_t n_ends;
	size_t root_end; /* which of them is the root's */
	struct tally *tally;
};

/** What the waves of one measurement cost, per wave. */
struct spent {
	double waves_per_s;
	double cpu_us;	       /* of all processes, the consumer too */
	double root_us;	       /* of the entry agent, or what stands for it */
	double consumer_us;    /* of the consumer */
	double bytes;	       /* on all connections, both ways; < 0: this kernel does not say */
	double consumer_bytes; /* likewise, between root and consumer alone */
};

/** Add the CPU time of a process, in seconds, to *@sum. Returns 0, or -1 with @e. */
int meter_cpu(pid_t pid, double *sum, struct error *e);

/**
 * Wait until some waves have come, then measure for @seconds. CPU time is what the scheduler has
 * counted for the processes (clock_getcpuclockid(3), in nanoseconds, system calls included).
 * Returns 0, or -1 with @e: interrupted, the consumer failed, a process ended.
 */
int meter_run(const struct tree_processes *tree, double seconds, struct spent *cost,
	      struct error *e);

#endif
