/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts: where agents are started from, one for each host of ssh, one for a cluster that has a
 * launcher; how each is reached, what goes there, and what came of it. */
#ifndef EVSPACE_TARGET_H
#define EVSPACE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/model/deployment.h"
#include "pathmap/base/error.h"

/* ---- bundles: files for hosts, with the checksums that they are verified by there ---- */

/** A file as it arrives. */
struct bundle_file {
	char *name; /* its path there: "maps/cluster.map" */
	char *bytes;
	size_t size;
	char sum[65]; /* SHA-256, in hex */
};

/** Some files. Zero-initialise; bundle_fini() frees. */
struct bundle {
	struct bundle_file *files;
	size_t n;
};

/** Add what is in the file @path, as @name. Returns 0, or -1 with @e. */
int bundle_add(struct bundle *bundle, const char *name, const char *path, struct error *e);

/** Add @size bytes at @bytes (copied), as @name. */
void bundle_add_bytes(struct bundle *bundle, const char *name, const void *bytes, size_t size);

/** The file that has this name there, or NULL. */
const struct bundle_file *bundle_find(const struct bundle *bundle, const char *name);

/** Free the files; their bytes are overwritten first, as some are keys. */
void bundle_fini(struct bundle *bundle);

/* ---- targets ---- */

/** What a host may end with (deploy/host). */
enum target_result {
	TARGET_NONE,
	TARGET_UP,
	TARGET_SAME,
	TARGET_DOWN,
	TARGET_ABSENT,
	TARGET_FAILED
};

/** What is wanted of hosts, and how they are reached. Borrowed texts. */
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

/** One of them. */
struct target {
	char *name;  /* the node, or "@" and the cluster */
	char *nodes; /* that it serves, with blanks between them */
	size_t n_nodes;
	enum engine engine;
	char *host;		     /* in words: where that is */
	char **argv;		     /* what leads there: ssh, or sh; ended by NULL */
	char *header;		     /* what deploy/host reads first, that script included */
	const struct bundle *common; /* for all: the maps; NULL: nothing */
	const struct bundle *program;
	const struct bundle *starter; /* of PVM's tasks */
	struct bundle own;	      /* certificates */
	/* what came of it */
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

/**
 * The posts of @plan. Reads the files that are to be copied: what is missing is found before any
 * host is asked. Returns 0, or -1 with @e; targets_fini() is called by the caller in both cases.
 */
int targets_init(struct targets *posts, const struct target_plan *plan, struct error *e);
void targets_fini(struct targets *posts);

/** Bundles of one post. */
#define TARGET_PARCELS 4

/** Where evspace-pvm is: beside evspace where that was built, else where it is installed. The
 * caller's to free(). */
char *target_starter(void);

/** All that goes there; some may be NULL. */
void target_parcels(const struct target *post, const struct bundle *all[TARGET_PARCELS]);

/** Does the post succeed? */
bool target_is_fine(const struct target *post);

#endif
