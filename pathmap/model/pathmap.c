/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up facts of a pathmap by name. */
#include "pathmap/model/pathmap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/parts.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/model/pattern.h"

void pathmap_free(struct pathmap *map)
{
	int saved = errno;

	if (map == NULL)
		return;
	application_fini(&map->application);
	cluster_map_fini(&map->clusters);
	mapping_fini(&map->mapping);
	free(map->node_names);
	free(map->view_names);
	free(map);
	errno = saved;
}

const char *pathmap_application(const struct pathmap *map)
{
	return map->application.name;
}

unsigned pathmap_ranks(const struct pathmap *map)
{
	return map->application.ranks;
}

size_t pathmap_channels(const char *const **names)
{
	*names = recording_channels;
	return RECORDING_CHANNELS;
}

const struct recording *pathmap_recording(const struct pathmap *map, const char *channel)
{
	int number = recording_channel(channel);

	return number < 0 ? NULL : &map->application.recordings[number];
}

size_t pathmap_rules(const struct pathmap *map, const struct element_rule **rules)
{
	*rules = map->application.rules;
	return map->application.n_rules;
}

struct recording pathmap_element(const struct pathmap *map, const char *name, const char *channel)
{
	const struct recording *of = pathmap_recording(map, channel);
	struct recording is = of != NULL ? *of : (struct recording){.collected = false};

	for (size_t i = 0; i < map->application.n_rules && is.collected; i++) {
		const struct recording *says = &map->application.rules[i].says;

		if (!pattern_match(map->application.rules[i].pattern, name))
			continue;
		is.capacity = says->capacity > 0 ? says->capacity : is.capacity;
		is.lifetime_ns = says->lifetime_ns > 0 ? says->lifetime_ns : is.lifetime_ns;
		is.mode = says->mode != NULL ? says->mode : is.mode;
		if (says->remote[0])
			memcpy(is.remote, says->remote, sizeof(is.remote));
		if (says->remote_capacity > 0)
			is.remote_capacity = says->remote_capacity;
	}
	return is;
}

const struct recording *pathmap_remote(const struct pathmap *map, size_t *i, const char **of)
{
	const struct application *a = &map->application;

	while (*i < RECORDING_CHANNELS + a->n_rules) {
		size_t at = (*i)++;
		const struct element_rule *rule =
			at < RECORDING_CHANNELS ? NULL : &a->rules[at - RECORDING_CHANNELS];
		const struct recording *says = rule ? &rule->says : &a->recordings[at];

		*of = rule ? rule->pattern : recording_channels[at];
		if (says->collected && says->remote[0])
			return says;
	}
	return NULL;
}

bool pathmap_fetches(const struct pathmap *map, const char *node)
{
	const struct recording *says;
	const char *of;

	for (size_t i = 0; (says = pathmap_remote(map, &i, &of)) != NULL;) {
		if (strcmp(says->remote, node) == 0)
			return true;
	}
	return false;
}

char *pathmap_only_ranks(const struct pathmap *map)
{
	const struct interval_set *ranks = &map->application.only_ranks;

	return ranks->n > 0 ? interval_set_text(ranks) : NULL;
}

unsigned pathmap_only_threads(const struct pathmap *map)
{
	return map->application.only_threads;
}

char *element_rule_text(const struct element_rule *rule)
{
	const struct recording *says = &rule->says;
	char capacity[32] = "", lifetime[40] = "", remote[128] = "";
	int n;

	if (says->remote[0]) {
		n = snprintf(remote, sizeof(remote), " remote %s", says->remote);
		if (says->remote_capacity > 0)
			snprintf(remote + n, sizeof(remote) - (size_t)n, " capacity %u",
				 says->remote_capacity);
	}
	if (says->capacity > 0)
		snprintf(capacity, sizeof(capacity), " capacity %u", says->capacity);
	if (says->lifetime_ns > 0)
		snprintf(lifetime, sizeof(lifetime), " lifetime %g s",
			 (double)says->lifetime_ns * 1e-9);
	return memory_format("%s%s%s%s%s%s", rule->pattern, capacity, lifetime,
			     says->mode != NULL ? " mode " : "",
			     says->mode != NULL ? says->mode : "", remote);
}

char *pathmap_only_text(const struct pathmap *map)
{
	char *ranks = pathmap_only_ranks(map), *text;
	unsigned threads = pathmap_only_threads(map);
	char of[48] = "";

	if (threads > 0)
		snprintf(of, sizeof(of), ", of each the first %u thread%s", threads,
			 threads == 1 ? "" : "s");
	text = memory_format("%s%s%s", ranks != NULL ? "ranks " : "all ranks",
			     ranks != NULL ? ranks : "", of);
	free(ranks);
	return text;
}

void pathmap_print_recordings(const struct pathmap *map, FILE *out)
{
	recordings_print(map->application.recordings, out);
}

bool pathmap_rank_on(const struct pathmap *map, unsigned rank, const char *node)
{
	const struct node *found = cluster_map_node(&map->clusters, node);

	return found != NULL && mapping_rank_node(&map->mapping, rank) == found;
}

const char *pathmap_rank_node(const struct pathmap *map, unsigned rank)
{
	const struct node *node = mapping_rank_node(&map->mapping, rank);

	return node != NULL ? node->name : NULL;
}

bool pathmap_places_ranks(const struct pathmap *map)
{
	return map->mapping.places;
}

const char *pathmap_address(const struct pathmap *map, const char *node)
{
	const struct node *found = cluster_map_node(&map->clusters, node);

	return found != NULL ? found->address : NULL;
}

const char *pathmap_cluster(const struct pathmap *map, const char *node)
{
	const struct node *found = cluster_map_node(&map->clusters, node);

	if (found == NULL)
		return NULL;
	return found->cluster != NULL ? found->cluster->name : "";
}

const char *pathmap_entry(const struct pathmap *map)
{
	return map->mapping.entry->name;
}

unsigned pathmap_entry_line(const struct pathmap *map)
{
	return (unsigned)map->mapping.entry_line;
}

size_t pathmap_nodes(const struct pathmap *map, const char *const **names)
{
	*names = map->node_names;
	return map->clusters.n_nodes;
}

double pathmap_budget(const struct pathmap *map)
{
	return map->application.budget;
}

const struct definable *pathmap_definable(const struct pathmap *map)
{
	return &map->application.definable;
}

const struct view *pathmap_view(const struct pathmap *map, const char *name)
{
	return application_view(&map->application, name);
}

size_t pathmap_views(const struct pathmap *map, const char *const **names)
{
	*names = map->view_names;
	return map->application.n_views;
}

/* ---- the ranks of each node ---- */

void placement_init(struct placement *placement, const struct pathmap *map)
{
	const struct mapping *mapping = &map->mapping;
	size_t n_nodes = map->clusters.n_nodes;
	size_t *next = memory_new(n_nodes + 1, sizeof(*next));

	placement->first = memory_new(n_nodes + 1, sizeof(*placement->first));
	placement->ranks = memory_new(mapping->n_ranks, sizeof(*placement->ranks));
	for (size_t i = 0; i < mapping->n_ranks; i++) {
		if (mapping->ranks[i] != NULL)
			placement->first[mapping->ranks[i]->index + 1]++;
	}
	for (size_t i = 0; i < n_nodes; i++) {
		placement->first[i + 1] += placement->first[i];
		next[i + 1] = placement->first[i + 1];
	}
	for (size_t i = 0; i < mapping->n_ranks; i++) {
		if (mapping->ranks[i] != NULL)
			placement->ranks[next[mapping->ranks[i]->index]++] = (unsigned)i;
	}
	free(next);
}

void placement_fini(struct placement *placement)
{
	free(placement->first);
	free(placement->ranks);
	*placement = (struct placement){0};
}

char *placement_text(const struct placement *placement, const struct pathmap *map,
		     const struct node *node)
{
	size_t end = placement->first[node->index + 1];
	struct interval_set ranks = {0};
	char *text;

	if (map->mapping.everywhere == node)
		return memory_copy("all");
	for (size_t i = placement->first[node->index]; i < end; i++)
		interval_set_add(&ranks, placement->ranks[i], placement->ranks[i] + 1);
	text = interval_set_text(&ranks);
	interval_set_fini(&ranks);
	return text;
}
