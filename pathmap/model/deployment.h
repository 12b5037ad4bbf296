/* SPDX-License-Identifier: BSD-3-Clause */
/* Deployments: what starts the agents of a cluster, and where their files go on its hosts. */
#ifndef EVSPACE_DEPLOYMENT_H
#define EVSPACE_DEPLOYMENT_H

#include <stdbool.h>

struct pathmap;

/** How agents are started. */
enum engine {
	ENGINE_SSH,   /* OpenSSH, host by host */
	ENGINE_LOCAL, /* none: the host is this one */
	ENGINE_MPI,   /* Open MPI's mpirun, one process on each host */
	ENGINE_PVM,   /* a virtual machine of PVM, as its tasks */
	ENGINE_SLURM, /* srun, as a step of a job */
	ENGINE_COUNT,
};

/** Names of engines as maps have them, by enum engine, ended by NULL. */
extern const char *const engine_names[ENGINE_COUNT + 1];

/** How the agents of a cluster, or of a block of nodes outside clusters, are started. */
struct deployment {
	enum engine engine;
	char *user;    /* for ssh; NULL: by ssh's own configuration */
	unsigned port; /* of sshd; 0: likewise */
	char *binary;  /* installed evspace; NULL: ours is copied */
	char *folder;  /* where files go there; NULL: see deploy/host */
	char *stages;  /* its folder of stages of others; NULL: none */
	bool said;     /* the map has an engine */
};

/** How to start the agent of @node, or NULL when there is no such node. */
const struct deployment *pathmap_deployment(const struct pathmap *map, const char *node);

/** The host of @node for ssh: the map's, else that of its address, else its name. The caller
 * must free it; NULL when there is no such node. */
char *pathmap_host(const struct pathmap *map, const char *node);

/** Is it safe as the name of a host or a user on a command line: no option, and no command? */
bool host_is_plain(const char *name);

/** The gateway through which @node is reached from outside, or NULL. */
const char *pathmap_gateway(const struct pathmap *map, const char *node);

#endif
