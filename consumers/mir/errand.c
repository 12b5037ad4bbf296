/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers requests: what they do is begun at once, and the answer is written when hosts have said
 * what it needs. */
#include "consumers/mir/errand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/mir/answer.h"
#include "consumers/mir/fetch.h"
#include "consumers/mir/probe-cell.h"
#include "consumers/mir/probe-change.h"
#include "consumers/mir/probe-define.h"
#include "consumers/mir/probe-values.h"
#include "consumers/mir/sir.h"
#include "consumers/mir/stack-ask.h"
#include "consumers/mir/units.h"
#include "consumers/mir/writeback.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/link/worker.h"

/* Most processes at once that read and write sources, of one asker, and what each may take. */
#define WORKERS_MAX    4u
#define WORKERS_OF_ONE 2u

static const struct worker_limits limits = {
	.ms = 300 * 1000, .bytes = (size_t)64 << 20, .remedy = "; name less at once"};

struct errand {
	TAILQ_ENTRY(errand) link;
	struct errands *all;
	struct probes *probes;
	unsigned number;
	struct mir_request *request;
	struct probe_owner *owner;
	char *mine;	   /* the id of the probe that it has made; NULL: none */
	unsigned change;   /* probes->changes, with its own */
	uint64_t since_ns; /* all that was before then has to have come */
	errand_done *done;
	void *arg;
	char *folder;	       /* for what is fetched (fetch.h); NULL: nothing may be */
	worker_function *work; /* that is done by a process of its own; NULL: none */
	struct worker *worker; /* which is that one; NULL: it waits for its turn */
};

/* ---- by a process of its own ---- */

static bool work_end(struct mir_request *r, FILE *out)
{
	if (r->n_faults > 0)
		answer_errors(out, r);
	return r->n_faults > 0;
}

static bool sources_read(void *arg, FILE *out)
{
	const struct errand *e = arg;
	const struct sir_reach reach = {e->probes->flags, e->probes->fetch, e->folder,
					e->request->below};

	sir_answer(e->request, &reach, out);
	return work_end(e->request, out);
}

static bool sources_write(void *arg, FILE *out)
{
	const struct errand *e = arg;

	writebacks_write(e->probes, e->owner, e->folder, e->request);
	return work_end(e->request, out);
}

/* May it begin, now that earlier ones that may have begun? Of those that write, one at a time. */
static bool is_its_turn(const struct errand *e)
{
	const struct errand *other;
	unsigned n = 0, own = 0;

	TAILQ_FOREACH (other, &e->all->list, link) {
		if (!other->worker)
			continue;
		n++;
		own += other->request->asker == e->request->asker;
		if (other->work == sources_write && e->work == sources_write)
			return false;
	}
	return n < WORKERS_MAX && own < WORKERS_OF_ONE;
}

/* Is its work not done yet? */
static bool errand_works(struct errand *e)
{
	const char *text, *why;
	bool wrong;
	size_t n;

	if (!e->work)
		return false;
	if (!e->worker) {
		if (!is_its_turn(e))
			return true;
		e->folder = e->probes->fetch ? fetch_begin() : NULL;
		e->worker = worker_new(e->all->base, &limits, e->work, e, NULL, NULL);
		if (e->worker)
			return true;
		request_complain(e->request, &e->request->place, "no process for it: %s",
				 strerror(errno));
		e->work = NULL;
		return false;
	}
	if (!worker_ended(e->worker, &text, &n, &wrong, &why))
		return true;
	if (why)
		request_complain(e->request, &e->request->place, "%s", why);
	return false;
}

/* ---- begun ---- */

static void structure_begin(struct errand *e)
{
	writebacks_check(e->probes, e->owner, e->request);
	if (e->request->n_faults == 0)
		e->work = sources_read;
}

static void probes_flush(struct errand *e)
{
	struct probe *p;

	if (!LIST_EMPTY(&e->owner->writebacks))
		e->work = sources_write;
	TAILQ_FOREACH (p, &e->probes->list, link) {
		if (p->flushed || p->owner != e->owner)
			continue;
		p->flushed = true;
		if (p->wanted)
			probe_begin(e->probes, p, e->number);
	}
}

static void instrumentation_begin(struct errand *e)
{
	if (request_is_of_defaults(e->request)) {
		measuring_settle(&e->owner->defaults, &e->request->measuring);
	} else {
		const struct probe *p = probe_new(e->probes, e->owner, e->request);

		if (!p)
			return;
		e->mine = memory_copy(p->id);
	}
	if (e->request->flush)
		probes_flush(e);
}

/* A probe that a control request names, if it may: else complains. */
static struct probe *probe_named(const struct errand *e, size_t i)
{
	struct mir_request *r = e->request;
	const struct mir_word *id = &r->probes[i];
	struct probe *p = probe_find(e->probes, id->text);

	if (!p)
		request_complain(r, &id->place,
				 "no probe \"%.80s\"; take an id that was answered to an instrreq "
				 "and is not removed",
				 id->text);
	else if (p->owner != e->owner && !request_only_looks(r))
		request_complain(r, &id->place,
				 "probe \"%s\" is another tool's, which alone changes it; ask for "
				 "its VALUE, or define one",
				 p->id);
	return p;
}

static void control_begin(struct errand *e)
{
	struct mir_request *r = e->request;
	struct probe **named;

	/* as many as there are, and then faults end it */
	for (size_t i = 0; i < r->n_probes && r->n_faults < REQUEST_FAULTS; i++) {
		struct probe *p = probe_named(e, i);

		if (p && p->named_by == e->number)
			request_complain(r, &r->probes[i].place,
					 "probe \"%s\" is here twice; leave one out", p->id);
		else if (p)
			p->named_by = e->number;
	}
	if (r->n_faults > 0)
		return;
	named = memory_new(r->n_probes, sizeof(struct probe *));
	for (size_t i = 0; i < r->n_probes; i++)
		named[i] = probe_named(e, i);
	/* all of it, or nothing */
	if (!request_only_looks(r)) {
		for (size_t i = 0; i < r->n_probes && r->n_faults == 0; i++)
			probe_change_plan(e->probes, named[i], r, e->number);
		for (size_t i = 0; i < r->n_probes && r->n_faults == 0; i++)
			probe_change_do(e->probes, named[i]);
	}
	if (r->flush && r->n_faults == 0)
		probes_flush(e);
	free(named);
}

void errands_init(struct errands *errands, struct event_base *base)
{
	*errands = (struct errands){.base = base};
	TAILQ_INIT(&errands->list);
}

struct errand *errand_new(struct errands *errands, struct probes *probes, struct probe_owner *owner,
			  struct mir_request *request, errand_done *done, void *arg)
{
	struct errand *e = memory_new(1, sizeof(*e));

	*e = (struct errand){.all = errands,
			     .probes = probes,
			     .number = ++errands->named,
			     .request = request,
			     .owner = owner,
			     .since_ns = clock_mono_ns(),
			     .done = done,
			     .arg = arg};
	probes->changes += request_is_kept(request);
	e->change = probes->changes;
	owner->errands++;
	TAILQ_INSERT_TAIL(&errands->list, e, link);
	if (request->n_faults == 0 && request->kind == MIR_SIRREQ)
		structure_begin(e);
	else if (request->n_faults == 0 && request->kind == MIR_INSTRREQ)
		instrumentation_begin(e);
	else if (request->n_faults == 0 && request->kind == MIR_CTRLREQ)
		control_begin(e);
	return e;
}

/* ---- waited for ---- */

/* Does one that it has begun not measure yet? */
static bool probes_begin(const struct errand *e)
{
	const struct probe *p;

	TAILQ_FOREACH (p, &e->probes->list, link)
		if (p->errand == e->number && p->begins_ns > 0)
			return true;
	return false;
}

/* Has all come that its probes have to measure? */
static bool probes_are_whole(const struct errand *e)
{
	const struct mir_request *r = e->request;

	if (r->action == MIR_ACTIVATE || r->action == MIR_REMOVE ||
	    clock_mono_ns() - e->since_ns >= PROBE_PATIENCE_NS)
		return true;
	for (size_t i = 0; i < r->n_probes; i++) {
		const struct probe *p = probe_find(e->probes, r->probes[i].text);

		if (p && p->active && !probe_is_whole(p, e->since_ns))
			return false;
	}
	return true;
}

static struct sources_need errand_need(const struct errand *e)
{
	const struct mir_request *r = e->request;
	struct sources_need need = {.snapshot = r->kind == MIR_SNAPSHOTREQ,
				    .depth = r->stack < STACK_ASK_FRAMES ? (unsigned)r->stack
									 : STACK_ASK_FRAMES};

	if (r->kind != MIR_CTRLREQ || r->action == MIR_ACTIVATE || r->action == MIR_REMOVE)
		return need;
	for (size_t i = 0; i < r->n_probes; i++) {
		const struct probe *p = probe_find(e->probes, r->probes[i].text);

		if (!p || !p->active || (!probe_value_is_taken(p) && r->action != MIR_RESET))
			continue;
		need.snapshot |= r->action == MIR_VALUE && probe_needs_snapshot(p);
		/* also where it begins again, and ends */
		need.usages |= probe_uses(p);
	}
	return need;
}

/* Is there something to wait for? *@sources are what it needs. */
static bool errand_waits(struct errand *e, struct sources *sources)
{
	struct sources_need need;

	*sources = (struct sources){NULL, NULL};
	if (e->request->n_faults == 0 && errand_works(e))
		return true;
	if (e->request->n_faults > 0)
		return false;
	/* what it has changed is in the file first */
	if ((request_is_kept(e->request) && (int)(e->change - e->probes->kept) > 0) ||
	    probes_begin(e) || (e->request->kind == MIR_CTRLREQ && !probes_are_whole(e)))
		return true;
	need = errand_need(e);
	return !sources_since(e->probes, &need, e->since_ns, sources);
}

/* ---- answered ---- */

static void failures_tell(const struct errand *e)
{
	const struct probe *p;

	TAILQ_FOREACH (p, &e->probes->list, link)
		if (p->errand == e->number && p->why)
			request_complain(e->request, &e->request->place, "cannot be measured: %s",
					 p->why);
}

/* The probe that it has made, of which nobody is told. */
static void mine_free(const struct errand *e)
{
	struct probe *p = e->mine ? probe_find(e->probes, e->mine) : NULL;

	if (p)
		probe_free(e->probes, p);
}

static void instrumentation_end(struct errand *e, FILE *out)
{
	failures_tell(e);
	if (e->request->n_faults > 0)
		mine_free(e);
	else if (e->mine)
		fprintf(out, "<probe id=\"%s\"/>\n", e->mine);
	else
		fputs("<measurement/>\n", out);
}

static void probe_stop(struct probes *probes, struct probe *p, const struct sources *sources)
{
	/* what it has come to */
	if (sources->usages && probe_value_is_taken(p))
		probe_take(p, sources);
	probe_end(probes, p);
}

static void control_end(struct errand *e, const struct sources *sources, FILE *out)
{
	struct mir_request *r = e->request;
	struct probe **some = memory_new(r->n_probes, sizeof(struct probe *));

	failures_tell(e);
	for (size_t i = 0; i < r->n_probes && r->n_faults == 0; i++)
		some[i] = probe_named(e, i);
	for (size_t i = 0; i < r->n_probes && r->n_faults == 0; i++) {
		if (r->action == MIR_RESET)
			probe_reset(some[i], sources->usages);
		else if (r->action == MIR_DEACTIVATE)
			probe_stop(e->probes, some[i], sources);
		else if (r->action == MIR_REMOVE)
			probe_free(e->probes, some[i]);
	}
	if (r->n_faults == 0 && r->action != MIR_VALUE)
		fputs("<measurement/>\n", out);
	else if (r->n_faults == 0 && !probe_values_write(some, r->n_probes, sources, out))
		request_complain(r, &r->place, "more than %zu values; name fewer probes",
				 VALUES_MOST);
	free(some);
}

/* What a control request has changed stays, unless it is @refused. */
static void changes_end(const struct errand *e, bool refused)
{
	const struct mir_request *r = e->request;

	for (size_t i = 0; r->kind == MIR_CTRLREQ && i < r->n_probes; i++) {
		struct probe *p = probe_find(e->probes, r->probes[i].text);

		if (p)
			probe_change_end(e->probes, p, e->number, refused);
	}
}

static void errand_end(struct errand *e, const struct sources *sources, FILE *out)
{
	struct mir_request *r = e->request;
	const char *why = sources_trouble(sources);

	if (r->n_faults == 0 && why)
		request_complain(r, &r->place, "no answer: %s", why);
	if (r->n_faults > 0)
		mine_free(e);
	else if (r->kind == MIR_SNAPSHOTREQ)
		snapshot_write(sources->snapshot, r, e->probes->toll, out);
	else if (r->kind == MIR_INSTRREQ)
		instrumentation_end(e, out);
	else
		control_end(e, sources, out);
	changes_end(e, r->n_faults > 0);
}

void errand_drop(struct errand *e)
{
	if (!e)
		return;
	/* what nobody was told of has not been */
	if (e->done) {
		mine_free(e);
		changes_end(e, true);
	}
	TAILQ_REMOVE(&e->all->list, e, link);
	e->owner->errands--;
	worker_free(e->worker);
	fetch_end(e->folder);
	request_free(e->request);
	free(e->mine);
	free(e);
}

static void errand_say(struct errand *e, const char *text, size_t n, bool wrong)
{
	e->done(e->arg, text, n, wrong);
	e->done = NULL;
	errand_drop(e);
}

/* What later requests may name is behind the answer. Returns the length of that. */
static size_t sources_note(const struct errand *e, const char *text, size_t n)
{
	const char *end = n > 0 ? memrchr(text, '\0', n) : NULL;

	writebacks_note(e->probes, e->owner, e->request);
	if (!end)
		return n;
	units_note(e->owner, end + 1, n - (size_t)(end + 1 - text));
	return (size_t)(end - text);
}

/* Returns whether what its process has said is the answer. */
static bool work_answer(struct errand *e)
{
	const char *text, *why;
	bool wrong;
	size_t n;

	if (!e->worker || !worker_ended(e->worker, &text, &n, &wrong, &why) || why)
		return false;
	if (e->work == sources_write && !wrong)
		return false;
	if (e->work == sources_read && !wrong)
		n = sources_note(e, text, n);
	mine_free(e);
	changes_end(e, wrong);
	errand_say(e, text, n, wrong);
	return true;
}

static void errand_answer(struct errand *e, const struct sources *sources)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	bool wrong;

	if (!out)
		abort();
	errand_end(e, sources, out);
	wrong = e->request->n_faults > 0;
	if (wrong)
		answer_errors(out, e->request);
	if (fclose(out) != 0)
		abort();
	errand_say(e, text, n, wrong);
	free(text);
}

bool errands_run(struct errands *errands)
{
	struct sources sources;
	struct errand *e, *next;

	for (e = TAILQ_FIRST(&errands->list); e; e = next) {
		next = TAILQ_NEXT(e, link);
		if (!errand_waits(e, &sources) && !work_answer(e))
			errand_answer(e, &sources);
	}
	return !TAILQ_EMPTY(&errands->list);
}
