/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests say of a probe. */
#include "consumers/mir/probe-define.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/mir/probe-archive.h"
#include "consumers/mir/request-write.h"
#include "consumers/mir/units.h"
#include "consumers/mir/writeback.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"
#include "pathmap/grammar/directive.h"
#include "tree/data/op.h"

/* Most bytes that all of an owner are defined by: of 64 owners, half of what a file of probes may
 * have. */
#define PROBES_BYTES ((size_t)2 << 20)

/* ---- put together ---- */

void measuring_fini(struct mir_measuring *measuring)
{
	free(measuring->destination);
	free(measuring->functions);
	*measuring = (struct mir_measuring){.said = false};
}

void measuring_settle(struct mir_measuring *to, const struct mir_measuring *from)
{
	if (from->said)
		to->place = from->place;
	to->said |= from->said;
	if (from->has_interval)
		to->interval = from->interval;
	if (from->has_duration)
		to->duration = from->duration;
	if (from->has_delivery)
		to->delivery = from->delivery;
	to->has_interval |= from->has_interval;
	to->has_duration |= from->has_duration;
	to->has_delivery |= from->has_delivery;
	if (from->destination) {
		free(to->destination);
		to->destination = memory_copy(from->destination);
	}
	if (!from->aggregates)
		return;
	free(to->functions);
	to->functions = memory_new(from->n_functions + 1, sizeof(*to->functions));
	for (size_t i = 0; i < from->n_functions; i++)
		to->functions[i] = from->functions[i];
	to->n_functions = from->n_functions;
	to->aggregates = true;
}

void definition_add(struct probe_owner *owner, struct mir_request *defined)
{
	defined->bytes = request_bytes(defined);
	owner->bytes += defined->bytes;
}

void definition_free(struct probe_owner *owner, struct mir_request *defined)
{
	owner->bytes -= defined->bytes;
	request_free(defined);
}

void request_settle(struct mir_request *to, const struct mir_request *from)
{
	if (from->n_metrics > 0) {
		for (size_t i = 0; i < to->n_metrics; i++)
			free(to->metrics[i].text);
		free(to->metrics);
		to->metrics = memory_new(from->n_metrics, sizeof(*to->metrics));
		to->n_metrics = from->n_metrics;
		for (size_t i = 0; i < to->n_metrics; i++) {
			to->metrics[i] = from->metrics[i];
			to->metrics[i].text = memory_copy(from->metrics[i].text);
		}
	}
	if (from->n_entities == 0)
		return;
	for (size_t i = 0; i < to->n_entities; i++)
		free(to->entities[i].id.text);
	free(to->entities);
	to->entities = memory_new(from->n_entities, sizeof(*to->entities));
	to->n_entities = from->n_entities;
	for (size_t i = 0; i < to->n_entities; i++) {
		to->entities[i] = from->entities[i];
		to->entities[i].id.text = memory_copy(from->entities[i].id.text);
	}
}

/* ---- checked ---- */

/* Is it said when its values are taken? */
static bool probe_is_timed(const struct probe *p)
{
	return p->defined->measuring.interval > 0 || p->defined->measuring.duration > 0;
}

bool probe_is_of_executions(const struct probe *probe, const struct metric *metric)
{
	return probe->defined->from.text && !probe_samples(probe, metric);
}

bool probe_triggers(const struct probe *probe, const struct metric *metric)
{
	return probe->defined->from.text && metric_is_used(metric);
}

bool probe_samples(const struct probe *probe, const struct metric *metric)
{
	return probe_is_timed(probe) || probe_triggers(probe, metric);
}

bool probe_is_sampled(const struct probe *probe)
{
	bool sampled = probe_is_timed(probe);

	for (size_t i = 0; i < probe->n_series; i++)
		sampled |= probe_triggers(probe, probe->series[i].metric);
	return sampled;
}

bool probe_value_is_taken(const struct probe *probe)
{
	bool taken = false;

	for (size_t i = 0; i < probe->n_series; i++)
		taken |= !probe_samples(probe, probe->series[i].metric);
	return probe->active && taken;
}

bool probe_is_of_program(const struct probe *probe)
{
	for (unsigned i = 0; i < probe->n_regions; i++)
		if (!probe->regions[i].label)
			return false;
	return probe->n_regions > 0;
}

bool probe_is_of_calls(const struct probe *probe, const struct metric *metric)
{
	return probe->n_regions == 2 || (probe_is_of_executions(probe, metric) &&
					 probe->defined->measuring.n_functions == 0);
}

/* A region of SIR is recorded by what is written back, under its id; else one that is a call is the
 * place of that. */
static void region_name(const struct probe *p, struct mir_word *word, struct mir_request *r)
{
	const char *unit;
	char *name;

	if (!word->text || !writeback_is_id(word->text))
		return;
	unit = writebacks_have(p->owner, word->text) ? NULL : units_name(p->owner, word->text);
	if (unit)
		name = memory_format(REGION_CALL "%s:%lu", unit,
				     strtoul(strchr(word->text, '-') + 1, NULL, 10));
	else
		name = memory_format(REGION_USER "%s", word->text);
	if (!unit && !writebacks_have(p->owner, word->text))
		request_complain(r, &word->place,
				 "%.80s is of no source that is written back, and no call of an "
				 "executable; ask for its SIR first, with in and out, or write "
				 "user:%.80s if a program has it already",
				 word->text, word->text);
	free(word->text);
	word->text = name;
}

/* Where it begins and ends, by what it says so. */
static void regions_settle(struct probe *p)
{
	const struct mir_request *d = p->defined;
	const char *const names[2] = {d->from.text, d->to.text};

	p->n_regions = 0;
	for (unsigned i = 0; i < 2 && names[i]; i++)
		if (i == 0 || strcmp(names[0], names[1]) != 0)
			probe_region_read(&p->regions[p->n_regions++], names[i]);
}

static void functions_check(const char *list, const struct mir_word *word, struct mir_request *r)
{
	unsigned n = 1;

	for (;; n++) {
		size_t bytes = strcspn(list, ",");

		if (bytes == 0 || bytes > REGION_FUNCTION_BYTES) {
			request_complain(r, &word->place,
					 "the name of a function has at most %u bytes here; take "
					 "one of C or Fortran, or a region of its source",
					 REGION_FUNCTION_BYTES);
			return;
		}
		if (!list[bytes])
			break;
		list += bytes + 1;
	}
	if (n > REGION_FUNCTIONS)
		request_complain(r, &word->place, "%u functions; say %u at most", n,
				 REGION_FUNCTIONS);
}

/* The operation, or group of them, that was probably meant; NULL: none. */
static const char *region_nearest(const char *text)
{
	const char **words = memory_new(UINT16_MAX + CHANNEL_PROGRAMS, sizeof(*words)), *nearest;
	size_t n = 0;

	for (unsigned op = 1; op < UINT16_MAX; op++)
		if (op_channel((uint16_t)op) >= 0)
			words[n++] = op_name((uint16_t)op);
	for (unsigned i = 0; i < CHANNEL_PROGRAMS; i++)
		words[n++] = i == CHANNEL_COMPLETION ? NULL : channel_name(i);
	nearest = word_nearest(text, words, n);
	free(words);
	return nearest;
}

static void region_check(const struct mir_word *word, struct mir_request *r)
{
	struct probe_region region;
	const char *nearest;
	bool is;

	if (!word->text)
		return;
	is = probe_region_read(&region, word->text);
	nearest = is || strchr(word->text, ':') ? NULL : region_nearest(word->text);
	if (utf8_has_controls(word->text))
		request_complain(r, &word->place,
				 "the region has control characters; leave them out");
	if (nearest)
		request_complain(r, &word->place, "no region \"%.80s\"; did you mean %s?",
				 word->text, nearest);
	else if (!is)
		request_complain(r, &word->place,
				 "no region \"%.80s\"; write an operation, as MPI_Send, or a group "
				 "of them: p2p, collective, wait, comm, env, rma, io, pack; or "
				 "user: and the name of a region of evspace.h; function: and that "
				 "of a function; or call: and a place, as call:solver.c:212",
				 word->text);
	if (region.function)
		functions_check(region.function, word, r);
}

static void regions_check(struct probe *p, struct mir_request *r)
{
	struct mir_request *d = p->defined;

	region_name(p, &d->from, r);
	region_name(p, &d->to, r);
	region_check(&d->from, r);
	if (d->to.text && strcmp(d->to.text, d->from.text) != 0)
		region_check(&d->to, r);
	regions_settle(p);
}

/* Is it one of those before it? */
static bool is_repeated(const struct mir_request *d, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(d->metrics[k].text, d->metrics[i].text) == 0)
			return true;
	return false;
}

static void metrics_check(const struct probe *p, struct mir_request *r)
{
	const struct mir_request *d = p->defined;

	if (d->n_metrics == 0 && !d->events)
		request_complain(r, &d->place, "no metric; write one of %s", metric_names());
	/* as many as there are, and then faults end it */
	for (size_t i = 0; i < d->n_metrics && r->n_faults < REQUEST_FAULTS; i++) {
		const struct metric *m = metric_find(d->metrics[i].text);

		if (is_repeated(d, i))
			request_complain(r, &d->metrics[i].place,
					 "\"%.80s\" is there twice; leave one out",
					 d->metrics[i].text);
		else if (!m)
			request_complain(r, &d->metrics[i].place,
					 "no metric \"%.80s\"; write one of %s", d->metrics[i].text,
					 metric_names());
		else if (m->what == METRIC_NONE)
			request_complain(r, &d->metrics[i].place,
					 "%s: %s; evspace mir --catalogue has those that are "
					 "measured",
					 m->name, m->about);
		else if (m->regions && !d->from.text)
			request_complain(r, &d->metrics[i].place,
					 "%s is that of a region; add a codeRegion", m->name);
		else if (m->parts[0].ops && (p->n_regions == 2 || probe_is_of_program(p)))
			request_complain(r, &d->metrics[i].place,
					 "%s is not that %s; WC_TIME and CALLS are", m->name,
					 p->n_regions == 2 ? "from one region to another"
							   : "of a region of the program");
		else if (m->what == METRIC_THREADS && d->from.text)
			request_complain(r, &d->metrics[i].place,
					 "%s has no region; leave the codeRegion out", m->name);
		else if (metric_is_used(m) && d->from.text && probe_is_timed(p))
			request_complain(r, &d->metrics[i].place,
					 "%s is taken whenever the region has been executed, or "
					 "with an interval or duration; leave one of them out",
					 m->name);
	}
}

static void all_check(const struct probe *p, const struct mir_entity *e, struct mir_request *r)
{
	const struct mir_request *d = p->defined;

	if (strcmp(e->id.text, "*") != 0)
		return;
	for (size_t i = 0; i < d->n_metrics; i++) {
		const struct metric *m = metric_find(d->metrics[i].text);

		if (m && probe_is_of_executions(p, m) && strcmp(m->name, "WC_TIME") != 0)
			request_complain(r, &e->id.place,
					 "what all others do while one executes a region is "
					 "measured for WC_TIME alone, and what the kernel says; "
					 "write id=\"?\"");
	}
}

/* The kernel knows no communicators; and memory is that of a process. */
static void level_check(const struct probe *p, const struct mir_entity *e, struct mir_request *r)
{
	const struct mir_request *d = p->defined;

	for (size_t i = 0; i < d->n_metrics; i++) {
		const struct metric *m = metric_find(d->metrics[i].text);

		if (!m || !metric_is_used(m))
			continue;
		if (e->level == MIR_COMMUNICATOR ||
		    (e->level == MIR_THREAD && metric_is_of_processes(m)))
			request_complain(r, &e->id.place,
					 "%s is not that of a %s; ask for sites, nodes%s", m->name,
					 request_levels[e->level],
					 metric_is_of_processes(m) ? " or processes"
								   : ", processes or threads");
	}
}

/* "/cluster/node/rank3/t0" down to its level; "9a9ce0e0" */
static bool is_id(const struct mir_entity *e)
{
	static const unsigned parts[MIR_LEVELS] = {
		[MIR_SITE] = 1, [MIR_NODE] = 2, [MIR_PROCESS] = 3, [MIR_THREAD] = 4};
	const char *id = e->id.text;
	unsigned n = 0;

	if (strcmp(id, "*") == 0 || strcmp(id, "?") == 0)
		return true;
	if (e->level == MIR_COMMUNICATOR)
		return strlen(id) == 8 && strspn(id, "0123456789abcdef") == 8;
	for (const char *at = id; *at; at++)
		n += *at == '/';
	return id[0] == '/' && n == parts[e->level];
}

static void entities_check(const struct probe *p, struct mir_request *r)
{
	for (size_t i = 0; i < p->defined->n_entities; i++) {
		const struct mir_entity *e = &p->defined->entities[i];

		if (!is_id(e))
			request_complain(r, &e->id.place,
					 "\"%.80s\" is no id of one; take it from a snapshot, or "
					 "write * or ?",
					 e->id.text);
		all_check(p, e, r);
		level_check(p, e, r);
	}
}

void probe_define(struct probe *probe, struct mir_request *defined)
{
	probe->defined = defined;
	regions_settle(probe);
}

void probe_check(struct probe *probe, struct mir_request *request)
{
	const struct mir_request *d = probe->defined;
	const struct mir_measuring *m = &d->measuring;

	regions_check(probe, request);
	metrics_check(probe, request);
	/* of entities with the metrics that there are, not with any that are said */
	if (request->n_faults == 0)
		entities_check(probe, request);
	if (probe->owner->bytes > PROBES_BYTES)
		request_complain(request, &d->place,
				 "your probes are more than %zu MiB of documents; remove some",
				 PROBES_BYTES >> 20);
	if (d->events && d->n_metrics > 0)
		request_complain(request, &d->place,
				 "events and metrics are no one probe; say them in two requests");
	if (d->events && !m->destination)
		request_complain(request, &d->place,
				 "events are a stream of their own; add a measuring with a "
				 "destination");
	if (d->events && m->destination && destination_is_element(m->destination))
		request_complain(request, &m->place,
				 "elements take values; have events sent to a file or socket");
	if (m->destination && destination_is_archive(m->destination) && !d->events)
		request_complain(request, &m->place,
				 "archives take events; have values sent to a file or socket");
	else if (m->destination && destination_is_archive(m->destination))
		probe_archive_check(probe, request);
	if (m->interval > 0 && m->duration > m->interval)
		request_complain(request, &m->place,
				 "each measurement takes %llu ms, and the next one is due after "
				 "%llu; say a duration of that at most",
				 (unsigned long long)m->duration, (unsigned long long)m->interval);
	if (m->delivery != 0 && !m->destination && !probe->owner->deliver)
		request_complain(request, &m->place,
				 "over HTTPS nothing comes by itself; add a destination, or leave "
				 "delivery out and ask for the VALUE");
}
