/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, reads and closes counters: one for each event and thread, which threads that it makes
 * inherit. */
#include "node-agent/control/hardware.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <event2/event.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* Threads of a process that count, and counters of a host: each is a file that is open. */
#define THREADS_MOST  64u
#define COUNTERS_MOST 512u

/* How long they count without a question. */
#define LEASE_S 15

/* What the kernel calls them. What a program does by itself is counted; it moves in the kernel. */
static const struct {
	uint32_t type;
	uint64_t config;
} kinds[HARDWARE_EVENTS] = {
	[HARDWARE_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	[HARDWARE_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	[HARDWARE_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	[HARDWARE_MIGRATIONS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

/* One event of one process. */
struct hardware_count {
	LIST_ENTRY(hardware_count) link;
	uint32_t pid, event;
	char *name; /* the process's, with its run */
	uint64_t asked_ns;
	int error; /* it cannot be counted */
	unsigned n;
	int fd[THREADS_MOST];
};

struct hardware {
	LIST_HEAD(, hardware_count) list;
	unsigned open;
	struct event *rest;
};

/* Of more than there are counters for at once, the kernel counts each for a part of the time. */
struct counter_read {
	uint64_t value, enabled, running;
};

static int counter_open(uint32_t event, int tid)
{
	struct perf_event_attr attr = {
		.type = kinds[event].type,
		.size = sizeof(attr),
		.config = kinds[event].config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.inherit = 1,
		.exclude_kernel = kinds[event].type == PERF_TYPE_HARDWARE,
		.exclude_hv = kinds[event].type == PERF_TYPE_HARDWARE,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void count_end(struct hardware *all, struct hardware_count *c)
{
	for (unsigned i = 0; i < c->n; i++)
		close(c->fd[i]);
	all->open -= c->n;
	c->n = 0;
}

static void count_free(struct hardware *all, struct hardware_count *c)
{
	count_end(all, c);
	LIST_REMOVE(c, link);
	free(c->name);
	free(c);
}

/* The threads of a process. Returns how many, or -1 with errno. */
static int tids_read(uint32_t pid, int tids[THREADS_MOST])
{
	const struct dirent *entry;
	char path[64];
	unsigned n = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return -1;
	while ((entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		if (n == THREADS_MOST)
			break;
		tids[n++] = atoi(entry->d_name);
	}
	closedir(tasks);
	errno = EMFILE;
	return entry ? -1 : (int)n;
}

/* All threads, or none: a part of a sum is no sum. One that ends meanwhile is none; one that is
 * made meanwhile is counted with the one that made it, if that one counts by then. */
static void count_begin(struct hardware *all, struct hardware_count *c)
{
	int tids[THREADS_MOST], n = tids_read(c->pid, tids);

	c->error = n < 0 ? errno : 0;
	for (int i = 0; i < n && c->error == 0; i++) {
		int fd = -1;

		errno = EMFILE;
		if (all->open < COUNTERS_MOST)
			fd = counter_open(c->event, tids[i]);
		if (fd < 0) {
			c->error = errno == ESRCH ? 0 : errno;
			continue;
		}
		c->fd[c->n++] = fd;
		all->open++;
	}
	if (c->error)
		count_end(all, c);
}

static uint64_t count_read(const struct hardware_count *c)
{
	double sum = 0;

	for (unsigned i = 0; i < c->n; i++) {
		struct counter_read r;

		if (read(c->fd[i], &r, sizeof(r)) == sizeof(r) && r.running > 0)
			sum += (double)r.value * ((double)r.enabled / (double)r.running);
	}
	return (uint64_t)sum;
}

static const char *why_not(const struct hardware_count *c)
{
	switch (c->error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "this machine has no counter of it, as many virtual ones; CPU_TIME has the "
		       "time on processors";
	case EACCES:
	case EPERM:
		return "the kernel lets the agent's user count nothing of it; set "
		       "/proc/sys/kernel/perf_event_paranoid to 1, or to 2 for what processors "
		       "count";
	case EMFILE:
		return "a process has more than 64 threads, or there are 512 counters already";
	default:
		return strerror(c->error);
	}
}

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval after = {.tv_sec = LEASE_S};
	struct hardware *all = arg;
	struct hardware_count *c, *next;

	(void)fd;
	(void)what;
	for (c = LIST_FIRST(&all->list); c; c = next) {
		next = LIST_NEXT(c, link);
		if (clock_mono_ns() - c->asked_ns >= LEASE_S * UINT64_C(1000000000))
			count_free(all, c);
	}
	if (!LIST_EMPTY(&all->list))
		event_add(all->rest, &after);
}

struct hardware *hardware_new(struct event_base *base)
{
	struct hardware *all = memory_new(1, sizeof(*all));

	LIST_INIT(&all->list);
	all->rest = evtimer_new(base, on_rest, all);
	if (!all->rest)
		abort();
	return all;
}

static struct hardware_count *count_of(struct hardware *all, const Evspace__Process *p,
				       uint32_t event)
{
	const struct timeval after = {.tv_sec = LEASE_S};
	char *name = memory_format("%s/%s", p->run, p->name);
	struct hardware_count *c;

	LIST_FOREACH (c, &all->list, link)
		if (c->pid == p->pid && c->event == event && strcmp(c->name, name) == 0)
			break;
	if (c) {
		free(name);
		/* what was in its way may be gone */
		if (c->error)
			count_begin(all, c);
	} else {
		c = memory_new(1, sizeof(*c));
		c->pid = p->pid;
		c->event = event;
		c->name = name;
		LIST_INSERT_HEAD(&all->list, c, link);
		count_begin(all, c);
		if (!evtimer_pending(all->rest, NULL))
			event_add(all->rest, &after);
	}
	c->asked_ns = clock_mono_ns();
	return c;
}

static void counter_add(Evspace__Process *p, const struct hardware_count *c)
{
	Evspace__Counter *said = memory_new(1, sizeof(*said));

	evspace__counter__init(said);
	said->event = c->event;
	if (c->error)
		said->why = memory_copy(why_not(c));
	else
		said->count = count_read(c);
	p->counters = memory_room(p->counters, p->n_counters, sizeof(*p->counters));
	p->counters[p->n_counters++] = said;
}

void hardware_fill(struct hardware *all, struct process_tables *tables, uint32_t which)
{
	for (size_t i = 0; i < tables->n; i++) {
		Evspace__Process *p = tables->processes[i];

		/* who holds a process counts in it */
		if (!p->alive || p->pid == 0 || p->misplaced)
			continue;
		for (uint32_t e = 0; e < HARDWARE_EVENTS; e++)
			if (which >> e & 1)
				counter_add(p, count_of(all, p, e));
	}
}

void hardware_free(struct hardware *all)
{
	if (!all)
		return;
	while (!LIST_EMPTY(&all->list))
		count_free(all, LIST_FIRST(&all->list));
	event_free(all->rest);
	free(all);
}
