/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks for counts of classes by a client of its own, as the view of events does not have them. */
#include "consumers/colop/counted.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-replay.h"
#include "consumers/client/evspace-client.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

#define VIEW "rates"

/* How long to wait for an answer. */
#define WAIT_MS 2000

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
	bool told; /* by an archive, which tells no more */
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

/* Of a run the first wave has all; an archive the last one. */
static void waves_take(struct counted *c, struct evspace_client *client, bool all)
{
	struct evspace_class said;

	while (evspace_next(client, WAIT_MS) == 1) {
		for (struct counted_class *of = c->classes; of; of = of->hh.next)
			of->now = (struct counted_calls){0};
		while (evspace_class(client, &said))
			class_take(c, &said);
		if (!all)
			return;
	}
}

void counted_take(struct counted *c)
{
	struct evspace_options look = {
		.connect = c->look->connect,
		.tls = c->look->tls,
		.identity = c->look->identity,
		.entry = c->look->entry,
		.run = c->look->run,
		.view = VIEW,
		.patience_ms = WAIT_MS,
		.log = be_silent,
	};
	const bool archive = client_replay_folder(look.connect) != NULL;
	struct evspace_client *client;
	enum evspace_failure failure;
	char why[256];

	if (c->told)
		return;
	c->told = archive;
	if (archive)
		client_replay_speed_set(0);
	client = evspace_open(&look, &failure, why, sizeof(why));
	if (!client)
		return;
	waves_take(c, client, archive);
	evspace_close(client);
}

void counted_begin(struct counted *c)
{
	/* an archive is read from its begin */
	if (client_replay_folder(c->look->connect))
		return;
	counted_take(c);
	for (struct counted_class *of = c->classes; of; of = of->hh.next)
		of->before = of->now;
}

bool counted_is_known(const struct counted *c)
{
	return c->classes != NULL;
}

struct counted_calls counted_calls(const struct counted *c, enum channel channel, uint32_t comm)
{
	struct counted_calls n = {0};

	for (const struct counted_class *of = c->classes; of; of = of->hh.next) {
		if (of->key.channel != channel || (comm && of->key.comm != comm))
			continue;
		n.calls += of->now.calls - of->before.calls;
		n.skipped += of->now.skipped - of->before.skipped;
	}
	return n;
}

double counted_share(const struct counted *c, enum channel channel, uint32_t comm)
{
	const struct counted_calls n = counted_calls(c, channel, comm);

	return n.calls > 0 && n.skipped < n.calls ? (double)(n.calls - n.skipped) / (double)n.calls
						  : 1;
}
