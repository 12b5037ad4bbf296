/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads /proc/PID/status and /proc/PID/task/TID/{schedstat,stat,status} (proc(5)). */
#include "node-agent/control/usage.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "node-agent/segment/segment-entry.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/store/proc.h"
#include "pathmap/base/memory.h"

/** The kernel's figure of a thread that runs may be so far behind: a tick. */
#define BEHIND_NS 10000000u

/* Where the kernel's numbers are read from, and to. */
struct usage_read {
	const struct segment *segment;
	struct usage_tids *tids;
};

static int tids_read(void *arg)
{
	const struct usage_read *r = arg;
	uint32_t n = segment_threads(r->segment);

	for (r->tids->n = 0; r->tids->n < n && r->tids->n < USAGE_TIDS; r->tids->n++) {
		const struct segment_thread *thread = segment_thread(r->segment, r->tids->n);

		r->tids->tid[r->tids->n] = thread ? thread->tid : 0;
	}
	return 0;
}

int usage_tids_read(struct usage_tids *tids, const struct segment *segment)
{
	tids->n = 0;
	return segment_guarded(tids_read, &(struct usage_read){segment, tids});
}

uint32_t usage_tids_find(const struct usage_tids *tids, uint32_t tid)
{
	for (uint32_t i = 0; i < tids->n; i++)
		if (tid > 0 && tids->tid[i] == tid)
			return i;
	return USAGE_OTHERS;
}

static Evspace__Used *used_of(Evspace__Process *p, uint32_t thread)
{
	Evspace__Used *u;

	for (size_t i = 0; i < p->n_used; i++)
		if (p->used[i]->thread == thread)
			return p->used[i];
	u = memory_new(1, sizeof(*u));
	evspace__used__init(u);
	u->thread = thread;
	p->used = memory_room(p->used, p->n_used, sizeof(*p->used));
	return p->used[p->n_used++] = u;
}

/* How long a thread has been there, by its stat; 0: not known. */
static uint64_t age_ns(const char *stat)
{
	const char *at = strrchr(stat, ')');
	long hz = sysconf(_SC_CLK_TCK);
	unsigned long long started;
	uint64_t born, now;
	struct timespec t;

	if (!at || hz <= 0 || clock_gettime(CLOCK_BOOTTIME, &t) < 0 ||
	    sscanf(at + 1, " %*c%*d%*d%*d%*d%*d%*u%*u%*u%*u%*u%*u%*u%*d%*d%*d%*d%*d%*d%llu",
		   &started) != 1)
		return 0;
	now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	born = started / (unsigned long)hz * 1000000000u +
	       started % (unsigned long)hz * 1000000000u / (unsigned long)hz;
	return now > born ? now - born : 0;
}

/* Page faults of a thread, by its stat. */
static uint64_t faults(const char *stat)
{
	const char *at = strrchr(stat, ')');
	unsigned long long minor, major;

	if (!at || sscanf(at + 1, " %*c%*d%*d%*d%*d%*d%*u%llu%*u%llu", &minor, &major) != 2)
		return 0;
	return minor + major;
}

static char *task_read(int pid, int tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "task/%d/%s", tid, name);
	return proc_read(pid, path);
}

static void thread_add(const struct usage_tids *tids, int pid, int tid, Evspace__Process *p)
{
	char *times = task_read(pid, tid, "schedstat"), *stat = task_read(pid, tid, "stat");
	char *status = task_read(pid, tid, "status");
	uint64_t ran, waited, age;

	if (times && stat && status && sscanf(times, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2) {
		Evspace__Used *u = used_of(p, usage_tids_find(tids, (uint32_t)tid));

		u->faults += faults(stat);
		u->preempted += (uint32_t)proc_number(status, "\nnonvoluntary_ctxt_switches:", 1);
		age = age_ns(stat);
		u->ran_ns += ran;
		u->blocks += (uint32_t)proc_number(status, "\nvoluntary_ctxt_switches:", 1);
		u->blocked_ns += age > ran + waited ? age - ran - waited : 0;
	}
	free(times);
	free(stat);
	free(status);
}

/* What all threads of the process have run, also those that have ended; 0: not known. */
static uint64_t process_ran(int pid)
{
	clockid_t clock;
	struct timespec t;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What ran in threads that have ended, or were too many to be read. @all is of before the others
 * were read, so that it has nothing that these have run since, however long that took; of @n that
 * are there the kernel may have said less than they had run. */
static void ended_add(uint64_t all, unsigned n, Evspace__Process *p)
{
	uint64_t ran = 0;

	for (size_t i = 0; i < p->n_used; i++)
		ran += p->used[i]->ran_ns;
	if (all > ran + (uint64_t)n * BEHIND_NS)
		used_of(p, USAGE_OTHERS)->ran_ns += all - ran;
}

static uint64_t kibibytes(const char *status, const char *key)
{
	int n = proc_number(status, key, 1);

	return n > 0 ? (uint64_t)n * 1024 : 0;
}

bool usage_fill(const struct store_segment *s, Evspace__Process *p, unsigned *left)
{
	struct usage_tids tids;
	const struct dirent *entry;
	char path[64], *status;
	unsigned n = 0;
	uint64_t all;
	DIR *tasks;

	if (!s->alive || s->pid <= 0)
		return true;
	/* a process is read as a whole */
	if (*left < USAGE_TIDS)
		return false;
	if (usage_tids_read(&tids, &s->segment) < 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task", s->pid);
	all = process_ran(s->pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)) && n < USAGE_TIDS) {
		if (entry->d_name[0] == '.')
			continue;
		thread_add(&tids, s->pid, atoi(entry->d_name), p);
		n++;
	}
	*left -= n;
	if (tasks)
		closedir(tasks);
	ended_add(all, n, p);
	status = proc_read(s->pid, "status");
	if (status) {
		p->anonymous_bytes = kibibytes(status, "\nRssAnon:");
		p->file_bytes = kibibytes(status, "\nRssFile:") + kibibytes(status, "\nRssShmem:");
	}
	free(status);
	return true;
}

/* ---- this process ---- */

uint64_t usage_own_bytes(void)
{
	unsigned long total = 0, process_table = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%lu %lu", &total, &process_table) != 2)
		process_table = 0;
	fclose(f);
	return (uint64_t)process_table * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t usage_own_cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}
