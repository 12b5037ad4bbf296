/* SPDX-License-Identifier: BSD-3-Clause */
/* The floor's processes: who connects to whom, and what each does in a round of its loop. */
#include "tests/bench/floor.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "node-agent/segment/element-writer.h"
#include "pathmap/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/pipe.h"
#include "tree/data/schedule.h"
#include "tree/link/tls.h"

#define EVENTS 64

struct floor {
	const struct floor_place *places;
	size_t n;
	const struct floor_options *options;
	struct tls *tls, *consumer_tls; /* NULL without */
	int *listeners;			/* of each place */
	struct end {
		struct sockaddr_storage at;
		socklen_t bytes;
	} * ends;
	struct tree_processes processes;
};

/* A wave in the making. */
struct slot {
	size_t missing; /* children */
	struct tuple *tuples;
};

/* One process. */
struct node {
	int epoll;
	char *rings;
	size_t elements, ring_bytes, total; /* its own; tuples that it passes on */
	unsigned capacity;
	bool reduce;
	struct pipe up, *down;
	size_t n_down;
	struct slot *slots;
	size_t n_slots;
};

/* ---- waves ---- */

static const struct tuple *newest(const struct node *node, size_t i)
{
	const struct element_ring *ring = (void *)(node->rings + i * node->ring_bytes);

	return &ring->slots[(element_head(ring) - 1) % node->capacity];
}

static void fold(struct tuple *to, const struct tuple *with)
{
	if (with->start >= to->start)
		*to = *with;
}

static void own_put(const struct node *node, struct tuple *to)
{
	if (node->reduce)
		*to = (struct tuple){0};
	for (size_t i = 0; i < node->elements; i++) {
		if (node->reduce)
			fold(to, newest(node, i));
		else
			to[i] = *newest(node, i);
	}
}

/* A leaf copies tuples to where they are sent from. */
static void leaf_answer(struct node *node, uint32_t wave)
{
	size_t bytes = node->total * sizeof(struct tuple);
	struct floor_frame frame = {(uint32_t)bytes, wave};
	char *to = pipe_room(&node->up, sizeof(frame) + bytes);

	memcpy(to, &frame, sizeof(frame));
	own_put(node, (struct tuple *)(void *)(to + sizeof(frame)));
}

static void inner_answer(struct node *node, const struct slot *slot, uint32_t wave)
{
	size_t bytes = node->total * sizeof(struct tuple);
	struct floor_frame frame = {(uint32_t)bytes, wave};
	char *to = pipe_room(&node->up, sizeof(frame) + bytes);

	memcpy(to, &frame, sizeof(frame));
	memcpy(to + sizeof(frame), slot->tuples, bytes);
}

static void node_asked(struct node *node, const struct floor_frame *ask)
{
	for (size_t i = 0; i < node->n_down; i++)
		memcpy(pipe_room(&node->down[i], sizeof(*ask)), ask, sizeof(*ask));
	for (uint32_t wave = ask->wave; wave < ask->wave + ask->n; wave++) {
		struct slot *slot = &node->slots[wave % node->n_slots];

		if (!node->n_down) {
			leaf_answer(node, wave);
			continue;
		}
		slot->missing = node->n_down;
		own_put(node, slot->tuples);
	}
}

static void node_answered(struct node *node, const struct pipe *child, uint32_t wave,
			  const char *tuples)
{
	struct slot *slot = &node->slots[wave % node->n_slots];

	if (node->reduce)
		fold(slot->tuples, (const struct tuple *)(const void *)tuples);
	else
		memcpy(slot->tuples + child->first, tuples, child->elements * sizeof(struct tuple));
	if (--slot->missing == 0)
		inner_answer(node, slot, wave);
}

/* ---- the loop of a process ---- */

static void watch(int epoll, struct pipe *p, int how, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = p};

	if (epoll_ctl(epoll, how, p->fd, &event) < 0)
		abort();
}

static void flush(int epoll, struct pipe *p)
{
	if (p->out_bytes > 0 && pipe_flush(p))
		watch(epoll, p, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
}

/* Take what is whole of what @p brought. */
static void node_take(struct node *node, struct pipe *p)
{
	struct floor_frame frame;
	size_t at = 0, bytes;

	while (p->in_bytes - at >= sizeof(frame)) {
		memcpy(&frame, p->in + at, sizeof(frame));
		bytes = sizeof(frame) + (p == &node->up ? 0 : frame.n);
		if (p->in_bytes - at < bytes)
			break;
		if (p == &node->up)
			node_asked(node, &frame);
		else
			node_answered(node, p, frame.wave, p->in + at + sizeof(frame));
		at += bytes;
	}
	pipe_drop(p, at);
}

static _Noreturn void node_loop(struct node *node)
{
	struct epoll_event events[EVENTS];

	for (;;) {
		int n = epoll_wait(node->epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			struct pipe *p = events[i].data.ptr;

			if (events[i].events & EPOLLOUT)
				watch(node->epoll, p, EPOLL_CTL_MOD, EPOLLIN);
			pipe_fill(p);
			node_take(node, p);
		}
		for (size_t i = 0; i < node->n_down; i++)
			flush(node->epoll, &node->down[i]);
		flush(node->epoll, &node->up);
	}
}

/* How many waves have come. */
static uint32_t waves_take(struct pipe *root)
{
	struct floor_frame frame;
	uint32_t n = 0;
	size_t at;

	for (at = 0; root->in_bytes - at >= sizeof(frame); at += sizeof(frame) + frame.n) {
		memcpy(&frame, root->in + at, sizeof(frame));
		if (root->in_bytes - at < sizeof(frame) + frame.n)
			break;
		n++;
	}
	pipe_drop(root, at);
	return n;
}

/* A clock that ticks @rate times a second. */
static int pace_begin(int epoll, double rate)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	struct timespec each = {(time_t)(1 / rate), (long)(fmod(1 / rate, 1) * 1e9)};
	struct itimerspec ticks = {each, each};
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

	if (fd < 0 || timerfd_settime(fd, 0, &ticks, NULL) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		abort();
	return fd;
}

/* Without a rate, credit is given back when half of it is used up, so that one ask stands for
 * several waves. */
static _Noreturn void consumer_loop(struct pipe *root, const struct floor_options *o,
				    struct tally *tally)
{
	struct floor_frame frame;
	uint32_t asked = 0, came = 0;
	uint64_t due = 0;
	struct epoll_event event;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int clock = o->rate > 0 ? pace_begin(epoll, o->rate) : -1;

	watch(epoll, root, EPOLL_CTL_ADD, EPOLLIN);
	for (;;) {
		uint32_t room = o->window - (asked - came);

		if (clock < 0 && room >= (o->window + 1) / 2)
			due = room;
		frame = (struct floor_frame){due < room ? due : room, asked};
		if (frame.n > 0) {
			asked += frame.n;
			memcpy(pipe_room(root, sizeof(frame)), &frame, sizeof(frame));
			pipe_flush(root);
		}
		/* what it had no room for is not made up for */
		due = 0;
		if (epoll_wait(epoll, &event, 1, -1) < 1)
			continue;
		if (!event.data.ptr) {
			if (read(clock, &due, sizeof(due)) < 0)
				due = 0;
			continue;
		}
		pipe_fill(root);
		came += waves_take(root);
		atomic_store_explicit(&tally->waves, came, memory_order_relaxed);
	}
}

/* ---- the making of a process ---- */

static void dial(struct pipe *p, const struct end *to, struct tls *tls)
{
	int fd = socket(to->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct error e;

	if (fd < 0 || connect(fd, (const void *)&to->at, to->bytes) < 0)
		_exit(1);
	pipe_init(p, fd);
	if (tls)
		pipe_secure(p, tls_client(tls, NULL, &e));
}

static size_t elements_below(const struct floor *floor, size_t place)
{
	size_t sum = floor->places[place].elements;

	if (floor->options->reduce)
		return 1;
	for (size_t i = place + 1; i < floor->n; i++) {
		if (floor->places[i].parent == place)
			sum += elements_below(floor, i);
	}
	return sum;
}

/* Connect to the children; the kernel accepts for them, so nobody waits for anybody. */
static void node_dial(struct node *node, const struct floor *floor, size_t place)
{
	size_t first = node->elements;

	node->down = memory_new(floor->n, sizeof(*node->down));
	for (size_t i = place + 1; i < floor->n; i++) {
		struct pipe *p = &node->down[node->n_down];

		if (floor->places[i].parent != place)
			continue;
		dial(p, &floor->ends[i], floor->tls);
		p->index = node->n_down++;
		p->first = first;
		p->elements = elements_below(floor, i);
		first += p->elements;
	}
	for (size_t i = 0; i < node->n_down; i++)
		watch(node->epoll, &node->down[i], EPOLL_CTL_ADD, EPOLLIN);
}

/* Rings as they are in segments, each with so much in it that newest tuples are all over them. */
static void node_rings(struct node *node)
{
	struct tuple tuple = {.peer = 1, .bytes = 8};

	node->ring_bytes = element_ring_bytes(node->capacity);
	node->rings = memory_new(node->elements + 1, node->ring_bytes);
	for (size_t i = 0; i < node->elements; i++) {
		struct element_writer writer;

		element_writer_init(&writer, (void *)(node->rings + i * node->ring_bytes),
				    node->capacity);
		for (uint64_t k = 0; k < node->capacity + i * 37 % node->capacity; k++) {
			tuple.start = k;
			element_write(&writer, &tuple);
		}
	}
}

static _Noreturn void node_run(const struct floor *floor, size_t place)
{
	struct node node = {
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.elements = floor->places[place].elements,
		.capacity = floor->options->capacity,
		.reduce = floor->options->reduce,
		.total = elements_below(floor, place),
		.n_slots = 2 * (size_t)floor->options->window,
	};
	struct error e;

	node_rings(&node);
	node_dial(&node, floor, place);
	node.slots = memory_new(node.n_slots, sizeof(*node.slots));
	for (size_t i = 0; i < node.n_slots; i++)
		node.slots[i].tuples = memory_new(node.total, sizeof(struct tuple));
	pipe_init(&node.up, accept(floor->listeners[place], NULL, NULL));
	if (floor->tls)
		pipe_secure(&node.up, tls_server(floor->tls, &e));
	watch(node.epoll, &node.up, EPOLL_CTL_ADD, EPOLLIN);
	node_loop(&node);
}

static _Noreturn void consumer_run(const struct floor *floor)
{
	struct pipe root;

	dial(&root, &floor->ends[0], floor->consumer_tls);
	consumer_loop(&root, floor->options, floor->processes.tally);
}

/* ---- life ---- */

static int floor_listen(struct floor *floor, size_t place, struct error *e)
{
	struct end *end = &floor->ends[place];
	struct sockaddr_in *in = (void *)&end->at;
	bool is_unix = floor->options->net == FLOOR_UNIX;
	int fd = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* The kernel finds a name for a Unix socket that has only a family, as it finds a port. */
	if (is_unix)
		end->at.ss_family = AF_UNIX;
	else
		*in = (struct sockaddr_in){.sin_family = AF_INET,
					   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	end->bytes = is_unix ? sizeof(end->at.ss_family) : sizeof(*in);
	floor->listeners[place] = fd;
	if (fd < 0 || bind(fd, (void *)&end->at, end->bytes) < 0 || listen(fd, 1) < 0)
		return errorf(e, "cannot listen on this host: %s", strerror(errno));
	end->bytes = sizeof(end->at);
	if (getsockname(fd, (void *)&end->at, &end->bytes) < 0)
		return errorf(e, "cannot find out where a socket listens: %s", strerror(errno));
	if (!is_unix)
		floor->processes.ends[floor->processes.n_ends++] = *in;
	return 0;
}

static int floor_tls(struct floor *floor, struct error *e)
{
	const struct floor_options *o = floor->options;

	if (o->net != FLOOR_TLS)
		return 0;
	floor->tls = tls_new(o->tls, o->agent, e);
	floor->consumer_tls = floor->tls ? tls_new(o->tls, o->consumer, e) : NULL;
	return floor->consumer_tls ? 0 : -1;
}

static int floor_start(struct floor *floor, struct error *e)
{
	struct tree_processes *p = &floor->processes;

	for (size_t i = 0; i < floor->n; i++) {
		if (floor_listen(floor, i, e) < 0)
			return -1;
	}
	for (size_t i = 0; i <= floor->n; i++) {
		pid_t pid = bench_fork();

		if (pid < 0)
			return errorf(e, "cannot fork: %s", strerror(errno));
		if (pid == 0 && floor->options->urgency &&
		    schedule_class_set(floor->options->urgency, e) < 0)
			_exit(1);
		if (pid == 0 && i < floor->n)
			node_run(floor, i);
		if (pid == 0)
			consumer_run(floor);
		if (i == 0)
			p->root = pid;
		else if (i < floor->n)
			p->others[p->n_others++] = pid;
		else
			p->consumer = pid;
	}
	return 0;
}

struct floor *floor_new(const struct floor_place *places, size_t n, const struct floor_options *o,
			struct error *e)
{
	struct floor *floor = memory_new(1, sizeof(*floor));

	floor->places = places;
	floor->n = n;
	floor->options = o;
	floor->listeners = memory_new(n, sizeof(*floor->listeners));
	floor->ends = memory_new(n, sizeof(*floor->ends));
	floor->processes.others = memory_new(n, sizeof(pid_t));
	floor->processes.ends = memory_new(n, sizeof(struct sockaddr_in));
	floor->processes.tally = tally_new();
	if (floor_tls(floor, e) == 0 && floor_start(floor, e) == 0)
		return floor;
	floor_free(floor);
	return NULL;
}

void floor_free(struct floor *floor)
{
	struct tree_processes *p;

	if (!floor)
		return;
	p = &floor->processes;
	bench_end(p->consumer, SIGKILL);
	bench_end(p->root, SIGKILL);
	for (size_t i = 0; i < p->n_others; i++)
		bench_end(p->others[i], SIGKILL);
	for (size_t i = 0; i < floor->n; i++) {
		if (floor->listeners[i] > 0)
			close(floor->listeners[i]);
	}
	tally_free(p->tally);
	free(p->others);
	free(p->ends);
	tls_free(floor->tls);
	tls_free(floor->consumer_tls);
	free(floor->listeners);
	free(floor->ends);
	free(floor);
}

const struct tree_processes *floor_processes(const struct floor *floor)
{
	return &floor->processes;
}
