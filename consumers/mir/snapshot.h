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
	char *name; /* "/cluster/node/rank3/t0"; "/cluster/node/rank3/4711": one that has no number
		     */
	char *frames[SNAPSHOT_FRAMES];
	char *title;  /* the kernel's name of one without a number; else NULL */
	char **stack; /* its functions, the innermost first */
	size_t n_stack;
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
	unsigned depth;	   /* of the stacks; 0: without */
	bool ended;	   /* no process of the run is there any more */
	bool lives;	   /* one is, and those that have ended are no part of it: */
	char **gone;	   /* "/cluster/node/rank3" */
	size_t n_gone;
	char *why; /* it could not be taken; NULL: it was */
	struct mir_thread *threads;
	size_t n_threads;
	struct mir_member *members;
	size_t n_members;
	struct mir_missing {
		char *host, *why;
	} * missing, *unread; /* hosts that have not answered; and what has no stacks */
	size_t n_missing, n_unread;
	unsigned looked; /* threads that were stopped for that */
	uint64_t stopped_ns, longest_ns;
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
	struct evspace_question *stacks; /* and processes: stack-ask.h; NULL: it is answered */
};

/** The newest one that was asked for since @since_ns, with stacks down to @depth frames. NULL: it
 * is being taken, or will be when this is called again; it has come 5 s later at most, or says why
 * not. */
const struct snapshot *snapshots_since(struct snapshots *snapshots, uint64_t since_ns,
				       unsigned depth);

/** Add a thread, whose @name it takes; NULL: that is none. Each may be added several times, with
 * another part of what is known. */
struct mir_thread *snapshot_thread(struct snapshot *snapshot, char *name);

/** Add to one of its lists, of @n, what is not there, and why; both are copied. */
void snapshot_miss(struct mir_missing **list, size_t *n, const char *what, const char *why);

/** Take what has come. Returns whether one is being taken. */
bool snapshots_run(struct snapshots *snapshots);
void snapshots_fini(struct snapshots *snapshots);

/** Write its document, as @request asks for it, with what @toll (NULL: nothing) says of probes. */
void snapshot_write(const struct snapshot *snapshot, const struct mir_request *request,
		    const struct toll *toll, FILE *out);

#endif
