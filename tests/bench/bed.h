/* SPDX-License-Identifier: BSD-3-Clause */
/* The bed: agents of a pathmap on this machine's loopback interface, with certificates, for one
 * bench. */
#ifndef EVSPACE_BENCH_BED_H
#define EVSPACE_BENCH_BED_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/types.h>

#include "pathmap/base/error.h"
#include "pathmap/model/pathmap.h"
#include "tests/bench/puller.h"

/** All that is in it goes with bed_end(). */
struct bed {
	char dir[96]; /* a temp folder in shared memory, 0700 */
	char maps[128], tls[128],
		space[128]; /* folders in it; the last one is the agents' EVSPACE_DIR */
	char net[16]; /* "127.77.13": the first three numbers of addresses that nobody listens on */
	struct pathmap *map;
	struct bed_agent {
		const char *node; /* the map's */
		pid_t pid;
		struct sockaddr_in end;
		const char *local; /* the map's path of a Unix socket, or NULL: `end` is it */
	} * agents;		   /* in the order of the map's nodes */
	size_t n_agents;
	pid_t prefork; /* of bed_start_together(), else 0 */
};

/** The TCP port of all agents; their addresses differ. */
#define BED_PORT 7440

/** The name in the certificate of the bench's consumers. */
#define BED_CONSUMER "bench"

/** What a view says that has the newest tuple of each element, in a map; state lines are none. */
#define BED_NEWEST                                                                 \
	"select /**/p2p /**/collective /**/wait /**/completion /**/comm /**/env; " \
	"read latest;"

/**
 * Make the folders, a CA, and a certificate for consumers, and find free addresses; EVSPACE_DIR is
 * set. Returns 0, or -1 with @e; bed_end() is due in any case.
 */
int bed_begin(struct bed *bed, struct error *e);

/** Make a certificate for consumers that switch, too: "control". */
int bed_control(struct bed *bed, struct error *e);

/** Write a file of the pathmap ("cluster.map"). */
int bed_map(const struct bed *bed, const char *name, struct error *e, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/** Write the cluster.map and mapping.map of two clusters, A and B, of @hosts nodes each (a0, …; b0,
 * …) behind gateways ga and gb; the entry is front, each node has one rank. */
int bed_clusters(const struct bed *bed, unsigned hosts, struct error *e);

/** Read the pathmap and start an agent for each of its nodes; returns when all of them listen. */
int bed_start(struct bed *bed, struct error *e);

/**
 * Read the pathmap and make the certificates of its nodes; bed_start() does that, too, unless it
 * was done before.
 */
int bed_prepare(struct bed *bed, struct error *e);

/**
 * Start the agents of all nodes as one `evspace agent --node @list`, which forks them; returns when
 * all are ready. EVSPACE_DIR is @space, where %n is the node's name. bed->agents stays empty.
 */
int bed_start_together(struct bed *bed, const char *list, const char *space, struct error *e);

/** End the agent of @node with @signal; start it again, which returns when it listens. @by: NULL,
 * or the command that runs it ("/usr/bin/env", "valgrind"), ended by NULL, of 7 words at most. */
int bed_stop(struct bed *bed, const char *node, int signal, struct error *e);
int bed_restart(struct bed *bed, const char *node, const char *const *by, struct error *e);

/** The agent of @node, or NULL. */
const struct bed_agent *bed_agent(const struct bed *bed, const char *node);

/** To pull @view of @run from the entry agent, as the bench's consumer; the rest is 0. */
struct puller_options bed_puller(const struct bed *bed, const char *view, const char *run);

/** End the agents and remove the folder. */
void bed_end(struct bed *bed);

#endif
