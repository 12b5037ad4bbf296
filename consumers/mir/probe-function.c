/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks agents to switch functions on, again and again while probes measure them, and off. */
#include "consumers/mir/probe-function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-functions.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/wildcard.h"
#include "tree/data/clock.h"

/* They stay on for so long after the last command, and it is said again so often: also to processes
 * that have begun since. */
#define LEASE_MS 15000u
#define AGAIN_NS UINT64_C(5000000000)

#define DEADLINE_MS 900

/* Names, or patterns of them, for a command. */
struct function_names {
	char **list;
	size_t n;
};

static void names_fini(struct function_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i]);
	free(names->list);
}

/* Once each. */
static void name_add(struct function_names *names, const char *text, size_t bytes)
{
	for (size_t k = 0; k < names->n; k++)
		if (strncmp(names->list[k], text, bytes) == 0 && !names->list[k][bytes])
			return;
	names->list = memory_room(names->list, names->n, sizeof(*names->list));
	names->list[names->n++] = memory_copy_bytes(text, bytes);
}

/* The functions that a probe is of. */
static void names_of(const struct probe *p, struct function_names *names)
{
	for (unsigned i = 0; i < p->n_regions; i++) {
		const char *at = p->regions[i].function;

		while (at) {
			size_t bytes = strcspn(at, ",");

			name_add(names, at, bytes);
			at = at[bytes] ? at + bytes + 1 : NULL;
		}
	}
}

static bool is_on(const struct probe *p)
{
	return p->active || p->begins_ns > 0;
}

/* Those of all probes that are on, but @not. */
static struct function_names names_on(const struct probes *probes, const struct probe * not )
{
	struct function_names names = {NULL, 0};
	const struct probe *p;

	TAILQ_FOREACH (p, &probes->list, link)
		if (p != not &&is_on(p))
			names_of(p, &names);
	return names;
}

static struct evspace_question *functions_ask(const struct probes *probes,
					      const struct function_names *names, unsigned ms,
					      bool again, evspace_answered *answered, void *arg)
{
	const struct evspace_among among = {.run = probes->snapshots.options->run,
					    .deadline_ms = DEADLINE_MS};

	return client_functions_switch(probes->snapshots.connection, &among,
				       (const char *const *)names->list, names->n, ms, again,
				       answered, arg);
}

/* ---- on ---- */

static void on_begun(const struct evspace_reply *reply, void *arg)
{
	struct probe *p = arg;
	const struct evspace_switched *s = reply->switched;
	const char *said = NULL;
	unsigned changed = 0;

	for (size_t i = 0; s && i < s->n_hosts; i++) {
		changed += s->hosts[i].changed;
		/* all of them are on, or it is refused; hosts that are missing are named elsewhere
		 */
		if (!s->hosts[i].missing && s->hosts[i].text && s->hosts[i].text[0])
			said = s->hosts[i].text;
	}
	p->function.question = NULL;
	if (!s || said)
		p->function.why = memory_copy(s ? said : reply->why);
	else if (changed == 0)
		p->function.why = memory_format(
			"no process has a function \"%s\" that can be switched on; its files need "
			"their symbols, and it has to be compiled with -finstrument-functions",
			p->regions[0].function ? p->regions[0].function : p->regions[1].function);
}

void probe_function_begin(struct probes *probes, struct probe *probe)
{
	struct function_names names = {NULL, 0};

	names_of(probe, &names);
	if (names.n == 0)
		return;
	free(probe->function.why);
	probe->function.why = NULL;
	evspace_cancel(probe->function.question);
	probe->function.question = functions_ask(probes, &names, LEASE_MS, false, on_begun, probe);
	names_fini(&names);
	if (probes->functions.again_ns == 0)
		probes->functions.again_ns = clock_mono_ns() + AGAIN_NS;
}

bool probe_function_is_settled(const struct probe *probe)
{
	return probe->function.question == NULL;
}

/* ---- on and on ---- */

/* What cannot be had now may be had the next time. */
static void on_again(const struct evspace_reply *reply, void *arg)
{
	const struct evspace_switched *s = reply->switched;
	struct probes *probes = arg;
	const char *said = NULL;

	for (size_t i = 0; s && i < s->n_hosts; i++)
		if (!s->hosts[i].missing && s->hosts[i].text && s->hosts[i].text[0])
			said = s->hosts[i].text;
	if (said && !probes->functions.told)
		fprintf(stderr, "evspace mir: not all functions of probes are on any more: %s\n",
			said);
	probes->functions.told = said != NULL;
	probes->functions.question = NULL;
}

int probe_functions_run(struct probes *probes)
{
	uint64_t now = clock_mono_ns();
	struct function_names names;
	size_t n;

	if (probes->functions.again_ns == 0)
		return -1;
	if (now < probes->functions.again_ns)
		return (int)((probes->functions.again_ns - now) / 1000000) + 1;
	names = names_on(probes, NULL);
	n = names.n;
	if (n > 0 && !probes->functions.question)
		probes->functions.question =
			functions_ask(probes, &names, LEASE_MS, true, on_again, probes);
	names_fini(&names);
	probes->functions.again_ns = n > 0 ? now + AGAIN_NS : 0;
	return n > 0 ? (int)(AGAIN_NS / 1000000) : -1;
}

/* ---- off ---- */

/* They go off by themselves if this cannot be done. */
static void on_ended(const struct evspace_reply *reply, void *arg)
{
	(void)reply;
	(void)arg;
}

/* Is a function that @name stands for among the others? Those that may be go off by themselves. */
static bool is_needed(const char *name, const struct function_names *others)
{
	for (size_t k = 0; k < others->n; k++)
		if (wildcard_match(name, others->list[k]) ||
		    wildcard_match(others->list[k], name) ||
		    (wildcard_is(name) && wildcard_is(others->list[k])))
			return true;
	return false;
}

void probe_function_end(struct probes *probes, struct probe *probe)
{
	struct function_names others, its = {NULL, 0};

	evspace_cancel(probe->function.question);
	probe->function.question = NULL;
	free(probe->function.why);
	probe->function.why = NULL;
	if (!is_on(probe))
		return;
	names_of(probe, &its);
	others = names_on(probes, probe);
	for (size_t i = 0; i < its.n; i++) {
		struct function_names one = {&its.list[i], 1};

		if (!is_needed(its.list[i], &others))
			functions_ask(probes, &one, 0, false, on_ended, NULL);
	}
	names_fini(&others);
	names_fini(&its);
}

void probe_functions_fini(struct probes *probes)
{
	evspace_cancel(probes->functions.question);
	probes->functions.question = NULL;
}
