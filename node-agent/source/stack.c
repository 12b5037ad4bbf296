/* SPDX-License-Identifier: BSD-3-Clause */
/* Stops threads by PTRACE_SEIZE, which is undone by the kernel if this process ends, and has
 * libdwfl walk along their frames. */
#include "node-agent/source/stack.h"

#include <dirent.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "node-agent/store/proc.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* How long a thread may take to stop; one that the kernel has in a driver does not. */
#define STOP_NS	  UINT64_C(20000000)
#define NAP_NS	  50000
#define LATE_TEXT "there was no time left to look at it"

/* What was walked along while the thread was stopped. */
struct stack_walk {
	struct stack_thread thread;
	Dwarf_Addr at[STACK_FRAMES]; /* in the call, not behind it */
	unsigned depth;
};

struct stack_process {
	Dwfl *dwfl;
	pid_t pid;
	const struct stack_limits *limits;
	struct stack_walk *walks;
	size_t n;
};

static bool is_late(const struct stack_process *p)
{
	return clock_mono_ns() >= p->limits->threads_ns;
}

/* ---- threads go on ---- */

/* Those that did not stop in time, of all processes: they do so when the kernel has done what it
 * was at. */
static struct {
	pid_t tid[STACK_THREADS];
	size_t n;
} late;

/* A signal that was about to be delivered to it still has to be. */
static void thread_resume(pid_t tid, int status)
{
	int signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);

	ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal);
}

static void late_note(pid_t tid)
{
	if (late.n < STACK_THREADS)
		late.tid[late.n++] = tid;
}

static void late_resume(void)
{
	for (size_t i = late.n; i-- > 0;) {
		int status;
		pid_t got = waitpid(late.tid[i], &status, __WALL | WNOHANG);

		if (got == 0)
			continue;
		if (got > 0 && WIFSTOPPED(status))
			thread_resume(got, status);
		late.tid[i] = late.tid[--late.n];
	}
}

/* ---- the process ---- */

/* So that no file has to be opened while a thread is stopped. */
static int module_prepare(Dwfl_Module *module, void **own, const char *name, Dwarf_Addr at,
			  void *arg)
{
	const struct stack_process *p = arg;
	Dwarf_Addr bias;

	(void)own;
	(void)name;
	(void)at;
	late_resume();
	(void)dwfl_module_eh_cfi(module, &bias);
	return is_late(p) ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* What is in the files themselves will do: others take long to read. (elfutils' standard search may
 * ask servers on the network.) */
static int no_debuginfo(Dwfl_Module *module, void **own, const char *name, Dwarf_Addr at,
			const char *file, const char *link, GElf_Word sum, char **found)
{
	(void)module;
	(void)own;
	(void)name;
	(void)at;
	(void)file;
	(void)link;
	(void)sum;
	(void)found;
	return -1;
}

static int process_open(struct stack_process *p, struct error *e)
{
	static const Dwfl_Callbacks callbacks[] = {
		{.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = no_debuginfo},
		{.find_elf = dwfl_linux_proc_find_elf,
		 .find_debuginfo = dwfl_build_id_find_debuginfo},
	};
	int code;

	p->dwfl = dwfl_begin(&callbacks[p->limits->elsewhere]);
	code = p->dwfl ? dwfl_linux_proc_report(p->dwfl, p->pid) : -1;
	if (code == 0)
		code = dwfl_report_end(p->dwfl, NULL, NULL);
	if (code == 0)
		code = dwfl_linux_proc_attach(p->dwfl, p->pid, true);
	if (code != 0)
		return errorf(e, "%s", code > 0 ? strerror(code) : dwfl_errmsg(-1));
	(void)dwfl_getmodules(p->dwfl, module_prepare, p, 0);
	return 0;
}

/* ---- a thread ---- */

static void why_not(struct stack_thread *t, pid_t pid, int error)
{
	char path[64], *status;
	int tracer = 0;

	snprintf(path, sizeof(path), "task/%d/status", t->tid);
	status = error == EPERM ? proc_read(pid, path) : NULL;
	if (status)
		tracer = proc_number(status, "\nTracerPid:", 1);
	free(status);
	if (tracer > 0)
		snprintf(t->why, sizeof(t->why), "process %d traces it already", tracer);
	else if (error == EPERM)
		snprintf(t->why, sizeof(t->why),
			 "not permitted: its user, or kernel.yama.ptrace_scope, forbids it");
	else
		snprintf(t->why, sizeof(t->why), "%s", strerror(error));
}

/* Returns whether it is stopped, with that @status. */
static bool thread_stop(struct stack_thread *t, pid_t pid, int *status)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	uint64_t begun = clock_mono_ns();
	pid_t got;

	if (ptrace(PTRACE_SEIZE, t->tid, NULL, NULL) < 0) {
		why_not(t, pid, errno);
		return false;
	}
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) < 0) {
		why_not(t, pid, errno);
		return false;
	}
	while ((got = waitpid(t->tid, status, __WALL | WNOHANG)) == 0 &&
	       clock_mono_ns() - begun < STOP_NS)
		nanosleep(&nap, NULL);
	if (got == t->tid && WIFSTOPPED(*status))
		return true;
	if (got == 0)
		late_note(t->tid);
	snprintf(t->why, sizeof(t->why), "%s",
		 got == 0 ? "the kernel does not stop it: it is deep in a system call"
			  : "it has ended");
	return false;
}

static int frame_note(Dwfl_Frame *frame, void *arg)
{
	struct stack_walk *w = arg;
	Dwarf_Addr pc;
	bool exact;

	if (w->thread.n >= w->depth || !dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	/* a return address may be of the next line */
	w->at[w->thread.n++] = pc - !exact;
	return w->thread.n < w->depth ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static void thread_walk(struct stack_process *p, struct stack_walk *w)
{
	struct stack_thread *t = &w->thread;
	uint64_t begun;
	int status;

	w->depth = p->limits->depth < STACK_FRAMES ? p->limits->depth : STACK_FRAMES;
	if (is_late(p)) {
		snprintf(t->why, sizeof(t->why), LATE_TEXT);
		return;
	}
	begun = clock_mono_ns();
	if (!thread_stop(t, p->pid, &status))
		return;
	if (dwfl_getthread_frames(p->dwfl, t->tid, frame_note, w) < 0)
		snprintf(t->why, sizeof(t->why), "%s%s", t->n > 0 ? "not to its end: " : "",
			 dwfl_errmsg(-1));
	thread_resume(t->tid, status);
	t->stopped_ns = clock_mono_ns() - begun;
}

static void thread_name(struct stack_thread *t, pid_t pid)
{
	char path[64], *name;

	snprintf(path, sizeof(path), "task/%d/comm", t->tid);
	name = proc_read(pid, path);
	if (name)
		snprintf(t->name, sizeof(t->name), "%.*s", (int)strcspn(name, "\n"), name);
	free(name);
}

static int threads_walk(struct stack_process *p, struct error *e)
{
	const struct dirent *entry;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->pid);
	tasks = opendir(path);
	if (!tasks)
		return errorf(e, "%s: %s", path, strerror(errno));
	p->walks = memory_new(STACK_THREADS, sizeof(*p->walks));
	while ((entry = readdir(tasks)) && p->n < STACK_THREADS) {
		struct stack_walk *w = &p->walks[p->n];

		if (entry->d_name[0] == '.')
			continue;
		w->thread.tid = atoi(entry->d_name);
		thread_name(&w->thread, p->pid);
		thread_walk(p, w);
		late_resume();
		p->n++;
	}
	closedir(tasks);
	return entry ? errorf(e, "threads behind the %uth are not read", STACK_THREADS) : 0;
}

/* ---- names ---- */

static const char *last_part(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* Processes of a program are in the same places: these are looked up once. */
#define PLACES_KEPT 4096u

struct stack_place {
	char *path; /* of the module; NULL: none is kept here */
	Dwarf_Addr offset;
	struct stack_frame frame; /* with copies */
};

/* Where it is, or comes; NULL: another one is there, whose names are in use. */
static struct stack_place *place_of(const char *path, Dwarf_Addr offset)
{
	static struct stack_place places[PLACES_KEPT];
	uint64_t hash = offset;
	struct stack_place *place;

	for (const char *c = path; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	place = &places[hash % PLACES_KEPT];
	if (place->path && (place->offset != offset || strcmp(place->path, path) != 0))
		return NULL;
	return place;
}

/* Its names are valid until dwfl_end(). */
static void frame_find(struct stack_frame *f, Dwfl_Module *module, Dwarf_Addr at)
{
	Dwfl_Line *line = dwfl_module_getsrc(module, at);

	if (line)
		f->file = last_part(dwfl_lineinfo(line, NULL, &f->line, NULL, NULL, NULL));
	f->name = dwfl_module_addrname(module, at);
}

static void place_keep(struct stack_place *place, const char *path, Dwarf_Addr offset,
		       const struct stack_frame *f)
{
	place->path = memory_copy(path);
	place->offset = offset;
	place->frame = (struct stack_frame){
		.name = memory_copy(f->name), .file = memory_copy(f->file), .line = f->line};
}

static void frame_name(const struct stack_process *p, struct stack_frame *f, Dwarf_Addr at)
{
	Dwfl_Module *module = dwfl_addrmodule(p->dwfl, at);
	struct stack_place *place;
	Dwarf_Addr begin = 0;
	const char *path;

	path = module ? dwfl_module_info(module, NULL, &begin, NULL, NULL, NULL, NULL, NULL) : NULL;
	if (!path)
		return;
	place = place_of(path, at - begin);
	if (place && place->path) {
		*f = place->frame;
	} else if (clock_mono_ns() < p->limits->names_ns) {
		frame_find(f, module, at);
		if (place)
			place_keep(place, path, at - begin, f);
	}
	f->module = last_part(path);
}

int stack_read(pid_t pid, const struct stack_limits *limits, stack_take *take, void *arg,
	       struct error *e)
{
	struct stack_process p = {.pid = pid, .limits = limits};
	int rc = process_open(&p, e) < 0 ? -1 : threads_walk(&p, e);

	for (size_t i = 0; i < p.n; i++) {
		struct stack_walk *w = &p.walks[i];

		for (size_t k = 0; k < w->thread.n; k++) {
			late_resume();
			frame_name(&p, &w->thread.frames[k], w->at[k]);
		}
		take(arg, &w->thread);
	}
	free(p.walks);
	if (p.dwfl)
		dwfl_end(p.dwfl);
	return rc;
}
