/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts what waves cost: follows one wave down a plan and up again, in simulated time. */
#include "pathmap/cost/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/cost/flow.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/parts.h"

/* Of a frame of an answer, beside its records: header, TLS record, TCP and IP headers. */
#define FRAME_BYTES 130.0

/* By the address of its hosts without the port, which their places own. */
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
	double *machine_us; /* CPU time per machine and wave */
};

/* An answer on its way, in the order of a host's children. */
struct answer {
	double at; /* us since the host was asked; INFINITY: it has been taken */
	double bytes;
	bool plain; /* not encrypted */
	struct flow flow;
};

/* ---- machines and links ---- */

static bool address_is_unix(const char *address)
{
	return strncmp(address, "unix:", 5) == 0;
}

/* Can it only be of the machine that connects to it? */
static bool address_is_here(const char *address)
{
	static const char *const here[] = {"127.", "[::1]", "localhost:"};

	for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++) {
		if (strncmp(address, here[i], strlen(here[i])) == 0)
			return true;
	}
	return address_is_unix(address);
}

/* The machine of the host @index, whose parent's is known. */
static size_t machine_find(struct forecast *f, size_t index, size_t parent)
{
	const char *address = f->cost->hosts[index].place->address;
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

static double bytes_us(const struct forecast *f, double bytes, bool plain)
{
	const struct calibration *c = f->calibration;

	return bytes * (c->copy_ns + (plain ? 0 : c->encrypt_ns)) / 1e3;
}

static double stages_us(const struct forecast *f, const struct plan_stage *stages, size_t n,
			struct flow *flow)
{
	double us = 0;

	for (size_t i = 0; i < n; i++) {
		us += flow->records * f->calibration->stage_ns / 1e3;
		flow_stage(flow, &stages[i]);
	}
	return us;
}

/* Of those asked, the one whose answer is there first. */
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

/* When and with what the child answers that is asked at @now. */
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

/*
 * Ask the children and take their answers; the host has come to *@now. Who is there by the time
 * that the one before is done with needs no wake-up of its own.
 */
static double children_wave(struct forecast *f, size_t index, double *now, struct flow *flow)
{
	const struct plan_place *place = f->cost->hosts[index].place;
	size_t n = place->n_children, asked = 0;
	size_t most = place->concurrency > 0 ? place->concurrency : n;
	struct answer *answers = memory_new(n, sizeof(*answers));
	double cpu = 0, wakes = 0;

	for (size_t taken = 0; taken < n; taken++) {
		struct answer *next;
		double start = *now;

		for (; asked < n && asked - taken < most; asked++) {
			*now += f->calibration->frame_us;
			answers[asked] = child_answer(f, place->children[asked], index, *now);
		}
		cpu += *now - start;
		next = answer_next(answers, asked);
		if (next->at > *now) {
			wakes++;
			cpu += f->calibration->wake_us;
			*now = next->at + f->calibration->wake_us;
		}
		start = *now;
		*now += f->calibration->frame_us + bytes_us(f, next->bytes, next->plain);
		cpu += *now - start;
		flow_join(flow, &next->flow);
		next->at = INFINITY;
	}
	f->cost->hosts[index].wakes += wakes;
	free(answers);
	return cpu;
}

/* How long it takes the host to answer, in us, and what with. */
static double host_wave(struct forecast *f, const struct plan_place *place, size_t parent,
			struct flow *flow)
{
	const struct calibration *c = f->calibration;
	size_t index = f->cost->n_hosts++;
	struct cost_host *host = &f->cost->hosts[index];
	double now, cpu, work = 0;

	*host = (struct cost_host){.place = place, .wakes = 1};
	host->parent = index > 0 ? f->cost->hosts[parent].place : NULL;
	host->machine = machine_find(f, index, parent);
	*flow = (struct flow){0};
	now = cpu = c->wake_us + c->frame_us;
	if (place->leaf) {
		*flow = flow_read(f->plan, place, f->map, &f->placement);
		work = flow->records * c->read_ns / 1e3;
		work += stages_us(f, place->local, place->n_local, flow);
	}
	if (place->n_children > 0)
		cpu += children_wave(f, index, &now, flow);
	work += stages_us(f, place->joined, place->n_joined, flow) + c->frame_us;
	host->records = flow->records;
	host->bytes = flow->bytes + FRAME_BYTES;
	work += bytes_us(f, host->bytes, address_is_unix(place->address));
	host->cpu_us = cpu + work;
	return now + work;
}

/* ---- rates ---- */

/* The CPU time of a wave when @window of them share wake-ups. */
static double shared_us(const struct forecast *f, const struct cost_host *host, unsigned window)
{
	return host->cpu_us - host->wakes * f->calibration->wake_us * (1 - 1.0 / window);
}

/* The least time between two waves, in us, by what machines, hosts and links can do. */
static double least_us(struct forecast *f, unsigned window, double link_us)
{
	const struct cost *cost = f->cost;
	double least = link_us;

	memset(f->machine_us, 0, f->n_machines * sizeof(*f->machine_us));
	for (size_t i = 0; i < cost->n_hosts; i++) {
		double us = shared_us(f, &cost->hosts[i], window);

		least = fmax(least, us);
		f->machine_us[cost->hosts[i].machine] += us;
	}
	for (size_t i = 0; i < f->n_machines; i++)
		least = fmax(least, f->machine_us[i] / f->calibration->cores);
	return least;
}

void cost_predict(struct cost *cost, const struct plan *plan, const struct pathmap *map,
		  const struct calibration *calibration, unsigned window)
{
	struct forecast f = {.cost = cost, .plan = plan, .map = map, .calibration = calibration};
	double wave_us, link_us = 0;
	struct flow flow;

	*cost = (struct cost){.window = window};
	cost->hosts = memory_new(plan->n_places, sizeof(*cost->hosts));
	placement_init(&f.placement, map);
	wave_us = host_wave(&f, plan->root, 0, &flow);
	/* The consumer asks, is woken, and takes the answer. */
	wave_us += calibration->wake_us + 2 * calibration->frame_us +
		   bytes_us(&f, cost->hosts[0].bytes, false);
	f.machine_us = memory_new(f.n_machines, sizeof(*f.machine_us));
	for (size_t i = 0; i < cost->n_hosts; i++) {
		const struct cost_host *host = &cost->hosts[i];

		if (host->bits_per_s > 0)
			link_us = fmax(link_us, host->bytes * 8 / host->bits_per_s * 1e6);
		cost->cpu_us += host->cpu_us;
		if (host->cpu_us > cost->hosts[cost->busiest].cpu_us)
			cost->busiest = i;
	}
	wave_us = fmax(wave_us, least_us(&f, 1, link_us));
	cost->waves_per_s = 1e6 / wave_us;
	cost->window_waves_per_s = 1e6 / fmax(wave_us / window, least_us(&f, window, link_us));
	free(f.machine_us);
	machines_free(&f);
	placement_fini(&f.placement);
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
