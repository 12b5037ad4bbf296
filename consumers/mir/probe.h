/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes: what instrumentation requests define, measured by views of the running program. */
#ifndef EVSPACE_PROBE_H
#define EVSPACE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "consumers/mir/archiver.h"
#include "consumers/mir/destination.h"
#include "consumers/mir/probe-region.h"
#include "consumers/mir/probe-stat.h"
#include "consumers/mir/request.h"
#include "consumers/mir/snapshot.h"
#include "consumers/mir/usages.h"
#include "pathmap/base/hash.h"

/** Most probes at once; what no id reaches; and how long to wait for what has not come. */
#define PROBES_MAX	  1000u
#define PROBES_NAMED_MAX  4000000000u
#define PROBE_PATIENCE_NS UINT64_C(5000000000)

/** What is known of one thread, or process, on one communicator (0: on none). */
struct probe_cell {
	UT_hash_handle hh;
	uint32_t comm;
	struct probe_stat stat; /* of all executions since the probe began */
	double sampled;		/* the sum, when the probe took it last */
	double own;		/* and when it did so because this has executed the region */
	bool ran, has_run;	/* it has since then; or ever */
	double before;		/* the sum, when a measurement with a duration began */
	double base;		/* of what the kernel says: where the sum began */
	double last;		/* of the one that ended last */
	int64_t last_ns;	/* when; 0: there was none */
	int64_t opened_ns;	/* when the newest one began that has not ended elsewhere yet */
	char *name;		/* in the key */
	char key[];
};

/** Who has defined probes: they end with it. */
struct probe_owner {
	struct mir_measuring defaults;
	/** Gets values that have no destination: a document. NULL: there is no way to it. */
	void (*deliver)(struct probe_owner *owner, const char *text, size_t n);
	unsigned errands; /* that are under way */
	size_t bytes;	  /* of documents that say what its probes are */
	char *name;	  /* by which it is known over several connections; NULL: it is one */
	LIST_HEAD(, writeback) writebacks; /* writeback.h */
	LIST_HEAD(, sir_unit) units;	   /* units.h */
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
	struct mir_request *defined;	/* what all requests have said of it */
	struct probe_region regions[2]; /* where it begins and ends, by the texts of that */
	unsigned n_regions;		/* 1: both are the same; 0: it is of all */
	bool siteless, sited;		/* there are calls whose place is not recorded; or is */
	struct probe_moment *moments;	/* probe-span.h */
	size_t n_moments;
	struct probe_series opened; /* likewise: whose newest begin has no end yet */
	bool flushed, wanted, active;
	uint64_t begins_ns; /* since when it is to be active, and is not yet; 0: it is not to be */
	unsigned errand, named_by; /* that has it begin, and last names it, by number */
	char *why;		   /* it could not begin; NULL: it could */
	uint64_t again_ns;	   /* when to try that again; 0: never */
	struct {
		struct evspace_question *question; /* NULL: it is answered */
		char *why;			   /* it cannot be on; NULL: it is */
	} function;				   /* probe-function.h */
	struct {
		struct probe_view *view; /* NULL: it has none now */
		FILE *lines;		 /* those of a wave; NULL: none came yet */
		char *text;
		size_t bytes, n;
		struct archiver *archiver; /* instead; NULL: it has none, and errno why */
		int why;
	} trace;       /* events themselves are asked for */
	bool measured; /* there is a value */
	struct probe_series *series;
	size_t n_series;
	uint64_t sample_ns, deliver_ns; /* when to, next; 0: never */
	uint64_t within_ns; /* a measurement with a duration has begun then; 0: none has */
	uint64_t fresh_ns;  /* when something came that is not delivered yet; 0: all is */
	struct destination *destination; /* NULL: where answers go */
	uint64_t lost;			 /* tuples of its views, so far */
	struct probe_change *change;	 /* probe-change.h; NULL: none is under way */
};

/** All of them, over one connection. */
struct probes {
	struct snapshots snapshots; /* has the connection */
	struct usages usages;
	TAILQ_HEAD(, probe) list;
	LIST_HEAD(, probe_view) views;
	struct toll *toll; /* what these cost; NULL: there are none */
	struct {
		struct evspace_question *question;
		uint64_t again_ns; /* when to say what is on; 0: never */
		bool told;	   /* that a host cannot have all be on any more */
	} functions;
	struct destinations destinations;
	struct archivers archivers;
	const char *write; /* that sources are written back below; NULL: none */
	const char *flags; /* how sources are compiled (code-read.h) */
	const char *fetch; /* hosts that they may be fetched from; NULL: none */
	unsigned n, named;
	unsigned changes, kept; /* of what there is and how it is defined; in a file, if any */
};

/** Define a probe by @request, of which it takes what it needs. Returns NULL after a complaint. */
struct probe *probe_new(struct probes *probes, struct probe_owner *owner,
			struct mir_request *request);

/** It is the probe of that number that was there before, and begins when it can if @flushed. */
void probe_restore(struct probes *probes, struct probe *probe, unsigned number, bool flushed);

/** Have it measure what it is defined by, from nothing; free what it had. */
void probe_series_make(struct probe *probe);
void probe_series_free(struct probe_series *series, size_t n);

/** Begin to measure, for an errand: what was before is no part of it, so it is active only when
 * that has come; then, or after 5 s, probes_settle() says whether it works. */
void probe_begin(struct probes *probes, struct probe *probe, unsigned errand);

/** Those that begin are active, or have failed. Returns whether there are others. */
bool probes_settle(struct probes *probes);

/** End to measure, at once. */
void probe_end(struct probes *probes, struct probe *probe);

/** Forget what was measured; of what the kernel says, it begins where @usages are (NULL: none). */
void probe_reset(struct probe *probe, const struct usages *usages);
void probe_free(struct probes *probes, struct probe *probe);
struct probe *probe_find(struct probes *probes, const char *id);

/** Has all come that was before @since_ns? */
bool probe_is_whole(const struct probe *probe, uint64_t since_ns);
#endif
