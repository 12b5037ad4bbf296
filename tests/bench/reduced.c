/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures a reduced view of agents that run already, and then a floor. */
#include "tests/bench/reduced.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"
#include "tests/bench/bench.h"
#include "tests/bench/floor.h"
#include "tests/bench/puller.h"

/* Of each ring of the floor. */
#define CAPACITY 200

/* "127.0.0.1:7440" as a socket's address. */
static struct sockaddr_in end_of(const char *address)
{
	struct sockaddr_in end = {.sin_family = AF_INET};
	const char *port = strrchr(address, ':');
	char host[64];

	if (port == NULL)
		abort();
	snprintf(host, sizeof(host), "%.*s", (int)(port - address), address);
	end.sin_port = htons((in_port_t)strtoul(port + 1, NULL, 10));
	inet_pton(AF_INET, host, &end.sin_addr);
	return end;
}

static int real_measure(const struct bed *bed, const char *run, const struct census *agents,
			double seconds, struct spent *cost, struct error *e)
{
	struct puller_options o = bed_puller(bed, "reduced", run);
	struct sockaddr_in entry = end_of(o.connect);
	struct tree_processes tree = {
		.root = agents->pids[0],
		.others = agents->pids + 1,
		.n_others = agents->n - 1,
		.ends = &entry,
		.n_ends = 1,
		.tally = tally_new(),
	};
	int rc = -1;

	o.window = REDUCED_WINDOW;
	o.hosts = (unsigned)agents->n;
	o.tuples = 1;
	tree.consumer = puller_start(&o, tree.tally, e);
	if (tree.consumer > 0)
		rc = meter_run(&tree, seconds, cost, e);
	bench_end(tree.consumer, SIGTERM);
	tally_free(tree.tally);
	return rc;
}

static int floor_measure(const struct plan *plan, double seconds, struct spent *cost,
			 struct error *e)
{
	const struct floor_options o = {
		.capacity = CAPACITY,
		.window = REDUCED_WINDOW,
		.reduce = true,
		.net = FLOOR_TCP,
	};
	struct floor_place *places = memory_new(plan->n_places, sizeof(*places));
	struct tree_processes tree;
	struct floor *floor;
	int rc = -1;

	PLAN_FOREACH (walk, plan->root)
		places[walk.place->index] = (struct floor_place){
			.parent = walk.parent ? walk.parent->index : 0,
			.elements = walk.place->leaf,
		};
	floor = floor_new(places, plan->n_places, &o, e);
	if (floor) {
		tree = *floor_processes(floor);
		tree.n_ends = 1; /* the root's */
		rc = meter_run(&tree, seconds, cost, e);
	}
	floor_free(floor);
	free(places);
	return rc;
}

int reduced_measure(const struct bed *bed, const char *run, const struct census *agents,
		    double seconds, struct reduced *r, struct error *e)
{
	struct plan *plan;
	int rc;

	if (plan_make(bed->map, "reduced", &plan, e) < 0)
		return -1;
	rc = real_measure(bed, run, agents, seconds, &r->real, e);
	if (rc == 0)
		rc = floor_measure(plan, seconds, &r->floor, e);
	plan_free(plan);
	return rc == 0 ? 0 : error_prefix(e, "reduced");
}
