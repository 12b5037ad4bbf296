/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds functions by their names in the files that processes have loaded, and writes to pages of
 * these which are on. */
#include "node-agent/control/functions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "node-agent/segment/segment-function.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/segment/segment-table.h"
#include "node-agent/source/site.h"
#include "tree/data/clock.h"

/* Files of a process that are searched: the program is the first one. */
#define MODULES_MOST 64u

/* One process. */
struct functions_switch {
	const struct source_host *here;
	const Evspace__Functions *functions;
	const struct segment *segment;
	struct segment_functions *page;
	struct segment_module modules[MODULES_MOST];
	uint32_t n_modules;
	uint64_t addresses[FUNCTIONS_NAMED]; /* in the process, by name; 0: it has none */
	uint64_t until_ns, now_ns;
	uint32_t changed;
	bool full;
};

static int modules_copy(void *arg)
{
	struct functions_switch *f = arg;

	for (uint32_t i = 0; i < f->segment->layout.modules_max && f->n_modules < MODULES_MOST;
	     i++) {
		const struct segment_module *module = segment_module(f->segment, i);

		if (!module)
			break;
		memcpy(&f->modules[f->n_modules], module, sizeof(*module));
		f->modules[f->n_modules].path[MODULE_PATH_MAX - 1] = '\0';
		f->n_modules++;
	}
	return 0;
}

static void addresses_find(struct functions_switch *f)
{
	for (size_t i = 0; i < f->functions->n_names && i < FUNCTIONS_NAMED; i++) {
		f->addresses[i] = 0;
		for (uint32_t k = 0; k < f->n_modules && f->addresses[i] == 0; k++) {
			uint64_t at = sites_function(f->here->sites, &f->modules[k],
						     f->functions->names[i]);

			f->addresses[i] = at ? at + f->modules[k].bias : 0;
		}
	}
}

static int functions_write(void *arg)
{
	struct functions_switch *f = arg;

	for (size_t i = 0; i < f->functions->n_names && i < FUNCTIONS_NAMED; i++) {
		if (f->addresses[i] == 0)
			continue;
		if (segment_function_switch(f->page, f->functions->names[i], f->addresses[i],
					    f->until_ns, f->now_ns) < 0)
			f->full = true;
		else
			f->changed++;
	}
	return 0;
}

static void process_switch(struct functions_switch *f, const struct store_segment *s,
			   Evspace__Host *host, struct fanout_command_said *said)
{
	int rc;

	f->segment = &s->segment;
	f->n_modules = f->changed = 0;
	f->full = false;
	f->page = segment_functions_map(&s->segment);
	if (!f->page && errno == ENOTSUP)
		return;
	rc = f->page ? segment_guarded(modules_copy, f) : -1;
	if (rc == 0) {
		addresses_find(f);
		rc = segment_guarded(functions_write, f);
	}
	if (rc < 0)
		snprintf(said->why, sizeof(said->why), "%s (pid %d) cannot be switched: %s",
			 s->name, (int)s->pid, strerror(errno));
	else if (f->full)
		snprintf(said->why, sizeof(said->why),
			 "%s (pid %d) has %u functions on, and no room for more", s->name,
			 (int)s->pid, SEGMENT_FUNCTIONS);
	segment_functions_unmap(f->page);
	host->processes++;
	host->changed += f->changed;
}

void functions_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		     const struct plan_place *place, Evspace__Host *host,
		     struct fanout_command_said *said)
{
	const uint64_t now = clock_mono_ns(), ms = ask->functions->ms;
	struct functions_switch f = {
		.here = here,
		.functions = ask->functions,
		.now_ns = now,
		.until_ns =
			ms ? now + (ms < FUNCTIONS_MOST_MS ? ms : FUNCTIONS_MOST_MS) * 1000000 : 0,
	};
	const struct store_segment *s;

	TAILQ_FOREACH (s, &here->store->segments, link)
		if (s->alive && strcmp(s->run, said->run) == 0 && source_holds(here, place, s))
			process_switch(&f, s, host, said);
	sites_rest(here->sites);
}
