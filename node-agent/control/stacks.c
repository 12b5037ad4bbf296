/* SPDX-License-Identifier: BSD-3-Clause */
/* Has a worker read stacks, which prints them as a packed Status; one at a time, and not too often.
 * Who asks meanwhile waits, and all who wait for the same run have what the next one reads. */
#include "node-agent/control/stacks.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <time.h>

#include "node-agent/control/usage.h"
#include "node-agent/source/stack.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/process.h"
#include "tree/link/worker.h"

/* What a host says of them, at most: some 5,000 frames. And what a thread takes without these. */
#define STACKS_BYTES ((size_t)256 << 10)
#define THREAD_BYTES ((size_t)32)

/* The longest rest of threads. */
#define REST_MOST_NS UINT64_C(300000000)

/* Who has less time left when its turn comes is not read for. */
#define TURN_NS UINT64_C(20000000)

/* With so much time files of debugging information are read, too. */
#define ELSEWHERE_MS 5000u

/* The longest text of a frame. */
#define FRAME_TEXT 200

enum stacks_state {
	STACKS_WAIT, /* for its turn */
	STACKS_READ,
	STACKS_SAID, /* there is an answer */
	STACKS_TOLD,
};

/* A question. */
struct stacks {
	LIST_ENTRY(stacks) link;
	struct event_base *base;
	const struct source_host *here;
	char run[64];
	unsigned depth;
	uint64_t until_ns, end_ns; /* of reading; and the deadline */
	bool elsewhere;
	enum stacks_state state;
	Evspace__Status *said; /* what was read; NULL: nothing */
	char *why;	       /* there is nothing; NULL: nobody has said */
	void (*ready)(void *arg);
	void *arg;
};

/* Of this agent. */
static struct {
	LIST_HEAD(, stacks) all; /* the newest first */
	struct worker *worker;	 /* reads for some of them; NULL: there is none */
	uint64_t begin_ns;	 /* that one, when threads have rested */
	uint64_t again_ns;	 /* threads are left alone until then */
} pace;

/* What a worker has to know: what those have in common that it reads for. */
struct stacks_task {
	const struct source_host *here;
	const char *run;
	unsigned depth;
	uint64_t begin_ns, until_ns;
	bool elsewhere;
};

/* ---- in the worker ---- */

/* A process that is being read. */
struct stacks_process {
	Evspace__Process *message;
	struct usage_tids tids;
	size_t *bytes; /* left for all */
	bool cut;      /* for threads, too */
};

static void frame_text(char text[FRAME_TEXT], const struct stack_frame *f)
{
	const char *name = f->name ? f->name : "?";

	if (f->file)
		snprintf(text, FRAME_TEXT, "%.120s (%.50s:%d)", name, f->file, f->line);
	else if (f->module)
		snprintf(text, FRAME_TEXT, "%.120s (%.60s)", name, f->module);
	else
		snprintf(text, FRAME_TEXT, "%.120s", name);
}

static void thread_add(void *arg, const struct stack_thread *thread)
{
	size_t bytes = THREAD_BYTES + strlen(thread->name) + strlen(thread->why);
	struct stacks_process *p = arg;
	Evspace__Process *m = p->message;
	Evspace__Stack *s;

	p->cut |= *p->bytes < bytes;
	if (p->cut)
		return;
	*p->bytes -= bytes;
	s = memory_new(1, sizeof(*s));
	evspace__stack__init(s);
	s->thread = usage_tids_find(&p->tids, (uint32_t)thread->tid);
	s->tid = (uint32_t)thread->tid;
	s->name = memory_copy(thread->name);
	s->stopped_ns = thread->stopped_ns;
	s->why = memory_copy(thread->why);
	s->frames = memory_new(thread->n + 1, sizeof(*s->frames));
	for (size_t i = 0; i < thread->n; i++) {
		char text[FRAME_TEXT];

		frame_text(text, &thread->frames[i]);
		if (*p->bytes < FRAME_TEXT) {
			free(s->why);
			s->why = memory_copy("not to its end: there are too many frames on the "
					     "host");
			break;
		}
		*p->bytes -= strlen(text) + 2;
		s->frames[s->n_frames++] = memory_copy(text);
	}
	m->stacks = memory_room(m->stacks, m->n_stacks, sizeof(*m->stacks));
	m->stacks[m->n_stacks++] = s;
}

/* Whoever has stopped a thread must not wait for a processor behind others. Returns whether it does
 * so only as everybody does. */
static bool priority_take(void)
{
	const struct sched_param none = {.sched_priority = 0};

	if (sched_getscheduler(0) == SCHED_IDLE)
		(void)sched_setscheduler(0, SCHED_OTHER, &none);
	if (getpriority(PRIO_PROCESS, 0) > 0)
		(void)setpriority(PRIO_PROCESS, 0, 0);
	return sched_getscheduler(0) != SCHED_IDLE;
}

/* Names of the others have their time, too: @left are still to be read. */
static Evspace__Process *process_read(const struct stacks_task *k, const struct store_segment *s,
				      size_t left, size_t *bytes)
{
	const uint64_t now = clock_mono_ns();
	const struct stack_limits limits = {
		.depth = k->depth,
		.threads_ns = k->until_ns,
		.elsewhere = k->elsewhere,
		.names_ns = now + (k->until_ns > now ? (k->until_ns - now) / left : 0)};
	struct stacks_process p = {.message = memory_new(1, sizeof(*p.message)), .bytes = bytes};
	struct error e;

	evspace__process__init(p.message);
	p.message->pid = (uint32_t)s->pid;
	usage_tids_read(&p.tids, &s->segment);
	if (!priority_take())
		p.message->unread = memory_copy("its agent has idle processors alone, and would "
						"hold up threads that it stops");
	else if (stack_read(s->pid, &limits, thread_add, &p, &e) < 0)
		p.message->unread = memory_copy(e.text);
	else if (p.cut)
		p.message->unread = memory_copy("there are too many threads on the host");
	return p.message;
}

/* Does the agent hold its elements? */
static bool is_asked_for(const struct stacks_task *k, const struct store_segment *s)
{
	return s->alive && s->pid > 0 && strcmp(s->run, k->run) == 0 &&
	       !process_is_monitor(s->rank) && source_holds(k->here, NULL, s);
}

static void rest_until(uint64_t begin_ns)
{
	const struct timespec at = {.tv_sec = (time_t)(begin_ns / 1000000000),
				    .tv_nsec = (long)(begin_ns % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static bool all_read(void *arg, FILE *out)
{
	Evspace__Status status = EVSPACE__STATUS__INIT;
	const struct stacks_task *k = arg;
	const struct store_segment *s;
	size_t bytes = STACKS_BYTES, left = 0;
	uint8_t *packed;

	rest_until(k->begin_ns);
	TAILQ_FOREACH (s, &k->here->store->segments, link)
		left += is_asked_for(k, s);
	TAILQ_FOREACH (s, &k->here->store->segments, link) {
		if (!is_asked_for(k, s))
			continue;
		status.processes = memory_room(status.processes, status.n_processes,
					       sizeof(*status.processes));
		status.processes[status.n_processes++] = process_read(k, s, left--, &bytes);
	}
	packed = memory_new(evspace__status__get_packed_size(&status) + 1, 1);
	fwrite(packed, 1, evspace__status__pack(&status, packed), out);
	return false;
}

/* ---- in the agent ---- */

/* Threads rest for as long as they were stopped, many times; it may be long if that is not @said.
 */
static void pace_set(const Evspace__Status *said)
{
	uint64_t most = said ? 0 : REST_MOST_NS;

	/* they still rest */
	if (clock_mono_ns() < pace.begin_ns)
		return;
	for (size_t i = 0; said && i < said->n_processes; i++)
		for (size_t t = 0; t < said->processes[i]->n_stacks; t++)
			if (said->processes[i]->stacks[t]->stopped_ns > most)
				most = said->processes[i]->stacks[t]->stopped_ns;
	most *= STACKS_REST;
	pace.again_ns = clock_mono_ns() + (most < REST_MOST_NS ? most : REST_MOST_NS);
}

static struct stacks *oldest_of(enum stacks_state state)
{
	struct stacks *k, *oldest = NULL;

	LIST_FOREACH (k, &pace.all, link)
		if (k->state == state)
			oldest = k;
	return oldest;
}

static void stacks_say(struct stacks *k, const char *why)
{
	k->why = memory_copy(why);
	k->state = STACKS_SAID;
}

/* Others may have asked for more frames. */
static void frames_trim(Evspace__Status *said, unsigned depth)
{
	for (size_t i = 0; i < said->n_processes; i++)
		for (size_t t = 0; t < said->processes[i]->n_stacks; t++) {
			Evspace__Stack *s = said->processes[i]->stacks[t];

			while (s->n_frames > depth)
				free(s->frames[--s->n_frames]);
		}
}

/* Does it wait for what @first waits for, with time enough? Then it is read for. */
static bool stacks_join(struct stacks *k, const struct stacks *first, uint64_t begin_ns)
{
	if (k->state != STACKS_WAIT || k->until_ns < begin_ns + TURN_NS ||
	    k->elsewhere != first->elsewhere || strcmp(k->run, first->run) != 0)
		return false;
	k->state = STACKS_READ;
	return true;
}

static void on_read(void *arg);

/* For the one that has waited longest, and all that wait for the same. */
static void reading_begin(const struct stacks *first, uint64_t now)
{
	struct stacks_task task = {.here = first->here,
				   .run = first->run,
				   .begin_ns = pace.again_ns,
				   .elsewhere = first->elsewhere};
	struct worker_limits limits = {.bytes = 2 * STACKS_BYTES};
	uint64_t end_ns = now;
	struct stacks *k;

	LIST_FOREACH (k, &pace.all, link) {
		if (!stacks_join(k, first, pace.again_ns > now ? pace.again_ns : now))
			continue;
		task.depth = k->depth > task.depth ? k->depth : task.depth;
		/* nobody who asks in a hurry shortens it for others */
		task.until_ns = k->until_ns > task.until_ns ? k->until_ns : task.until_ns;
		end_ns = k->end_ns > end_ns ? k->end_ns : end_ns;
	}
	limits.ms = (unsigned)((end_ns - now) / 1000000);
	pace.begin_ns = pace.again_ns;
	pace.worker = worker_new(first->base, &limits, all_read, &task, on_read, NULL);
	while (!pace.worker && (k = oldest_of(STACKS_READ)))
		stacks_say(k, "its host has no process to read them");
}

static void pace_run(void)
{
	uint64_t now = clock_mono_ns();
	struct stacks *k;

	while (!pace.worker && (k = oldest_of(STACKS_WAIT))) {
		if (k->until_ns < (pace.again_ns > now ? pace.again_ns : now) + TURN_NS)
			stacks_say(k, "its host reads them for others for too long; ask again");
		else
			reading_begin(k, now);
	}
}

static void on_read(void *arg)
{
	const Evspace__Status *said = NULL;
	const char *text, *why;
	struct stacks *k;
	bool wrong;
	size_t n;

	(void)arg;
	if (!worker_ended(pace.worker, &text, &n, &wrong, &why))
		return;
	while ((k = oldest_of(STACKS_READ))) {
		if (!why)
			k->said = evspace__status__unpack(NULL, n, (const uint8_t *)text);
		if (k->said)
			frames_trim(k->said, k->depth);
		said = k->said;
		stacks_say(k, why);
	}
	pace_set(said);
	worker_free(pace.worker);
	pace.worker = NULL;
	pace_run();
	/* who is told may free it, and others */
	while ((k = oldest_of(STACKS_SAID))) {
		k->state = STACKS_TOLD;
		k->ready(k->arg);
	}
}

struct stacks *stacks_new(struct event_base *base, const struct source_host *here, const char *run,
			  unsigned depth, uint32_t deadline_ms, void (*ready)(void *arg), void *arg)
{
	struct stacks *k = memory_new(1, sizeof(*k));
	uint64_t now = clock_mono_ns();

	*k = (struct stacks){.base = base,
			     .here = here,
			     .depth = depth,
			     /* names are looked up until then, and the answer has to travel */
			     .until_ns = now + deadline_ms * UINT64_C(600000),
			     .end_ns = now + deadline_ms * UINT64_C(1000000),
			     .elsewhere = deadline_ms >= ELSEWHERE_MS,
			     .ready = ready,
			     .arg = arg};
	snprintf(k->run, sizeof(k->run), "%s", run);
	LIST_INSERT_HEAD(&pace.all, k, link);
	pace_run();
	/* who asks sees it now */
	if (!stacks_wait(k))
		k->state = STACKS_TOLD;
	return k;
}

bool stacks_wait(const struct stacks *stacks)
{
	return stacks->state == STACKS_WAIT || stacks->state == STACKS_READ;
}

static Evspace__Process *said_of(const struct stacks *k, uint32_t pid)
{
	for (size_t i = 0; k->said && i < k->said->n_processes; i++)
		if (k->said->processes[i]->pid == pid)
			return k->said->processes[i];
	return NULL;
}

void stacks_give(struct stacks *k, Evspace__Process *const *processes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		Evspace__Process *m = processes[i], *said = said_of(k, m->pid);

		if (!m->alive || m->misplaced)
			continue;
		if (!said) {
			m->unread =
				memory_copy(k->why ? k->why : "its host has not read it in time");
			continue;
		}
		m->stacks = said->stacks;
		m->n_stacks = said->n_stacks;
		said->stacks = NULL;
		said->n_stacks = 0;
		if (said->unread[0])
			m->unread = memory_copy(said->unread);
	}
}

void stacks_free(struct stacks *k)
{
	if (!k)
		return;
	LIST_REMOVE(k, link);
	if (k->state == STACKS_READ && !oldest_of(STACKS_READ)) {
		pace_set(NULL);
		worker_free(pace.worker);
		pace.worker = NULL;
		/* those that it cannot be done for learn it at their deadline */
		pace_run();
	}
	if (k->said)
		evspace__status__free_unpacked(k->said, NULL);
	free(k->why);
	free(k);
}
