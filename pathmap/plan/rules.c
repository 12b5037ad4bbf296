/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolves what the application map says of elements by name, by the nodes of ranks. */
#include "pathmap/plan/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"

/* Ends of a pattern have bits. */
#define ENDS_MOST 63

static uint64_t node_ends(const struct node *node, const char *pattern)
{
	char prefix[NAME_BYTES];

	if (node == NULL || node->cluster == NULL)
		return 0;
	snprintf(prefix, sizeof(prefix), "/%s/%s", node->cluster->name, node->name);
	return pattern_ends(pattern, prefix);
}

/* Does the mapping say of each single rank where it is? */
static bool has_places(const struct mapping *mapping)
{
	return mapping->places && mapping->everywhere == NULL;
}

/* The ends that hold for all ranks: those of the only node, or what all nodes have in common. */
static uint64_t common_ends(const struct pathmap *map, const char *pattern)
{
	uint64_t ends = UINT64_MAX;

	if (map->mapping.everywhere != NULL)
		return node_ends(map->mapping.everywhere, pattern);
	for (size_t i = 0; i < map->clusters.n_nodes; i++) {
		const struct node *node = map->clusters.nodes[i];

		if (node->cluster != NULL)
			ends &= node_ends(node, pattern);
	}
	return ends;
}

static bool is_collected(const struct pathmap *map, size_t rank)
{
	const struct interval_set *only = &map->application.only_ranks;

	return only->n == 0 || interval_set_have(only, rank);
}

/* ---- for collectors ---- */

static void says_write(FILE *out, const struct recording *says, unsigned of)
{
	const char *between = "=";

	if (says->capacity > 0 && of & RULES_CAPACITY) {
		fprintf(out, "%scapacity:%u", between, says->capacity);
		between = ",";
	}
	if (says->lifetime_ns > 0 && of & RULES_LIFETIME) {
		fprintf(out, "%slifetime:%" PRIu64 "ns", between, says->lifetime_ns);
		between = ",";
	}
	if (says->mode != NULL && of & RULES_MODE)
		fprintf(out, "%smode:%s", between, says->mode);
}

static bool says_anything(const struct recording *says, unsigned of)
{
	return (says->capacity > 0 && of & RULES_CAPACITY) ||
	       (says->lifetime_ns > 0 && of & RULES_LIFETIME) ||
	       (says->mode != NULL && of & RULES_MODE);
}

/* The ranks whose names can end so, "" for all; NULL: none. For the caller to free(). */
static char *end_ranks(const struct pathmap *map, const uint64_t *ends, unsigned end)
{
	const struct mapping *mapping = &map->mapping;
	struct interval_set ranks = {0};
	bool all = true;
	char *text;

	for (size_t rank = 0; rank < mapping->n_ranks; rank++) {
		const struct node *node = mapping->ranks[rank];

		if (node != NULL && ends[node->index] >> end & 1)
			interval_set_add(&ranks, rank, rank + 1);
		else
			all = false;
	}
	text = ranks.n == 0 ? NULL : all ? memory_copy("") : interval_set_text(&ranks);
	interval_set_fini(&ranks);
	return text;
}

static void item_write(FILE *out, const char *ranks, const struct element_rule *rule, unsigned end,
		       unsigned of)
{
	fprintf(out, "%s%s%s", ftell(out) > 0 ? ";" : "", ranks, pattern_end(rule->pattern, end));
	says_write(out, &rule->says, of);
}

static void rule_write(FILE *out, const struct pathmap *map, const struct element_rule *rule,
		       unsigned of)
{
	const struct cluster_map *clusters = &map->clusters;
	uint64_t *ends = memory_new(clusters->n_nodes, sizeof(*ends)), any = 0;

	for (size_t i = 0; i < clusters->n_nodes; i++)
		any |= ends[i] = node_ends(clusters->nodes[i], rule->pattern);
	if (!has_places(&map->mapping))
		any = common_ends(map, rule->pattern);
	for (unsigned end = 0; end < ENDS_MOST; end++) {
		char *ranks;

		if (!(any >> end & 1))
			continue;
		ranks = has_places(&map->mapping) ? end_ranks(map, ends, end) : memory_copy("");
		if (ranks != NULL)
			item_write(out, ranks, rule, end, of);
		free(ranks);
	}
	free(ends);
}

char *rules_text(const struct pathmap *map, unsigned of)
{
	const struct application *application = &map->application;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (out == NULL)
		abort();
	for (size_t i = 0; i < application->n_rules; i++) {
		if (says_anything(&application->rules[i].says, of))
			rule_write(out, map, &application->rules[i], of);
	}
	if (fclose(out) == EOF)
		abort();
	if (*text)
		return text;
	free(text);
	return NULL;
}

/* ---- checks ---- */

static bool rank_reached(const struct pathmap *map, const struct node *node, size_t rank,
			 const char *pattern)
{
	char name[NAME_BYTES];

	if (node == NULL || node->cluster == NULL || !is_collected(map, rank))
		return false;
	snprintf(name, sizeof(name), "/%s/%s/rank%zu", node->cluster->name, node->name, rank);
	return pattern_reaches(pattern, name);
}

/* The node of the rank; without `place` any, as rules cannot tell them apart. */
static const struct node *rank_node(const struct pathmap *map, size_t rank)
{
	const struct cluster_map *clusters = &map->clusters;
	size_t i = 0;

	if (map->mapping.places)
		return mapping_rank_node(&map->mapping, (unsigned)rank);
	while (i < clusters->n_nodes && clusters->nodes[i]->cluster == NULL)
		i++;
	return i < clusters->n_nodes ? clusters->nodes[i] : NULL;
}

static bool rule_reaches(const struct pathmap *map, const char *pattern)
{
	size_t ranks = has_places(&map->mapping) ? map->mapping.n_ranks : map->application.ranks;

	for (size_t rank = 0; rank < ranks; rank++) {
		if (rank_reached(map, rank_node(map, rank), rank, pattern))
			return true;
	}
	return ranks == 0 && common_ends(map, pattern) != 0;
}

static void rule_check(const struct pathmap *map, const struct element_rule *rule,
		       const struct mapfile *source, struct diagnostics *diagnostics)
{
	const char *channel = strrchr(rule->pattern, '/') + 1;
	int number = recording_channel(channel);

	if (number >= 0 && !map->application.recordings[number].collected)
		complain(diagnostics, source, rule->offset,
			 "`%s` is not collected (`collect`), so there are no such elements",
			 channel);
	else if (!map->mapping.places && common_ends(map, rule->pattern) == 0)
		complain(diagnostics, source, rule->offset,
			 "`%.120s` is about some nodes, and the mapping does not say which ranks "
			 "are there; add `place` to it, or write `/**/rank[0-7]/**`",
			 rule->pattern);
	else if (!rule_reaches(map, rule->pattern))
		complain(diagnostics, source, rule->offset,
			 "`%.120s` is about no element: no rank that is collected has such a name "
			 "(names are like /CLUSTER/NODE/rank0/t0/p2p)",
			 rule->pattern);
}

void rules_check(const struct pathmap *map, const struct mapfile *source,
		 struct diagnostics *diagnostics)
{
	const struct interval_set *only = &map->application.only_ranks;
	unsigned ranks = map->application.ranks;

	if (ranks > 0 && only->n > 0 && only->items[only->n - 1].to > ranks)
		complain(diagnostics, source, map->application.only_offset,
			 "rank%" PRIu64 " is to be collected, and the program has rank0 to rank%u",
			 only->items[only->n - 1].to - 1, ranks - 1);
	for (size_t i = 0; i < map->application.n_rules; i++)
		rule_check(map, &map->application.rules[i], source, diagnostics);
}

bool rules_differ(const struct pathmap *from, const struct pathmap *to, unsigned of)
{
	char *a = rules_text(from, of), *b = rules_text(to, of);
	bool differ = strcmp(a != NULL ? a : "", b != NULL ? b : "") != 0;

	for (size_t i = 0; i < RECORDING_CHANNELS && !differ; i++) {
		const struct recording *was = &from->application.recordings[i];
		const struct recording *is = &to->application.recordings[i];

		differ = (of & RULES_LIFETIME && was->lifetime_ns != is->lifetime_ns) ||
			 (of & RULES_MODE && strcmp(was->mode, is->mode) != 0);
	}
	free(a);
	free(b);
	return differ;
}
