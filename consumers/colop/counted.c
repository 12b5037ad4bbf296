/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks for counts of classes by a client of its own, as the view of events does not have them. */
#include "consumers/colop/counted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-replay.h"
#include "consumers/client/evspace-client.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

#define VIEW "rates"

/* How long to wait for an answer, and how often to ask. */
#define WAIT_MS 2000
#define RATE_HZ 1

/* Most classes (10 MB). */
#define CLASSES_MOST 65536u

struct counted_class {
	struct counted_key {
		uint32_t comm, channel;
	} key;
	struct counted_calls now, before; /* before that does not count */
	UT_hash_handle hh;
};

struct counted {
	const struct evspace_options *look;
	struct counted_class *classes;
	struct evspace_client *client; /* of counted_look() */
	bool told;		       /* by an archive, which tells no more */
	bool damaged;		       /* of which counts cannot be read */
	bool fresh;		       /* all hosts have told */
	bool unsure;		       /* not all had told what does not count */
};

struct counted *counted_new(const struct evspace_options *look)
{
	struct counted *c = memory_new(1, sizeof(*c));

	c->look = look;
	return c;
}

void counted_free(struct counted *c)
{
	struct counted_class *of, *next;

	if (!c)
		return;
	evspace_close(c->client);
	HASH_ITER(hh, c->classes, of, next)
	{
		HASH_DEL(c->classes, of);
		free(of);
	}
	free(c);
}

static void be_silent(void *arg, const char *line)
{
	(void)arg;
	(void)line;
}

static void class_take(struct counted *c, const struct evspace_class *said)
{
	const int channel = channel_find(said->channel);
	const struct counted_key key = {said->comm, (uint32_t)channel};
	struct counted_class *of;

	if (channel < 0)
		return;
	HASH_FIND(hh, c->classes, &key, sizeof(key), of);
	if (!of && HASH_COUNT(c->classes) == CLASSES_MOST)
		return;
	if (!of) {
		of = memory_new(1, sizeof(*of));
		of->key = key;
		HASH_ADD(hh, c->classes, key, sizeof(of->key), of);
	}
	of->now.calls += said->calls;
	of->now.skipped += said->skipped;
}

/* Of a run the first wave has all; else @all are taken, of which the last one counts in which no
 * host is missing. Returns what evspace_next() does in the end. */
static int waves_take(struct counted *c, struct evspace_client *client, int wait_ms, bool all)
{
	struct evspace_class said;
	int rc;

	while ((rc = evspace_next(client, wait_ms)) == 1) {
		bool whole = evspace_wave(client)->n_missing == 0;

		for (struct counted_class *of = c->classes; of && whole; of = of->hh.next)
			of->now = (struct counted_calls){0};
		while (whole && evspace_class(client, &said))
			class_take(c, &said);
		c->fresh |= whole;
		if (!all)
			break;
	}
	return rc;
}

static struct evspace_client *counts_open(const struct counted *c, const char *run,
					  enum evspace_failure *failure, struct error *why)
{
	const struct evspace_options look = {
		.connect = c->look->connect,
		.tls = c->look->tls,
		.identity = c->look->identity,
		.entry = c->look->entry,
		.run = *run ? run : c->look->run,
		.view = VIEW,
		.rate_hz = RATE_HZ,
		.patience_ms = WAIT_MS,
		.log = be_silent,
	};

	return evspace_open(&look, failure, why->text, sizeof(why->text));
}

static void archive_take(struct counted *c)
{
	const double speed = client_replay_speed_set(0);
	enum evspace_failure failure = EVSPACE_WRONG;
	struct error why;
	struct evspace_client *client = c->told ? NULL : counts_open(c, "", &failure, &why);

	c->told = true;
	if (client && waves_take(c, client, WAIT_MS, true) < 0) {
		errorf(&why, "%s", evspace_why(client));
		failure = EVSPACE_DISK;
	}
	/* else there are none */
	if (failure == EVSPACE_DISK) {
		fprintf(stderr, "evspace colop: what is counted is not read: %s\n", why.text);
		c->damaged = true;
		c->fresh = false;
	}
	evspace_close(client);
	client_replay_speed_set(speed);
}

/* Returns why not. */
static enum evspace_failure run_take(struct counted *c, const char *run)
{
	enum evspace_failure failure;
	struct error why;
	struct evspace_client *client = counts_open(c, run, &failure, &why);

	c->fresh = false;
	if (!client)
		return failure;
	(void)waves_take(c, client, WAIT_MS, false);
	evspace_close(client);
	return EVSPACE_FINE;
}

void counted_take(struct counted *c, const char *run)
{
	if (client_replay_folder(c->look->connect))
		archive_take(c);
	else
		(void)run_take(c, run);
}

void counted_look(struct counted *c, const char *run)
{
	enum evspace_failure failure;
	struct error why;

	if (client_replay_folder(c->look->connect)) {
		archive_take(c);
		return;
	}
	if (!c->client)
		c->client = counts_open(c, run, &failure, &why);
	if (c->client && waves_take(c, c->client, 0, true) == 0)
		return;
	c->fresh = false;
	evspace_close(c->client);
	c->client = NULL;
}

void counted_begin(struct counted *c, const char *run)
{
	/* an archive is read from its begin; a run that is not there yet has counted nothing */
	if (client_replay_folder(c->look->connect) || !*run)
		return;
	c->unsure = run_take(c, run) != EVSPACE_NO_RUN && !c->fresh;
	for (struct counted_class *of = c->classes; of; of = of->hh.next)
		of->before = of->now;
}

bool counted_is_known(const struct counted *c)
{
	return c->fresh && !c->unsure;
}

bool counted_is_damaged(const struct counted *c)
{
	return c->damaged;
}

/* Those of one class, if it is of that channel. A process that is removed takes its counts with
 * it. */
static struct counted_calls calls_of(const struct counted *c, const struct counted_class *of,
				     enum channel channel)
{
	if (!counted_is_known(c) || of->key.channel != channel ||
	    of->now.calls < of->before.calls || of->now.skipped < of->before.skipped)
		return (struct counted_calls){0};
	return (struct counted_calls){.calls = of->now.calls - of->before.calls,
				      .skipped = of->now.skipped - of->before.skipped};
}

struct counted_calls counted_calls(const struct counted *c, enum channel channel, uint32_t comm)
{
	struct counted_calls n = {0};

	for (const struct counted_class *of = c->classes; of; of = of->hh.next) {
		const struct counted_calls some = calls_of(c, of, channel);

		if (comm && of->key.comm != comm)
			continue;
		n.calls += some.calls;
		n.skipped += some.skipped;
	}
	return n;
}

static int by_comm(const void *a, const void *b)
{
	const struct counted_class *const *x = a, *const *y = b;

	return ((*x)->key.comm > (*y)->key.comm) - ((*x)->key.comm < (*y)->key.comm);
}

uint64_t counted_unseen(const struct counted *c, enum channel channel)
{
	size_t n = 0, all = HASH_COUNT(c->classes);
	const struct counted_class **of = memory_new(all + 1, sizeof(*of));
	uint64_t unseen = 0;

	for (const struct counted_class *k = c->classes; k; k = k->hh.next) {
		if (k->key.channel == channel && k->key.comm)
			of[n++] = k;
	}
	qsort(of, n, sizeof(*of), by_comm);
	for (size_t i = 0, end; i < n; i = end) {
		struct counted_calls sum = {0};

		for (end = i; end < n && of[end]->key.comm == of[i]->key.comm; end++) {
			const struct counted_calls some = calls_of(c, of[end], channel);

			sum.calls += some.calls;
			sum.skipped += some.skipped;
		}
		unseen += sum.skipped == sum.calls ? sum.calls : 0;
	}
	free(of);
	return unseen;
}

double counted_share(const struct counted *c, enum channel channel, uint32_t comm)
{
	const struct counted_calls n = counted_calls(c, channel, comm);

	return n.calls > 0 && n.skipped < n.calls ? (double)(n.calls - n.skipped) / (double)n.calls
						  : 1;
}
