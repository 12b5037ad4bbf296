/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's settings from EVSPACE_ variables, and the folder of its segment. */
#ifndef EVSPACE_SETTINGS_H
#define EVSPACE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "node-agent/segment/segment.h"
#include "pathmap/base/error.h"

/** Room for a path of a run's folder. */
#define SETTINGS_PATH 192

/** Upper bounds of settings. */
#define SETTINGS_CAPACITY_MAX 16777216u
#define SETTINGS_THREADS_MAX  4096u
#define SETTINGS_RESERVE_MAX  1048576u
#define SETTINGS_LIFETIME_MAX UINT64_C(31536000000000000) /* a year in ns */

/** The variable that tells spawned processes their parents: the id of the intercommunicator in
 * hex, a dot and the run. */
#define SETTINGS_PARENT "OMPI_MCA_evspace_parent"

/** The settings of this process. Plain data. */
struct settings {
	char base[SETTINGS_PATH]; /* folder-base.h */
	char run[64];		  /* EVSPACE_RUN, else the parents' run, else run-JOB */
	char job[64];		  /* what the launcher calls the job, "" if unknown */
	char dir[SETTINGS_PATH + 64];
	uint32_t capacity[CHANNEL_MAX]; /* EVSPACE_CAPACITY: "200" or "p2p=1000,wait=0"; 0: off */
	uint8_t modes[CHANNEL_MAX];	/* EVSPACE_MODES: "count" or "p2p=trace,wait=off" */
	uint8_t split[CHANNEL_MAX];	/* EVSPACE_ELEMENTS: "op" or "p2p=site,collective=comm" */
	uint64_t lifetime_ns[CHANNEL_MAX]; /* EVSPACE_LIFETIMES: "10s" or "p2p=500ms"; 0: none */
	const char *ranks;     /* EVSPACE_RANKS: "0-7,12": those that are collected; NULL: all */
	uint32_t only_threads; /* EVSPACE_THREADS_ONLY: so many of each process; 0: all */
	uint32_t reserve;      /* EVSPACE_RESERVE: elements of each split channel; 0: default */
	uint32_t parent;       /* id of the intercommunicator to its parents; 0: none */
	uint32_t threads;      /* EVSPACE_THREADS; 0: default */
	uint64_t quota;	       /* EVSPACE_QUOTA: "500M"; 0: default */
	uint32_t note;	       /* SEGMENT_NOTE_SETTINGS if one is not valid */
};

/** Read the environment, which some of it points into. A value that is not valid is ignored and
 * noted. */
void settings_read(struct settings *out);

/** The same with a job name that the process knows. */
void settings_read_job(struct settings *out, const char *job);

/** Is a process of this rank to be collected? */
bool settings_have_rank(const struct settings *settings, int32_t rank);

/** The job name of a user's PVM virtual machine: the same in all tasks, on every host. */
void settings_job_pvm(char *out, size_t n);

/** Make the base and the run's folder (0700) if they are missing, and check that both are our
 * own, not links and not writable by others. Returns 0, or -1 with errno and @e. */
int settings_folder(const struct settings *settings, struct error *e);

#endif
