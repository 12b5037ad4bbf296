/* SPDX-License-Identifier: BSD-3-Clause */
/* One timer, which is set anew after each round of samples and only while somebody reads them. */
#include "node-agent/source/sampler.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/segment/segment-table.h"
#include "node-agent/source/sampled.h"
#include "pathmap/base/memory.h"
#include "tree/data/op-table.h"
#include "tree/data/process.h"

/* How long elements stay without readers. */
#define REST_S	    1
#define REST_LOST_S 30

/* What a round costs beside the samples: waking up, and setting the timer. */
#define ROUND_NS 6000u

/* Most threads of a run, with those that have ended and whose process still has its file. */
#define THREADS_MOST (4 * (size_t)SAMPLER_THREADS)

struct sampler_run {
	char name[64];
	unsigned wanted;
	bool used; /* it is wanted, or its elements are still there */
	struct sampling sampling;
	unsigned events; /* that the rule is by */
	struct sieve_rule rule;
	uint64_t interval_ns, due_ns;
	uint64_t version, looked_ns; /* of the store, and when: as threads were last looked for */
	struct sampled **threads;
	size_t n;
	struct event *rest;
	struct sampler *sampler;
	bool crowded; /* it has more threads than are sampled */
};

struct sampler {
	const struct source_host *host;
	int fd;
	struct event *tick;
	size_t n_threads; /* of all runs, of processes that live */
	uint64_t cost_ns; /* of a round, on average */
	struct sampler_run runs[SAMPLER_RUNS];
};

/* ---- threads ---- */

static void run_folder(const struct sampler *s, const struct sampler_run *run, char *buf, size_t n)
{
	snprintf(buf, n, "%s/%s", s->host->store->base, run->name);
}

/* @keeps: its file stays for those who read it. */
static void sampled_free(struct sampler *s, const struct sampler_run *run, struct sampled *k,
			 bool keeps)
{
	char dir[512], path[640];

	run_folder(s, run, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/%s", dir, k->file);
	if (!keeps)
		unlink(path);
	s->n_threads -= !k->mirror.origin.ended;
	mirror_close(&k->mirror);
	free(k);
}

static int element_make(const struct sampler *s, const struct sampler_run *run,
			const struct store_segment *segment, struct sampled *k, struct error *e)
{
	struct mirror_plan plan = {
		.origin = {.pid = segment->pid,
			   .rank = store_segment_rank(segment),
			   .channel = CHANNEL_SAMPLE},
		.holder = s->host->node,
		.capacity = SAMPLER_CAPACITY,
	};
	char dir[512];

	snprintf(plan.origin.run, sizeof(plan.origin.run), "%s", run->name);
	snprintf(plan.origin.node, sizeof(plan.origin.node), "%s", s->host->node);
	snprintf(plan.origin.process, sizeof(plan.origin.process), "%s", segment->name);
	snprintf(plan.origin.rest, sizeof(plan.origin.rest), "t%u/%s", k->number,
		 channel_name(CHANNEL_SAMPLE));
	mirror_file(k->file, &plan.origin, s->host->node);
	run_folder(s, run, dir, sizeof(dir));
	return sampled_open(k, dir, &plan, e);
}

static const struct sampled *sampled_find(const struct sampler_run *run, uint64_t serial,
					  uint32_t number)
{
	for (size_t i = 0; i < run->n; i++)
		if (run->threads[i]->serial == serial && run->threads[i]->number == number)
			return run->threads[i];
	return NULL;
}

/* Say that there are threads which are not sampled. */
static void crowded_say(const struct sampler *s, const struct sampler_run *run)
{
	struct error e;

	(void)errorf(&e,
		     "run %s has too many threads on %s: %u are sampled at most, of all runs; the "
		     "others are in no sample",
		     run->name, s->host->node, SAMPLER_THREADS);
	source_log(s->host, &e);
}

static void thread_add(struct sampler *s, struct sampler_run *run, struct store_segment *segment,
		       uint32_t number, const struct segment_thread *thread)
{
	struct sampled *k;
	struct error e;

	if (sampled_find(run, segment->serial, number))
		return;
	if (s->n_threads == SAMPLER_THREADS || run->n >= THREADS_MOST) {
		run->crowded = true;
		return;
	}
	k = memory_new(1, sizeof(*k));
	*k = (struct sampled){
		.serial = segment->serial,
		.number = number,
		.alike = source_ticks_alike(segment),
		.alive = &segment->alive,
		.thread = thread,
		.rule = &run->rule,
	};
	if (element_make(s, run, segment, k, &e) < 0) {
		source_log(s->host, &e);
		free(k);
		return;
	}
	run->threads = memory_room(run->threads, run->n, sizeof(struct sampled *));
	run->threads[run->n++] = k;
	s->n_threads++;
}

/* For a guarded read of a segment's threads. */
struct sampler_look {
	const struct segment *segment;
	uint32_t from, n;
	const struct segment_thread *threads[64];
	unsigned labels;
};

static int look(void *arg)
{
	struct sampler_look *l = arg;
	uint32_t total = segment_threads(l->segment);

	for (l->n = 0; l->n < 64 && l->from + l->n < total; l->n++) {
		l->threads[l->n] = segment_thread(l->segment, l->from + l->n);
		if (!l->threads[l->n])
			break;
	}
	l->labels = segment_labels(l->segment);
	return 0;
}

/* What the program can do: the operations of its library, its regions so far, and none of them. */
static unsigned events_count(const struct store_segment *segment, unsigned labels)
{
	uint16_t op = process_is_task(segment->rank) ? OP_PVM_SEND : OP_MPI_SEND;

	return op_count(op, -1) + labels + 1;
}

/* A region may come at any time, and processes may have different ones: what most can happen. */
static void rule_follow(struct sampler_run *run, unsigned events)
{
	if (events <= run->events)
		return;
	run->events = events;
	sieve_rule_init(&run->rule, &run->sampling, events);
}

static void segment_take(struct sampler *s, struct sampler_run *run, struct store_segment *segment)
{
	struct sampler_look l = {.segment = &segment->segment};

	do {
		if (segment_guarded(look, &l) < 0)
			return;
		rule_follow(run, events_count(segment, l.labels));
		for (uint32_t i = 0; i < l.n; i++)
			thread_add(s, run, segment, l.from + i, l.threads[i]);
		l.from += l.n;
	} while (l.n > 0 && !run->crowded);
}

/* Let go of threads whose segments have gone: their memory is no longer there. */
static void run_match(struct sampler *s, struct sampler_run *run)
{
	const struct store_segment *segment;
	size_t kept = 0;

	for (size_t i = 0; i < run->n; i++) {
		TAILQ_FOREACH (segment, &s->host->store->segments, link) {
			if (segment->serial == run->threads[i]->serial)
				break;
		}
		if (segment)
			run->threads[kept++] = run->threads[i];
		else
			sampled_free(s, run, run->threads[i], false);
	}
	run->n = kept;
}

static void run_take(struct sampler *s, struct sampler_run *run)
{
	const bool was_crowded = run->crowded;
	struct store_segment *segment;

	run->crowded = false;
	TAILQ_FOREACH (segment, &s->host->store->segments, link) {
		if (strcmp(segment->run, run->name) == 0 && segment->alive &&
		    source_holds(s->host, NULL, segment))
			segment_take(s, run, segment);
	}
	if (run->crowded && !was_crowded)
		crowded_say(s, run);
}

/* ---- samples ---- */

/* For a guarded round. */
struct sampler_round {
	struct sampler_run *run;
	volatile size_t at;
	uint64_t now; /* ticks */
	bool changed;
};

static int samples_take(void *arg)
{
	struct sampler_round *r = arg;

	for (; r->at < r->run->n; r->at++)
		r->changed |= sampled_take(r->run->threads[r->at], r->now);
	return 0;
}

/* A file that was cut short is not sampled any more. */
static void run_break(struct sampler *s, struct sampler_run *run, size_t at)
{
	sampled_free(s, run, run->threads[at], true);
	run->threads[at] = run->threads[--run->n];
}

static unsigned runs_wanted(const struct sampler *s)
{
	unsigned n = 0;

	for (size_t i = 0; i < SAMPLER_RUNS; i++)
		n += s->runs[i].wanted > 0;
	return n;
}

static void run_round(struct sampler *s, struct sampler_run *run, uint64_t now_ns)
{
	struct sampler_round r = {.run = run, .now = clock_ticks(clock_kind())};

	while (segment_guarded(samples_take, &r) < 0)
		run_break(s, run, r.at);
	for (size_t i = 0; i < run->n; i++)
		s->n_threads -= sampled_note(run->threads[i]);
	run->interval_ns = sieve_interval(&run->sampling, run->interval_ns, r.changed, s->cost_ns,
					  runs_wanted(s));
	run->due_ns = now_ns + run->interval_ns;
}

/* ---- the timer ---- */

static void timer_set(const struct sampler *s, uint64_t at_ns)
{
	const struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(at_ns / 1000000000u),
			     .tv_nsec = (long)(at_ns % 1000000000u)},
	};

	timerfd_settime(s->fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* For when the next run is due; never, without one. */
static void timer_next(const struct sampler *s)
{
	uint64_t due = UINT64_MAX;

	for (size_t i = 0; i < SAMPLER_RUNS; i++)
		if (s->runs[i].wanted && s->runs[i].due_ns < due)
			due = s->runs[i].due_ns;
	timer_set(s, due == UINT64_MAX ? 0 : due);
}

/* Threads come without the store's notice: looked for once a second, and when it has changed. */
static void threads_follow(struct sampler *s, struct sampler_run *run, uint64_t now_ns)
{
	if (now_ns >= run->looked_ns + 1000000000u || run->version != s->host->store->version) {
		run_match(s, run);
		run_take(s, run);
		run->version = s->host->store->version;
		run->looked_ns = now_ns;
	}
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	uint64_t now = clock_mono_ns(), ticks, took;
	struct sampler *s = arg;

	(void)what;
	if (read(fd, &ticks, sizeof(ticks)) < 0)
		return;
	for (size_t i = 0; i < SAMPLER_RUNS; i++) {
		struct sampler_run *run = &s->runs[i];

		if (!run->wanted || run->due_ns > now)
			continue;
		threads_follow(s, run, now);
		run_round(s, run, now);
	}
	took = clock_mono_ns() - now + ROUND_NS;
	s->cost_ns = (7 * s->cost_ns + took) / 8;
	timer_next(s);
}

/* ---- who wants it ---- */

static struct sampler_run *run_find(struct sampler *s, const char *name)
{
	for (size_t i = 0; i < SAMPLER_RUNS; i++)
		if (s->runs[i].used && strcmp(s->runs[i].name, name) == 0)
			return &s->runs[i];
	return NULL;
}

static void run_end(struct sampler_run *run)
{
	while (run->n > 0)
		sampled_free(run->sampler, run, run->threads[--run->n], false);
	free(run->threads);
	run->threads = NULL;
	if (run->rest)
		event_free(run->rest);
	run->rest = NULL;
	run->used = false;
}

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
	struct sampler_run *run = arg;

	(void)fd;
	(void)what;
	if (run->wanted == 0)
		run_end(run);
}

static struct sampler_run *run_begin(struct sampler *s, const char *name,
				     const struct sampling *sampling)
{
	struct sampler_run *run = s->runs;

	while (run < s->runs + SAMPLER_RUNS && run->used)
		run++;
	if (run == s->runs + SAMPLER_RUNS)
		return NULL;
	*run = (struct sampler_run){.used = true, .sampling = *sampling, .sampler = s};
	snprintf(run->name, sizeof(run->name), "%s", name);
	run->rest = evtimer_new(event_get_base(s->tick), on_rest, run);
	if (!run->rest)
		abort();
	return run;
}

int sampler_want(struct sampler *s, const char *name, const struct sampling *sampling,
		 struct error *e)
{
	struct sampler_run *run = run_find(s, name);

	if (run && run->wanted == 0 && !sampling_same(&run->sampling, sampling)) {
		run_end(run);
		run = NULL;
	}
	if (run && !sampling_same(&run->sampling, sampling)) {
		errno = EBUSY;
		return errorf(e,
			      "run %s is sampled already, with other parameters: ask for the same, "
			      "or when nobody reads these samples any more",
			      name);
	}
	if (!run && !(run = run_begin(s, name, sampling))) {
		errno = EBUSY;
		return errorf(e, "%u runs are sampled already, which is the most", SAMPLER_RUNS);
	}
	if (run->wanted++ > 0)
		return 0;
	run->version = 0;
	run->looked_ns = 0;
	run->interval_ns = run->sampling.fastest_ns;
	run->due_ns = clock_mono_ns();
	threads_follow(s, run, run->due_ns);
	timer_next(s);
	return 0;
}

int sampler_check(const struct source_host *host, const Evspace__Open *open, struct error *e)
{
	struct sampling sampling;

	errno = EPROTO;
	if (open->reading != READ_STREAM || open->fetch[0])
		return errorf(e, "samples are read as a stream");
	if (sampling_parse(&sampling, open->sample, true, e) < 0)
		return error_prefix(e, "read sample");
	errno = EOPNOTSUPP;
	return host->sampler ? 0 : errorf(e, "%s cannot sample: it has no timer", host->node);
}

void sampler_unwant(struct sampler *s, const char *name, bool lost)
{
	const struct timeval after = {lost ? REST_LOST_S : REST_S, 0};
	struct sampler_run *run = run_find(s, name);

	if (!run || --run->wanted > 0)
		return;
	evtimer_add(run->rest, &after);
	timer_next(s);
}

struct sampler *sampler_new(struct event_base *base, const struct source_host *host,
			    struct error *e)
{
	struct sampler *s = memory_new(1, sizeof(*s));

	s->host = host;
	s->cost_ns = ROUND_NS;
	s->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	s->tick = s->fd < 0 ? NULL : event_new(base, s->fd, EV_READ | EV_PERSIST, on_tick, s);
	if (s->tick && event_add(s->tick, NULL) == 0)
		return s;
	errorf(e, "there is no timer for samples: %s", strerror(errno));
	sampler_free(s);
	return NULL;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < SAMPLER_RUNS; i++)
		if (s->runs[i].used)
			run_end(&s->runs[i]);
	if (s->tick)
		event_free(s->tick);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}
