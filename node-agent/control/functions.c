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
#include "pathmap/base/wildcard.h"
#include "tree/data/clock.h"

/* Files of a process that are searched: the program is the first one. */
#define MODULES_MOST 64u

/* How long to look for names in files, for one command: meanwhile nobody else is answered. */
#define SEARCH_NS UINT64_C(200000000)

/* One process. */
struct functions_switch {
	const struct source_host *here;
	const Evspace__Functions *functions;
	const struct segment *segment;
	struct segment_functions *page;
	struct segment_module modules[MODULES_MOST];
	uint32_t n_modules;
	struct site_function found[FUNCTIONS_NAMED]; /* in the process */
	size_t n_found;
	uint64_t until_ns, now_ns;
	bool late; /* it has taken too long: the rest is for the next command */
	uint32_t changed;
	bool full;
	const char *pattern; /* of more functions than may be on; NULL: there is none */
	size_t too_many;
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

/* Once each, as several names may stand for it. */
static void found_add(struct functions_switch *f, const char *name, uint64_t address)
{
	struct site_function *found = &f->found[f->n_found];

	for (size_t i = 0; i < f->n_found; i++)
		if (f->found[i].address == address)
			return;
	f->full |= f->n_found == FUNCTIONS_NAMED;
	if (f->full)
		return;
	found->address = address;
	snprintf(found->name, sizeof(found->name), "%.*s", (int)sizeof(found->name) - 1, name);
	f->n_found++;
}

/* Those of a pattern are the program's own: all of them, or none. */
static void pattern_find(struct functions_switch *f, const char *pattern)
{
	const struct site_function *found = NULL;
	size_t n = 0, before = f->n_found;

	if (f->n_modules > 0)
		n = sites_functions(f->here->sites, &f->modules[0], pattern, &found);
	if (n > FUNCTIONS_NAMED) {
		f->pattern = pattern;
		f->too_many = n;
		return;
	}
	for (size_t i = 0; i < n; i++)
		found_add(f, found[i].name, found[i].address + f->modules[0].bias);
	if (f->full)
		f->n_found = before;
}

static void name_find(struct functions_switch *f, const char *name)
{
	for (uint32_t k = 0; k < f->n_modules; k++) {
		uint64_t at = sites_function(f->here->sites, &f->modules[k], name);

		if (at == 0)
			continue;
		found_add(f, name, at + f->modules[k].bias);
		return;
	}
}

static void addresses_find(struct functions_switch *f)
{
	f->n_found = 0;
	f->pattern = NULL;
	for (size_t i = 0; i < f->functions->n_names && !f->full; i++) {
		const char *name = f->functions->names[i];

		/* also those that are kept take time */
		f->late |= clock_mono_ns() > f->now_ns + 2 * SEARCH_NS;
		if (f->late)
			return;
		if (wildcard_is(name))
			pattern_find(f, name);
		else
			name_find(f, name);
	}
}

static int functions_write(void *arg)
{
	struct functions_switch *f = arg;

	for (size_t i = 0; i < f->n_found; i++) {
		if (segment_function_switch(f->page, f->found[i].name, f->found[i].address,
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
	else if (f->pattern)
		snprintf(said->why, sizeof(said->why),
			 "%s has %zu functions %.60s; %u can be on at a time", s->name, f->too_many,
			 f->pattern, FUNCTIONS_NAMED);
	else if (f->full)
		snprintf(said->why, sizeof(said->why),
			 "%s (pid %d) has %u functions on, and no room for more", s->name,
			 (int)s->pid, SEGMENT_FUNCTIONS);
	segment_functions_unmap(f->page);
	host->processes++;
	host->changed += f->full || f->pattern ? 0 : f->changed;
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

	if (ask->functions->n_names > FUNCTIONS_ASKED) {
		snprintf(said->why, sizeof(said->why),
			 "%zu functions in one command; say %u at most", ask->functions->n_names,
			 FUNCTIONS_ASKED);
		return;
	}
	sites_limit(here->sites, now + SEARCH_NS);
	TAILQ_FOREACH (s, &here->store->segments, link)
		if (s->alive && strcmp(s->run, said->run) == 0 && source_holds(here, place, s))
			process_switch(&f, s, host, said);
	if (sites_limit(here->sites, 0) || f.late)
		snprintf(said->why, sizeof(said->why),
			 "not all functions are looked for yet; name them again, or fewer");
	sites_rest(here->sites);
}
