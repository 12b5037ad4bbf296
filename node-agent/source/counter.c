/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the class tables of processes once per wave, and names each thread's counts. */
#include "node-agent/source/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/source/label.h"
#include "node-agent/source/row-names.h"
#include "node-agent/segment/segment-class.h"
#include "node-agent/store/store-run.h"
#include "pathmap/base/memory.h"
#include "tree/data/names-comm.h"
#include "tree/data/op-table.h"

/* Instead of a name: not looked up yet, or not in the view. */
#define NAME_OPEN UINT32_MAX
#define NAME_NONE (UINT32_MAX - 1)

/* Largest time in ns; a greater one is of a damaged file. */
#define TIME_MOST 9e18

/* A process, and the names of its threads' counts, by thread and channel. */
struct counter_counted {
	uint64_t serial;
	char process[sizeof(((struct store_segment *)0)->name)];
	uint32_t (*names)[CHANNEL_COUNT];
	uint32_t threads;
	struct row_labels labels;
	bool here; /* it is in this wave */
};

struct counter {
	const struct source_host *host;
	const Evspace__Open *open;
	const struct plan_place *place;
	struct names *names;
	char run[64];
	struct counter_counted *counted;
	size_t n_counted;
	uint32_t next;	   /* number of the next name */
	uint64_t nameless; /* threads of the view that got no name, for want of room */
	bool told;
	uint64_t cpu_us;
	/* state of the current read, here because a jump may leave a guarded read */
	const struct segment *segment;
	uint32_t thread, threads, n, world;
	int32_t world_size;
	uint32_t cost_ps; /* of one event in the process */
	double ns_per_tick;
	struct count counts[SEGMENT_CLASSES_MAX]; /* of one thread */
};

/* ---- a process ---- */

static int read_threads(void *arg)
{
	struct counter *c = arg;

	c->threads = segment_threads(c->segment);
	c->world = c->segment->said.world;
	c->world_size = c->segment->said.world_size;
	c->cost_ps = segment_cost(c->segment);
	return 0;
}

/* Copy the thread's counts. Classes may come or go meanwhile: the next wave has them. */
static int read_thread(void *arg)
{
	struct counter *c = arg;
	uint32_t n = segment_classes(c->segment);

	c->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct segment_class *class = segment_class(c->segment, i);
		const struct segment_count *from = segment_count(c->segment, c->thread, i);
		struct count *to = &c->counts[c->n];
		uint16_t channel;
		double ns;

		if (!class || !from)
			continue;
		/* read it once: in a damaged file it may change */
		channel = *(const volatile uint16_t *)&class->channel;
		if (channel >= CHANNEL_COUNT)
			continue;
		ns = (double)atomic_load_explicit(&from->ticks, memory_order_relaxed) *
		     c->ns_per_tick;
		*to = (struct count){
			.calls = atomic_load_explicit(&from->calls, memory_order_relaxed),
			.bytes = atomic_load_explicit(&from->bytes, memory_order_relaxed),
			.skipped = atomic_load_explicit(&from->skipped, memory_order_relaxed),
			.comm = atomic_load_explicit(&class->comm, memory_order_relaxed),
			.channel = channel,
			.time_ns = ns < TIME_MOST ? (uint64_t)ns : 0,
		};
		c->n += to->calls > 0;
	}
	return 0;
}

/* ---- names ---- */

/* The process with its table of names for @threads threads. */
static struct counter_counted *counted_of(struct counter *c, struct store_segment *s,
					  uint32_t threads)
{
	struct counter_counted *p = NULL;

	for (size_t i = 0; i < c->n_counted && !p; i++)
		if (c->counted[i].serial == s->serial)
			p = &c->counted[i];
	if (!p) {
		c->counted = memory_room(c->counted, c->n_counted, sizeof(*c->counted));
		p = &c->counted[c->n_counted++];
		*p = (struct counter_counted){.serial = s->serial};
		store_hold(s);
	}
	/* its names change when a newer process of its rank comes */
	if (strcmp(p->process, s->name) != 0) {
		snprintf(p->process, sizeof(p->process), "%s", s->name);
		p->threads = 0;
	}
	if (threads > p->threads) {
		p->names = reallocarray(p->names, threads, sizeof(*p->names));
		if (!p->names)
			abort();
		memset(p->names[p->threads], 0xff, (threads - p->threads) * sizeof(*p->names));
		p->threads = threads;
	}
	p->here = true;
	return p;
}

static bool counter_selects(const struct counter *c, const char *name)
{
	return source_selects(c->open->select, c->open->n_select, name) &&
	       (c->open->n_within == 0 || source_selects(c->open->within, c->open->n_within, name));
}

/* The id of the name of thread @thread's counts of @channel, NAME_NONE if the view has not
 * selected them. */
static uint32_t name_of(struct counter *c, struct counter_counted *p, const struct store_segment *s,
			uint32_t thread, unsigned channel)
{
	struct segment_element like = {.thread = thread, .channel = (uint16_t)channel};
	uint32_t *id = &p->names[thread][channel];
	char name[NAME_BYTES];

	if (*id != NAME_OPEN)
		return *id;
	*id = NAME_NONE;
	if (label_name(name, c->place, s, &like, NULL) < 0 || !counter_selects(c, name))
		return NAME_NONE;
	if (c->next > NAME_LOCAL_MAX) {
		c->nameless++;
		return NAME_NONE;
	}
	*id = name_id(c->place->index, c->next++);
	names_learn(c->names, *id, LEVEL_ELEMENT, store_segment_rank(s), (uint16_t)channel, name);
	return *id;
}

/* ---- waves ---- */

static void put_channel(struct counter *c, uint32_t name, unsigned channel, struct part *part,
			struct batch *out)
{
	struct count *to = batch_add(out, RUN_COUNTS, name, 0, c->n, 0);
	uint64_t written = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		if (c->counts[i].channel != channel)
			continue;
		to[n++] = c->counts[i];
		/* skipped may have been added to meanwhile */
		if (c->counts[i].calls > c->counts[i].skipped)
			written += c->counts[i].calls - c->counts[i].skipped;
	}
	batch_trim(out, n);
	part->elements++;
	part->written += written;
	part->cost_ns += written * c->cost_ps / 1000u;
}

static void put_thread(struct counter *c, struct counter_counted *p, const struct store_segment *s,
		       struct part *part, struct batch *out)
{
	uint32_t channels = 0;

	for (uint32_t i = 0; i < c->n; i++)
		channels |= 1u << c->counts[i].channel;
	for (unsigned channel = 0; channel < CHANNEL_COUNT; channel++) {
		uint32_t name =
			channels >> channel & 1 ? name_of(c, p, s, c->thread, channel) : NAME_NONE;

		if (name == NAME_NONE)
			continue;
		put_channel(c, name, channel, part, out);
	}
}

/* A file that was cut short has no counts any more. */
static int put_process(struct counter *c, struct store_segment *s, struct part *part,
		       struct batch *out)
{
	struct counter_counted *p;

	c->segment = &s->segment;
	c->ns_per_tick = source_ticks_alike(s) ? part->clock.ns_per_tick
					       : source_line(c->host, s).ns_per_tick;
	if (segment_guarded(read_threads, c) < 0)
		return -1;
	if (c->world && !names_comm_find(c->names, c->world))
		names_comm_learn(c->names, c->world, 0,
				 c->world_size > 0 ? (uint32_t)c->world_size : 0, 1, NULL);
	part->processes += s->alive;
	p = counted_of(c, s, c->threads);
	if (row_labels_take(c->segment, c->names, &p->labels) < 0)
		return -1;
	for (c->thread = 0; c->thread < p->threads; c->thread++) {
		if (segment_guarded(read_thread, c) < 0)
			return -1;
		put_thread(c, p, s, part, out);
	}
	return 0;
}

/* Drop processes that the store has dropped. */
static void counted_drop(struct counter *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n_counted; i++) {
		if (c->counted[i].here) {
			c->counted[i].here = false;
			c->counted[kept++] = c->counted[i];
		} else {
			store_release(c->host->store, c->counted[i].serial);
			free(c->counted[i].names);
		}
	}
	c->n_counted = kept;
}

static bool counter_holds(const struct counter *c, const struct store_segment *s)
{
	return strcmp(s->run, c->run) == 0 && source_holds(c->host, c->place, s);
}

/* The host's clock line as of now, from its oldest known pair. */
static struct clock_line counter_line(const struct counter *c)
{
	const struct clock_host *clock = source_clock(c->host);
	struct clock_pair born = clock->born;
	const struct store_segment *s;

	TAILQ_FOREACH (s, &c->host->store->segments, link)
		if (counter_holds(c, s) && source_ticks_alike(s))
			born = clock_host_older(clock, born, s->born);
	return clock_line_through(clock_kind(), born, clock_pair_take(clock_kind()),
				  c->host->epoch_ns);
}

/* Report once that counts without a name are not read. */
static void counter_tell(struct counter *c)
{
	struct error e;

	if (c->nameless == 0 || c->told)
		return;
	c->told = true;
	(void)errorf(&e,
		     "run %s has counts of %llu threads on %s beyond the %u that a view may "
		     "have: these are not read; select fewer",
		     c->run, (unsigned long long)c->nameless, c->host->node, NAME_LOCAL_MAX + 1);
	source_log(c->host, &e);
}

static int counter_read(struct stage *stage, const struct ask *ask, struct batch *out,
			struct error *e)
{
	struct counter *c = (struct counter *)(void *)stage->private;
	struct store_segment *s;
	uint64_t cpu = clock_cpu_us();
	struct part *part;

	(void)e;
	batch_clear(out);
	if (!c->run[0])
		snprintf(c->run, sizeof(c->run), "%s",
			 store_run_newest(c->host->store, c->open->wait));
	part = batch_add(out, RUN_PART, c->place->index, ask->wave, 1, 0);
	*part = (struct part){.clock = counter_line(c), .cpu_us = (uint32_t)(cpu - c->cpu_us)};
	c->cpu_us = cpu;
	part->unreadable = source_unreadable(c->host, c->place, c->run);
	TAILQ_FOREACH (s, &c->host->store->segments, link)
		if (counter_holds(c, s) && put_process(c, s, part, out) < 0)
			part->unreadable++;
	counted_drop(c);
	counter_tell(c);
	return 0;
}

/* ---- life ---- */

static int counter_init(struct stage *stage, const char *args, struct error *e)
{
	(void)stage;
	(void)args;
	(void)e;
	return 0;
}

static void counter_fini(struct stage *stage)
{
	struct counter *c = (struct counter *)(void *)stage->private;

	for (size_t i = 0; i < c->n_counted; i++) {
		store_release(c->host->store, c->counted[i].serial);
		free(c->counted[i].names);
	}
	free(c->counted);
}

static const struct stage_ops counter_ops = {
	.name = "counter",
	.op = OP_EVSPACE_SOURCE,
	.size = sizeof(struct counter),
	.init = counter_init,
	.read = counter_read,
	.fini = counter_fini,
};

struct stage *counter_new(const struct source_host *host, const Evspace__Open *open,
			  const struct plan_place *place, struct names *names, struct error *e)
{
	struct stage *stage = stage_new(&counter_ops, LEVEL_ELEMENT, names, "", e);
	struct counter *c;

	if (!stage)
		return NULL;
	c = (struct counter *)(void *)stage->private;
	c->host = host;
	c->open = open;
	c->place = place;
	c->names = names;
	snprintf(c->run, sizeof(c->run), "%s", open->run);
	return stage;
}

void counter_replace(struct stage *stage, const struct plan_place *place)
{
	struct counter *c = (struct counter *)(void *)stage->private;

	c->place = place;
	/* names contain the cluster */
	for (size_t i = 0; i < c->n_counted; i++)
		c->counted[i].threads = 0;
}
