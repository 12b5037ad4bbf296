/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the agents which runs there are when the waves bring nothing of the one that is meant. */
#include "consumers/standing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client.h"
#include "consumers/command.h"
#include "consumers/unit.h"
#include "pathmap/directive.h"
#include "pathmap/memory.h"
#include "pathmap/utf8.h"
#include "tree/clock.h"
#include "tree/track.h"

/* So long a program that was started just now may take to begin. */
#define GRACE_NS UINT64_C(3000000000)

/* Runs that a message names. */
#define NAMED_MOST 8

/* The runs of all hosts, each once, and what is known of the one that is meant. */
struct runs {
	const char **names;
	size_t n;
	uint64_t idle_ns, events; /* of that one */
	bool known, alive;
};

static void runs_add(struct runs *runs, Evspace__Run *run, const char *wanted)
{
	size_t i = 0;

	utf8_clean(run->name);
	if (wanted && strcmp(run->name, wanted) == 0) {
		runs->idle_ns =
			!runs->known || run->idle_ns < runs->idle_ns ? run->idle_ns : runs->idle_ns;
		runs->events += run->events;
		runs->alive |= run->alive > 0;
		runs->known = true;
	}
	while (i < runs->n && strcmp(runs->names[i], run->name) != 0)
		i++;
	if (i < runs->n || strcmp(run->name, TRACK_RUN) == 0)
		return;
	runs->names = memory_room(runs->names, runs->n, sizeof(*runs->names));
	runs->names[runs->n++] = run->name;
}

/* Ask all hosts. Returns the answer, which has the names, or NULL. */
static Evspace__Frame *runs_ask(const struct evspace_options *look, const char *wanted,
				struct runs *runs)
{
	Evspace__Frame ask = EVSPACE__FRAME__INIT, *reply;
	Evspace__StatusAsk all = EVSPACE__STATUS_ASK__INIT;
	struct evspace_options once = *look;
	char why[sizeof(((struct error *)0)->text)];
	enum evspace_failure failure;

	once.patience_ms = 1;
	all.all = true;
	ask.kind_case = EVSPACE__FRAME__KIND_STATUS_ASK;
	ask.status_ask = &all;
	reply = client_ask(&once, &ask, &failure, why, sizeof(why));
	if (!reply || reply->kind_case != EVSPACE__FRAME__KIND_STATUS) {
		evspace__frame__free_unpacked(reply, NULL);
		return NULL;
	}
	for (size_t i = 0; i < reply->status->n_runs; i++)
		runs_add(runs, reply->status->runs[i], wanted);
	for (size_t k = 0; k < reply->status->n_below; k++)
		for (size_t i = 0; i < reply->status->below[k]->n_runs; i++)
			runs_add(runs, reply->status->below[k]->runs[i], wanted);
	return reply;
}

static void say_none(const char *command, const char *wanted, const struct runs *runs,
		     const struct evspace_wave *w)
{
	const char *nearest = wanted ? word_nearest(wanted, runs->names, runs->n) : NULL;

	fprintf(stderr, "%s: there is no run%s%s", command, wanted ? " " : "",
		wanted ? wanted : " yet");
	if (nearest)
		fprintf(stderr, "; did you mean %s?", nearest);
	for (size_t i = 0; !nearest && i < runs->n && i < NAMED_MOST; i++)
		fprintf(stderr, "%s%s", i ? ", " : "; there are ", runs->names[i]);
	if (w->n_missing)
		fprintf(stderr, "; %u of %u hosts do not answer", w->leaves - w->answered,
			w->leaves);
	fprintf(stderr, "%s --wait waits for one\n", nearest ? "" : ";");
}

static void say_awaited(struct standing *s, const char *command, const struct evspace_wave *w)
{
	if (!s->awaiting)
		fprintf(stderr,
			"%s: no host that answers has the run; waiting for %u of %u hosts\n",
			command, w->leaves - w->answered, w->leaves);
	s->awaiting = true;
}

static void say_ended(const char *command, const char *run, const struct runs *runs, bool backlog)
{
	char ago[UNIT_TEXT], events[UNIT_TEXT];

	fprintf(stderr, "%s: run %s ended %s ago", command, run, unit_duration(ago, runs->idle_ns));
	if (backlog)
		fprintf(stderr, "; this is all that is left of its %s events\n",
			unit_count(events, runs->events));
	else
		fprintf(stderr, "; --backlog has what is left of its %s events\n",
			unit_count(events, runs->events));
}

int standing_take(struct standing *s, const char *command, const struct common *common,
		  const struct evspace_client *client, bool last)
{
	const struct evspace_wave *w = evspace_wave(client);
	const char *wanted = *evspace_run(client) ? evspace_run(client) : common->look.run;
	bool ended = w->elements > 0 && w->n_missing == 0;
	struct runs runs = {0};
	Evspace__Frame *reply;
	int code = -1;

	if (s->settled || w->processes || (wanted && strcmp(wanted, TRACK_RUN) == 0)) {
		s->settled = true;
		return -1;
	}
	if (w->unreadable || (!ended && common->wait))
		return -1;
	s->since_ns = s->since_ns ? s->since_ns : clock_mono_ns();
	if (!ended && !last && clock_mono_ns() - s->since_ns < GRACE_NS)
		return -1;
	/* Each of them may be the one that has it. */
	if (w->answered < w->leaves && !last) {
		say_awaited(s, command, w);
		return -1;
	}
	reply = runs_ask(&common->look, wanted, &runs);
	/* Who does not say has not said that there is none. */
	s->settled = runs.known || !reply;
	if (runs.known && !runs.alive && ended && wanted)
		say_ended(command, wanted, &runs, common->look.backlog);
	else if (!ended && reply && !runs.known) {
		say_none(command, wanted, &runs, w);
		code = EXIT_BAD_NEWS;
	}
	free(runs.names);
	evspace__frame__free_unpacked(reply, NULL);
	return code;
}
