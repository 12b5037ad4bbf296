/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests say of a probe. */
#include "consumers/mir/probe-define.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "consumers/mir/probe-function.h"
#include "consumers/mir/writeback.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"

/* What the name of a region of evspace.h has before it, as that may be one of an operation. */
#define REGION_USER "user:"

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

bool probe_is_of_executions(const struct probe *probe)
{
	return probe->defined->from.text && probe->defined->measuring.interval == 0;
}

const char *probe_label(const struct probe *probe)
{
	const char *region = probe->defined->from.text;
	const size_t n = strlen(REGION_USER);

	if (region && strncmp(region, REGION_USER, n) == 0 && region[n])
		return region + n;
	return probe_function(probe);
}

/* A region of SIR is recorded by what is written back, under its id. */
static void region_name(const struct probe *p, struct mir_request *r)
{
	struct mir_request *d = p->defined;
	char *name;

	if (!writeback_is_id(d->from.text))
		return;
	if (!writebacks_have(p->owner, d->from.text))
		request_complain(r, &d->from.place,
				 "%.80s is of no source that is written back; name it in a sirreq "
				 "with in and out first, or write user:%.80s if a program has "
				 "it already",
				 d->from.text, d->from.text);
	name = memory_format(REGION_USER "%s", d->from.text);
	free(d->from.text);
	d->from.text = name;
	free(d->to.text);
	d->to.text = NULL;
}

static void region_check(struct probe *p, struct mir_request *r)
{
	const struct mir_request *d = p->defined;

	p->op = 0;
	p->channel = -1;
	if (!d->from.text)
		return;
	if (d->to.text && strcmp(d->to.text, d->from.text) != 0)
		request_complain(r, &d->from.place,
				 "a region that begins in one place and ends in another is not "
				 "measured yet; say the same for both, or from alone");
	region_name(p, r);
	p->op = op_find(probe_label(p) ? "evspace_region" : d->from.text);
	p->channel = p->op ? -1 : channel_find(d->from.text);
	if (!p->op &&
	    (p->channel < 0 || p->channel >= CHANNEL_PROGRAMS || p->channel == CHANNEL_COMPLETION))
		request_complain(r, &d->from.place,
				 "no region \"%.80s\"; write an operation, as MPI_Send, or a group "
				 "of them: p2p, collective, wait, comm, env, rma, io, pack; or "
				 "user: and the name of a region of evspace.h; or function: and "
				 "that of a function",
				 d->from.text);
	if (probe_function(p) && strlen(probe_function(p)) > PROBE_FUNCTION_BYTES)
		request_complain(r, &d->from.place,
				 "the name of a function has at most %u bytes here; take one of "
				 "C or Fortran, or a region of its source",
				 PROBE_FUNCTION_BYTES);
}

static void metrics_check(const struct probe *p, struct mir_request *r)
{
	const struct mir_request *d = p->defined;

	if (d->n_metrics == 0)
		request_complain(r, &d->place, "no metric; write one of %s", metric_names());
	for (size_t i = 0; i < d->n_metrics; i++) {
		const struct metric *m = metric_find(d->metrics[i].text);

		if (!m)
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
		else if (probe_label(p) && m->parts[0].ops)
			request_complain(
				r, &d->metrics[i].place,
				"%s is not that of a region of the program; WC_TIME and CALLS are",
				m->name);
		else if ((m->what == METRIC_THREADS || metric_is_used(m)) && d->from.text)
			request_complain(r, &d->metrics[i].place,
					 "%s has no region; leave the codeRegion out", m->name);
	}
}

static void all_check(const struct probe *p, const struct mir_entity *e, struct mir_request *r)
{
	const struct mir_request *d = p->defined;

	if (strcmp(e->id.text, "*") != 0 || !probe_is_of_executions(p))
		return;
	for (size_t i = 0; i < d->n_metrics; i++)
		if (strcmp(d->metrics[i].text, "WC_TIME") != 0)
			request_complain(r, &e->id.place,
					 "what all others do while one executes a region is "
					 "measured for WC_TIME alone; write id=\"?\"");
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

void probe_check(const struct probes *probes, struct probe *probe, struct mir_request *request)
{
	const struct mir_request *d = probe->defined;
	const struct mir_measuring *m = &d->measuring;

	region_check(probe, request);
	metrics_check(probe, request);
	entities_check(probe, request);
	if (d->events)
		request_complain(request, &d->place,
				 "no traces of events yet; evspace archive keeps them");
	if (m->duration > 0)
		request_complain(request, &m->place,
				 "a duration is not measured yet; leave it out, and ask twice");
	if (m->delivery != 0 && !m->destination && !probe->owner->deliver)
		request_complain(request, &m->place,
				 "over HTTPS nothing comes by itself; add a destination, or leave "
				 "delivery out and ask for the VALUE");
	if (m->destination && !probes->folder)
		request_complain(request, &m->place,
				 "no destinations; who started evspace mir says --deliver DIR");
}

/* ---- where it goes ---- */

const char *destination_below(const char *folder, const char *uri)
{
	size_t n = strlen(folder);
	const char *path = uri + strlen("file://");

	while (n > 1 && folder[n - 1] == '/')
		n--;
	if (strncmp(uri, "file:///", strlen("file:///")) != 0 || strncmp(path, folder, n) != 0 ||
	    path[n] != '/' || !path[n + 1] || strchr(path, '%'))
		return NULL;
	return path + n + 1;
}

/* No links, and nothing outside. Returns a descriptor, or -1 with errno. */
static int below_open(const char *folder, const char *path, uint64_t flags, uint64_t mode)
{
	struct open_how how = {.flags = flags | O_CLOEXEC,
			       .mode = mode,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_MAGICLINKS};
	int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, saved;

	if (dir < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	saved = errno;
	close(dir);
	errno = saved;
	return fd;
}

int destination_folder(const char *folder, const char *path)
{
	return below_open(folder, path, O_PATH | O_DIRECTORY, 0);
}

int destination_open(const char *folder, const char *uri, const struct mir_place *place,
		     struct mir_request *request)
{
	const char *path = destination_below(folder, uri);
	int fd = -1;

	if (path)
		fd = below_open(folder, path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0600);
	if (!path)
		request_complain(
			request, place,
			"%.200s is not below the folder of --deliver; write file://%.200s/NAME",
			uri, folder);
	else if (fd < 0)
		request_complain(request, place, "%.200s: %s", uri, strerror(errno));
	return fd;
}
