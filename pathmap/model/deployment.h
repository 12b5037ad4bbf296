/* SPDX-License-Identifier: BSD-3-Clause */
/* Deployments: what starts the agents of a cluster, and where their files go on its hosts. */
#ifndef EVSPACE_DEPLOYMENT_H
#define EVSPACE_DEPLOYMENT_H

#include <stdbool.h>

struct pathmap;

/** What starts agents. */
enum engine {
	ENGINE_SSH,   /* OpenSSH, host by host */
	ENGINE_LOCAL, /* nothing: the host is this one */
	ENGINE_MPI,   /* Open MPI's mpirun, one process on each host */
	ENGINE_PVM,   /* a virtual machine of PVM, as its tasks */
	ENGINE_SLURM, /* srun, as a step of a job */
	ENGINE_COUNT,
};

/** Names of engines as maps have them, by enum engine, ended by NULL. */
extern const char *const engine_names[ENGINE_COUNT + 1];

/** What a cluster, or a block of nodes outside clusters, says of how its agents are started. */
struct deployment {
	enum engine engine;
	char *user;    /* to log in as; NULL: as ssh's own configuration says */
	unsigned port; /* of sshd; 0: the same */
	char *binary;  /* evspace as it is installed there; NULL: ours is copied */
	char *folder;  /* where files go there; NULL: see deploy/host */
	bool said;     /* the map says an engine */
};

/** How the agent of @node is started, or NULL when there is no such node. */
const struct deployment *pathmap_deployment(const struct pathmap *map, const char *node);

/** The host that @node is reached at by ssh: as the map says, else that of its address, else its
 * name. The caller's to free; NULL when there is no such node. */
char *pathmap_host(const struct pathmap *map, const char *node);

/** Can this be the name of a host or a user, and no option or command, wherever it is put? */
bool host_is_plain(const char *name);

/** The gateway that @node is reached through from outside, or NULL. */
const char *pathmap_gateway(const struct pathmap *map, const char *node);

#endif
