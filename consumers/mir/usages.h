/* SPDX-License-Identifier: BSD-3-Clause */
/* What processes and threads use of their hosts, as agents read it of the kernel: one question for
 * all who need it. */
#ifndef EVSPACE_USAGES_H
#define EVSPACE_USAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "consumers/client/evspace-loop.h"
#include "consumers/mir/metric.h"

/** How many counters there are. */
#define USAGES_COUNTERS ((size_t)METRIC_MIGRATIONS - METRIC_CYCLES + 1)

/** A process, or a thread. */
struct mir_usage {
	char *name;	/* "/cluster/node/rank3", "/cluster/node/rank3/t0"; ".../others": all of its
			 * threads whose numbers agents do not know, together */
	bool of_thread; /* it has the figures of threads, else those of processes */
	double figures[METRIC_NONE];
};

/** The newest answer. Zeroed at first. */
struct usages {
	uint64_t since_ns; /* when it was asked for (clock_mono_ns()); 0: there is none */
	char *why;	   /* there is no answer; NULL: there is */
	struct mir_usage *items;
	size_t n;
	struct usage_gap {
		char *host, *why;
	} * gaps; /* hosts of which something is missing */
	size_t n_gaps;
	uint32_t counters;		  /* to be asked for: bits of enum hardware_event */
	char *uncounted[USAGES_COUNTERS]; /* why one of them does not count; NULL: it does */
	uint64_t asked_ns;		  /* a question is under way since then; 0: none is */
};

/** The newest answer that was asked for since @since_ns. NULL: it is under way, or will be asked
 * for when this is called again; it comes, or says why not. */
const struct usages *usages_since(struct usages *usages, struct evspace_connection *connection,
				  const char *run, uint64_t since_ns);

/** Why a metric is not counted somewhere; NULL: it is. */
const char *usages_uncounted(const struct usages *usages, const struct metric *metric);

/** After the end of the connection. */
void usages_fini(struct usages *usages);

#endif
