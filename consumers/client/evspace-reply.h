/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to questions and commands; part of evspace-control.h. */
#ifndef EVSPACE_REPLY_H
#define EVSPACE_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "evspace-client.h"
#include "evspace-cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a switch or discard has done on one host. */
struct evspace_host_reply {
	const char *name;    /* "/cluster/node" */
	const char *missing; /* why it has not answered, as in evspace_missing; NULL: it has */
	const char *text;    /* what could not be done there, or ""; why it is missing */
	unsigned processes;  /* that are meant */
	unsigned changed;    /* classes switched in all of these; or elements discarded */
	uint64_t discarded;  /* tuples: by evspace_discard() now, else all so far */
	/* what became of the tuples of the elements that are meant, by evspace_switch();
	 * written = held + overwritten + discarded + lost */
	uint64_t written, held, lost;
};

/** A class of operations, summed over the processes that have it in this mode. */
struct evspace_collected {
	const char *run;
	const char *channel; /* "p2p" */
	uint32_t comm;	     /* 0: unknown, or of no communicator */
	int world;	     /* the communicator is the processes' world */
	int mode;	     /* enum evspace_mode */
	unsigned processes;
	uint64_t calls, bytes;
	uint64_t time_ns; /* in calls that were recorded, or made in mode `time` */
	uint64_t skipped; /* calls without a tuple, because of the mode */
};

/** The answer to evspace_switch() and evspace_discard(). */
struct evspace_switched {
	const char *run; /* "": there is none yet */
	const struct evspace_host_reply *hosts;
	size_t n_hosts;
	const struct evspace_collected *classes; /* as they are now */
	size_t n_classes;
};

/** A process whose elements an agent holds. */
struct evspace_process {
	const char *name; /* "rank3" */
	const char *run, *program, *host;
	const char *notes;	/* why collecting is not complete, "" if it is */
	const char *not_traced; /* classes that are not, "" if there are none */
	unsigned pid;
	int alive, finished;
	unsigned threads, elements;
	uint64_t events, held, discarded;
	uint64_t overflowed; /* events that went to no element */
	uint64_t bytes;	     /* of memory */
	uint64_t age_ms;     /* since its start */
	uint64_t dead_ms;    /* since it was first seen dead; 0: it lives */
	unsigned cost_ps;    /* time that an event costs it on average, in ps; 0: not known yet */
};

/** The answer to evspace_status(). */
struct evspace_agent {
	const char *node, *cluster, *version, *entry;
	unsigned pid;
	unsigned wire; /* newest version of the wire protocol that it speaks; 0: unknown */
	int replaced;  /* its program file was replaced since its start */
	unsigned scopes, links;
	uint64_t uptime_ms, retention_ms;
	uint64_t cpu_us, memory;
	const struct evspace_process *processes;
	size_t n_processes;
	const struct evspace_collected *classes; /* of all processes, by run */
	size_t n_classes;
	const char *const *refused; /* what could not be collected, and why */
	size_t n_refused;
	const char *const *remote; /* what is fetched from here and to here */
	size_t n_remote;
};

/** The three files of a map. */
struct evspace_texts {
	const char *application, *cluster, *mapping;
};

/** The answer to evspace_map(). */
struct evspace_map_reply {
	uint64_t generation; /* 1: the map that the agent was started with */
	struct evspace_texts texts;
	uint64_t before; /* generation of the map before it; 0: none */
	struct evspace_texts previous;
	int hidden; /* where hosts are is left out, as the asker may not know */
};

/** A host that was not there when a map was applied. */
struct evspace_unready {
	const char *node, *why;
	int left_out; /* it is not in the new map, but holds ranks */
};

/** The answer to evspace_apply(). */
struct evspace_applied {
	uint64_t generation;  /* as before: that map is in effect already */
	unsigned scopes;      /* open ones that have switched */
	unsigned prepared_ms; /* until all hosts had opened the new trees */
	unsigned switched_ms; /* from then until the old ones had drained */
	const struct evspace_unready *missing;
	size_t n_missing;
	/* elements that existed already, of all runs */
	unsigned lifetimes;			 /* have another one */
	unsigned classes;			 /* of operations were switched */
	const struct evspace_unready *unchanged; /* hosts where they stay as they were, or some */
	size_t n_unchanged;
	/* open views that it ends, and its own that the agent cannot serve: why, a line each */
	const char *const *notes;
	size_t n_notes;
};

/** An answer: one of the pointers if nothing failed, the others are NULL. */
struct evspace_reply {
	enum evspace_failure failure;
	const char *why; /* one line; "" if nothing failed */
	const struct evspace_switched *switched;
	const struct evspace_agent *status;
	const struct evspace_map_reply *map;
	const struct evspace_applied *applied;
	const struct evspace_costs *costs;
};

#ifdef __cplusplus
}
#endif

#endif
