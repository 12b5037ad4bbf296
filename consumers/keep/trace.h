/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole execution in memory, thread by thread in order of time: what exports to formats of traces
 * are made of. */
#ifndef EVSPACE_TRACE_H
#define EVSPACE_TRACE_H

#include <stdbool.h>

#include "consumers/client/evspace-client.h"
#include "pathmap/base/hash.h"
#include "tree/stage/message.h"

/** An event. */
struct trace_event {
	int64_t start_ns, end_ns; /* the end not before the start, and not 0 */
	uint64_t bytes;
	uint32_t comm, seq_or_tag;
	int32_t peer;
	int32_t root; /* of a collective, in its communicator; -1: none */
	uint16_t op, flags;
	uint8_t message; /* enum message: between ranks that both take part in it */
};

/** One thread of the program, or what else writes elements. */
struct trace_thread {
	char *name; /* "/cluster/node/rank3/t0" */
	int32_t rank;
	struct trace_event *events; /* after trace_sort(): by start, the longest first */
	size_t n, room;
	UT_hash_handle hh;
};

/** A communicator that an event is on, or one that such a one was made of. */
struct trace_comm {
	uint32_t id;
	uint32_t parent; /* that it was made of, which is before it in the list; 0: not known */
	bool world;
	int32_t *members; /* world ranks, -1: not known */
	size_t n;
	UT_hash_handle hh;
};

/** Zeroed at first. */
struct trace_run {
	struct trace_thread *threads;
	struct trace_comm *comms;
	struct trace_thread *last; /* of the last event */
	char *last_name;	   /* of its element */
	size_t n_threads, n_comms;
	uint64_t events, lost, under_way; /* the last: left out, as they have no end */
	int64_t from_ns, to_ns;
};

/** Add the wave of @client. */
void trace_take(struct trace_run *t, struct evspace_client *client);

/** All has come. */
void trace_sort(struct trace_run *t);
void trace_fini(struct trace_run *t);

/** Who is told of a thread's calls and messages. */
struct trace_visitor {
	void (*enter)(void *arg, int64_t ns, const struct trace_event *ev);
	void (*leave)(void *arg, int64_t ns, const struct trace_event *ev);
	void (*message)(void *arg, int64_t ns, const struct trace_event *ev, enum message what);
	void *arg;
};

/** Tell of all that the thread has done, in order of time: calls enclose each other; a message
 * between ranks is sent within its call and received at its end, or when its request was completed.
 */
void trace_walk(const struct trace_thread *thread, const struct trace_visitor *visitor);

#endif
