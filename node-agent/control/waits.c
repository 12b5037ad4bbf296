/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads /proc/PID/task/TID/status and schedstat (proc(5), Documentation/scheduler/sched-stats of
 * Linux), some threads at a time, and adds up by how much they have grown. */
#include "node-agent/control/waits.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/store/proc.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/** Most threads of a process that are known at once. */
#define THREADS_MOST 1024u

#define LOOK_AGAIN_NS UINT64_C(100000000)

struct waits_thread {
	int tid;
	bool here; /* it was in the last list */
	bool read;
	uint64_t switches, waited_ns, ran_ns; /* as last read */
};

struct waits_process {
	uint64_t serial, looked_ns;
	struct waits_thread *threads;
	size_t n, next;
	struct waits_sum sum;
};

struct waits_all {
	struct waits_process *processes;
	size_t n;
};

struct waits_all *waits_new(void)
{
	return memory_new(1, sizeof(struct waits_all));
}

void waits_free(struct waits_all *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		free(w->processes[i].threads);
	free(w->processes);
	free(w);
}

static bool is_there(const struct store *store, uint64_t serial)
{
	const struct store_segment *s;

	TAILQ_FOREACH (s, &store->segments, link)
		if (s->serial == serial)
			return true;
	return false;
}

void waits_drop(struct waits_all *w, const struct store *store)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (is_there(store, w->processes[i].serial))
			w->processes[kept++] = w->processes[i];
		else
			free(w->processes[i].threads);
	}
	w->n = kept;
}

static struct waits_process *process_of(struct waits_all *w, uint64_t serial)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->processes[i].serial == serial)
			return &w->processes[i];
	w->processes = memory_room(w->processes, w->n, sizeof(*w->processes));
	w->processes[w->n] = (struct waits_process){.serial = serial};
	return &w->processes[w->n++];
}

/* Note that there is a thread @tid. */
static void thread_note(struct waits_process *p, int tid)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->threads[i].tid == tid) {
			p->threads[i].here = true;
			return;
		}
	}
	if (p->n == THREADS_MOST)
		return;
	p->threads = memory_room(p->threads, p->n, sizeof(*p->threads));
	p->threads[p->n++] = (struct waits_thread){.tid = tid, .here = true};
}

/* Bring the list of threads up to date. */
static void threads_list(struct waits_process *p, int pid)
{
	char path[64];
	const struct dirent *entry;
	size_t kept = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	for (size_t i = 0; i < p->n; i++)
		p->threads[i].here = false;
	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			thread_note(p, atoi(entry->d_name));
	if (d)
		closedir(d);
	for (size_t i = 0; i < p->n; i++)
		if (p->threads[i].here)
			p->threads[kept++] = p->threads[i];
	p->n = kept;
}

/* By how much @now is more than *@last, which becomes that; another thread may have got the id. */
static uint64_t grown(uint64_t *last, uint64_t now, bool known)
{
	uint64_t by = known && now > *last ? now - *last : 0;

	*last = now;
	return by;
}

static void thread_read(struct waits_process *p, struct waits_thread *t, int pid)
{
	uint64_t ran = 0, waited = 0, switches;
	char name[64], *status, *times;

	snprintf(name, sizeof(name), "task/%d/status", t->tid);
	status = proc_read(pid, name);
	snprintf(name, sizeof(name), "task/%d/schedstat", t->tid);
	times = proc_read(pid, name);
	if (status && times && sscanf(times, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2) {
		switches = (uint32_t)proc_number(status, "\nnonvoluntary_ctxt_switches:", 1);
		p->sum.switches += grown(&t->switches, switches, t->read);
		p->sum.waited_ns += grown(&t->waited_ns, waited, t->read);
		p->sum.ran_ns += grown(&t->ran_ns, ran, t->read);
		t->read = true;
	}
	free(status);
	free(times);
}

struct waits_sum waits_look(struct waits_all *w, const struct store_segment *s, unsigned most)
{
	struct waits_process *p = process_of(w, s->serial);
	uint64_t now = clock_mono_ns();

	if (s->alive && s->pid > 0 && (!p->looked_ns || now - p->looked_ns >= LOOK_AGAIN_NS)) {
		p->looked_ns = now;
		threads_list(p, s->pid);
		for (unsigned i = 0; i < most && i < p->n; i++)
			thread_read(p, &p->threads[p->next++ % p->n], s->pid);
	}
	p->sum.threads = 0;
	for (size_t i = 0; i < p->n && s->alive; i++)
		p->sum.threads += p->threads[i].read;
	return p->sum;
}
