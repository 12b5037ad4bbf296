/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts: where agents are started from, one for each host of ssh, one for a cluster that has a
 * launcher; how each is reached, what goes there, and what came of it. */
#ifndef EVSPACE_POST_H
#define EVSPACE_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "consumers/parcel.h"
#include "pathmap/deployment.h"
#include "pathmap/error.h"

/** What a host may end with (deploy/host). */
enum post_result { POST_NONE, POST_UP, POST_SAME, POST_DOWN, POST_ABSENT, POST_FAILED };

/** What is wanted of hosts, and how they are reached. Borrowed texts. */
struct post_plan {
	const char *action;	/* "up", "down" or "restart" */
	const char *maps;	/* folder of the pathmap */
	const char *tls;	/* folder of certificates */
	const char *ssh_config; /* NULL: ssh's own */
	const char *job;	/* of Slurm; NULL: none */
	unsigned timeout_s;	/* for a connection */
	const struct pathmap *map;
	const char *const *only; /* nodes and clusters; NULL: all */
	size_t n_only;
};

/** One of them. */
struct post {
	char *name;  /* the node, or "@" and the cluster */
	char *nodes; /* that it serves, with blanks between them */
	size_t n_nodes;
	enum engine engine;
	char *host;		     /* in words: where that is */
	char **argv;		     /* what leads there: ssh, or sh; ended by NULL */
	char *header;		     /* what deploy/host reads first, that script included */
	const struct parcel *common; /* for all: the maps; NULL: nothing */
	const struct parcel *program;
	const struct parcel *starter; /* of PVM's tasks */
	struct parcel own;	      /* certificates */
	/* what came of it */
	enum post_result result;
	char *text;	/* why it failed, or what was done */
	uint64_t bytes; /* of files that were sent */
	double seconds;
};

struct posts {
	struct post *posts;
	size_t n;
	struct parcel common, program, starter;
};

/**
 * The posts of @plan. Reads the files that are to be copied: what is missing is found before any
 * host is asked. Returns 0, or -1 with @e; posts_fini() is called by the caller in both cases.
 */
int posts_init(struct posts *posts, const struct post_plan *plan, struct error *e);
void posts_fini(struct posts *posts);

/** Parcels of one post. */
#define POST_PARCELS 4

/** Where evspace-pvm is: beside evspace where that was built, else where it is installed. The
 * caller's to free(). */
char *post_starter(void);

/** All that goes there; some may be NULL. */
void post_parcels(const struct post *post, const struct parcel *all[POST_PARCELS]);

/** Does the post succeed? */
bool post_is_fine(const struct post *post);

#endif
