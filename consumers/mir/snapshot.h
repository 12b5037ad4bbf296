/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots: which sites, nodes, communicators, processes and threads a running program has. */
#ifndef EVSPACE_SNAPSHOT_H
#define EVSPACE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "consumers/client/evspace-loop.h"
#include "consumers/mir/request.h"

/** Most frames of a thread that are known: operation, call site, region. */
#define SNAPSHOT_FRAMES 3

/** A thread, or a node without threads. */
struct mir_thread {
	char *name; /* "/cluster/node/rank3/t0" */
	char *frames[SNAPSHOT_FRAMES];
};

/** A communicator, and a process that is in it. */
struct mir_member {
	uint32_t comm;
	bool world;
	char *process; /* "/cluster/node/rank3" */
};

/** Who is there, in the order of names; each thread and each member once. */
struct snapshot {
	struct mir_thread *threads;
	size_t n_threads;
	struct mir_member *members;
	size_t n_members;
	char **missing; /* hosts that have not answered, and why */
	size_t n_missing;
};

/** Take one, with what threads are in if @stack. Returns 0, or -1 after a complaint. */
int snapshot_take(struct snapshot *snapshot, struct evspace_connection *connection,
		  const struct evspace_options *look, bool stack, struct mir_request *request);
void snapshot_fini(struct snapshot *snapshot);

/** Write its document, as @request asks for it. */
void snapshot_write(const struct snapshot *snapshot, const struct mir_request *request, FILE *out);

#endif
