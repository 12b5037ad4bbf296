/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds, or makes, the mirror of each element by its name, and appends the runs of a wave. */
#include "node-agent/remote/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "node-agent/store/store-index.h"
#include "pathmap/base/memory.h"

/* A fetched element, by the number in its name's id. */
struct taken {
	struct mirror_origin origin; /* pid 0: not one of ours */
	uint64_t version;	     /* of the store, when the mirror was looked up */
	struct store_mirror *mirror; /* NULL: there is none */
};

struct fetch_take {
	struct fetch_host *host;
	char node[64];
	struct names *names;
	size_t seen; /* of the names */
	struct taken *taken;
	size_t n;
	struct clock_line local; /* of this host's ticks, in this wave */
	const struct part *part;
};

struct fetch_take *fetch_take_new(struct fetch_host *host, const char *node)
{
	struct fetch_take *t = memory_new(1, sizeof(*t));

	t->host = host;
	snprintf(t->node, sizeof(t->node), "%s", node);
	t->names = names_new(0);
	return t;
}

void fetch_take_free(struct fetch_take *t)
{
	if (!t)
		return;
	names_free(t->names);
	free(t->taken);
	free(t);
}

struct names *fetch_take_names(struct fetch_take *t)
{
	return t->names;
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
	uint32_t number = id & NAME_LOCAL_MAX;

	return number < t->n ? &t->taken[number] : NULL;
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
		uint32_t number = name->id & NAME_LOCAL_MAX;

		if (number >= t->n) {
			t->taken = reallocarray(t->taken, number + 1, sizeof(*t->taken));
			if (!t->taken)
				abort();
			memset(&t->taken[t->n], 0, (number + 1 - t->n) * sizeof(*t->taken));
			t->n = number + 1;
		}
		t->taken[number] = (struct taken){.version = UINT64_MAX};
		if (!origin_read(&t->taken[number].origin, name, t->node, t->host->sources->map))
			t->taken[number].origin.pid = 0;
		else
			taken_note(t, &t->taken[number]);
	}
}

void fetch_take_lost(struct fetch_take *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->taken[i].origin.pid == 0)
			continue;
		t->taken[i].origin.ended = true;
		taken_note(t, &t->taken[i]);
	}
	free(t->taken);
	t->taken = NULL;
	t->n = t->seen = 0;
	names_free(t->names);
	t->names = names_new(0);
}

/* ---- mirrors ---- */

static const struct recording *taken_recording(const struct fetch_take *t, const struct taken *k)
{
	return pathmap_recording(t->host->sources->map, channel_name(k->origin.channel));
}

/* The capacity of an element there, as far as the map says it. */
static unsigned taken_capacity(const struct fetch_take *t, const struct taken *k)
{
	const struct recording *r = taken_recording(t, k);

	return r->capacity ? r->capacity : r->remote_capacity;
}

static int mirror_make(struct fetch_take *t, struct taken *k, struct error *e)
{
	const struct source_host *here = t->host->sources;
	const struct recording *recording = taken_recording(t, k);
	struct mirror_plan plan = {
		.origin = k->origin,
		.holder = here->node,
		.capacity = recording->remote_capacity,
		.lifetime_ns = recording->lifetime_ns,
	};
	char dir[sizeof(here->store->base) + sizeof(k->origin.run) + 1];

	if (t->part && t->part->written)
		plan.cost_ps =
			(uint32_t)((double)t->part->cost_ns * 1000 / (double)t->part->written);
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
	part = (double)news_count / taken_capacity(t, k);
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
