/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a wave costs: gather trees of real agents in several shapes, TLS on, beside bare epoll trees
 * of the same shape and payload in the same run (the floors); and what reading costs on one host.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pathmap/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/burst.h"
#include "tests/bench/figures.h"
#include "tests/bench/grove.h"
#include "tests/bench/newest.h"
#include "tests/bench/packed.h"

/* Waves that are asked for at once. */
#define BURST_FEW  200u
#define BURST_MANY 20000u
/* Of the view reduced64. */
#define BURST_HOSTS 64u

static const char about[] =
	"usage: tree [options]\n"
	"\n"
	"What a wave through a gather tree of agents on this machine costs, beside a bare tree of\n"
	"the same shape (the floor) in the same run; both have a consumer. Shape 8x2: the entry "
	"has 8\n"
	"children, which have 2 leaves each. Window: waves under way.\n"
	"\n"
	"  leaves    31 elements on each leaf, the newest tuple of each: 8x8 has 1,984\n"
	"  tls       the floor with TLS and nothing else, beside the bare floor\n"
	"  deployed  8 leaves of 248 elements directly below the entry\n"
	"  reduced   as leaves, but each host passes on only the newest tuple of all\n"
	"  unix      as deployed, connected by Unix sockets without TLS\n"
	"  large     20,000 elements in one wave\n"
	"  paper     1,948 elements on 12 nodes in two clusters, with and without a host for each\n"
	"  newest    reading 2,000 elements whose tuples lie in another core's cache, on their "
	"host\n"
	"  burst     20,000 waves asked for at once; ratio: their rate to that of 200\n"
	"  packed    tuples of the wind tunnel and of hpcc as columns; ratio: bytes to the plain "
	"40\n"
	"\n"
	"CPU time is that of all processes of the tree, the consumer included, per wave; root is "
	"the\n"
	"entry agent; B to it: bytes between these two alone. Medians; real tree and floor are "
	"measured in turn.\n";

/* A measurement, and what came of it in each round. */
struct cell {
	const char *name, *view;
	enum grove_run run;
	unsigned window;
	enum floor_net net;	    /* of what is measured */
	bool reduce, is_floor;	    /* what is measured is a floor, too */
	char shape[16];		    /* found out */
	unsigned leaves, tuples;    /* likewise */
	struct spent *real, *floor; /* of each round */
};

static struct cell cells[] = {
	{"leaves", "leaves64", GROVE_EVEN, 1, FLOOR_TLS, .reduce = false},
	{"leaves", "leaves64", GROVE_EVEN, 16, FLOOR_TLS, .reduce = false},
	{"tls", "leaves64", GROVE_EVEN, 1, FLOOR_TLS, .is_floor = true},
	{"tls", "leaves64", GROVE_EVEN, 16, FLOOR_TLS, .is_floor = true},
	{"deployed", "eight", GROVE_EIGHT, 1, FLOOR_TLS, .reduce = false},
	{"tls", "eight", GROVE_EIGHT, 1, FLOOR_TLS, .is_floor = true},
	{"unix", "eight", GROVE_EIGHT, 1, FLOOR_UNIX, .reduce = false},
	{"leaves", "leaves16", GROVE_EVEN, 1, FLOOR_TLS, .reduce = false},
	{"leaves", "leaves32", GROVE_EVEN, 1, FLOOR_TLS, .reduce = false},
	{"leaves", "leaves128", GROVE_EVEN, 1, FLOOR_TLS, .reduce = false},
	{"reduced", "reduced16", GROVE_EVEN, 64, FLOOR_TLS, .reduce = true},
	{"reduced", "reduced32", GROVE_EVEN, 64, FLOOR_TLS, .reduce = true},
	{"reduced", "reduced64", GROVE_EVEN, 64, FLOOR_TLS, .reduce = true},
	{"reduced", "reduced128", GROVE_EVEN, 64, FLOOR_TLS, .reduce = true},
	{"tls", "reduced64", GROVE_EVEN, 64, FLOOR_TLS, .reduce = true, .is_floor = true},
	{"large", "eight", GROVE_LARGE, 1, FLOOR_TLS, .reduce = false},
	{"paper", "paper", GROVE_PAPER, 1, FLOOR_TLS, .reduce = false},
	{"paper", "paper", GROVE_PAPER, 16, FLOOR_TLS, .reduce = false},
	{"paper", "paper-flat", GROVE_PAPER, 1, FLOOR_TLS, .reduce = false},
	{"paper", "paper-flat", GROVE_PAPER, 16, FLOOR_TLS, .reduce = false},
};
#define CELLS (sizeof(cells) / sizeof(cells[0]))

/* By TLS, and by Unix sockets. */
static struct trees groves[2];
static struct newest_cost *newest;
static double *few, *many; /* waves per second */
static struct packed_cost packed[PACKED_PROGRAMS];

/* Whether the case is wanted, which @view names, too, where there is one. */
static bool is_wanted(const struct bench_options *o, const char *name, const char *view)
{
	return !o->only || strcmp(o->only, name) == 0 || (view && strcmp(o->only, view) == 0);
}

static bool cell_is_wanted(const struct bench_options *o, const struct cell *cell)
{
	return is_wanted(o, cell->name, cell->view);
}

static const struct trees *grove_of(const struct cell *cell)
{
	return &groves[cell->net == FLOOR_UNIX];
}

/* ---- measuring ---- */

static int floor_measure(struct cell *cell, enum floor_net net, double seconds, struct spent *cost,
			 struct error *e)
{
	const struct trees *g = grove_of(cell);
	const struct floor_options o = {
		.capacity = GROVE_CAPACITY,
		.window = cell->window,
		.reduce = cell->reduce,
		.net = net,
		.tls = g->bed.tls,
		.agent = "front",
		.consumer = BED_CONSUMER,
	};
	struct floor_place *places;
	struct floor *floor;
	struct plan *plan;
	int result = -1;

	cell->tuples = grove_plan(g, cell->view, cell->run, &plan, &places, e);
	if (!plan)
		return -1;
	cell->leaves = grove_leaves(plan);
	if (plan->n_places == cell->leaves + 1)
		snprintf(cell->shape, sizeof(cell->shape), "%u", cell->leaves);
	else
		snprintf(cell->shape, sizeof(cell->shape), "%zux%zu", plan->root->n_children,
			 cell->leaves / plan->root->n_children);
	floor = floor_new(places, plan->n_places, &o, e);
	if (floor)
		result = meter_run(floor_processes(floor), seconds, cost, e);
	floor_free(floor);
	free(places);
	plan_free(plan);
	return result;
}

static struct puller_options puller_options(const struct cell *cell)
{
	const struct bed *bed = &grove_of(cell)->bed;

	return (struct puller_options){
		.connect = pathmap_address(bed->map, pathmap_entry(bed->map)),
		.tls = bed->tls,
		.name = BED_CONSUMER,
		.view = cell->view,
		.run = grove_run_name(cell->run),
		.window = cell->window,
		.hosts = cell->leaves,
		.tuples = cell->reduce ? 1 : cell->tuples,
	};
}

static int real_measure(const struct cell *cell, double seconds, struct spent *cost,
			struct error *e)
{
	const struct bed *bed = &grove_of(cell)->bed;
	struct puller_options o = puller_options(cell);
	struct tree_processes tree = {.n_ends = cell->net == FLOOR_UNIX ? 0 : bed->n_agents};
	int result = -1;

	tree.tally = tally_new();
	tree.ends = memory_new(bed->n_agents, sizeof(*tree.ends));
	tree.others = memory_new(bed->n_agents, sizeof(pid_t));
	tree.root = bed_agent(bed, pathmap_entry(bed->map))->pid;
	for (size_t i = 0; i < bed->n_agents; i++) {
		tree.ends[i] = bed->agents[i].end;
		if (bed->agents[i].pid != tree.root)
			tree.others[tree.n_others++] = bed->agents[i].pid;
		else
			tree.root_end = i;
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

static int cell_measure(struct cell *cell, unsigned round, double seconds, struct error *e)
{
	enum floor_net bare = cell->net == FLOOR_UNIX ? FLOOR_UNIX : FLOOR_TCP;
	struct spent *real = &cell->real[round];

	if (floor_measure(cell, bare, seconds, &cell->floor[round], e) < 0)
		return error_prefix(e, "floor of %s %s", cell->name, cell->view);
	if ((cell->is_floor ? floor_measure(cell, FLOOR_TLS, seconds, real, e)
			    : real_measure(cell, seconds, real, e)) < 0)
		return error_prefix(e, "%s %s", cell->name, cell->view);
	return 0;
}

static int burst_round(unsigned round, struct error *e)
{
	const struct cell *cell = NULL;
	struct puller_options o;

	for (size_t i = 0; !cell; i++) {
		if (cells[i].reduce && strcmp(cells[i].view, "reduced64") == 0)
			cell = &cells[i];
	}
	o = puller_options(cell);
	o.hosts = BURST_HOSTS;
	if (burst_measure(&o, BURST_FEW, &few[round], e) < 0 ||
	    burst_measure(&o, BURST_MANY, &many[round], e) < 0)
		return error_prefix(e, "burst");
	return 0;
}

/* Once: the passes are many, and the programs take their time. */
static int packed_round(double seconds, struct error *e)
{
	char dir[160];

	snprintf(dir, sizeof(dir), "%.100s/packed", groves[0].bed.dir);
	if (mkdir(dir, 0700) < 0)
		return errorf(e, "cannot make the folder %s", dir);
	for (unsigned i = 0; i < PACKED_PROGRAMS; i++) {
		if (packed_name(i) && packed_measure(i, dir, seconds, &packed[i], e) < 0)
			return error_prefix(e, "packed %s", packed_name(i));
	}
	return 0;
}

static int measure(const struct bench_options *o, struct error *e)
{
	newest = memory_new(o->rounds, sizeof(*newest));
	few = memory_new(o->rounds, sizeof(*few));
	many = memory_new(o->rounds, sizeof(*many));
	for (size_t i = 0; i < CELLS; i++) {
		cells[i].real = memory_new(o->rounds, sizeof(struct spent));
		cells[i].floor = memory_new(o->rounds, sizeof(struct spent));
	}
	for (unsigned round = 0; round < o->rounds; round++) {
		char base[160];

		for (size_t i = 0; i < CELLS; i++) {
			if (cell_is_wanted(o, &cells[i]) &&
			    cell_measure(&cells[i], round, o->seconds, e) < 0)
				return -1;
		}
		snprintf(base, sizeof(base), "%.100s/newest%u", groves[0].bed.dir, round);
		if ((is_wanted(o, "burst", NULL) && burst_round(round, e) < 0) ||
		    (is_wanted(o, "newest", NULL) &&
		     newest_measure(base, o->seconds, &newest[round], e) < 0))
			return -1;
	}
	return is_wanted(o, "packed", NULL) ? packed_round(o->seconds, e) : 0;
}

/* ---- what came out ---- */

/* Medians over the rounds, figure by figure. */
static struct spent cost_median(const struct spent *costs, unsigned rounds)
{
	static const size_t figures[] = {
		offsetof(struct spent, waves_per_s), offsetof(struct spent, cpu_us),
		offsetof(struct spent, root_us),     offsetof(struct spent, consumer_us),
		offsetof(struct spent, bytes),	     offsetof(struct spent, consumer_bytes),
	};
	double *values = memory_new(rounds, sizeof(*values));
	struct spent median = {0};

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

static void cell_print(const struct cell *cell, const struct bench_options *o)
{
	struct spent real = cost_median(cell->real, o->rounds);
	struct spent floor = cost_median(cell->floor, o->rounds);
	double ratio = ratio_median(cell, o->rounds);

	if (!o->json) {
		printf("%-9s %-6s %6u %9.0f %9.1f %9.1f %6.2f %8.1f %8.1f %8.1f %9.0f\n",
		       cell->name, cell->shape, cell->window, real.waves_per_s, real.cpu_us,
		       floor.cpu_us, ratio, real.root_us, real.consumer_us, real.bytes / 1000,
		       real.consumer_bytes);
		return;
	}
	printf("{\"bench\":\"tree\",\"case\":\"%s\",\"shape\":\"%s\",\"window\":%u,"
	       "\"waves_per_s\":%.1f,\"cpu_us_per_wave\":%.1f,\"floor_cpu_us_per_wave\":%.1f,"
	       "\"ratio\":%.2f,\"tuples\":%u,\"root_cpu_us_per_wave\":%.1f,"
	       "\"consumer_cpu_us_per_wave\":%.1f,\"bytes_per_wave\":%.0f,"
	       "\"floor_waves_per_s\":%.1f,\"floor_root_cpu_us_per_wave\":%.1f,"
	       "\"floor_consumer_cpu_us_per_wave\":%.1f,\"floor_bytes_per_wave\":%.0f,"
	       "\"consumer_bytes_per_wave\":%.0f,\"floor_consumer_bytes_per_wave\":%.0f}\n",
	       cell->name, cell->shape, cell->window, real.waves_per_s, real.cpu_us, floor.cpu_us,
	       ratio, cell->tuples, real.root_us, real.consumer_us, real.bytes, floor.waves_per_s,
	       floor.root_us, floor.consumer_us, floor.bytes, real.consumer_bytes,
	       floor.consumer_bytes);
}

static void newest_print(const struct bench_options *o)
{
	double *source = memory_new(o->rounds, sizeof(*source)), *bare, a, b;

	bare = memory_new(o->rounds, sizeof(*bare));
	for (unsigned i = 0; i < o->rounds; i++) {
		source[i] = newest[i].source_ns;
		bare[i] = newest[i].floor_ns;
	}
	a = figures_median(source, o->rounds);
	b = figures_median(bare, o->rounds);
	if (o->json)
		printf("{\"bench\":\"tree\",\"case\":\"newest\",\"shape\":\"1\",\"window\":1,"
		       "\"waves_per_s\":%.1f,\"cpu_us_per_wave\":%.1f,"
		       "\"floor_cpu_us_per_wave\":%.1f,\"ratio\":%.2f,\"tuples\":%u,"
		       "\"ns_per_tuple\":%.1f,\"floor_ns_per_tuple\":%.1f}\n",
		       1e9 / (a * NEWEST_ELEMENTS), a * NEWEST_ELEMENTS * 1e-3,
		       b * NEWEST_ELEMENTS * 1e-3, a / b, NEWEST_ELEMENTS, a, b);
	else
		printf("newest: %.1f ns an element, %.1f bare: %.2f times\n", a, b, a / b);
	free(source);
	free(bare);
}

static void burst_print(const struct bench_options *o)
{
	double a = figures_median(few, o->rounds), b = figures_median(many, o->rounds);

	if (o->json)
		printf("{\"bench\":\"tree\",\"case\":\"burst\",\"shape\":\"8x8\",\"window\":64,"
		       "\"waves_per_s\":%.1f,\"cpu_us_per_wave\":null,"
		       "\"floor_cpu_us_per_wave\":null,\"ratio\":%.2f,\"waves_per_s_of_200\":%.1f}"
		       "\n",
		       b, b / a, a);
	else
		printf("burst: %.0f waves/s of %u, %.0f of %u: %.2f times\n", b, BURST_MANY, a,
		       BURST_FEW, b / a);
}

static void packed_print(const char *program, const struct packed_cost *p, bool json)
{
	printf(json ? "{\"bench\":\"tree\",\"case\":\"packed\",\"program\":\"%s\","
		      "\"tuples\":%zu,\"bytes_per_tuple\":%.2f,\"ratio\":%.3f,"
		      "\"pack_ns\":%.1f,\"unpack_ns\":%.1f,\"memcpy_ns\":%.1f,"
		      "\"zstd_bytes_per_tuple\":%.2f,\"zstd_ns\":%.1f,\"unzstd_ns\":%.1f,"
		      "\"packed_zstd_bytes_per_tuple\":%.2f}\n"
		    : "packed: %s, %zu tuples: %.2f bytes each (%.3f of plain), %.1f ns to pack, "
		      "%.1f ns to unpack; memcpy %.1f ns; zstd %.2f bytes, %.1f and %.1f ns; "
		      "both %.2f bytes\n",
	       program, p->tuples, p->bytes, p->bytes / 40, p->pack_ns, p->unpack_ns, p->memcpy_ns,
	       p->zstd_bytes, p->zstd_ns, p->unzstd_ns, p->both_bytes);
}

static void results_print(const struct bench_options *o)
{
	if (!o->json)
		printf("CPU time in us per wave, all processes (of that root and consumer); "
		       "medians of %u rounds\n\n%-9s %-6s %6s %9s %9s %9s %6s %8s %8s %8s %9s\n",
		       o->rounds, "case", "shape", "window", "waves/s", "CPU us", "floor us",
		       "ratio", "root us", "consumer", "kB/wave", "B to it");
	for (size_t i = 0; i < CELLS; i++) {
		if (cell_is_wanted(o, &cells[i]))
			cell_print(&cells[i], o);
	}
	if (is_wanted(o, "newest", NULL))
		newest_print(o);
	if (is_wanted(o, "burst", NULL))
		burst_print(o);
	for (unsigned i = 0; i < PACKED_PROGRAMS; i++) {
		if (packed[i].tuples)
			packed_print(packed_name(i), &packed[i], o->json);
	}
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 0.3, .rounds = 1};
	struct bench_options o = {.seconds = 1, .rounds = 5};
	struct error e = {""};
	int result;

	bench_parse(argc, argv, &o, &quick, about);
	bench_begin();
	result = grove_plant(&groves[0], GROVE_NODES, false, &e);
	if (result == 0)
		result = grove_plant(&groves[1], 1, true, &e);
	if (result == 0)
		result = measure(&o, &e);
	if (result == 0)
		results_print(&o);
	else
		fprintf(stderr, "tree: %s\n", e.text);
	grove_fell(&groves[0]);
	grove_fell(&groves[1]);
	for (size_t i = 0; i < CELLS; i++) {
		free(cells[i].real);
		free(cells[i].floor);
	}
	free(newest);
	free(few);
	free(many);
	return result < 0 ? 1 : 0;
}
