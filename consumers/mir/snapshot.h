/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots: which sites, nodes, communicators, processes and threads a running program has. */
#ifndef EVSPACE_SNAPSHOT_H
#define EVSPACE_SNAPSHOT_H

#include <stdbool.h>
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
	uint64_t since_ns; /* when it was asked for (clock_mono_ns()); 0: there is none */
	bool stacks;	   /* with what threads are in */
	char *why;	   /* it could not be taken; NULL: it was */
	struct mir_thread *threads;
	size_t n_threads;
	struct mir_member *members;
	size_t n_members;
	struct mir_missing {
		char *host, *why;
	} * missing; /* hosts that have not answered */
	size_t n_missing;
};

struct toll;

/** A view that one is made of, on its way. */
struct mir_look {
	struct evspace_client *client;
	bool come, ended;
};

/** The newest one, and one that is being taken: shared by all who need one. */
struct snapshots {
	struct evspace_connection *connection;
	const struct evspace_options *options;
	struct snapshot newest, coming; /* coming.since_ns is 0: none is being taken */
	struct mir_look looks[2];
};

/** The newest one that was asked for since @since_ns, with stacks if @stacks. NULL: it is being
 * taken, or will be when this is called again; it has come 5 s later at most, or says why not. */
const struct snapshot *snapshots_since(struct snapshots *snapshots, uint64_t since_ns, bool stacks);

/** Take what has come. Returns whether one is being taken. */
bool snapshots_run(struct snapshots *snapshots);
void snapshots_fini(struct snapshots *snapshots);

/** Write its document, as @request asks for it, with what @toll (NULL: nothing) says of probes. */
void snapshot_write(const struct snapshot *snapshot, const struct mir_request *request,
		    const struct toll *toll, FILE *out);

#endif
