/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the class tables of processes, and writes their mode bytes. Of a running program's
 * memory, agents write only these and discard marks. */
#include "node-agent/control/switch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/control/properties.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/control/trials.h"
#include "node-agent/source/accounting.h"
#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment-trial.h"
#include "node-agent/store/store-run.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"
#include "pathmap/model/recording.h"
#include "tree/data/op.h"

/* Copied from a segment by a guarded read. */
struct switch_look {
	const struct segment *s;
	struct class_sum *sums; /* SEGMENT_CLASSES_MAX */
	uint32_t n, threads, world;
	struct clock_line line;
};

/* The state of a command in the processes. */
struct carrying {
	const struct source_host *here;
	const Evspace__SwitchAsk *ask;
	const struct plan_place *place;
	struct classes *classes;
	Evspace__Host *host;
	/* the current process */
	const struct store_segment *s;
	uint32_t channels; /* bits: selected ones */
	bool details;	   /* each channel has a mode of its own */
	int modes[CHANNEL_COUNT];
	bool changes;
	struct segment_control *control;
	uint32_t changed;
	struct error e;
	struct accounting accounting; /* of all processes */
};

/* ---- reading ---- */

static void look_add_sum(const struct switch_look *look, struct class_sum *to,
			 const struct segment_sum *sum)
{
	/* may be any number if the header is damaged */
	double ns = (double)sum->ticks * look->line.ns_per_tick;

	to->calls += sum->calls;
	to->bytes += sum->bytes;
	to->skipped += sum->skipped;
	to->time_ns += ns >= 0 && ns < 0x1p62 ? (uint64_t)ns : 0;
}

static void look_class(struct switch_look *look, const struct segment_class_sum *class)
{
	struct class_sum *sum = &look->sums[look->n++];

	*sum = (struct class_sum){
		.comm = class->comm,
		.channel = (uint16_t) class->channel,
		.mode = (uint8_t) class->mode,
		.world = class->comm && class->comm == look->world,
	};
	look_add_sum(look, sum, &class->own);
	/* of freed communicators; the first classes are those of none */
	look_add_sum(look, &look->sums[class->channel], &class->before);
}

static int look_at(void *arg)
{
	struct switch_look *look = arg;
	const struct segment_header *said = &look->s->said;
	struct segment_class_sum sum;
	uint32_t n = segment_classes(look->s);

	look->n = 0;
	look->threads = segment_threads(look->s);
	look->world = said->world;
	look->line = clock_line_through(said->clock_kind, said->born,
					clock_pair_take(said->clock_kind), 0);
	for (uint32_t i = 0; i < n; i++) {
		/* an incomplete class has no counts yet; classes of no communicator come first,
		 * unless the file is damaged */
		if (segment_class_read(look->s, i, &sum) == 0 && sum.channel < look->n + 1 &&
		    sum.channel < CHANNEL_COUNT)
			look_class(look, &sum);
	}
	return 0;
}

static int look_init(struct switch_look *look, const struct segment *s)
{
	*look = (struct switch_look){.s = s};
	look->sums = memory_new(SEGMENT_CLASSES_MAX, sizeof(*look->sums));
	if (segment_guarded(look_at, look) == 0)
		return 0;
	free(look->sums);
	return -1;
}

/* The classes of one process, each once: two threads at once may have made one twice. */
static struct classes *look_merge(const struct switch_look *look, uint32_t channels)
{
	struct classes *own = classes_new();

	for (uint32_t i = 0; i < look->n; i++) {
		/* a damaged file may have changed since it was checked */
		if (look->sums[i].channel < CHANNEL_COUNT && channels >> look->sums[i].channel & 1)
			classes_add(own, &look->sums[i]);
	}
	return own;
}

static void look_add(const struct switch_look *look, uint32_t channels, struct classes *classes)
{
	struct classes *own = look_merge(look, channels);

	for (size_t i = 0; i < classes_count(own); i++) {
		struct class_sum sum = *classes_at(own, i);

		sum.processes = 1;
		classes_add(classes, &sum);
	}
	classes_free(own);
}

int switch_read(const struct store_segment *s, struct classes *classes)
{
	struct switch_look look;

	if (look_init(&look, &s->segment) < 0)
		return -1;
	look_add(&look, UINT32_MAX, classes);
	free(look.sums);
	return 0;
}

const char *switch_modes(const struct store_segment *s, char *buf, size_t n)
{
	struct classes *own;
	char name[CLASS_TEXT];
	struct switch_look look;
	size_t used = 0;

	buf[0] = '\0';
	if (look_init(&look, &s->segment) < 0)
		return buf;
	own = look_merge(&look, UINT32_MAX);
	for (size_t i = 0; i < classes_count(own) && used < n; i++) {
		const struct class_sum *sum = classes_at(own, i);

		if (sum->mode != MODE_TRACE)
			used += (size_t)snprintf(buf + used, n - used, "%s%s %s", used ? ", " : "",
						 class_name(sum, name),
						 segment_mode_name(sum->mode));
	}
	classes_free(own);
	free(look.sums);
	return buf;
}

/* ---- switching ---- */

#define ALL_CHANNELS ((1u << CHANNEL_COUNT) - 1)

/* Write the name of elements of the process. False: it is too long. */
static bool element_name(const struct carrying *c, uint32_t thread, unsigned channel,
			 char name[NAME_BYTES])
{
	const char *cluster = c->place->cluster[0] ? c->place->cluster : "-";

	return snprintf(name, NAME_BYTES, "/%s/%s/%s/t%u/%s", cluster, c->place->node, c->s->name,
			thread, channel_name(channel)) < NAME_BYTES;
}

/* The channels of a process that have a selected element. */
static uint32_t select_channels(const struct carrying *c, uint32_t threads)
{
	char name[NAME_BYTES];
	uint32_t channels = 0;

	for (uint32_t t = 0; (t == 0 || t < threads) && channels != ALL_CHANNELS; t++) {
		for (unsigned channel = 0; channel < CHANNEL_COUNT; channel++) {
			if (element_name(c, t, channel, name) && !(channels >> channel & 1) &&
			    source_selects(c->ask->select, c->ask->n_select, name) &&
			    (c->ask->n_within == 0 ||
			     source_selects(c->ask->within, c->ask->n_within, name)))
				channels |= 1u << channel;
		}
	}
	return channels;
}

/* Switch the classes of one choice (NULL: all) to @mode. */
static void switch_choice(struct carrying *c, const Evspace__Choice *choice, uint32_t mode)
{
	const struct segment *s = &c->s->segment;
	uint32_t comm = choice && choice->world ? s->said.world : choice ? choice->comm : 0;
	const uint32_t *only = choice && (choice->world || choice->comm) ? &comm : NULL;

	for (int channel = 0; channel < CHANNEL_COUNT; channel++) {
		if ((c->channels >> channel & 1) &&
		    (!choice || choice->channel < 0 || choice->channel == channel))
			c->changed += segment_class_switch(c->control, s, channel, only,
							   (enum segment_mode)mode);
	}
}

/* Switch each class once. */
static void switch_each(struct carrying *c)
{
	for (int channel = 0; channel < CHANNEL_COUNT; channel++) {
		if (c->modes[channel] >= 0)
			c->changed +=
				segment_class_switch(c->control, &c->s->segment, channel, NULL,
						     (enum segment_mode)c->modes[channel]);
	}
}

/* Take the modes for who asks, or see that nobody else has them. Returns 0, or -1 with errno and
 * c->e. */
static int lease_begin(struct carrying *c)
{
	const Evspace__Lease *lease = c->ask->lease;
	const struct segment_lease its = {lease ? lease->id : 0,
					  lease ? trials_until(lease->ms) : 0, c->ask->who};

	if (!lease || lease->ms == 0)
		return segment_lease_check(c->control, its.id, &c->e);
	return segment_lease_take(c->control, &c->s->segment, &its, &c->e);
}

static void lease_end(struct carrying *c)
{
	const Evspace__Lease *lease = c->ask->lease;

	if (!lease || lease->ms > 0)
		return;
	c->changed += lease->keep ? segment_lease_keep(c->control, lease->id)
				  : segment_trial_end(c->control, &c->s->segment);
}

static int switch_guarded(void *arg)
{
	struct carrying *c = arg;
	const Evspace__SwitchAsk *ask = c->ask;

	c->changed = 0;
	if (lease_begin(c))
		return -1;
	if (c->details)
		switch_each(c);
	else if (ask->change && ask->n_choices == 0)
		switch_choice(c, NULL, ask->mode);
	for (size_t i = 0; i < ask->n_choices && (ask->change || ask->n_modes); i++)
		switch_choice(c, ask->choices[i], ask->n_modes ? ask->modes[i] : ask->mode);
	segment_class_quiet(c->control, &c->s->segment);
	lease_end(c);
	return 0;
}

/* Returns 0, or -1 with the reason in @why when the process cannot be switched. */
static int switch_process(struct carrying *c, char *why, size_t n)
{
	int rc;

	c->e.text[0] = '\0';
	c->control = segment_control_map(&c->s->segment);
	rc = c->control ? segment_guarded(switch_guarded, c) : -1;
	if (rc < 0)
		snprintf(why, n, "%s (pid %d) cannot be switched: %.160s", c->s->name,
			 (int)c->s->pid, c->e.text[0] ? c->e.text : strerror(errno));
	segment_control_unmap(c->control);
	return rc ? -1 : 0;
}

/* The channels that are chosen; all if there is no choice. */
static uint32_t chosen_channels(const Evspace__SwitchAsk *ask)
{
	uint32_t channels = ask->n_choices ? 0 : UINT32_MAX;

	for (size_t i = 0; i < ask->n_choices; i++) {
		int32_t channel = ask->choices[i]->channel;

		if (channel < CHANNEL_COUNT)
			channels |= channel < 0 ? UINT32_MAX : 1u << channel;
	}
	return channels;
}

static void carry_process(struct carrying *c, char *why, size_t n)
{
	struct switch_look look;

	if ((c->changes && !c->s->alive) || look_init(&look, &c->s->segment) < 0)
		return;
	c->channels = select_channels(c, look.threads) & chosen_channels(c->ask);
	free(look.sums);
	if (!c->channels || (c->changes && switch_process(c, why, n) < 0))
		return;
	c->host->processes++;
	c->host->changed += c->changed;
	if (look_init(&look, &c->s->segment) < 0)
		return;
	look_add(&look, c->channels, c->classes);
	free(look.sums);
	(void)accounting_read(&c->s->segment, c->channels, &c->accounting);
}

static int mode_check(unsigned mode, struct error *e)
{
	if (segment_mode_valid(mode))
		return 0;
	errno = EINVAL;
	return errorf(e, "there is no mode %d", (int)mode);
}

int switch_check(const Evspace__SwitchAsk *ask, struct error *e)
{
	if (ask->change && mode_check(ask->mode, e) < 0)
		return -1;
	for (size_t i = 0; i < ask->n_modes; i++)
		if (mode_check(ask->modes[i], e) < 0)
			return -1;
	if (ask->n_modes == 0 || ask->n_modes == ask->n_choices)
		return 0;
	errno = EINVAL;
	return errorf(e, "%zu modes for %zu classes", ask->n_modes, ask->n_choices);
}

void switch_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		  const struct plan_place *place, struct classes *classes, Evspace__Host *host,
		  struct fanout_command_said *said)
{
	struct carrying c = {.here = here,
			     .ask = ask,
			     .place = place,
			     .classes = classes,
			     .host = host,
			     .changes = ask->change || ask->n_modes || ask->lease};

	if (switch_check(ask, &c.e) < 0) {
		snprintf(said->why, sizeof(said->why), "%.200s", c.e.text);
		return;
	}
	TAILQ_FOREACH (c.s, &here->store->segments, link) {
		c.changed = 0;
		if (strcmp(c.s->run, said->run) == 0 && source_holds(here, place, c.s))
			carry_process(&c, said->why, sizeof(said->why));
	}
	host->written = c.accounting.written;
	host->held = c.accounting.held;
	host->discarded = c.accounting.discarded;
	host->lost = c.accounting.lost;
}

/* A mode is of all threads, so the name of the first one's element will do. Maps say none of what
 * monitors record of themselves, however wide a pattern is. */
static bool details_find(struct carrying *c)
{
	char name[NAME_BYTES];
	bool any = false;

	for (unsigned channel = 0; channel < CHANNEL_COUNT; channel++) {
		bool of_map = recording_channel(channel_name(channel)) >= 0;

		c->modes[channel] = of_map && element_name(c, 0, channel, name)
					    ? properties_mode(c->ask, name)
					    : -1;
		any |= c->modes[channel] >= 0;
	}
	return any;
}

void switch_details(const struct source_host *here, const Evspace__SwitchAsk *ask,
		    const struct plan_place *place, Evspace__Host *host,
		    struct fanout_command_said *said)
{
	struct carrying c = {.here = here, .ask = ask, .place = place, .details = true};

	TAILQ_FOREACH (c.s, &here->store->segments, link) {
		if (!c.s->alive || !properties_mean(ask, said->run, c.s->run) ||
		    !source_holds(here, place, c.s) || !details_find(&c))
			continue;
		if (switch_process(&c, said->why, sizeof(said->why)) == 0)
			host->switched += c.changed;
	}
}
