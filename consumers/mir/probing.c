/* SPDX-License-Identifier: BSD-3-Clause */
/* Instrumentation and control requests answered, and values delivered. */
#include "consumers/mir/probing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/mir/answer.h"
#include "consumers/mir/probe-define.h"
#include "consumers/mir/probe-values.h"
#include "tree/data/clock.h"

/* ---- values ---- */

static uint64_t lost_of(const struct probe *const *some, size_t n)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < n; i++)
		lost += some[i]->lost;
	return lost;
}

/* The measurement document of some probes. */
static void values_write(struct probes *probes, struct probe *const *some, size_t n,
			 struct mir_request *request, FILE *out)
{
	struct probe_values values = {.tuples = NULL};
	uint64_t lost = lost_of((const struct probe *const *)some, n);
	bool needs = false;
	struct snapshot snapshot = {.threads = NULL};

	for (size_t i = 0; i < n; i++)
		needs |= probe_needs_snapshot(some[i]);
	if (needs && snapshot_take(&snapshot, probes->connection, probes->look, false, request) < 0)
		needs = false;
	for (size_t i = 0; i < n && request->n_faults == 0; i++)
		probe_values_add(&values, some[i],
				 needs && probe_needs_snapshot(some[i]) ? &snapshot : NULL);
	if (request->n_faults == 0) {
		measurement_write(out, values.tuples, values.n);
		if (lost > 0)
			fprintf(out, "<!-- %llu tuples were overwritten before they were read -->",
				(unsigned long long)lost);
		fputc('\n', out);
	}
	probe_values_fini(&values);
	snapshot_fini(&snapshot);
}

/* ---- instrumentation ---- */

static void probes_flush(struct probes *probes, const struct probe_owner *owner,
			 struct mir_request *request)
{
	struct probe *p;

	TAILQ_FOREACH (p, &probes->list, link) {
		if (p->flushed || p->owner != owner)
			continue;
		p->flushed = true;
		if (p->wanted)
			probe_begin(probes, p, request);
	}
}

/* Only `measuring`: what it says holds for requests that do not say it. */
static bool is_of_defaults(const struct mir_request *r)
{
	return r->measuring.said && !r->from.text && r->n_metrics == 0 && !r->events &&
	       r->n_entities == 0;
}

static void instrumentation_answer(struct probes *probes, struct probe_owner *owner,
				   struct mir_request *request, FILE *out)
{
	struct probe *p = NULL;

	if (is_of_defaults(request))
		measuring_settle(&owner->defaults, &request->measuring);
	else if (!(p = probe_new(probes, owner, request)))
		return;
	if (request->flush)
		probes_flush(probes, owner, request);
	if (request->n_faults > 0) {
		if (p)
			probe_free(probes, p);
	} else if (p) {
		fprintf(out, "<probe id=\"%s\"/>\n", p->id);
	} else {
		fputs("<measurement/>\n", out);
	}
}

/* ---- control ---- */

static void probe_act(struct probes *probes, struct probe *p, struct mir_request *request)
{
	probe_change(probes, p, request);
	if (request->n_faults > 0)
		return;
	switch (request->action) {
	case MIR_ACTIVATE:
		p->wanted = true;
		if (p->flushed)
			probe_begin(probes, p, request);
		break;
	case MIR_DEACTIVATE:
		p->wanted = false;
		probe_end(probes, p);
		break;
	case MIR_RESET:
		probes_settle(probes);
		probe_reset(p);
		break;
	case MIR_REMOVE:
		probe_free(probes, p);
		break;
	default:
		break;
	}
}

static bool only_looks(const struct mir_request *r)
{
	return r->action == MIR_VALUE && r->n_metrics == 0 && !r->measuring.said &&
	       r->n_entities == 0;
}

static void control_answer(struct probes *probes, struct probe_owner *owner,
			   struct mir_request *request, FILE *out)
{
	struct probe **some = calloc(request->n_probes, sizeof(struct probe *));

	if (!some)
		abort();
	for (size_t i = 0; i < request->n_probes; i++) {
		some[i] = probe_find(probes, request->probes[i].text);
		for (size_t k = 0; k < i && some[i]; k++)
			if (some[k] == some[i])
				request_complain(request, &request->probes[i].place,
						 "probe \"%s\" is here twice; leave one out",
						 some[i]->id);
		if (some[i] && some[i]->owner != owner && !only_looks(request))
			request_complain(
				request, &request->probes[i].place,
				"probe \"%s\" is another tool's, which alone changes it; ask "
				"for its VALUE, or define one",
				some[i]->id);
		if (!some[i])
			request_complain(request, &request->probes[i].place,
					 "no probe \"%.80s\"; take an id that was answered to an "
					 "instrreq and is not removed",
					 request->probes[i].text);
	}
	for (size_t i = 0; i < request->n_probes && request->n_faults == 0; i++)
		probe_act(probes, some[i], request);
	if (request->flush && request->n_faults == 0)
		probes_flush(probes, owner, request);
	if (request->n_faults == 0 && request->action == MIR_VALUE) {
		probes_settle(probes);
		values_write(probes, some, request->n_probes, request, out);
	} else if (request->n_faults == 0) {
		fputs("<measurement/>\n", out);
	}
	free(some);
}

void probing_answer(struct probes *probes, struct probe_owner *owner, struct mir_request *request,
		    FILE *out)
{
	if (request->kind == MIR_INSTRREQ)
		instrumentation_answer(probes, owner, request, out);
	else
		control_answer(probes, owner, request, out);
}

/* ---- by itself ---- */

/* To its file: whoever reads it does not hold up the others, and may miss what it does not take. */
static void values_deliver(struct probes *probes, struct probe *p)
{
	struct mir_request none = {.kind = MIR_CTRLREQ};
	char *text = NULL;
	size_t n;
	FILE *document = open_memstream(&text, &n);

	if (!document)
		abort();
	values_write(probes, &p, 1, &none, document);
	if (none.n_faults > 0)
		answer_errors(document, &none);
	if (fclose(document) != 0)
		abort();
	if (p->fd < 0)
		p->owner->deliver(p->owner, text, n);
	else if (write(p->fd, text, n) != (ssize_t)n)
		fprintf(stderr, "evspace mir: probe %s: its destination does not take all\n",
			p->id);

	for (size_t i = 0; i < none.n_faults; i++)
		free(none.faults[i].text);
	free(text);
	p->fresh = false;
}

static bool is_due(uint64_t *due_ns, uint64_t now, uint64_t ms)
{
	if (*due_ns == 0 || now < *due_ns)
		return false;
	*due_ns += ms * 1000000;
	if (*due_ns < now)
		*due_ns = now + ms * 1000000;
	return true;
}

static void sample_take(struct probes *probes, struct probe *p)
{
	struct mir_request none = {.kind = MIR_CTRLREQ};
	struct snapshot snapshot = {.threads = NULL};
	bool needs = probe_needs_snapshot(p);

	if (!needs || snapshot_take(&snapshot, probes->connection, probes->look, false, &none) == 0)
		probe_sample(p, needs ? &snapshot : NULL);
	for (size_t i = 0; i < none.n_faults; i++)
		free(none.faults[i].text);
	snapshot_fini(&snapshot);
	p->fresh = true;
}

void probing_run(struct probes *probes)
{
	uint64_t now = clock_mono_ns();
	struct probe *p;

	TAILQ_FOREACH (p, &probes->list, link) {
		const struct mir_measuring *m = &p->defined->measuring;

		if (!p->active)
			continue;
		if (is_due(&p->sample_ns, now, m->interval))
			sample_take(probes, p);
		if (is_due(&p->deliver_ns, now, m->delivery > 0 ? (uint64_t)m->delivery : 1) ||
		    (m->delivery < 0 && p->fresh))
			values_deliver(probes, p);
	}
}

int probing_timeout(const struct probes *probes)
{
	uint64_t now = clock_mono_ns(), next = UINT64_MAX;
	const struct probe *p;

	TAILQ_FOREACH (p, &probes->list, link) {
		if (p->sample_ns > 0 && p->sample_ns < next)
			next = p->sample_ns;
		if (p->deliver_ns > 0 && p->deliver_ns < next)
			next = p->deliver_ns;
		if (p->active && p->defined->measuring.delivery < 0 && p->fresh)
			next = now;
	}
	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (int)((next - now) / 1000000) + 1;
}

bool probing_delivers(const struct probes *probes)
{
	const struct probe *p;

	TAILQ_FOREACH (p, &probes->list, link)
		if (p->active && p->defined->measuring.delivery != 0)
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
	measuring_fini(&owner->defaults);
}
