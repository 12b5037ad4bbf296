/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds, or makes, the mirror of each element by its name, and appends the runs of a wave. */
#include "node-agent/remote/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "node-agent/store/store-index.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/process.h"
#include "tree/scope/quota.h"

/* A fetched element. */
struct taken {
	uint32_t id; /* its name's */
	UT_hash_handle by_id;
	struct mirror_origin origin; /* pid 0: not one of ours */
	uint64_t version;	     /* of the store, when the mirror was looked up */
	struct store_mirror *mirror; /* NULL: there is none */
	unsigned capacity;	     /* of the element there, as far as the map says it */
};

struct fetch_take {
	struct fetch_host *host;
	char node[64];
	struct quota *quota; /* for what the node says */
	struct names *names;
	size_t seen; /* of the names */
	struct taken *taken;
	struct clock_line local; /* of this host's ticks, in this wave */
	const struct part *part;
};

struct fetch_take *fetch_take_new(struct fetch_host *host, const char *node)
{
	struct fetch_take *t = memory_new(1, sizeof(*t));

	t->host = host;
	snprintf(t->node, sizeof(t->node), "%s", node);
	t->quota = quota_join(node);
	t->names = quota_names_new(t->quota, 0);
	return t;
}

/* All that the node has said. */
static void forget(struct fetch_take *t)
{
	struct taken *k, *next;

	HASH_ITER(by_id, t->taken, k, next)
	{
		HASH_DELETE(by_id, t->taken, k);
		quota_give(t->quota, QUOTA_NAMES, sizeof(*k));
		free(k);
	}
	quota_names_free(t->quota, t->names);
}

void fetch_take_free(struct fetch_take *t)
{
	if (!t)
		return;
	forget(t);
	quota_leave(t->quota);
	free(t);
}

struct names *fetch_take_names(struct fetch_take *t)
{
	return t->names;
}

/* What the map says of it. */
static struct recording taken_recording(const struct fetch_take *t, const struct taken *k)
{
	const struct pathmap *map = t->host->sources->map;
	const struct mirror_origin *o = &k->origin;
	const char *cluster = pathmap_cluster(map, o->node);
	char name[2 * NAME_BYTES];

	snprintf(name, sizeof(name), "/%s/%s/%.*s/%s", cluster && cluster[0] ? cluster : "-",
		 o->node, process_own(o->process, o->pid), o->process, o->rest);
	return pathmap_element(map, name, channel_name(o->channel));
}

/* ---- names ---- */

/* Parse "/RUN/NODE/PROCESS:PID[:ended]/tT/LABEL" (made by row-fetch.c); parts become file names. */
static bool origin_read(struct mirror_origin *o, const struct name *name, const char *node,
			const struct pathmap *map)
{
	char ended[16] = "";
	struct error e;

	*o = (struct mirror_origin){.rank = name->rank < 0 ? -1 : name->rank,
				    .channel = name->channel};
	if (sscanf(name->text, "/%63[^/]/%63[^/]/%47[^:/]:%d%15[^/]/%255s", o->run, o->node,
		   o->process, &o->pid, ended, o->rest) != 6 &&
	    sscanf(name->text, "/%63[^/]/%63[^/]/%47[^:/]:%d/%255s", o->run, o->node, o->process,
		   &o->pid, o->rest) != 5)
		return false;
	o->ended = strcmp(ended, ":ended") == 0;
	return name_part_check(o->run, &e) == 0 && name_part_check(o->process, &e) == 0 &&
	       strcmp(o->node, node) == 0 && o->pid > 0 && o->channel < CHANNEL_COUNT &&
	       pathmap_recording(map, channel_name(o->channel)) != NULL;
}

static struct taken *taken_at(struct fetch_take *t, uint32_t id)
{
	struct taken *k;

	HASH_FIND(by_id, t->taken, &id, sizeof(id), k);
	return k;
}

/* The one with this name; NULL: no memory is granted for it. */
static struct taken *taken_add(struct fetch_take *t, uint32_t id)
{
	struct taken *k = taken_at(t, id);

	if (k || !quota_grant(t->quota, sizeof(*k)))
		return k;
	k = memory_new(1, sizeof(*k));
	k->id = id;
	HASH_ADD(by_id, t->taken, id, sizeof(k->id), k);
	return k;
}

static struct store_mirror *taken_find(struct fetch_take *t, struct taken *k)
{
	const struct source_host *here = t->host->sources;
	const struct store_file *file;
	char name[MIRROR_FILE];

	if (k->version == here->store->version)
		return k->mirror;
	file = store_file_find(here->store, k->origin.run,
			       mirror_file(name, &k->origin, here->node));
	k->mirror = file ? file->mirror : NULL;
	k->version = here->store->version;
	return k->mirror;
}

static void taken_note(struct fetch_take *t, struct taken *k)
{
	struct store_mirror *m = taken_find(t, k);

	if (!m || mirror_note(&m->mirror, &k->origin) == 0)
		return;
	/* rows must see its new name, and the reaper how long to keep it */
	t->host->sources->store->version++;
	reaper_note(t->host->reaper);
}

static void names_take(struct fetch_take *t)
{
	for (; t->seen < names_count(t->names); t->seen++) {
		const struct name *name = names_at(t->names, t->seen);
		struct taken *k = taken_add(t, name->id);

		if (!k)
			continue;
		k->version = UINT64_MAX;
		k->mirror = NULL;
		if (origin_read(&k->origin, name, t->node, t->host->sources->map)) {
			struct recording is = taken_recording(t, k);

			k->capacity = is.capacity ? is.capacity : is.remote_capacity;
			taken_note(t, k);
		} else {
			k->origin.pid = 0;
		}
	}
}

void fetch_take_lost(struct fetch_take *t)
{
	for (struct taken *k = t->taken; k; k = k->by_id.next) {
		if (k->origin.pid == 0)
			continue;
		k->origin.ended = true;
		taken_note(t, k);
	}
	forget(t);
	t->seen = 0;
	t->names = quota_names_new(t->quota, 0);
}

/* ---- mirrors ---- */

static int mirror_make(struct fetch_take *t, struct taken *k, struct error *e)
{
	const struct source_host *here = t->host->sources;
	const struct recording is = taken_recording(t, k);
	struct mirror_plan plan = {
		.origin = k->origin,
		.holder = here->node,
		.capacity = is.remote_capacity,
		.lifetime_ns = is.lifetime_ns,
	};
	char dir[sizeof(here->store->base) + sizeof(k->origin.run) + 1];

	snprintf(dir, sizeof(dir), "%s/%s", here->store->base, k->origin.run);
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return errorf(e, "cannot make the folder %s: %s", dir, strerror(errno));
	if (mirror_create(dir, &plan, e) < 0)
		return -1;
	store_refresh(here->store);
	k->version = UINT64_MAX;
	if (taken_find(t, k))
		return 0;
	return errorf(e, "the mirror of %s/%s in %s cannot be read after it was made",
		      k->origin.process, k->origin.rest, dir);
}

static struct store_mirror *taken_mirror(struct fetch_take *t, struct taken *k)
{
	struct error e = {""};

	if (taken_find(t, k))
		return k->mirror;
	if (mirror_make(t, k, &e) == 0) {
		t->host->diagnostic.text[0] = '\0';
		return k->mirror;
	}
	if (strcmp(t->host->diagnostic.text, e.text) != 0)
		fprintf(stderr,
			"evspace agent: cannot fetch from %s: %s; its tuples stay there, trying "
			"again\n",
			t->node, e.text);
	t->host->diagnostic = e;
	return NULL;
}

/* What an event of the elements in @part costs its process, in ps. */
static uint32_t event_cost(const struct part *part)
{
	double ps = part->written ? (double)part->cost_ns * 1000 / (double)part->written : 0;

	return ps < UINT32_MAX ? (uint32_t)ps : UINT32_MAX;
}

static int run_take(struct fetch_take *t, const struct run_view *view, double *fill)
{
	struct taken *k = taken_at(t, view->run->element);
	struct mirror_news news = {
		.tuples = view->tuples,
		.count = view->run->count,
		.first = view->run->first,
		.gone = view->lost,
		.discarded = (view->run->flags & RUN_DISCARDED) != 0,
		.line = t->part->clock,
		.local = t->local,
		.cost_ps = event_cost(t->part),
	};
	struct store_mirror *m;
	int64_t news_count;
	double part;

	/* a gateway sends a name only once to a scope: a new scope gets it again */
	if (!k || k->origin.pid == 0)
		return -1;
	m = taken_mirror(t, k);
	if (!m)
		return -1;
	news_count = mirror_append(&m->mirror, &news);
	if (news_count < 0)
		return -1;
	part = (double)news_count / k->capacity;
	if (part > *fill)
		*fill = part;
	return 0;
}

int fetch_take(struct fetch_take *t, const struct batch *batch, double *fill)
{
	const struct source_host *here = t->host->sources;
	const struct clock_host *clock = source_clock(here);
	struct clock_pair born = clock->born;
	struct batch_cursor c = {0};
	const struct store_mirror *m;
	struct run_view view;

	names_take(t);
	TAILQ_FOREACH (m, &here->store->mirrors, link)
		born = clock_host_older(clock, born, m->mirror.born);
	t->local = clock_line_through(clock_kind(), born, clock_pair_take(clock_kind()),
				      here->epoch_ns);
	t->part = NULL;
	while (batch_next(batch, &c, &view)) {
		if (view.run->kind == RUN_PART)
			t->part = view.part;
		else if (view.run->kind == RUN_TUPLES && t->part && run_take(t, &view, fill) < 0)
			return -1;
	}
	return 0;
}
