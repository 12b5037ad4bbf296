/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps what a probe was while it is changed. */
#include "consumers/mir/probe-change.h"

#include <stdlib.h>

#include "consumers/mir/probe-define.h"
#include "pathmap/base/memory.h"

/** What a probe is to be; and once that is done, what it was. */
struct probe_change {
	unsigned errand;
	bool done;
	bool removes;			 /* it is to be nothing */
	bool anew;			 /* it measures something else, or differently */
	struct mir_request *defined;	 /* NULL: as it is */
	struct destination *destination; /* NULL: as it is, or it had none */
	bool moves;			 /* it has another one then */
	bool wanted, active, measured;
	struct probe_series *series; /* that it had, if anew; else NULL */
	size_t n_series;
};

void probe_change_free(struct probe *p)
{
	struct probe_change *c = p->change;

	if (!c)
		return;
	p->change = NULL;
	if (c->defined)
		definition_free(p->owner, c->defined);
	destination_leave(c->destination);
	probe_series_free(c->series, c->n_series);
	free(c);
}

/* ---- planned ---- */

/* What it says if @request is added to that. */
static struct mir_request *definition_of(const struct mir_request *before,
					 const struct mir_request *request)
{
	struct mir_request *d = memory_new(1, sizeof(*d));

	d->place = request->place;
	d->events = before->events;
	if (before->from.text)
		d->from = (struct mir_word){memory_copy(before->from.text), request->place};
	if (before->to.text)
		d->to = (struct mir_word){memory_copy(before->to.text), request->place};
	measuring_settle(&d->measuring, &before->measuring);
	measuring_settle(&d->measuring, &request->measuring);
	request_settle(d, before);
	request_settle(d, request);
	return d;
}

void probe_change_plan(struct probes *probes, struct probe *p, struct mir_request *request,
		       unsigned errand)
{
	struct mir_request *before = p->defined;
	const struct mir_measuring *m;
	struct probe_change *c;

	probe_change_free(p);
	p->change = c = memory_new(1, sizeof(*c));
	*c = (struct probe_change){.errand = errand,
				   .removes = request->action == MIR_REMOVE,
				   .anew = request->n_metrics > 0 || request->measuring.said,
				   .wanted = request->action == MIR_ACTIVATE	 ? true
					     : request->action == MIR_DEACTIVATE ? false
										 : p->wanted};
	if (!c->anew && request->n_entities == 0)
		return;
	c->defined = definition_of(before, request);
	definition_add(p->owner, c->defined);
	probe_define(p, c->defined);
	probe_check(p, request);
	probe_define(p, before);
	m = &c->defined->measuring;
	if (request->n_faults == 0 && m->destination) {
		c->destination = destination_join(&probes->destinations, m->destination, p->owner,
						  &m->place, request);
		c->moves = c->destination != NULL;
	}
	if (request->n_faults > 0)
		probe_change_free(p);
}

/* ---- done, and undone ---- */

static void definition_swap(struct probe *p, struct probe_change *c)
{
	struct mir_request *defined = p->defined;
	struct destination *destination = p->destination;

	if (c->defined) {
		probe_define(p, c->defined);
		c->defined = defined;
	}
	if (c->moves) {
		p->destination = c->destination;
		c->destination = destination;
	}
}

void probe_change_do(struct probes *probes, struct probe *p)
{
	struct probe_change *c = p->change;
	bool wanted = p->wanted;

	c->done = true;
	c->active = p->active || p->begins_ns > 0;
	c->measured = p->measured;
	p->wanted = c->wanted;
	c->wanted = wanted;
	if (c->anew) {
		probe_end(probes, p);
		c->series = p->series;
		c->n_series = p->n_series;
		p->series = NULL;
		p->n_series = 0;
	}
	definition_swap(p, c);
	if (c->anew)
		probe_series_make(p);
	if (p->flushed && p->wanted && (c->anew || !c->active))
		probe_begin(probes, p, c->errand);
}

bool probe_change_removes(const struct probe *probe)
{
	return probe->change && probe->change->done && probe->change->removes;
}

static void change_undo(struct probes *probes, struct probe *p, struct probe_change *c)
{
	p->wanted = c->wanted;
	probes->changes++;
	if (c->anew || !c->active)
		probe_end(probes, p);
	definition_swap(p, c);
	if (!c->anew)
		return;
	probe_reset(p, NULL);
	probe_series_free(p->series, p->n_series);
	p->series = c->series;
	p->n_series = c->n_series;
	p->measured = c->measured;
	c->series = NULL;
	c->n_series = 0;
	if (c->active)
		probe_begin(probes, p, 0);
}

void probe_change_end(struct probes *probes, struct probe *p, unsigned errand, bool undo)
{
	if (!p->change || p->change->errand != errand)
		return;
	if (undo && p->change->done)
		change_undo(probes, p, p->change);
	probe_change_free(p);
}
