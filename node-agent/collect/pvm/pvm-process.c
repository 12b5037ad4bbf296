/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the segment when the process has become a PVM task, and drops it in forked children; calls
 * before that. */
#include "node-agent/collect/pvm/pvm-process.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/core/member.h"
#include "node-agent/collect/pvm/pvm-calls.h"
#include "node-agent/collect/pvm/pvm-group.h"
#include "node-agent/collect/pvm/pvm-library.h"

/** Most tasks, one after the other, that are collected of a process: each keeps its addresses,
 * and a program may leave and enrol forever. */
#define TASKS_MAX 1000u

struct pvm_process pvm_process;

/*
 * Not wanted: the group server, a daemon that outlives runs and whose work is for the program's
 * group calls, which are recorded; and programs linked with the wrappers that were not started to
 * be collected.
 */
static bool is_wanted(void)
{
#ifdef EVSPACE_PVM_WRAP
	if (!getenv("EVSPACE_RUN"))
		return false;
#endif
	return strcmp(program_invocation_short_name, "pvmgs") != 0;
}

bool pvm_process_enter(void)
{
	if (pvm_process.joining || pvm_process.never)
		return false;
	pvm_process.joining = true;
	return true;
}

static bool segment_make(void)
{
	struct settings settings;
	struct member member = {.rank = *pvm.tid};
	char job[sizeof(settings.job)];

	settings_job_pvm(job, sizeof(job));
	settings_read_job(&settings, job);
	if (pvm_process.tasks++ >= TASKS_MAX) {
		member_refuse(&member, &settings, "tasks");
		return false;
	}
	member.world = pvm_group_hash(settings.run);
	if (member_start(&member, &settings) < 0)
		return false;
	pvm_group_init(member.world, member.rank);
	user_begin();
	told_begin();
	return true;
}

/* That call has returned. True: the process is a task now, and collects. */
static bool pvm_process_entered(void)
{
	pvm_process.joining = false;
	if (!pvm.ready || *pvm.tid < 0)
		return false;
	pvm_process.tid = *pvm.tid;
	pvm_process.task = segment_make();
	pvm_process.never = !pvm_process.task;
	return pvm_process.task;
}

void pvm_process_left(void)
{
	member_finished();
	/* other threads may be inside a region */
	collect_abandon();
	pvm_process.task = false;
}

/* ---- spawning ---- */

/** Longer environments and lists of names are left unchanged. */
#define EXPORT_VARIABLES 4096
#define EXPORT_TEXT	 8192

static const char export[] = "PVM_EXPORT=";

static char export_text[EXPORT_TEXT];
static char *export_environ[EXPORT_VARIABLES];

/* Is @name (of @n characters) one that makes tasks collect? */
static bool is_ours(const char *name, size_t n)
{
	static const char preload[] = "LD_PRELOAD", prefix[] = "EVSPACE_";

	return n == strlen(preload) ? !memcmp(name, preload, n)
				    : n > strlen(prefix) && !memcmp(name, prefix, strlen(prefix));
}

/* Is @name in the list @names, which has colons between them? */
static bool is_listed(const char *names, const char *name, size_t n)
{
	for (;; names++) {
		size_t length = strcspn(names, ":");

		if (length == n && !memcmp(names, name, n))
			return true;
		names += length;
		if (!*names)
			return false;
	}
}

/* "PVM_EXPORT=", what it has, and what of ours is in the environment. False: there is no room. */
static bool text_make(void)
{
	const char *theirs = getenv("PVM_EXPORT");
	size_t used = strlen(export), n = theirs ? strlen(theirs) : 0;

	if (used + n >= sizeof(export_text))
		return false;
	memcpy(export_text, export, used);
	memcpy(export_text + used, theirs ? theirs : "", n + 1);
	used += n;
	for (char **variable = environ; *variable; variable++) {
		n = strcspn(*variable, "=");
		if (!is_ours(*variable, n) || is_listed(export_text + strlen(export), *variable, n))
			continue;
		if (used + n + 2 > sizeof(export_text))
			return false;
		if (export_text[used - 1] != '=')
			export_text[used++] = ':';
		memcpy(export_text + used, *variable, n);
		used += n;
		export_text[used] = '\0';
	}
	return true;
}

/* Not by setenv(3): what the program has got from getenv(3) stays, and nothing is allocated. */
void pvm_exports_add(struct pvm_exports *exports)
{
	size_t n = 0;

	exports->before = NULL;
	if (!environ || !text_make())
		return;
	for (char **variable = environ; *variable; variable++) {
		if (!strncmp(*variable, export, strlen(export)))
			continue;
		if (n + 2 >= EXPORT_VARIABLES)
			return;
		export_environ[n++] = *variable;
	}
	export_environ[n++] = export_text;
	export_environ[n] = NULL;
	exports->before = environ;
	environ = export_environ;
}

void pvm_exports_remove(const struct pvm_exports *exports)
{
	if (exports->before && environ == export_environ)
		environ = exports->before;
}

/* ---- the process itself ---- */

/* The child of a task has its parent's task id and connection: what it does is not the task's. */
static void process_forked(void)
{
	bool never = pvm_process.task || pvm_process.never;

	collect_abandon();
	pvm_process = (struct pvm_process){.never = never};
}

static __attribute__((constructor)) void process_loaded(void)
{
	pvm_process.never = !is_wanted();
	pthread_atfork(NULL, NULL, process_forked);
#ifndef EVSPACE_PVM_WRAP
	if (pvm_library_here())
		pvm_wrappers_resolve();
#endif
}

/* Without pvm_exit, but by exit(3). */
static __attribute__((destructor)) void process_ends(void)
{
	if (pvm_process.task)
		member_finished();
}

void pvm_end_first(struct collect_caller caller, struct tuple *t, struct pvm_group *at,
		   unsigned channel)
{
	struct collect_classes *classes = at ? &at->classes : &collect_none;

	if (!pvm_process_entered() || collect_enter(caller, classes, channel) != COLLECT_RECORD)
		return;
	t->comm = classes->comm;
	collect_end(caller, t, classes, channel);
}

void pvm_vain(struct collect_caller caller, unsigned channel)
{
	if (!pvm_process.task &&
	    (!pvm_process_entered() ||
	     collect_enter(caller, &pvm_world.classes, channel) != COLLECT_RECORD))
		return;
	atomic_store_explicit(&collect_self.entry->state.what, 0, memory_order_relaxed);
	collect_poll(caller);
}

void pvm_ask_first(struct collect_caller caller, const struct pvm_ask *ask, uint16_t op)
{
	struct tuple t = {
		.start = ask->start,
		.end = clock_ticks(clock_kind()),
		.peer = TUPLE_NO_PEER,
		.op = op,
	};

	pvm_end_first(caller, &t, NULL, CHANNEL_ENV);
}
