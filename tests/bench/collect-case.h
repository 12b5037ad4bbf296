/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases of bench/collect: what each measures, and what they share. */
#ifndef EVSPACE_BENCH_COLLECT_CASE_H
#define EVSPACE_BENCH_COLLECT_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"
#include "tests/bench/pairs.h"

/** One case. */
struct collect_case {
	const char *name;
	double at_most; /* what the ratio shall be; 0: shown, not judged */
	/* measures and reports; returns 0, or -1 with @e: there is no result */
	int (*run)(const struct collect_case *c, struct error *e);
	const char *about; /* for --help: what takes the time, and what it is compared with */
};

/** How the bench was asked to run, and where its files are; set before any case. */
struct collect_bench {
	bool json, quick;
	char base[64];	/* a temp folder in shared memory, 0700 */
	char space[80]; /* in it: EVSPACE_DIR of what is started */
};

extern struct collect_bench collect_bench;

/** Pairs to measure. */
size_t collect_pairs(void);

/** Print what came out of @c, or of a @part of it ("2240"; NULL: the whole). */
void collect_report(const struct collect_case *c, const char *part, struct pairs p);

/** Print what a @part of @c takes in bytes, beside what it should. */
void collect_report_bytes(const struct collect_case *c, const char *part, double bytes,
			  double expected);

/** Have this thread run on one core: the measured one is 1, where there are two. */
void collect_pin(int cpu);

/** Remove a folder with all that is in it. */
void collect_remove(const char *path);

/* In this process (collect-path.c, collect-modes.c, collect-user.c, collect-hooks.c). */
int collect_event_case(const struct collect_case *c, struct error *e);
int collect_threads_case(const struct collect_case *c, struct error *e);
int collect_read_case(const struct collect_case *c, struct error *e);
int collect_mode_case(const struct collect_case *c, struct error *e);
int collect_user_case(const struct collect_case *c, struct error *e);
int collect_hooks_case(const struct collect_case *c, struct error *e);
int collect_switch_case(const struct collect_case *c, struct error *e);

/* Elements: many of them, their start, their memory (collect-elements.c). */
int collect_elements_case(const struct collect_case *c, struct error *e);
int collect_strides_case(const struct collect_case *c, struct error *e);
int collect_start_case(const struct collect_case *c, struct error *e);
int collect_latest_case(const struct collect_case *c, struct error *e);

/* PVM tasks (collect-pvm.c). */
int collect_pvm_case(const struct collect_case *c, struct error *e);

/* MPI programs with the collector preloaded (collect-mpi.c, collect-lttng.c, collect-runs.c). */
int collect_solo_case(const struct collect_case *c, struct error *e);
int collect_duo_case(const struct collect_case *c, struct error *e);
int collect_off_case(const struct collect_case *c, struct error *e);
int collect_lttng_case(const struct collect_case *c, struct error *e);
int collect_hpcc_case(const struct collect_case *c, struct error *e);
int collect_tunnel_case(const struct collect_case *c, struct error *e);

#endif
