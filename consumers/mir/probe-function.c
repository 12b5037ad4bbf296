/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks agents to switch functions on, again and again while probes measure them, and off. */
#include "consumers/mir/probe-function.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-functions.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* They stay on for so long after the last command, and it is said again so often: also to processes
 * that have begun since. */
#define LEASE_MS 15000u
#define AGAIN_NS UINT64_C(5000000000)

#define DEADLINE_MS 900

/* The functions that a probe is of: 2 at most. */
static size_t names_of(const struct probe *p, const char **names)
{
	size_t n = 0;

	for (unsigned i = 0; i < p->n_regions; i++)
		if (p->regions[i].function)
			names[n++] = p->regions[i].function;
	return n;
}

static bool is_on(const struct probe *p)
{
	return p->active || p->begins_ns > 0;
}

/* Those of another one, that are not among the @n; returns how many there are then. */
static size_t names_add(const struct probe *p, const char **names, size_t n)
{
	const char *its[2];
	size_t n_its = is_on(p) ? names_of(p, its) : 0;

	for (size_t i = 0; i < n_its; i++) {
		size_t k = 0;

		while (k < n && strcmp(names[k], its[i]) != 0)
			k++;
		names[k] = its[i];
		n += k == n;
	}
	return n;
}

static struct evspace_question *functions_ask(const struct probes *probes, const char *const *names,
					      size_t n, unsigned ms, bool again,
					      evspace_answered *answered, void *arg)
{
	const struct evspace_among among = {.run = probes->snapshots.options->run,
					    .deadline_ms = DEADLINE_MS};

	return client_functions_switch(probes->snapshots.connection, &among, names, n, ms, again,
				       answered, arg);
}

/* ---- on ---- */

static void on_begun(const struct evspace_reply *reply, void *arg)
{
	struct probe *p = arg;
	const struct evspace_switched *s = reply->switched;
	const char *names[2] = {""};

	const char *said = NULL;
	unsigned changed = 0;

	for (size_t i = 0; s && i < s->n_hosts; i++) {
		changed += s->hosts[i].changed;
		if (s->hosts[i].text && s->hosts[i].text[0])
			said = s->hosts[i].text;
	}
	p->function.question = NULL;
	names_of(p, names);
	if (!s)
		p->function.why = memory_copy(reply->why);
	else if (changed == 0)
		p->function.why =
			said ? memory_copy(said)
			     : memory_format(
				       "no process has a function \"%s\" that can be switched "
				       "on; its files need their symbols, and it has to be "
				       "compiled with -finstrument-functions",
				       names[0]);
}

void probe_function_begin(struct probes *probes, struct probe *probe)
{
	const char *names[2];
	size_t n = names_of(probe, names);

	if (n == 0)
		return;
	free(probe->function.why);
	probe->function.why = NULL;
	evspace_cancel(probe->function.question);
	probe->function.question =
		functions_ask(probes, names, n, LEASE_MS, false, on_begun, probe);
	if (probes->functions.again_ns == 0)
		probes->functions.again_ns = clock_mono_ns() + AGAIN_NS;
}

bool probe_function_is_settled(const struct probe *probe)
{
	return probe->function.question == NULL;
}

/* ---- on and on ---- */

static void on_again(const struct evspace_reply *reply, void *arg)
{
	struct probes *probes = arg;

	/* what cannot be had now may be had the next time */
	(void)reply;
	probes->functions.question = NULL;
}

int probe_functions_run(struct probes *probes)
{
	uint64_t now = clock_mono_ns();
	const char **names;
	const struct probe *p;
	size_t n = 0;

	if (probes->functions.again_ns == 0)
		return -1;
	if (now < probes->functions.again_ns)
		return (int)((probes->functions.again_ns - now) / 1000000) + 1;
	names = memory_new(2 * probes->n + 1, sizeof(*names));
	TAILQ_FOREACH (p, &probes->list, link)
		n = names_add(p, names, n);
	if (n > 0 && !probes->functions.question)
		probes->functions.question =
			functions_ask(probes, names, n, LEASE_MS, true, on_again, probes);
	free(names);
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

void probe_function_end(struct probes *probes, struct probe *probe)
{
	const char **names = memory_new(2 * probes->n + 3, sizeof(*names)), *its[2];
	size_t n_its = is_on(probe) ? names_of(probe, its) : 0, n = 0;
	const struct probe *p;

	evspace_cancel(probe->function.question);
	probe->function.question = NULL;
	free(probe->function.why);
	probe->function.why = NULL;
	TAILQ_FOREACH (p, &probes->list, link)
		if (p != probe)
			n = names_add(p, names, n);
	for (size_t i = 0; i < n_its; i++) {
		bool others = false;

		for (size_t k = 0; k < n; k++)
			others |= strcmp(names[k], its[i]) == 0;
		if (!others)
			functions_ask(probes, &its[i], 1, 0, false, on_ended, NULL);
	}
	free(names);
}

void probe_functions_fini(struct probes *probes)
{
	evspace_cancel(probes->functions.question);
	probes->functions.question = NULL;
}
