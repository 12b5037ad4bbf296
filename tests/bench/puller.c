/* SPDX-License-Identifier: BSD-3-Clause */
/* Pulls waves with the client library, as any consumer would. */
#include "tests/bench/puller.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "consumers/client/evspace-client.h"
#include "tests/bench/bench.h"
#include "tree/data/schedule.h"

#define DEADLINE_MS 10000

static _Noreturn void give_up(struct tally *tally, const struct error *e)
{
	tally_fail(tally, e->text);
	_exit(1);
}

/*
 * The library counts what each wave brings; the first wave is also read, event by event. Returns 1,
 * or 0 when it is the first one and not whole: a scope does not wait for long until all of many
 * hosts are connected.
 */
static int wave_check(struct evspace_client *c, const struct puller_options *o, struct tally *tally,
		      uint64_t *delivered, bool is_first, struct error *e)
{
	const struct evspace_wave *w = evspace_wave(c);
	struct evspace_counts counts;
	struct evspace_event event;
	uint64_t tuples, read = 0;

	evspace_counts(c, &counts);
	tuples = counts.delivered - *delivered;
	*delivered = counts.delivered;
	atomic_store_explicit(&tally->tuples, (uint32_t)tuples, memory_order_relaxed);
	/* what a host owes comes by itself, and is not whole though nothing is missing there */
	if ((w->n_missing > 0 || (o->hosts && w->answered != o->hosts)) && (is_first || o->lenient))
		return 0;
	if (w->n_missing > 0)
		return errorf(e, "wave %llu lacks %s: %s", (unsigned long long)w->number,
			      w->missing[0].leaf, w->missing[0].why);
	if (o->hosts && w->answered != o->hosts)
		return errorf(e, "wave %llu is from %u hosts, not %u",
			      (unsigned long long)w->number, w->answered, o->hosts);
	if (o->tuples && tuples != o->tuples)
		return errorf(e, "wave %llu has %llu tuples, not %u", (unsigned long long)w->number,
			      (unsigned long long)tuples, o->tuples);
	if (!is_first)
		return 1;
	while (evspace_event(c, &event))
		read++;
	if (read == tuples)
		return 1;
	return errorf(e, "%llu tuples were counted, but %llu can be read",
		      (unsigned long long)tuples, (unsigned long long)read);
}

static _Noreturn void pull(const struct puller_options *o, struct tally *tally)
{
	const struct evspace_options options = {
		.connect = o->connect,
		.tls = o->tls,
		.identity = o->name,
		.run = o->run,
		.view = o->view,
		.window = o->window,
		.rate_hz = o->rate,
		.deadline_ms = o->deadline_ms ? o->deadline_ms : DEADLINE_MS,
		.urgency = o->urgency,
		.folded = 1,
	};
	struct error e = {""};
	enum evspace_failure failure;
	struct evspace_client *c;
	uint64_t delivered = 0, waves = 0;
	int whole;

	if (o->urgency && schedule_class_set((enum urgency)o->urgency, &e) < 0)
		give_up(tally, &e);

	c = evspace_open(&options, &failure, e.text, sizeof(e.text));
	if (!c)
		give_up(tally, &e);
	while (evspace_next(c, -1) == 1) {
		whole = wave_check(c, o, tally, &delivered, waves == 0, &e);
		if (whole < 0)
			give_up(tally, &e);
		waves += (uint64_t)whole;
		atomic_store_explicit(&tally->waves, waves, memory_order_relaxed);
	}
	errorf(&e, "%s", evspace_why(c));
	give_up(tally, &e);
}

pid_t puller_start(const struct puller_options *o, struct tally *tally, struct error *e)
{
	pid_t pid = bench_fork();

	if (pid < 0)
		return errorf(e, "cannot fork: %s", strerror(errno));
	if (pid == 0)
		pull(o, tally);
	return pid;
}
