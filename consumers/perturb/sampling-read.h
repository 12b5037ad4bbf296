/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the samples and the trace of one run: what each says its threads were in, and from when to
 * when. */
#ifndef EVSPACE_SAMPLING_READ_H
#define EVSPACE_SAMPLING_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/analysis/dwell.h"
#include "pathmap/base/error.h"
#include "pathmap/base/hash.h"

/** An operation, region or phase. Number 0 is outside of all. */
struct activity {
	char *name;
	uint32_t number;
	double trace, samples; /* its share of the time */
	UT_hash_handle hh;
};

/** What an archive has of an element: which tuple is the next, and what the last one was. */
struct element_told {
	uint64_t next;
	uint64_t lost; /* said to be, and not found missing between two tuples yet */
	bool any, seen;
	struct dwell last;
};

struct effect_element {
	char *name;
	struct element_told kept;  /* by samples */
	struct element_told trace; /* up to the time of the last samples */
	UT_hash_handle hh;
};

struct sampled_thread {
	char *name;
	struct dwells calls, unknown; /* of the trace; what it has lost */
	struct dwells samples;
	int64_t first, last; /* times that samples are of */
	uint32_t now;	     /* what the last sample says */
	bool any;
	UT_hash_handle hh;
};

struct effect_reading {
	struct activity *activities;
	struct effect_element *elements;
	struct sampled_thread *threads;
	uint64_t kept, left_out, n_threads;
	uint64_t samples_lost, lost;   /* the latter at most, where both are compared */
	double *by_trace, *by_samples; /* ns, of each activity */
	double all_ns, apart_ns;       /* compared; of it what threads have elsewhere */
	uint64_t unknown_ns;
	int64_t samples_end_ns, end_ns; /* up to when samples, and the trace, go */
};

/** Read the archive @samples, whether the sampler's or of events that a filter has thinned, and the
 * archive @trace, into @reading, which is zeroed. Returns 0, or -1 with @e; sampling_reading_fini()
 * is due in any case. */
int sampling_read(struct effect_reading *reading, const char *samples, const char *trace,
		  struct error *e);
void sampling_reading_fini(struct effect_reading *reading);

#endif
