/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes trees of ranks from views' trees of hosts. */
#include "pathmap/plan/steer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"

/* Each root sends to each other one: more of them are children of the first. */
#define ROOTS_MOST 8u

#define NOBODY (-1)

/* A tree of ranks while it is made: children of each in order. */
struct growing {
	const struct pathmap *map;
	size_t n;
	int32_t *first, *next, *last; /* by rank; NOBODY: none */
	int32_t *held;		      /* by rank: the next one on the same node */
	int32_t *holds;		      /* by node: its first rank */
	int32_t *turn;		      /* by rank: how many go before it */
	size_t n_leads;		      /* of these are not just in order */
};

static size_t ranks_of(const struct pathmap *map)
{
	return map->mapping.everywhere != NULL ? map->application.ranks : map->mapping.n_ranks;
}

static void child_add(struct growing *g, int32_t parent, int32_t child)
{
	g->next[child] = NOBODY;
	if (g->first[parent] == NOBODY)
		g->first[parent] = child;
	else
		g->next[g->last[parent]] = child;
	g->last[parent] = child;
}

/* Does the map say that @rank stands for others before @other? */
static bool leads(const struct growing *g, int32_t rank, int32_t other)
{
	return (size_t)g->turn[rank] < g->n_leads && g->turn[rank] < g->turn[other];
}

/* The rank that stands for the place, with all others of it below. NOBODY: there are none. */
static int32_t place_take(struct growing *g, const struct plan_place *place)
{
	const struct node *node = cluster_map_node(&g->map->clusters, place->node);
	int32_t own = node != NULL ? g->holds[node->index] : NOBODY, lead = own;

	/* those that are farther away first */
	for (size_t i = 0; i < place->n_children; i++) {
		int32_t child = place_take(g, place->children[i]);

		if (child == NOBODY)
			continue;
		if (lead == NOBODY) {
			lead = child;
		} else if (leads(g, child, lead)) {
			child_add(g, child, lead);
			lead = child;
		} else {
			child_add(g, lead, child);
		}
	}
	for (int32_t r = own == NOBODY ? NOBODY : g->held[own]; r != NOBODY; r = g->held[r])
		child_add(g, own, r);
	return lead;
}

static bool is_leaf(const struct growing *g, int32_t rank)
{
	return g->first[rank] == NOBODY;
}

/* "0(1-3,4(5))" */
static void rank_write(FILE *out, const struct growing *g, int32_t rank)
{
	int32_t child, to;

	fprintf(out, "%" PRId32, rank);
	if (is_leaf(g, rank))
		return;
	for (child = g->first[rank]; child != NOBODY; child = g->next[to]) {
		fputc(child == g->first[rank] ? '(' : ',', out);
		rank_write(out, g, child);
		for (to = child; is_leaf(g, to) && g->next[to] == to + 1 && is_leaf(g, to + 1);)
			to++;
		if (to > child)
			fprintf(out, "-%" PRId32, to);
	}
	fputc(')', out);
}

/* The host where the tree first spreads. */
static const struct plan_place *top_find(const struct growing *g, const struct plan_place *root)
{
	for (;;) {
		const struct node *node = cluster_map_node(&g->map->clusters, root->node);

		if (root->n_children != 1 || (node != NULL && g->holds[node->index] != NOBODY))
			return root;
		root = root->children[0];
	}
}

static void tree_write(FILE *out, struct growing *g, const struct plan_place *root)
{
	const struct plan_place *top = top_find(g, root);
	struct plan_place alone = *top;
	int32_t roots[ROOTS_MOST], rank;
	size_t n = 0;

	if (top->n_children >= ROOTS_MOST) {
		rank = place_take(g, top);
		if (rank != NOBODY)
			rank_write(out, g, rank);
		return;
	}
	alone.n_children = 0;
	for (size_t i = 0; i <= top->n_children; i++) {
		rank = place_take(g, i == 0 ? &alone : top->children[i - 1]);
		if (rank != NOBODY)
			roots[n++] = rank;
	}
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			fputc('|', out);
		rank_write(out, g, roots[i]);
	}
}

/* Around what there are collectors, if that is said otherwise than by the map's silence. */
static void collected_write(FILE *out, uint32_t collected)
{
	if (collected == STEER_COLLECTED)
		return;
	fputc('+', out);
	for (unsigned stage = 0; stage < STEER_STAGES; stage++) {
		if (collected >> stage & 1)
			fputc(STEER_STAGE_LETTERS[stage], out);
	}
}

/* Those that the map names, then all others. */
static void turns_take(struct growing *g, int32_t *order, const struct steering *s)
{
	int32_t n = 0;

	for (size_t i = 0; i < s->n_leads; i++)
		if (s->leads[i] < g->n && g->turn[s->leads[i]] == NOBODY) {
			g->turn[s->leads[i]] = n;
			order[n++] = (int32_t)s->leads[i];
		}
	g->n_leads = (size_t)n;
	for (size_t rank = 0; rank < g->n; rank++)
		if (g->turn[rank] == NOBODY) {
			g->turn[rank] = n;
			order[n++] = (int32_t)rank;
		}
}

static void growing_init(struct growing *g, const struct pathmap *map, const struct steering *s)
{
	size_t n = ranks_of(map), nodes = map->clusters.n_nodes;
	int32_t *tables = memory_new(6 * n + nodes + 1, sizeof(*tables));
	int32_t *order = tables + 5 * n;

	memset(tables, 0xff, (6 * n + nodes + 1) * sizeof(*tables));
	*g = (struct growing){.map = map,
			      .n = n,
			      .first = tables,
			      .next = tables + n,
			      .last = tables + 2 * n,
			      .held = tables + 3 * n,
			      .turn = tables + 4 * n,
			      .holds = tables + 6 * n};
	turns_take(g, order, s);
	for (size_t i = n; i-- > 0;) {
		int32_t rank = order[i];
		const struct node *node = mapping_rank_node(&map->mapping, (unsigned)rank);

		if (node == NULL)
			continue;
		g->held[rank] = g->holds[node->index];
		g->holds[node->index] = rank;
	}
}

static int steering_write(FILE *out, const struct pathmap *map, const struct steering *s,
			  struct error *e)
{
	static const char *const names[STEER_KINDS] = STEER_NAMES;
	const char *between = ftell(out) > 0 ? ";" : "";
	struct growing g;
	struct plan *plan;

	if (plan_make(map, s->view ? s->view : "events", &plan, e) < 0)
		return -1;
	for (unsigned kind = 0; kind < STEER_KINDS; kind++) {
		if (!(s->kinds >> kind & 1))
			continue;
		fprintf(out, "%s%s", between, names[kind]);
		between = ",";
	}
	if (s->world)
		fputs("@world", out);
	if (s->most_bytes > 0)
		fprintf(out, "<=%" PRIu64, s->most_bytes);
	if (s->in_order)
		fputs("!", out);
	collected_write(out, s->collected);
	fputs("=", out);
	growing_init(&g, map, s);
	tree_write(out, &g, plan->root);
	free(g.first);
	plan_free(plan);
	return 0;
}

int steer_text(const struct pathmap *map, char **text, struct error *e)
{
	const struct mapping *mapping = &map->mapping;
	size_t bytes;
	FILE *out;
	int rc = 0;

	*text = NULL;
	if (mapping->n_steerings == 0)
		return 0;
	out = open_memstream(text, &bytes);
	if (out == NULL)
		abort();
	for (size_t i = 0; i < mapping->n_steerings && rc == 0; i++)
		rc = steering_write(out, map, &mapping->steerings[i], e);
	if (fclose(out) == EOF)
		abort();
	if (rc == 0)
		return 0;
	free(*text);
	*text = NULL;
	return -1;
}

void steer_check(const struct pathmap *map, const struct mapfile *source,
		 struct diagnostics *diagnostics)
{
	const struct mapping *mapping = &map->mapping;
	struct error e;
	char *text = NULL;

	if (mapping->n_steerings == 0)
		return;
	if (!mapping->places || ranks_of(map) == 0) {
		complain(diagnostics, source, mapping->steerings[0].offset,
			 "`steer` needs to know where ranks are; add `place rank[0-7] on NODES;`, "
			 "or with `place all` the number of `ranks` in application.map");
		return;
	}
	if (ranks_of(map) > STEER_RANKS_MAX)
		complain(diagnostics, source, mapping->steerings[0].offset,
			 "`steer` is for %u ranks at most", STEER_RANKS_MAX);
	else if (steer_text(map, &text, &e) < 0)
		complain(diagnostics, source, mapping->steerings[0].offset, "%s", e.text);
	else if (strlen(text) > STEER_TEXT_MAX)
		complain(diagnostics, source, mapping->steerings[0].offset,
			 "the trees of `steer` have %zu characters; %u is the most that a program "
			 "can be told: steer less, or place ranks that follow each other on one "
			 "host",
			 strlen(text), STEER_TEXT_MAX);
	free(text);
}
