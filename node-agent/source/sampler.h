/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampler: looks at threads' state lines at intervals, and writes what tells something to an
 * element of each thread. */
#ifndef EVSPACE_SAMPLER_H
#define EVSPACE_SAMPLER_H

#include "node-agent/source/source.h"
#include "pathmap/model/sampling.h"

/** Runs that can be sampled at a time, threads in all, and samples that a thread's element holds:
 * 24 kB each. */
#define SAMPLER_RUNS	 8u
#define SAMPLER_THREADS	 1024u
#define SAMPLER_CAPACITY 500u

struct event_base;
struct sampler;

/** Of the elements of @host, which must outlive it. No timer runs, and nothing is written, before
 * sampler_want(). Returns NULL with errno and @e if there is no timer. */
struct sampler *sampler_new(struct event_base *base, const struct source_host *host,
			    struct error *e);
void sampler_free(struct sampler *sampler);

/**
 * Sample the threads of @run from now on. Each gets an element "sample", a file beside the run's
 * segments; a tuple there is what the thread was doing at its `end`, since its `start`, and
 * `bytes` says how many samples before it were left out (sieve_take()). What no operation and
 * no region is, is OP_EVSPACE_OUTSIDE. Returns 0, or -1 with errno and @e: the run is sampled
 * otherwise already, or too many are.
 */
int sampler_want(struct sampler *sampler, const char *run, const struct sampling *sampling,
		 struct error *e);

/** Can what @open asks for be sampled? Returns 0, or -1 with errno and @e. */
int sampler_check(const struct source_host *host, const Evspace__Open *open, struct error *e);

/** Undo one sampler_want(). After the last of its run nothing is looked at any more; the elements
 * stay for a second, or for half a minute if the connection was @lost: so a reader may come back.
 */
void sampler_unwant(struct sampler *sampler, const char *run, bool lost);

#endif
