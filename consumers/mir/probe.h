/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes: what instrumentation requests define, measured by views of the running program. */
#ifndef EVSPACE_PROBE_H
#define EVSPACE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "consumers/client/evspace-loop.h"
#include "consumers/mir/metric.h"
#include "consumers/mir/probe-stat.h"
#include "consumers/mir/request.h"
#include "pathmap/base/hash.h"

/** Most probes at once. */
#define PROBES_MAX 1000u

/** What is known of one thread, or process, on one communicator (0: on none). */
struct probe_cell {
	UT_hash_handle hh;
	uint32_t comm;
	struct probe_stat stat; /* of all executions since the probe began */
	double sampled;		/* the sum, when the probe took it last */
	double last;		/* of the one that ended last */
	int64_t last_ns;	/* when; 0: there was none */
	char *name;		/* in the key */
	char key[];
};

/** Who has defined probes: they end with it. */
struct probe_owner {
	struct mir_measuring defaults;
	/** Gets values that have no destination: a document. */
	void (*deliver)(struct probe_owner *owner, const char *text, size_t n);
};

/** One metric of a probe. */
struct probe_series {
	const struct metric *metric;
	struct probe_view *views[METRIC_PARTS]; /* while it is active */
	struct probe_cell *cells;
	struct probe_sum samples; /* of values that were taken now and then */
};

struct probe {
	TAILQ_ENTRY(probe) link;
	char id[16];
	struct probe_owner *owner;
	struct mir_request *defined; /* what all requests have said of it */
	uint16_t op;		     /* its region: an operation; 0: none */
	int channel;		     /* or a group of them; -1: none */
	bool flushed, wanted, active;
	bool measured; /* there is a value */
	struct probe_series *series;
	size_t n_series;
	uint64_t sample_ns, deliver_ns; /* when to, next; 0: never */
	bool fresh;			/* something came since it was delivered */
	int fd;				/* where it is delivered; -1: standard output */
	uint64_t lost;			/* tuples of its views, so far */
};

/** All of them, over one connection. */
struct probes {
	struct evspace_connection *connection;
	const struct evspace_options *look;
	TAILQ_HEAD(, probe) list;
	LIST_HEAD(, probe_view) views;
	const char *folder; /* that destinations are below; NULL: none */
	unsigned n, named;
};

/** Are values those of single executions of a region? Else they grow, and are looked at now and
 * then. */
bool probe_is_of_executions(const struct probe *probe);

/** Define a probe by @request, of which it takes what it needs. Returns NULL after a complaint. */
struct probe *probe_new(struct probes *probes, struct probe_owner *owner,
			struct mir_request *request);

/** Change it by a control request, or complain. */
void probe_change(struct probes *probes, struct probe *probe, struct mir_request *request);

/** Begin to measure, or end. It has begun when this returns; or complains, at @request. */
void probe_begin(struct probes *probes, struct probe *probe, struct mir_request *request);
void probe_end(struct probes *probes, struct probe *probe);

/** Forget what was measured. */
void probe_reset(struct probe *probe);
void probe_free(struct probes *probes, struct probe *probe);

struct probe *probe_find(struct probes *probes, const char *id);

/* ---- probe-view.c ---- */

/** The view of all calls, which has no definition. */
#define PROBE_VIEW_CALLS "events"

/** A view that probes share; it is open while one of them has it. */
struct probe_view;

/** The view with this definition; it begins to open if no probe has it yet. */
struct probe_view *probe_view_join(struct probes *probes, const char *define);

/** Is it open? Else complains. */
bool probe_view_works(const struct probe_view *view, struct mir_request *request);

/** One less has it. NULL is fine. */
void probe_view_leave(struct probe_view *view);

/** Wait until all that was before this call has come, of the views of all active probes. */
void probes_settle(struct probes *probes);

/** The cell of that name, "/cluster/node/rank3/t0". */
struct probe_cell *probe_cell_of(struct probe_series *series, uint32_t comm, const char *name);

#endif
