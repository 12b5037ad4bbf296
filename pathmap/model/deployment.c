/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads how agents are started from cluster.map, and answers questions about it. */
#include "pathmap/model/deployment.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/model/cluster-read.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/parts.h"
#include "pathmap/base/quantity.h"

const char *const engine_names[ENGINE_COUNT + 1] = {
	[ENGINE_SSH] = "ssh", [ENGINE_LOCAL] = "local", [ENGINE_MPI] = "mpi",
	[ENGINE_PVM] = "pvm", [ENGINE_SLURM] = "slurm",
};

/* ---- reading ---- */

void deploy_read(struct reader *reader, struct cluster *cluster, const struct statement *statement)
{
	const struct word *word = &statement->words[1];

	for (unsigned i = 0; i < ENGINE_COUNT; i++) {
		if (strcmp(word->text, engine_names[i]) == 0) {
			cluster->deployment.engine = (enum engine)i;
			cluster->deployment.said = true;
			return;
		}
	}
	reader_complain_unknown(reader, word, "engine", engine_names, ENGINE_COUNT);
}

/* A word of ssh's command line must not look like an option. */
bool host_is_plain(const char *name)
{
	return *name != '-' &&
	       name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "abcdefghijklmnopqrstuvwxyz0123456789._-:[]%")] == '\0';
}

void deploy_user_read(struct reader *reader, void *target, const struct statement *statement)
{
	struct cluster *cluster = target;
	const struct word *word = &statement->words[1];

	if (host_is_plain(word->text))
		cluster->deployment.user = memory_copy(word->text);
	else
		reader_complain(reader, word, "`%.60s` is not a user's name", word->text);
}

void deploy_port_read(struct reader *reader, void *target, const struct statement *statement)
{
	struct cluster *cluster = target;
	const struct word *word = &statement->words[1];
	struct error e;

	if (quantity_count(word->text, 1, 65535, &cluster->deployment.port, &e) < 0)
		reader_complain(reader, word, "%s, as a port has to be", e.text);
}

/* A path on another host. */
static char *path_read(struct reader *reader, const struct word *word)
{
	if ((*word->text == '/' || strncmp(word->text, "~/", 2) == 0) &&
	    strpbrk(word->text, "\n\r\t") == NULL)
		return memory_copy(word->text);
	reader_complain(
		reader, word,
		"`%.60s` is not a path on the host; it begins with `/`, or with `~/` for the "
		"home there",
		word->text);
	return NULL;
}

void deploy_binary_read(struct reader *reader, void *target, const struct statement *statement)
{
	struct cluster *cluster = target;

	cluster->deployment.binary = path_read(reader, &statement->words[1]);
}

void deploy_folder_read(struct reader *reader, void *target, const struct statement *statement)
{
	struct cluster *cluster = target;

	cluster->deployment.folder = path_read(reader, &statement->words[1]);
}

void deploy_stages_read(struct reader *reader, void *target, const struct statement *statement)
{
	struct cluster *cluster = target;

	cluster->deployment.stages = path_read(reader, &statement->words[1]);
}

void deploy_host_resolve(struct reader *reader, struct cluster *cluster,
			 const struct statement *statement)
{
	const struct word *last = &statement->words[statement->n_words - 1];
	struct hostlist hosts = {0};
	bool right = true;

	for (size_t i = 1; right && i < statement->n_words; i++)
		right = word_expand(reader, &statement->words[i], &hosts);
	for (size_t i = 0; right && i < hosts.n; i++) {
		right = host_is_plain(hosts.names[i]);
		if (!right)
			reader_complain(reader, last, "`%.60s` is not a host's name",
					hosts.names[i]);
	}
	if (right && hosts.n != cluster->n_nodes)
		reader_complain(reader, last,
				"%zu host%s for %zu node%s; each node gets one, in order", hosts.n,
				plural(hosts.n, "s"), cluster->n_nodes,
				plural(cluster->n_nodes, "s"));
	else if (right)
		for (size_t i = 0; i < hosts.n; i++)
			cluster->nodes[i]->host = memory_copy(hosts.names[i]);
	hostlist_fini(&hosts);
}

/* ---- asking ---- */

const struct deployment *pathmap_deployment(const struct pathmap *map, const char *node)
{
	const struct node *found = cluster_map_node(&map->clusters, node);

	return found != NULL ? found->deployment : NULL;
}

char *pathmap_host(const struct pathmap *map, const char *node)
{
	const struct node *found = cluster_map_node(&map->clusters, node);
	const char *address, *colon;

	if (found == NULL)
		return NULL;
	if (found->host != NULL)
		return memory_copy(found->host);
	address = found->address;
	colon = strrchr(address, ':');
	if (colon == NULL || strncmp(address, "unix:", 5) == 0)
		return memory_copy(found->name);
	if (*address == '[')
		return memory_copy_bytes(address + 1, (size_t)(colon - address) - 2);
	return memory_copy_bytes(address, (size_t)(colon - address));
}

const char *pathmap_gateway(const struct pathmap *map, const char *node)
{
	const struct node *found = cluster_map_node(&map->clusters, node);
	const struct node *gateway = found != NULL ? node_gateway(found) : NULL;

	return gateway != NULL ? gateway->name : NULL;
}
