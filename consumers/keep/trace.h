/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole execution, thread by thread in order of time: what exports to formats of traces are made
 * of. What is in memory does not grow with its length. */
#ifndef EVSPACE_TRACE_H
#define EVSPACE_TRACE_H

#include <stdbool.h>

#include "consumers/client/evspace-client.h"
#include "consumers/keep/progress.h"
#include "pathmap/base/error.h"
#include "pathmap/base/hash.h"
#include "tree/stage/message.h"

struct pairing;
struct spill;

/** What happens at one time: a call begins, or a message is sent or received. */
struct trace_event {
	int64_t start_ns, end_ns; /* the end not before the start, and not 0 */
	uint64_t bytes;
	uint32_t comm, seq_or_tag;
	uint32_t thread; /* by number, from 0 */
	int32_t peer;
	int32_t root; /* of a collective, in its communicator; -1: none */
	uint16_t op, flags;
	uint8_t message; /* enum message, between ranks that both take part in it; MESSAGE_NONE: a
			  * call begins */
};

/** One thread of the program, or what else writes elements. */
struct trace_thread {
	char *name; /* "/cluster/node/rank3/t0" */
	int32_t rank;
	uint32_t number;
	uint32_t place; /* of the thread in order of ranks, from 0; by trace_sort() */
	UT_hash_handle hh;
};

/** An element of a thread. */
struct trace_element {
	char *name;
	const struct trace_thread *thread;
	uint64_t next;	    /* number of the tuple that comes next, by those that came */
	uint64_t lost_till; /* by losses that were told */
	int64_t end_ns;	    /* of the last one */
	UT_hash_handle hh;
};

/** A communicator that an event is on, or one that such a one was made of. */
struct trace_comm {
	uint32_t id;
	uint32_t parent; /* that it was made of, which is before it in the list; 0: not known */
	bool world;
	bool apart; /* it has two sides, of which members at the root's do not say who it is */
	int32_t *members; /* world ranks, -1: not known */
	size_t n;
	UT_hash_handle hh;
};

/** What the program has called a region, phase or function: an operation of its own in the trace.
 */
struct trace_label {
	struct trace_label_key {
		uint32_t id, op;
	} key;
	uint16_t as; /* TRACE_LABELS and more */
	char *text;
	UT_hash_handle hh;
};

/** Operations from here on are such ones. */
#define TRACE_LABELS 32768u

/** Begin with trace_init(). */
struct trace_run {
	struct trace_thread *threads; /* in order of their places, after trace_sort() */
	struct trace_thread **by_number;
	struct trace_comm *comms;
	struct trace_label *labels;
	const char **texts;		       /* of these, by their operations */
	struct trace_element *elements, *last; /* the one of the last event */
	size_t n_threads, n_comms, n_labels;
	struct spill *moments;
	struct read_progress *progress;	  /* of the walk; NULL: not shown */
	bool (*stopped)(void);		  /* is no more of it wanted? NULL: all is */
	struct pairing *pairing;	  /* who has holes, where */
	bool holes;			  /* something is missing, lost or not */
	bool begun;			  /* something was written where it is to go */
	uint64_t events, lost, under_way; /* the last: left out, as they have no end */
	uint64_t alone;			  /* messages that have one end here */
	uint64_t unknown; /* sides of messages of which the other side is not known */
	int64_t from_ns, to_ns;
	uint16_t finalize;	  /* the operation that ends a rank */
	bool ops[UINT16_MAX + 1]; /* operations that occur */
};

/** A trace that is sorted beside the file @out. */
void trace_init(struct trace_run *t, const char *out);
void trace_fini(struct trace_run *t);

/** Add the wave of @client. Returns 0, or -1 with @e. */
int trace_take(struct trace_run *t, struct evspace_client *client, struct error *e);

/** What an operation is called. */
typedef const char *trace_name_function(const struct trace_run *t, uint16_t op);
trace_name_function trace_op_name;

/** All has come. */
void trace_sort(struct trace_run *t);

/** Who is told of calls and messages, thread by thread. */
struct trace_visitor {
	/* The first and the last of a thread; NULL: not wanted. They return 0, or -1 with @e. */
	int (*begin)(void *arg, const struct trace_thread *thread, struct error *e);
	int (*end)(void *arg, const struct trace_thread *thread, struct error *e);
	void (*enter)(void *arg, int64_t ns, const struct trace_event *ev);
	void (*leave)(void *arg, int64_t ns, const struct trace_event *ev);
	void (*message)(void *arg, int64_t ns, const struct trace_event *ev);
	void *arg;
};

/**
 * Tell once of all that threads have done, each in order of time: calls enclose each other; a
 * message between ranks is sent within its call and received at its end, or when its request was
 * completed. Returns 0, or -1 with @e.
 */
typedef int trace_walk_function(struct trace_run *t, const struct trace_visitor *visitor,
				struct error *e);
trace_walk_function trace_walk;

/** The same of messages of which both sides are known to belong together: with holes, others are
 * left out and counted, as readers take the n-th send for that of the n-th receive. */
trace_walk_function trace_walk_paired;

/** So many, @n, of @all are @done: show that now and then. Returns 0, or -1 with @e: it is to end.
 */
int trace_step(const struct trace_run *t, const char *done, uint64_t n, uint64_t all,
	       struct error *e);

/** When it happens. */
int64_t trace_at(const struct trace_event *ev);

#endif
