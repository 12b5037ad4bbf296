/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the elements of processes that an order selects, and marks them. */
#include "node-agent/control/discard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "node-agent/source/label.h"
#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/store/store-run.h"

/* An order on its way through the elements of a process. */
struct discarding {
	const struct source_host *here;
	const Evspace__SwitchAsk *ask;
	const struct plan_place *place;
	const struct store_segment *s;
	struct segment_mark *marks;
	uint32_t at, n; /* the element that it is at, of how many */
	struct segment_element element;
	bool complete;
	uint64_t discarded;
};

/* Copy the entry of the element, if it is complete. */
static int look(void *arg)
{
	struct discarding *d = arg;
	const struct segment_element *entry = segment_element(&d->s->segment, d->at);

	d->n = segment_elements_readable(&d->s->segment);
	d->complete = entry != NULL;
	if (entry)
		memcpy(&d->element, entry, sizeof(d->element));
	return 0;
}

static int mark(void *arg)
{
	struct discarding *d = arg;

	d->discarded = segment_discard(&d->s->segment, d->marks, d->at);
	return 0;
}

static bool selects_name(const Evspace__SwitchAsk *a, const char *name)
{
	return source_selects(a->select, a->n_select, name) &&
	       (a->n_within == 0 || source_selects(a->within, a->n_within, name));
}

/* Does the order mean the element? As a source names it; remote ones are discarded where they are
 * read. */
static bool selects(const struct discarding *d)
{
	const Evspace__SwitchAsk *a = d->ask;
	char name[NAME_BYTES];

	return !source_remote(d->here, &d->element) &&
	       label_name(name, d->place, d->s, &d->element, d->here->sites) == 0 &&
	       selects_name(a, name);
}

/* Returns 0, or -1 with errno when the process's segment cannot be read or written. */
static int discard_process(struct discarding *d, Evspace__Host *host)
{
	bool any = false;

	for (d->at = 0, d->n = 1; d->at < d->n; d->at++) {
		if (segment_guarded(look, d) < 0)
			return -1;
		if (!d->complete || d->element.thread == SEGMENT_NO_THREAD || !selects(d))
			continue;
		if (segment_guarded(mark, d) < 0)
			return -1;
		any = true;
		host->changed++;
		host->discarded += d->discarded;
	}
	host->processes += any;
	return 0;
}

/* Mirrors that this node holds of the run. */
static void discard_mirrors(const struct discarding *d, const char *run, Evspace__Host *host)
{
	struct store_mirror *s;
	char name[2 * NAME_BYTES];
	bool any = false;

	TAILQ_FOREACH (s, &d->here->store->mirrors, link) {
		if (strcmp(s->mirror.origin.run, run) != 0 ||
		    strcmp(s->mirror.holder, d->here->node) != 0)
			continue;
		mirror_name(&s->mirror, d->here->map, name, sizeof(name));
		if (!selects_name(d->ask, name))
			continue;
		host->changed++;
		host->discarded += mirror_discard(&s->mirror);
		any = true;
	}
	host->processes += any;
}

void discard_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		   const struct plan_place *place, Evspace__Host *host,
		   struct fanout_command_said *said)
{
	struct discarding d = {.here = here, .ask = ask, .place = place};

	TAILQ_FOREACH (d.s, &here->store->segments, link) {
		if (strcmp(d.s->run, said->run) != 0 || !source_holds(here, place, d.s))
			continue;
		d.marks = segment_marks_map(&d.s->segment);
		if (!d.marks || discard_process(&d, host) < 0)
			snprintf(said->why, sizeof(said->why),
				 "%s (pid %d): nothing can be discarded: %s", d.s->name,
				 (int)d.s->pid, strerror(errno));
		segment_marks_unmap(&d.s->segment, d.marks);
	}
	discard_mirrors(&d, said->run, host);
	sites_rest(here->sites);
}
