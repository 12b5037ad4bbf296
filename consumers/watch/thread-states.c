/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds each thread's newest event in a wave, and compares it with the wave before. */
#include "consumers/watch/thread-states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/pattern.h"
#include "tree/data/op-table.h"

/* The parts that name a thread: "/cluster/node/rank/thread". */
#define THREAD_PARTS 4

void thread_states_fini(struct thread_states *p)
{
	free(p->items);
	free(p->before);
	*p = (struct thread_states){0};
}

void thread_states_begin(struct thread_states *p)
{
	struct thread_state *items = p->before;
	size_t room = p->room_before;

	p->before = p->items;
	p->n_before = p->n;
	p->room_before = p->room;
	p->items = items;
	p->room = room;
	p->n = p->fresh = 0;
}

/* @name up to its thread. */
static void thread_name(const char *name, char *to, size_t room)
{
	const char *end = name;

	for (unsigned parts = 0; *end; end++) {
		if (*end == '/' && parts++ == THREAD_PARTS)
			break;
	}
	snprintf(to, room, "%.*s", (int)(end - name), name);
}

/* Take rank and world of a spawned process from "/cluster/node/rank3.w1a2b3c4d/thread". */
static void find_world(struct thread_state *p)
{
	const char *part = strstr(p->name, "/rank");
	unsigned world;
	int rank;

	if (p->rank >= 0 || !part || sscanf(part, "/rank%9d.w%8x", &rank, &world) != 2 || rank < 0)
		return;
	p->rank = rank;
	p->world = world;
}

static struct thread_state *thread_state_room(struct thread_states *p)
{
	if (p->n == p->room) {
		p->room = p->room ? 2 * p->room : 64;
		p->items = reallocarray(p->items, p->room, sizeof(*p->items));
		if (!p->items)
			abort();
	}
	return &p->items[p->n++];
}

void thread_state_of(struct thread_state *to, const struct evspace_event *ev, uint64_t wave)
{
	bool region = ev->flags & EVSPACE_REGION;

	*to = (struct thread_state){
		.rank = ev->rank,
		.op_number = ev->op_number,
		.running = (ev->flags & EVSPACE_RUNNING) && !(ev->flags & EVSPACE_GONE),
		.gone = ev->flags & EVSPACE_GONE,
		.died_inside = (ev->flags & EVSPACE_GONE) && (ev->flags & EVSPACE_RUNNING),
		.peer = ev->peer,
		.seq = ev->seq_or_tag,
		.comm = ev->comm,
		.unnumbered = ev->flags & EVSPACE_UNNUMBERED,
		.bytes = ev->bytes,
		.start_ns = ev->start_ns,
		.end_ns = ev->end_ns,
		.error_ns = ev->error_ns,
		.wave = wave,
		.region_op = region ? ev->op_number : 0,
		.region = region ? ev->seq_or_tag : 0,
		.region_ns = region ? ev->start_ns : 0,
		.site = region ? ev->comm : 0,
	};
	thread_name(ev->name, to->name, sizeof(to->name));
	find_world(to);
	snprintf(to->op, sizeof(to->op), "%s", ev->op);
	if (ev->read_ns > stall_since(to))
		to->still_ns = ev->read_ns - stall_since(to);
}

const struct thread_state *thread_states_add(struct thread_states *p,
					     const struct evspace_event *ev, uint64_t wave)
{
	struct thread_state *to = thread_state_room(p);

	thread_state_of(to, ev, wave);
	return to;
}

/* By world, rank and name. */
static int compare_threads(const struct thread_state *x, const struct thread_state *y)
{
	if (x->world != y->world)
		return x->world > y->world ? 1 : -1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? 1 : -1;
	return strverscmp(x->name, y->name);
}

/* The same; then a thread's newest event first, its region last. */
static int compare(const void *a, const void *b)
{
	const struct thread_state *x = a, *y = b;
	int threads = compare_threads(x, y);

	if (threads != 0)
		return threads;
	if (!x->region_op != !y->region_op)
		return x->region_op ? 1 : -1;
	if (x->running != y->running)
		return x->running ? -1 : 1;
	return (stall_since(x) < stall_since(y)) - (stall_since(x) > stall_since(y));
}

static void sort(struct thread_state *items, size_t n)
{
	if (n > 1)
		qsort(items, n, sizeof(*items), compare);
}

/* Where the thread @p is beside what it does; a call site alone is no region. */
static void take_region(struct thread_state *p, const struct thread_state *region)
{
	if (p->running || p->died_inside)
		p->site = region->site;
	if (region->region_op == OP_EVSPACE_SITE)
		return;
	p->region_op = region->region_op;
	p->region = region->region;
	p->region_ns = region->region_ns;
}

void thread_states_end(struct thread_states *p, bool keep)
{
	size_t kept = 0, at = 0;

	sort(p->items, p->n);
	for (size_t i = 0; i < p->n; i++) {
		if (!kept || strcmp(p->items[kept - 1].name, p->items[i].name) != 0) {
			p->items[kept++] = p->items[i];
		} else if (p->items[i].region_op) {
			take_region(&p->items[kept - 1], &p->items[i]);
		}
	}
	p->n = p->fresh = kept;
	if (keep)
		sort(p->before, p->n_before);
	for (size_t i = 0; keep && i < p->n_before; i++) {
		const struct thread_state *before = &p->before[i];

		while (at < p->fresh && compare_threads(&p->items[at], before) < 0)
			at++;
		if (at < p->fresh && strcmp(p->items[at].name, before->name) == 0)
			at++;
		else
			*thread_state_room(p) = *before;
	}
	for (size_t i = 0; i < p->n; i++)
		stall_reset(&p->items[i]);
}
