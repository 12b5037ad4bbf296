/* SPDX-License-Identifier: BSD-3-Clause */
/* The puller: a consumer in a process of its own that pulls waves and checks that each is whole. */
#ifndef EVSPACE_BENCH_PULLER_H
#define EVSPACE_BENCH_PULLER_H

#include <stdbool.h>
#include <sys/types.h>

#include "consumers/client/evspace-client.h"
#include "pathmap/base/error.h"
#include "tests/bench/meter.h"

/** What is pulled, and what every wave must have. Strings stay the caller's. */
struct puller_options {
	const char *connect; /* "HOST:PORT" of the entry agent */
	const char *tls;     /* folder of certificates */
	const char *name;    /* of the consumer's certificate */
	const char *view;
	const char *run;
	unsigned window;	      /* waves under way */
	double rate;		      /* waves a second; 0: as fast as they come */
	unsigned hosts;		      /* leaves that answer; 0: not checked */
	unsigned tuples;	      /* in each wave; 0: not checked */
	unsigned deadline_ms;	      /* of a wave; 0: so long that it is no matter */
	bool lenient;		      /* waves that lack hosts are not counted, and no failure */
	enum evspace_urgency urgency; /* of agents, and of the process itself, if said */
};

/**
 * Start the process. It counts whole waves in @tally; the first wave that is not as it must be, or
 * a lost connection, is a failure there. Returns its pid, or -1 with @e. Ends with a signal.
 */
pid_t puller_start(const struct puller_options *o, struct tally *tally, struct error *e);

#endif
