/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a wave costs: the EventSpace paper's 1,948 trace elements over 12 nodes in two clusters
 * (section 6.2), the newest tuple of each, through a flat and a two-level tree of real agents, TLS
 * on, beside a bare epoll tree of the same shape and payload in the same run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>

#include "pathmap/memory.h"
#include "pathmap/plan.h"
#include "tests/bench/bed.h"
#include "tests/bench/bench.h"
#include "tests/bench/figures.h"
#include "tests/bench/floor.h"
#include "tests/bench/puller.h"
#include "tests/bench/space.h"

#define RANKS	 140u
#define ELEMENTS 1948u
#define CAPACITY 200u /* the paper's discard threshold */
#define RUN	 "bench"

static const char about[] =
	"usage: observe [options]\n"
	"\n"
	"What pulling the newest tuple of 1,948 trace elements on 12 nodes in two clusters costs, "
	"by a\n"
	"flat and by a two-level tree of agents on this machine (TLS on), with 1 and with 16 "
	"waves\n"
	"under way, beside a bare tree of the same shape (the floor) in the same run.\n"
	"\n"
	"CPU time is that of all processes of the tree, the consumer included, per wave; root is "
	"the\n"
	"entry agent. Medians; real tree and floor are measured in turn.\n";

/* A tree shape with a number of waves under way, and what was measured of it. */
struct cell {
	const char *tree; /* the view's name, too */
	unsigned window;
	struct cost *real, *floor; /* of each round */
};

static struct cell cells[] = {
	{.tree = "flat", .window = 1},
	{.tree = "flat", .window = 16},
	{.tree = "two-level", .window = 1},
	{.tree = "two-level", .window = 16},
};
#define CELLS (sizeof(cells) / sizeof(cells[0]))

static struct bed bed;
static struct space space;
static unsigned elements[RANKS];

/* ---- the paper's event space ---- */

/* 14 elements a thread of the program (section 6.2), but 1,948 in all: one less on each node. */
static void elements_plan(void)
{
	const char *const *nodes;
	size_t n = pathmap_nodes(bed.map, &nodes);

	for (unsigned rank = 0; rank < RANKS; rank++)
		elements[rank] = 14;
	for (size_t i = 0; i < n; i++) {
		for (unsigned rank = 0; rank < RANKS; rank++) {
			if (!pathmap_rank_on(bed.map, rank, nodes[i]))
				continue;
			elements[rank]--;
			break;
		}
	}
}

/* Both trees run over the same agents, each for a view of its own. State lines are no elements. */
static int maps_write(struct error *e)
{
	if (bed_map(&bed, "application.map", e,
		    "application bench { ranks rank[0-%u]; capacity %u;\n"
		    "view flat { " BED_NEWEST " }\nview two-level { " BED_NEWEST " } }\n",
		    RANKS - 1, CAPACITY) < 0)
		return -1;
	if (bed_map(&bed, "cluster.map", e,
		    "cluster 4W { nodes w[0-7]; address %s.[1-8]:%d; gateway gw4w; }\n"
		    "cluster 8W { nodes e[0-3]; address %s.[9-12]:%d; }\n"
		    "node gw4w { address %s.13:%d; }\n"
		    "node front { address %s.14:%d; }\n",
		    bed.net, BED_PORT, bed.net, BED_PORT, bed.net, BED_PORT, bed.net, BED_PORT) < 0)
		return -1;
	return bed_map(&bed, "mapping.map", e,
		       "entry front;\n"
		       "place rank[0-63] on w[0-7] by 8;\n"
		       "place rank[64-139] on e[0-3] by 19;\n"
		       "tree by-cluster;\n"
		       "view flat { tree flat ignoring gateways; }\n");
}

static int set_up(struct error *e)
{
	if (bed_begin(&bed, e) < 0 || maps_write(e) < 0 || bed_start(&bed, e) < 0)
		return -1;
	elements_plan();
	return space_make(&space, bed.space, RUN, RANKS, elements, CAPACITY, e);
}

/* ---- measuring ---- */

static unsigned elements_on(const char *node)
{
	unsigned sum = 0;

	for (unsigned rank = 0; rank < RANKS; rank++) {
		if (pathmap_rank_on(bed.map, rank, node))
			sum += elements[rank];
	}
	return sum;
}

/* The floor's tree is the plan's. Indices run in preorder, so parents come first. */
static void floor_shape(const struct plan_place *place, size_t parent, struct floor_place *places)
{
	places[place->index] = (struct floor_place){
		.parent = parent,
		.elements = place->leaf ? elements_on(place->node) : 0,
	};
	for (size_t i = 0; i < place->n_children; i++)
		floor_shape(place->children[i], place->index, places);
}

static int floor_measure(const struct cell *cell, double seconds, struct cost *cost,
			 struct error *e)
{
	struct floor_place *places;
	struct floor *floor;
	struct plan *plan;
	int result = -1;

	if (plan_make(bed.map, cell->tree, &plan, e) < 0)
		return -1;
	places = memory_new(plan->n_places, sizeof(*places));
	floor_shape(plan->root, 0, places);
	floor = floor_new(places, plan->n_places, CAPACITY, cell->window, e);
	if (floor)
		result = meter_run(floor_processes(floor), seconds, cost, e);
	floor_free(floor);
	free(places);
	plan_free(plan);
	return result;
}

static int real_measure(const struct cell *cell, double seconds, struct cost *cost, struct error *e)
{
	struct puller_options o = bed_puller(&bed, cell->tree, RUN);
	struct tree_processes tree = {.n_ends = bed.n_agents};
	int result = -1;

	o.window = cell->window;
	o.hosts = 12;
	o.tuples = ELEMENTS;
	tree.tally = tally_new();
	tree.ends = memory_new(bed.n_agents, sizeof(*tree.ends));
	tree.others = memory_new(bed.n_agents, sizeof(pid_t));
	tree.root = bed_agent(&bed, pathmap_entry(bed.map))->pid;
	for (size_t i = 0; i < bed.n_agents; i++) {
		tree.ends[i] = bed.agents[i].end;
		if (bed.agents[i].pid != tree.root)
			tree.others[tree.n_others++] = bed.agents[i].pid;
	}
	tree.consumer = puller_start(&o, tree.tally, e);
	if (tree.consumer > 0)
		result = meter_run(&tree, seconds, cost, e);
	bench_end(tree.consumer, SIGTERM);
	free(tree.ends);
	free(tree.others);
	tally_free(tree.tally);
	return result;
}

static int cell_measure(const struct cell *cell, unsigned round, double seconds, struct error *e)
{
	if (floor_measure(cell, seconds, &cell->floor[round], e) < 0)
		return error_prefix(e, "floor, %s tree, window %u", cell->tree, cell->window);
	if (real_measure(cell, seconds, &cell->real[round], e) < 0)
		return error_prefix(e, "%s tree, window %u", cell->tree, cell->window);
	return 0;
}

static int measure(const struct bench_options *o, struct error *e)
{
	for (size_t i = 0; i < CELLS; i++) {
		cells[i].real = memory_new(o->rounds, sizeof(struct cost));
		cells[i].floor = memory_new(o->rounds, sizeof(struct cost));
	}
	for (unsigned round = 0; round < o->rounds; round++) {
		for (size_t i = 0; i < CELLS; i++) {
			if (cell_measure(&cells[i], round, o->seconds, e) < 0)
				return -1;
		}
	}
	return 0;
}

/* ---- what came out ---- */

/* Medians over the rounds, figure by figure. */
static struct cost cost_median(const struct cost *costs, unsigned rounds)
{
	static const size_t figures[] = {
		offsetof(struct cost, waves_per_s), offsetof(struct cost, cpu_us),
		offsetof(struct cost, root_us),	    offsetof(struct cost, consumer_us),
		offsetof(struct cost, bytes),
	};
	double *values = memory_new(rounds, sizeof(*values));
	struct cost median = {0};

	for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++) {
		for (unsigned i = 0; i < rounds; i++)
			memcpy(&values[i], (const char *)&costs[i] + figures[f], sizeof(double));
		*(double *)(void *)((char *)&median + figures[f]) = figures_median(values, rounds);
	}
	free(values);
	return median;
}

static double ratio_median(const struct cell *cell, unsigned rounds)
{
	double *values = memory_new(rounds, sizeof(*values)), median;

	for (unsigned i = 0; i < rounds; i++)
		values[i] = cell->real[i].cpu_us / cell->floor[i].cpu_us;
	median = figures_median(values, rounds);
	free(values);
	return median;
}

static void cell_print_json(const struct cell *cell, const struct cost *real,
			    const struct cost *floor, double ratio)
{
	printf("{\"bench\":\"observe\",\"tree\":\"%s\",\"window\":%u,\"elements\":%u,\"agents\":12,"
	       "\"waves_per_s\":%.1f,\"cpu_us_per_wave\":%.1f,\"root_cpu_us_per_wave\":%.1f,"
	       "\"floor_cpu_us_per_wave\":%.1f,\"ratio\":%.2f,"
	       "\"consumer_cpu_us_per_wave\":%.1f,\"bytes_per_wave\":%.0f,"
	       "\"floor_waves_per_s\":%.1f,\"floor_root_cpu_us_per_wave\":%.1f,"
	       "\"floor_consumer_cpu_us_per_wave\":%.1f,\"floor_bytes_per_wave\":%.0f}\n",
	       cell->tree, cell->window, ELEMENTS, real->waves_per_s, real->cpu_us, real->root_us,
	       floor->cpu_us, ratio, real->consumer_us, real->bytes, floor->waves_per_s,
	       floor->root_us, floor->consumer_us, floor->bytes);
}

static void line_print(const struct cell *cell, const char *what, const struct cost *c)
{
	printf("%-9s  %6u  %-5s  %8.0f  %9.1f  %7.1f  %9.1f  %9.1f", cell->tree, cell->window, what,
	       c->waves_per_s, c->cpu_us, c->root_us, c->consumer_us, c->bytes / 1000);
}

static void results_print(const struct bench_options *o)
{
	if (!o->json)
		printf("%u elements on 12 nodes in two clusters; CPU time in us per wave, all "
		       "processes (of that root and consumer); medians of %u rounds\n\n"
		       "%-9s  %6s  %-5s  %8s  %9s  %7s  %9s  %9s  %s\n",
		       ELEMENTS, o->rounds, "tree", "window", "", "waves/s", "CPU us", "root us",
		       "consumer", "kB/wave", "CPU/floor");
	for (size_t i = 0; i < CELLS; i++) {
		struct cost real = cost_median(cells[i].real, o->rounds);
		struct cost floor = cost_median(cells[i].floor, o->rounds);
		double ratio = ratio_median(&cells[i], o->rounds);

		if (o->json) {
			cell_print_json(&cells[i], &real, &floor, ratio);
			continue;
		}
		line_print(&cells[i], "real", &real);
		printf("  %9.2f\n", ratio);
		line_print(&cells[i], "floor", &floor);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 0.5, .rounds = 2};
	struct bench_options o = {.seconds = 1, .rounds = 7};
	struct error e = {""};
	int result;

	bench_parse(argc, argv, &o, &quick, about);
	bench_begin();
	result = set_up(&e);
	if (result == 0)
		result = measure(&o, &e);
	if (result == 0)
		results_print(&o);
	else
		fprintf(stderr, "observe: %s\n", e.text);
	space_fini(&space);
	bed_end(&bed);
	for (size_t i = 0; i < CELLS; i++) {
		free(cells[i].real);
		free(cells[i].floor);
	}
	return result < 0 ? 1 : 0;
}
