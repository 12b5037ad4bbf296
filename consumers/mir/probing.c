/* SPDX-License-Identifier: BSD-3-Clause */
/* What probes do by themselves. */
#include "consumers/mir/probing.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/mir/answer.h"
#include "consumers/mir/probe-cell.h"
#include "consumers/mir/probe-define.h"
#include "consumers/mir/probe-values.h"
#include "consumers/mir/probe-view.h"
#include "consumers/mir/units.h"
#include "consumers/mir/writeback.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* Values are neither taken nor delivered more often than waves bring some. */
#define LOOK_MS UINT64_C(200)

/* The document of a probe; or why there is none. */
static void document_write(struct probe *p, const struct sources *sources, FILE *out)
{
	struct mir_request none = {.kind = MIR_CTRLREQ};
	const char *why = sources_trouble(sources);

	if (!why) {
		(void)probe_values_write(&p, 1, sources, out);
		return;
	}
	request_complain(&none, &none.place, "no answer: %s", why);
	answer_errors(out, &none);
	free(none.faults[0].text);
}

/* To its destination, or between answers. */
static void values_deliver(struct probe *p, const struct sources *sources)
{
	char *text = NULL;
	FILE *document;
	size_t n;

	p->fresh_ns = 0;
	if (p->destination && destination_takes_values(p->destination)) {
		if (!sources_trouble(sources))
			probe_values_say(p, sources);
		return;
	}
	document = open_memstream(&text, &n);

	if (!document)
		abort();
	document_write(p, sources, document);
	if (fclose(document) != 0)
		abort();
	if (p->destination)
		destination_say(p->destination, text, n, 1);
	else
		p->owner->deliver(p->owner, text, n);
	free(text);
}

static void due_later(uint64_t *due_ns, uint64_t now, uint64_t ms)
{
	ms = ms > LOOK_MS ? ms : LOOK_MS;
	*due_ns += ms * 1000000;
	if (*due_ns < now)
		*due_ns = now + ms * 1000000;
}

static bool is_due(uint64_t due_ns, uint64_t now)
{
	return due_ns > 0 && now >= due_ns;
}

/* Returns whether it has to wait for hosts. */
static bool probe_sample_due(struct probes *probes, struct probe *p, uint64_t now)
{
	const struct mir_measuring *m = &p->defined->measuring;
	/* what is not timed is what the kernel says of a region */
	const struct sources_need need = {.snapshot = (m->interval > 0 || m->duration > 0) &&
						      probe_needs_snapshot(p),
					  .usages = probe_uses(p)};
	struct sources sources;

	if (!is_due(p->sample_ns, now))
		return false;
	if (!sources_since(probes, &need, p->sample_ns, &sources))
		return true;
	if (m->duration > 0 && p->within_ns == 0) {
		probe_sample_begin(p, &sources);
		p->within_ns = p->sample_ns;
		p->sample_ns += m->duration * 1000000;
		return false;
	}
	if (!sources_trouble(&sources))
		probe_sample(p, &sources);
	/* intervals are from begin to begin */
	p->sample_ns = m->duration > 0 ? p->within_ns : p->sample_ns;
	p->within_ns = 0;
	if (m->interval > 0)
		due_later(&p->sample_ns, now, m->interval);
	else
		p->sample_ns = 0;
	probe_is_fresh(p);
	return false;
}

static bool probe_deliver_due(struct probes *probes, struct probe *p, uint64_t now)
{
	const struct mir_measuring *m = &p->defined->measuring;
	bool each = m->delivery < 0, taken = probe_value_is_taken(p);
	const struct sources_need need = {.snapshot = taken && probe_needs_snapshot(p),
					  .usages = taken && probe_uses(p)};
	uint64_t due_ns = each ? p->fresh_ns : p->deliver_ns;
	struct sources sources;

	/* of `each`, the next one is not yet, or it is none */
	if (p->defined->events || !is_due(due_ns, now) || (each && now < p->deliver_ns))
		return false;
	if (!sources_since(probes, &need, due_ns, &sources))
		return true;
	values_deliver(p, &sources);
	if (each)
		p->deliver_ns = now + LOOK_MS * 1000000;
	else
		due_later(&p->deliver_ns, now, (uint64_t)m->delivery);
	return false;
}

bool probing_run(struct probes *probes)
{
	bool waits = probes_settle(probes);
	uint64_t now = clock_mono_ns();
	struct probe *p;

	probes_count(probes);
	TAILQ_FOREACH (p, &probes->list, link) {
		if (!p->active)
			continue;
		waits |= probe_sample_due(probes, p, now);
		waits |= probe_deliver_due(probes, p, now);
	}
	return waits;
}

int probing_timeout(const struct probes *probes)
{
	uint64_t now = clock_mono_ns(), next = UINT64_MAX;
	const struct probe *p;

	if (probes->usages.counters)
		next = now + PROBES_COUNT_NS;
	/* what is due waits for hosts */
	TAILQ_FOREACH (p, &probes->list, link) {
		if (p->sample_ns > now && p->sample_ns < next)
			next = p->sample_ns;
		if (p->deliver_ns > now && p->deliver_ns < next)
			next = p->deliver_ns;
		if (p->again_ns > now && p->again_ns < next)
			next = p->again_ns;
	}
	return next == UINT64_MAX ? -1 : (int)((next - now) / 1000000) + 1;
}

bool probing_delivers(const struct probes *probes)
{
	const struct probe *p;

	TAILQ_FOREACH (p, &probes->list, link)
		if (p->active && (p->defined->measuring.delivery != 0 || p->defined->events))
			return true;
	return false;
}

void probing_leave(struct probes *probes, struct probe_owner *owner)
{
	struct probe *p, *next;

	for (p = TAILQ_FIRST(&probes->list); p; p = next) {
		next = TAILQ_NEXT(p, link);
		if (p->owner == owner)
			probe_free(probes, p);
	}
	destinations_forget(&probes->destinations, owner);
	probes->changes++;
	measuring_fini(&owner->defaults);
	writebacks_free(owner);
	units_free(owner);
}
