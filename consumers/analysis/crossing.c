/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds by when members on each host had come, and since when they left, what clocks may be off at
 * most. Each meeting speaks for itself: how clocks are related may change from wave to wave. */
#include "consumers/analysis/crossing.h"

#include <math.h>
#include <stdlib.h>

#include "consumers/analysis/wait.h"
#include "pathmap/base/memory.h"
#include "tree/data/op-table.h"

struct crossings {
	struct crossing_counts counts;
};

/* One host in a meeting. */
struct attending {
	uint32_t host;
	int64_t came_ns, left_ns; /* its last start, its first end */
	double error_ns;	  /* the largest one */
	double move_ns, bound_ns; /* what is found */
};

struct attending_hosts {
	size_t n;
	struct attending of[CROSSING_HOSTS];
};

struct crossings *crossings_new(void)
{
	return memory_new(1, sizeof(struct crossings));
}

void crossings_free(struct crossings *c)
{
	free(c);
}

/* ---- one meeting ---- */

static struct attending *attending_of(struct attending_hosts *hosts, const struct arrival *a)
{
	for (size_t i = 0; i < hosts->n; i++) {
		if (hosts->of[i].host == a->host)
			return &hosts->of[i];
	}
	hosts->of[hosts->n] =
		(struct attending){.host = a->host, .came_ns = a->start_ns, .left_ns = a->end_ns};
	return &hosts->of[hosts->n++];
}

/* Returns false if there is but one, or there are too many. */
static bool hosts_find(const struct meeting *m, struct attending_hosts *hosts)
{
	hosts->n = 0;
	for (size_t i = 0; i < m->n; i++) {
		const struct arrival *a = &m->arrivals[i];
		struct attending *at;

		if (a->host >= CROSSING_HOSTS)
			return false;
		at = attending_of(hosts, a);
		at->came_ns = a->start_ns > at->came_ns ? a->start_ns : at->came_ns;
		at->left_ns = a->end_ns < at->left_ns ? a->end_ns : at->left_ns;
		at->error_ns = fmax(at->error_ns, a->error_ns);
	}
	return hosts->n > 1;
}

/* Without data nobody may have to wait. */
static bool all_wait(const struct meeting *m)
{
	if (m->gap != MEETING_WHOLE || m->mixed)
		return false;
	if (wait_kind(m->op, false) == WAIT_BARRIER)
		return true;
	if (m->op != OP_MPI_ALLREDUCE && m->op != OP_MPI_ALLGATHER)
		return false;
	for (size_t i = 0; i < m->n; i++) {
		if (m->arrivals[i].bytes == 0)
			return false;
	}
	return true;
}

/* ---- faults ---- */

/* Does it contradict what clocks may be off at most? */
static bool is_fault(struct crossings *c, const struct meeting *m, const struct attending *came,
		     const struct attending *left)
{
	double ns = (double)(came->came_ns - left->left_ns);
	double error_ns = came->error_ns + left->error_ns;

	if (ns <= error_ns)
		return false;
	if (c->counts.faults == 0 || ns - error_ns > c->counts.worst.ns - c->counts.worst.error_ns)
		c->counts.worst = (struct crossing_fault){
			.left = left->host,
			.came = came->host,
			.ns = ns,
			.error_ns = error_ns,
			.comm = m->key.comm,
			.number = m->key.number,
			.op = m->op,
		};
	return true;
}

static void faults_find(struct crossings *c, const struct meeting *m,
			const struct attending_hosts *hosts)
{
	bool fault = false;

	for (size_t i = 0; i < hosts->n; i++) {
		for (size_t k = 0; k < hosts->n; k++)
			fault |= i != k && is_fault(c, m, &hosts->of[i], &hosts->of[k]);
	}
	c->counts.faults += fault;
}

/* ---- correcting ---- */

/* Find what is to be added to times of @host, for them to be true beside those of @by: within what
 * was said of their clocks and what this meeting says; if these contradict each other, by the
 * latter. */
static void move_find(struct attending *host, const struct attending *by)
{
	double said = host->error_ns + by->error_ns;
	double most = (double)(by->left_ns - host->came_ns);
	double least = (double)(by->came_ns - host->left_ns);
	double high = fmin(said, most), low = fmax(-said, least);

	if (high < low) {
		high = most;
		low = least;
	}
	host->move_ns = (low + high) / 2;
	/* no clock would make that true */
	host->bound_ns = high < low ? INFINITY : (high - low) / 2;
}

/* All beside @by. Returns the sum of their bounds. */
static double moves_find(struct attending_hosts *hosts, size_t by)
{
	double sum = 0;

	for (size_t i = 0; i < hosts->n; i++) {
		struct attending *host = &hosts->of[i];

		host->move_ns = host->bound_ns = 0;
		if (i != by)
			move_find(host, &hosts->of[by]);
		sum += host->bound_ns;
	}
	return sum;
}

static void move_all(struct crossings *c, const struct meeting *m, struct attending_hosts *hosts)
{
	for (size_t i = 0; i < m->n; i++) {
		struct arrival *a = &m->arrivals[i];
		const struct attending *at = attending_of(hosts, a);
		int64_t move_ns = (int64_t)at->move_ns;

		c->counts.was_ns += a->error_ns / (double)m->n;
		c->counts.bound_ns += at->bound_ns / (double)m->n;
		a->start_ns += move_ns;
		a->end_ns += move_ns;
		a->error_ns = at->bound_ns;
	}
	meeting_sort(m);
	c->counts.corrected++;
}

void crossings_take(struct crossings *c, const struct meeting *m)
{
	struct attending_hosts hosts;
	double said = 0, best = INFINITY;
	size_t by = 0;

	if (!all_wait(m) || !hosts_find(m, &hosts))
		return;
	c->counts.meetings++;
	faults_find(c, m, &hosts);
	for (size_t i = 0; i < hosts.n; i++) {
		double sum = moves_find(&hosts, i);

		said += hosts.of[i].error_ns;
		if (sum < best) {
			best = sum;
			by = i;
		}
	}
	if (isfinite(best) && best < said) {
		moves_find(&hosts, by);
		move_all(c, m, &hosts);
	}
}

const struct crossing_counts *crossings_counts(const struct crossings *c)
{
	return &c->counts;
}
