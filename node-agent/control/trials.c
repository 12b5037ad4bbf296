/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries experiments out, and ends leases that are over, as who had them may have died. */
#include "node-agent/control/trials.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/segment/segment-trial.h"
#include "pathmap/base/memory.h"

/* A lease is looked at so often. */
#define LOOK_S 1

struct trials {
	const struct source_host *here;
	struct event *timer;
};

/* One process, in a guarded read. */
struct trying {
	const struct segment *s;
	struct segment_control *control;
	const struct segment_trial_plan *plan; /* NULL: end it, if it is late at now_ns */
	const uint64_t *seed;		       /* only if it has this one; NULL: any */
	uint64_t now_ns;
	int result;
	bool active; /* afterwards */
	struct error e;
};

static int try_guarded(void *arg)
{
	struct trying *t = arg;

	if (t->plan)
		t->result = segment_trial_begin(t->control, t->s, t->plan, &t->e);
	else if (segment_trial_late(t->control, t->now_ns) &&
		 (!t->seed || atomic_load(&t->control->trial.seed) == *t->seed))
		t->result = segment_trial_end(t->control, t->s);
	t->active = segment_trial_active(t->control);
	return 0;
}

/* Returns 0, or -1 with errno if the segment cannot be used. */
static int try_process(struct trying *t, const struct store_segment *s)
{
	int rc = -1;

	t->s = &s->segment;
	t->result = 0;
	t->active = false;
	t->control = segment_control_map(&s->segment);
	if (t->control)
		rc = segment_guarded(try_guarded, t);
	segment_control_unmap(t->control);
	return rc;
}

void trials_watch(struct trials *trials)
{
	static const struct timeval after = {.tv_sec = LOOK_S};

	evtimer_add(trials->timer, &after);
}

static void trials_look(evutil_socket_t fd, short what, void *arg)
{
	struct trials *trials = arg;
	const struct store_segment *s;
	struct trying t = {.now_ns = clock_mono_ns()};
	bool active = false;

	(void)fd;
	(void)what;
	TAILQ_FOREACH (s, &trials->here->store->segments, link)
		if (s->alive && s->segment.said.trials == SEGMENT_TRIALS && try_process(&t, s) == 0)
			active |= t.active;
	if (active)
		trials_watch(trials);
}

struct trials *trials_new(struct event_base *base, const struct source_host *here)
{
	struct trials *trials = memory_new(1, sizeof(*trials));

	trials->here = here;
	trials->timer = evtimer_new(base, trials_look, trials);
	if (!trials->timer)
		abort();
	trials_look(-1, 0, trials);
	return trials;
}

void trials_free(struct trials *trials)
{
	if (!trials)
		return;
	event_free(trials->timer);
	free(trials);
}

uint64_t trials_until(uint32_t ms)
{
	ms = ms < SEGMENT_LEASE_MOST_MS ? ms : SEGMENT_LEASE_MOST_MS;
	return clock_mono_ns() + UINT64_C(1000000) * ms;
}

static struct segment_trial_plan plan_of(const Evspace__SwitchAsk *ask)
{
	const Evspace__Trial *trial = ask->trial;
	struct segment_trial_plan plan = {
		.length = trial->length,
		.wash = trial->wash,
		.lease = {trial->seed, trials_until(trial->lease_ms), ask->who},
	};

	/* more are refused before */
	for (size_t i = 0; i < trial->n_arms && i < TRIAL_ARMS_MAX; i++) {
		plan.channels[i] = i < trial->n_channels ? trial->channels[i] : 0;
		plan.mode[plan.arms++] = (uint8_t)(trial->arms[i] < 255 ? trial->arms[i] : 255);
	}
	return plan;
}

static void carry_process(struct trying *t, struct segment_trial_plan *plan,
			  const Evspace__Choice *choice, const struct store_segment *s,
			  Evspace__Host *host, struct fanout_command_said *said)
{
	t->e.text[0] = '\0';
	if (plan)
		plan->comm = choice && choice->comm ? choice->comm : s->segment.said.world;
	if (try_process(t, s) < 0)
		snprintf(said->why, sizeof(said->why), "%s (pid %d) cannot be switched: %s",
			 s->name, (int)s->pid, strerror(errno));
	else if (t->result < 0)
		snprintf(said->why, sizeof(said->why), "%s (pid %d): %s", s->name, (int)s->pid,
			 t->e.text);
	host->processes++;
	host->changed += plan ? t->result == 0 && t->active : t->result == 1;
}

void trials_carry(struct trials *trials, const Evspace__SwitchAsk *ask,
		  const struct plan_place *place, Evspace__Host *host,
		  struct fanout_command_said *said)
{
	struct segment_trial_plan plan = plan_of(ask);
	struct trying t = {.plan = ask->trial->n_arms ? &plan : NULL,
			   .seed = &ask->trial->seed,
			   .now_ns = UINT64_MAX};
	const struct store_segment *s;

	TAILQ_FOREACH (s, &trials->here->store->segments, link)
		if (s->alive && strcmp(s->run, said->run) == 0 &&
		    source_holds(trials->here, place, s))
			carry_process(&t, t.plan ? &plan : NULL,
				      ask->n_choices ? ask->choices[0] : NULL, s, host, said);
	trials_watch(trials);
}
