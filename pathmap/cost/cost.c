/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts the cost of waves: simulates one wave down a plan and up again. */
#include "pathmap/cost/cost.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/parts.h"
#include "pathmap/model/pattern.h"

/* ---- flow: the records of a wave in a tree, before and after stages ---- */

/* Bytes of records on the wire (tree/data/run.h): a tuple with its number, and as columns, as real
 * ones took (tree/data/columns-batch.c: from 8 on); others with a header. */
#define NEWEST_BYTES  48.0
#define NEWEST_PACKED 12.2
#define PACKED_LEAST  8
#define RUN_BYTES     56.0
#define PART_BYTES    120.0
#define FOLDED_BYTES  24.0 /* more if it is folded */

/* What passes one point of a tree in one wave, and how much is below that point. */
struct flow {
	double below[LEVEL_COUNT]; /* by level: number of elements, threads, nodes, clusters */
	double records;
	double bytes; /* of them, with headers */
};

static size_t channels_reached(const struct plan *plan, const struct pathmap *map,
			       const char *thread)
{
	const char *const *names;
	size_t n = pathmap_channels(&names), reached = 0;

	for (size_t i = 0; i < n; i++) {
		char name[NAME_BYTES];
		bool matches = false;

		snprintf(name, sizeof(name), "%s/t0/%s", thread, names[i]);
		for (size_t j = 0; j < plan->n_select && !matches; j++)
			matches = pattern_match(plan->select[j], name);
		reached += matches && pathmap_recording(map, names[i])->collected;
	}
	return reached;
}

/*
 * What the leaf @place reads in a wave: one record of each selected element, also for streams,
 * since maps do not say how many events a program makes. If the map leaves ranks open, one on each
 * host is assumed.
 */
static struct flow flow_read(const struct plan *plan, const struct plan_place *place,
			     const struct pathmap *map, const struct placement *placement)
{
	const struct node *node = cluster_map_node(&map->clusters, place->node);
	struct flow flow = {0};
	char name[NAME_BYTES];
	double each;

	for (size_t i = placement->first[node->index]; i < placement->first[node->index + 1]; i++) {
		snprintf(name, sizeof(name), "/%s/%s/rank%u", place->cluster, place->node,
			 placement->ranks[i]);
		flow.below[LEVEL_ELEMENT] += (double)channels_reached(plan, map, name);
		flow.below[LEVEL_THREAD]++;
	}
	if (flow.below[LEVEL_THREAD] <= 0) {
		double threads = node == map->mapping.everywhere && pathmap_ranks(map) > 0
					 ? pathmap_ranks(map)
					 : 1;

		snprintf(name, sizeof(name), "/%s/%s/rank0", place->cluster, place->node);
		flow.below[LEVEL_ELEMENT] = threads * (double)channels_reached(plan, map, name);
		flow.below[LEVEL_THREAD] = threads;
	}
	flow.below[LEVEL_NODE] = flow.below[LEVEL_CLUSTER] = flow.below[LEVEL_ALL] = 1;
	flow.records = flow.below[LEVEL_ELEMENT];
	each = flow.records < PACKED_LEAST ? NEWEST_BYTES : NEWEST_PACKED;
	flow.bytes = PART_BYTES + flow.records * (plan->reading == READ_LATEST ? each : RUN_BYTES);
	return flow;
}

/* Add what another host brings. Two parts of one cluster count as one cluster. */
static void flow_join(struct flow *flow, const struct flow *other)
{
	for (size_t i = 0; i < LEVEL_CLUSTER; i++)
		flow->below[i] += other->below[i];
	for (size_t i = LEVEL_CLUSTER; i < LEVEL_COUNT; i++)
		flow->below[i] =
			other->below[i] > flow->below[i] ? other->below[i] : flow->below[i];
	flow->records += other->records;
	flow->bytes += other->bytes;
}

/* Apply a stage by its traits. A filter keeps all, since maps do not say what it drops. */
static void flow_stage(struct flow *flow, const struct plan_stage *stage)
{
	double records = flow->below[stage->level] * stage->traits.records;

	if (records <= 0 || records > flow->records)
		return;
	flow->records = records;
	/* parts of several nodes are folded into one, which says which nodes */
	flow->bytes = records * stage->traits.bytes + PART_BYTES +
		      (flow->below[LEVEL_NODE] > 1 ? FOLDED_BYTES : 0);
}

/* ---- waves ---- */

/* Overhead of an answer's frame: header, TLS record, TCP and IP headers. */
#define FRAME_BYTES 130.0

/* A machine, identified by the address of its hosts without the port; their places own it. */
struct machine {
	size_t index;
	UT_hash_handle hh;
};

struct forecast {
	struct cost *cost;
	const struct plan *plan;
	const struct pathmap *map;
	const struct calibration *calibration;
	struct placement placement;
	struct machine *machines;
	size_t n_machines;
	unsigned *on_machine; /* how many hosts; all of these are as many as the plan has */
	double *machine_us;   /* CPU time per machine and wave */
	unsigned *cores;      /* of each machine */
};

/* An answer under way, in the order of a host's children. */
struct answer {
	double at; /* us since the host was asked; INFINITY: taken */
	double bytes;
	bool plain; /* not encrypted */
	struct flow flow;
};

/* ---- machines and links ---- */

static bool address_is_unix(const char *address)
{
	return strncmp(address, "unix:", 5) == 0;
}

/* Is the address on the machine of the host that connects to it? */
static bool address_is_here(const char *address)
{
	static const char *const here[] = {"127.", "[::1]", "localhost:"};

	for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++) {
		if (strncmp(address, here[i], strlen(here[i])) == 0)
			return true;
	}
	return address_is_unix(address);
}

/* The machine of the host @index at @address; the parent's must be known. */
static size_t machine_find(struct forecast *f, const char *address, size_t index, size_t parent)
{
	const char *port = strrchr(address, ':');
	struct machine *machine;
	size_t length;

	if (index > 0 && address_is_here(address))
		return f->cost->hosts[parent].machine;
	if (port == NULL)
		return f->n_machines++;
	length = (size_t)(port - address);
	HASH_FIND(hh, f->machines, address, length, machine);
	if (machine == NULL) {
		machine = memory_new(1, sizeof(*machine));
		machine->index = f->n_machines++;
		HASH_ADD_KEYPTR(hh, f->machines, address, length, machine);
	}
	return machine->index;
}

/* The machines of @place and of all below it, in the order in which they are asked for a wave, and
 * how many hosts each has. */
static void machines_find(struct forecast *f, const struct plan_place *place, size_t parent)
{
	size_t index = f->cost->n_hosts++;
	size_t machine = machine_find(f, place->address, index, parent);

	f->cost->hosts[index].machine = machine;
	f->on_machine[machine]++;
	for (size_t i = 0; i < place->n_children; i++)
		machines_find(f, place->children[i], index);
}

static void machines_free(struct forecast *f)
{
	struct machine *machine, *next;

	HASH_ITER(hh, f->machines, machine, next)
	{
		HASH_DEL(f->machines, machine);
		free(machine);
	}
}

static struct cluster_link link_find(const struct forecast *f, const struct plan_place *parent,
				     const struct plan_place *child)
{
	const struct cluster_map *clusters = &f->map->clusters;

	return cluster_map_link(clusters, cluster_map_node(clusters, parent->node),
				cluster_map_node(clusters, child->node));
}

/* ---- one wave ---- */

/* CPU time of a wake-up where @n hosts share the machine. */
static double wake_us(const struct calibration *c, unsigned n)
{
	double cold = ((double)n - COST_FEW) / (COST_MANY - COST_FEW);

	return c->wake_us + c->cold_us * fmin(fmax(cold, 0), 1);
}

static double bytes_us(const struct calibration *c, double bytes, bool plain)
{
	return bytes * (c->copy_ns + (plain ? 0 : c->encrypt_ns)) / 1e3;
}

static double stages_us(const struct calibration *c, const struct plan_stage *stages, size_t n,
			struct flow *flow)
{
	double us = 0;

	for (size_t i = 0; i < n; i++) {
		us += flow->records * c->stage_ns / 1e3;
		flow_stage(flow, &stages[i]);
	}
	return us;
}

/* The first answer to arrive. */
static struct answer *answer_next(struct answer *answers, size_t n)
{
	struct answer *next = &answers[0];

	for (size_t i = 1; i < n; i++) {
		if (answers[i].at < next->at)
			next = &answers[i];
	}
	return next;
}

static double host_wave(struct forecast *f, const struct plan_place *place, size_t parent,
			struct flow *flow);

/* The answer of a child that is asked at @now. */
static struct answer child_answer(struct forecast *f, const struct plan_place *child, size_t parent,
				  double now)
{
	size_t index = f->cost->n_hosts;
	struct cluster_link link = link_find(f, f->cost->hosts[parent].place, child);
	struct answer answer = {.plain = address_is_unix(child->address)};

	answer.at = now + 2 * (double)link.latency_ns * 1e-3 +
		    host_wave(f, child, parent, &answer.flow);
	answer.bytes = f->cost->hosts[index].bytes;
	f->cost->hosts[index].bits_per_s = link.bits_per_s;
	if (link.bits_per_s > 0)
		answer.at += answer.bytes * 8 / link.bits_per_s * 1e6;
	return answer;
}

/* Ask the children and take their answers, advancing the host's time *@now. An answer that
 * arrives while the one before is handled costs no wake-up. */
static double children_wave(struct forecast *f, size_t index, double *now, struct flow *flow)
{
	const struct plan_place *place = f->cost->hosts[index].place;
	const struct calibration *c = f->cost->hosts[index].calibration;
	double woken_us = f->cost->hosts[index].wake_us;
	size_t n = place->n_children, asked = 0;
	size_t most = place->concurrency > 0 ? place->concurrency : n;
	struct answer *answers = memory_new(n, sizeof(*answers));
	double cpu = 0, wakes = 0;

	for (size_t taken = 0; taken < n; taken++) {
		struct answer *next;
		double start = *now;

		for (; asked < n && asked - taken < most; asked++) {
			*now += c->frame_us;
			answers[asked] = child_answer(f, place->children[asked], index, *now);
		}
		cpu += *now - start;
		next = answer_next(answers, asked);
		if (next->at > *now) {
			wakes++;
			cpu += woken_us;
			*now = next->at + c->latency_us + woken_us;
		}
		start = *now;
		*now += c->frame_us + bytes_us(c, next->bytes, next->plain);
		cpu += *now - start;
		flow_join(flow, &next->flow);
		next->at = INFINITY;
	}
	f->cost->hosts[index].wakes += wakes;
	free(answers);
	return cpu;
}

/* The time until the host answers, in us, and its answer. */
static double host_wave(struct forecast *f, const struct plan_place *place, size_t parent,
			struct flow *flow)
{
	const struct calibration *c = calibration_of(f->calibration, place->node);
	size_t index = f->cost->n_hosts++;
	struct cost_host *host = &f->cost->hosts[index];
	double now, cpu, work = 0;

	*host = (struct cost_host){
		.place = place, .wakes = 1, .calibration = c, .machine = host->machine};
	host->parent = index > 0 ? f->cost->hosts[parent].place : NULL;
	host->wake_us = wake_us(c, f->on_machine[host->machine]);
	*flow = (struct flow){0};
	cpu = host->wake_us + c->frame_us;
	now = cpu + c->latency_us;
	if (place->leaf) {
		*flow = flow_read(f->plan, place, f->map, &f->placement);
		work = flow->records * c->read_ns / 1e3;
		work += stages_us(c, place->local, place->n_local, flow);
	}
	if (place->n_children > 0)
		cpu += children_wave(f, index, &now, flow);
	work += stages_us(c, place->joined, place->n_joined, flow) + c->frame_us;
	host->records = flow->records;
	host->bytes = flow->bytes + FRAME_BYTES;
	work += bytes_us(c, host->bytes, address_is_unix(place->address));
	host->cpu_us = cpu + work;
	return now + work;
}

/* ---- rates ---- */

/* The CPU time of a wave when @window waves share wake-ups. */
static double shared_us(const struct cost_host *host, unsigned window)
{
	return host->cpu_us - host->wakes * host->wake_us * (1 - 1.0 / window);
}

/* The shortest time between two waves, in us, by the limits of machines, hosts and links. */
static double least_us(struct forecast *f, unsigned window, double link_us)
{
	const struct cost *cost = f->cost;
	double least = link_us;

	memset(f->machine_us, 0, f->n_machines * sizeof(*f->machine_us));
	for (size_t i = 0; i < cost->n_hosts; i++) {
		const struct cost_host *host = &cost->hosts[i];
		double us = shared_us(host, window);

		least = fmax(least, us);
		f->machine_us[host->machine] += us;
		f->cores[host->machine] = host->calibration->cores;
	}
	for (size_t i = 0; i < f->n_machines; i++)
		least = fmax(least, f->machine_us[i] / f->cores[i]);
	return least;
}

/* How much longer a wave of @wave_us takes because machines have more to do meanwhile than one core
 * does in that time. After least_us() with one wave. */
static double crowd_us(const struct forecast *f, double wave_us)
{
	double most = 0;

	for (size_t i = 0; i < f->n_machines; i++)
		most = fmax(most, (f->machine_us[i] - wave_us) / f->cores[i]);
	return most;
}

/* Sums, and the busiest host. Returns the time of the slowest link. */
static double hosts_sum(struct cost *cost)
{
	double link_us = 0;

	cost->measured = true;
	for (size_t i = 0; i < cost->n_hosts; i++) {
		const struct cost_host *host = &cost->hosts[i];

		if (host->bits_per_s > 0)
			link_us = fmax(link_us, host->bytes * 8 / host->bits_per_s * 1e6);
		cost->cpu_us += host->cpu_us;
		cost->measured = cost->measured && host->calibration->measured;
		if (host->cpu_us > cost->hosts[cost->busiest].cpu_us)
			cost->busiest = i;
	}
	return link_us;
}

void cost_predict(struct cost *cost, const struct plan *plan, const struct pathmap *map,
		  const struct calibration *calibration, unsigned window)
{
	struct forecast f = {.cost = cost, .plan = plan, .map = map, .calibration = calibration};
	double wave_us, link_us;
	struct flow flow;

	*cost = (struct cost){.window = window};
	cost->hosts = memory_new(plan->n_places, sizeof(*cost->hosts));
	f.on_machine = memory_new(plan->n_places, sizeof(*f.on_machine));
	f.machine_us = memory_new(plan->n_places, sizeof(*f.machine_us));
	f.cores = memory_new(plan->n_places, sizeof(*f.cores));
	machines_find(&f, plan->root, 0);
	cost->n_hosts = 0;
	placement_init(&f.placement, map);
	wave_us = host_wave(&f, plan->root, 0, &flow);
	/* the consumer asks, wakes up, and takes the answer */
	wave_us += calibration->latency_us + calibration->wake_us + 2 * calibration->frame_us +
		   bytes_us(calibration, cost->hosts[0].bytes, false);
	link_us = hosts_sum(cost);
	wave_us = fmax(wave_us, least_us(&f, 1, link_us));
	wave_us += crowd_us(&f, wave_us);
	cost->waves_per_s = 1e6 / wave_us;
	cost->window_waves_per_s = 1e6 / fmax(wave_us / window, least_us(&f, window, link_us));
	free(f.on_machine);
	free(f.machine_us);
	free(f.cores);
	machines_free(&f);
	placement_fini(&f.placement);
}

int cost_allowed(const struct cost *cost, const struct plan *plan, const struct pathmap *map,
		 struct error *e)
{
	double most_us = (double)pathmap_definable(map)->cost_ns * 1e-3;

	if (!plan->defined || most_us <= 0 || cost->cpu_us <= most_us)
		return 0;
	errno = EDQUOT;
	return errorf(
		e,
		"a wave of this view takes %.2g ms of CPU time of all %zu hosts, as predicted; "
		"the map lets consumers define what takes %.2g ms: select fewer elements, or "
		"reduce them at lower levels",
		cost->cpu_us * 1e-3, plan->n_places, most_us * 1e-3);
}

void cost_fini(struct cost *cost)
{
	free(cost->hosts);
	cost->hosts = NULL;
}

double cost_host_bytes(const struct cost *cost, size_t host)
{
	double bytes = cost->hosts[host].bytes;

	for (size_t i = host + 1; i < cost->n_hosts; i++) {
		if (cost->hosts[i].parent == cost->hosts[host].place)
			bytes += cost->hosts[i].bytes;
	}
	return bytes;
}
