/* SPDX-License-Identifier: BSD-3-Clause */
/* Targets: where agents are started from, one for each host of ssh, one for a cluster with a
 * launcher; how each is reached, what it gets, and the result. */
#ifndef EVSPACE_TARGET_H
#define EVSPACE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/model/deployment.h"
#include "pathmap/base/error.h"

/* ---- bundles: files for hosts, and checksums to verify them there ---- */

/** A file to copy. */
struct bundle_file {
	char *name; /* its path on the host: "maps/cluster.map" */
	char *bytes;
	size_t size;
	char sum[65]; /* SHA-256, in hex */
};

/** A set of files. Zero-initialise; bundle_fini() frees. */
struct bundle {
	struct bundle_file *files;
	size_t n;
};

/** Add the file @path as @name. Returns 0, or -1 with @e. */
int bundle_add(struct bundle *bundle, const char *name, const char *path, struct error *e);

/** Add @size bytes at @bytes (copied) as @name. */
void bundle_add_bytes(struct bundle *bundle, const char *name, const void *bytes, size_t size);

/** The file with the name @name, or NULL. */
const struct bundle_file *bundle_find(const struct bundle *bundle, const char *name);

/** Free the files; overwrites their bytes first, as some are keys. */
void bundle_fini(struct bundle *bundle);

/* ---- targets ---- */

/** Results of a host (deploy/host). */
enum target_result {
	TARGET_NONE,
	TARGET_UP,
	TARGET_SAME,
	TARGET_DOWN,
	TARGET_ABSENT,
	TARGET_FAILED
};

/** What to do on which hosts, and how to reach them. Borrowed texts. */
struct target_plan {
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

/** One target. */
struct target {
	char *name;  /* the node, or "@" and the cluster */
	char *nodes; /* its nodes, separated by blanks */
	size_t n_nodes;
	enum engine engine;
	char *host;		     /* in words: where it is */
	char **argv;		     /* the command that reaches it: ssh, or sh; ended by NULL */
	char *header;		     /* input of deploy/host, which begins with that script */
	const struct bundle *common; /* for all targets: the maps; NULL: none */
	const struct bundle *program;
	const struct bundle *starter; /* for PVM's tasks */
	struct bundle own;	      /* certificates */
	/* results: */
	enum target_result result;
	char *text;	/* why it failed, or what was done */
	uint64_t bytes; /* of files that were sent */
	double seconds;
};

struct targets {
	struct target *posts;
	size_t n;
	struct bundle common, program, starter;
};

/** The targets of @plan. Reads the files to copy, so that missing ones are found before any host is
 * asked. Returns 0, or -1 with @e; call targets_fini() in both cases. */
int targets_init(struct targets *posts, const struct target_plan *plan, struct error *e);
void targets_fini(struct targets *posts);

/** Bundles of one target. */
#define TARGET_PARCELS 4

/** All bundles for this target; some may be NULL. */
void target_parcels(const struct target *post, const struct bundle *all[TARGET_PARCELS]);

/** Has the target succeeded? */
bool target_is_fine(const struct target *post);

#endif
