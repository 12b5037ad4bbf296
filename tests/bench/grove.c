/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the grove's maps, and says how many elements are where. */
#include "tests/bench/grove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

#define RANKS (GROVE_CLUSTERS * GROVE_NODES)

static const char *const runs[GROVE_RUNS] = {
	[GROVE_EVEN] = "even",
	[GROVE_EIGHT] = "eight",
	[GROVE_LARGE] = "large",
	[GROVE_PAPER] = "paper",
};

const char *grove_run_name(enum grove_run run)
{
	return runs[run];
}

/* Elements of rank number @node of cluster number @cluster. */
static unsigned elements_of(enum grove_run run, unsigned cluster, unsigned node)
{
	switch (run) {
	case GROVE_EVEN:
		return 31;
	case GROVE_EIGHT:
		return node == 0 ? 248 : 0;
	case GROVE_LARGE:
		return node == 0 ? 2500 : 0;
	default: /* 14 a thread, 8 and 19 threads a node, but one less on each */
		return cluster == 0 && node < 8 ? 8 * 14 - 1 : cluster == 1 && node < 4 ? 265 : 0;
	}
}

/* ---- maps ---- */

/* State lines are no elements: a view names the channels. @also: more nodes, or NULL. */
static void view_put(FILE *out, const char *name, const char *nodes, const char *also,
		     const char *stages)
{
	static const char *const channels[] = {"p2p",	     "collective", "wait",
					       "completion", "comm",	   "env"};

	fprintf(out, "view %s { select", name);
	for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++) {
		fprintf(out, " /%s/**/%s", nodes, channels[i]);
		if (also)
			fprintf(out, " /%s/**/%s", also, channels[i]);
	}
	fprintf(out, "; read latest; %s }\n", stages);
}

static int application_write(const struct trees *g, struct error *e)
{
	char *views = NULL, name[32], nodes[64];
	size_t size;
	FILE *out = open_memstream(&views, &size);
	int rc;

	if (!out)
		abort();
	for (unsigned n = 1; n <= g->nodes && !g->local; n *= 2) {
		snprintf(nodes, sizeof(nodes), "c[0-7]/c[0-7]n[0-%u]", n - 1);
		snprintf(name, sizeof(name), "leaves%u", n * GROVE_CLUSTERS);
		view_put(out, name, nodes, NULL, "");
		snprintf(name, sizeof(name), "reduced%u", n * GROVE_CLUSTERS);
		view_put(out, name, nodes, NULL,
			 "node reduce last; cluster reduce last; all reduce last;");
	}
	view_put(out, "eight", "c[0-7]/c[0-7]n0", NULL, "");
	if (!g->local) {
		view_put(out, "paper", "c0/c0n[0-7]", "c1/c1n[0-3]", "");
		view_put(out, "paper-flat", "c0/c0n[0-7]", "c1/c1n[0-3]", "");
	}
	fclose(out);
	rc = bed_map(&g->bed, "application.map", e,
		     "application bench { ranks rank[0-%u]; capacity %u;\n%s}\n",
		     g->nodes * GROVE_CLUSTERS - 1, GROVE_CAPACITY, views);
	free(views);
	return rc;
}

/* The addresses of nodes @from on; agents have them from 1 on. */
static void addresses_put(const struct trees *g, FILE *out, unsigned from, unsigned n,
			  const char *name)
{
	if (g->local)
		fprintf(out, "address unix:%s/agent-%s.sock;", g->bed.space, name);
	else if (n == 1)
		fprintf(out, "address %s.%u:%d;", g->bed.net, from + 1, BED_PORT);
	else
		fprintf(out, "address %s.[%u-%u]:%d;", g->bed.net, from + 1, from + n, BED_PORT);
}

static int cluster_write(const struct trees *g, struct error *e)
{
	char *text = NULL, name[32];
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned next = 0;
	int rc;

	if (!out)
		abort();
	for (unsigned i = 0; i < GROVE_CLUSTERS; i++) {
		snprintf(name, sizeof(name), "c%un0", i);
		fprintf(out, "cluster c%u { nodes c%un[0-%u]; ", i, i, g->nodes - 1);
		addresses_put(g, out, next, g->nodes, name);
		fprintf(out, " }\n");
		next += g->nodes;
	}
	for (unsigned i = 0; i < GROVE_CLUSTERS && !g->local; i++) {
		fprintf(out, "node g%u { ", i);
		addresses_put(g, out, next++, 1, "");
		fprintf(out, " }\n");
	}
	fprintf(out, "node front { ");
	addresses_put(g, out, next, 1, "front");
	fprintf(out, " }\n");
	fclose(out);
	rc = bed_map(&g->bed, "cluster.map", e, "%s", text);
	free(text);
	return rc;
}

static int mapping_write(const struct trees *g, struct error *e)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int rc;

	if (!out)
		abort();
	if (g->local)
		fprintf(out, "tree flat;\n");
	else
		fprintf(out, "tree by-hand {");
	for (unsigned i = 0; i < GROVE_CLUSTERS && !g->local; i++)
		fprintf(out, " g%u { c%un[0-%u]; }", i, i, g->nodes - 1);
	if (!g->local)
		fprintf(out, " }\n");
	fprintf(out, "view eight { tree flat; }\n");
	if (!g->local)
		fprintf(out, "view paper-flat { tree flat; }\n");
	fclose(out);
	rc = bed_map(&g->bed, "mapping.map", e,
		     "entry front;\nplace rank[0-%u] on c[0-7]n[0-%u];\n%s",
		     g->nodes * GROVE_CLUSTERS - 1, g->nodes - 1, text);
	free(text);
	return rc;
}

/* ---- life ---- */

static int runs_make(struct trees *g, struct error *e)
{
	unsigned elements[RANKS];

	for (enum grove_run run = 0; run < GROVE_RUNS; run++) {
		for (unsigned i = 0; i < g->nodes * GROVE_CLUSTERS; i++)
			elements[i] = elements_of(run, i / g->nodes, i % g->nodes);
		if ((!g->local || run == GROVE_EIGHT) &&
		    space_make(&g->spaces[run], g->bed.space, runs[run], g->nodes * GROVE_CLUSTERS,
			       elements, GROVE_CAPACITY, e) < 0)
			return -1;
	}
	return 0;
}

int grove_plant(struct trees *g, unsigned nodes, bool local, struct error *e)
{
	*g = (struct trees){.nodes = local ? 1 : nodes, .local = local};
	if (bed_begin(&g->bed, e) < 0 || application_write(g, e) < 0 || cluster_write(g, e) < 0 ||
	    mapping_write(g, e) < 0 || runs_make(g, e) < 0)
		return -1;
	return bed_start(&g->bed, e);
}

void grove_fell(struct trees *g)
{
	bed_end(&g->bed);
	for (size_t i = 0; i < GROVE_RUNS; i++)
		space_fini(&g->spaces[i]);
}

/* ---- shapes ---- */

static unsigned elements_at(const struct plan_place *place, enum grove_run run)
{
	unsigned cluster, node;

	if (!place->leaf || sscanf(place->node, "c%un%u", &cluster, &node) != 2)
		return 0;
	return elements_of(run, cluster, node);
}

/* Indices run in preorder, so parents come first. */
static unsigned places_fill(const struct plan_place *place, size_t parent, enum grove_run run,
			    struct floor_place *places)
{
	unsigned sum = elements_at(place, run);

	places[place->index] = (struct floor_place){.parent = parent, .elements = sum};
	for (size_t i = 0; i < place->n_children; i++)
		sum += places_fill(place->children[i], place->index, run, places);
	return sum;
}

unsigned grove_plan(const struct trees *g, const char *view, enum grove_run run, struct plan **plan,
		    struct floor_place **places, struct error *e)
{
	*plan = NULL;
	*places = NULL;
	if (plan_make(g->bed.map, view, plan, e) < 0)
		return 0;
	*places = memory_new((*plan)->n_places, sizeof(**places));
	return places_fill((*plan)->root, 0, run, *places);
}

static unsigned leaves_below(const struct plan_place *place)
{
	unsigned n = place->leaf;

	for (size_t i = 0; i < place->n_children; i++)
		n += leaves_below(place->children[i]);
	return n;
}

unsigned grove_leaves(const struct plan *plan)
{
	return leaves_below(plan->root);
}
