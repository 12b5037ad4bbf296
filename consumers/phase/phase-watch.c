/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace phase --watch: says what changes in an execution, as it goes on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/phase/phase.h"
#include "consumers/phase/watching.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* Of a file whose unit of time is not known: one in so many parts of its longest run. */
#define FILE_SPANS 40

#define SPAN_NS UINT64_C(1000000000)

struct phase_watch {
	struct phase *p;
	struct watching *watching; /* NULL: not begun */
	unsigned processes;
	bool said;	   /* blocks are those that the program says */
	int64_t first_ns;  /* of a run: the first entry's; times are since then, in s */
	int64_t passed_ns; /* entries before that have passed */
	double span;
	uint64_t late;
	struct watched before; /* by those that were begun anew */
};

/* ---- what has changed ---- */

static json_t *block_json(const struct phase *p, uint32_t block, double share)
{
	char where[PHASE_BLOCK];

	phase_block_text(p, block, where);
	return json_pack("{s:o,s:o,s:o}", "block", json_count(block), "where", json_text(where),
			 "share", json_figure(share));
}

static const char *const change_names[] = {
	[CHANGE_PROCESS] = "process", [CHANGE_SUBSET] = "subset", [CHANGE_TIME] = "time",
	[CHANGE_CLUMP] = "clump",     [CHANGE_ROUTE] = "route",
};

static json_t *route_json(const struct phase *p, const struct routes_fork *r)
{
	return json_pack("{s:b,s:o,s:o,s:o,s:o}", "begins", r->begins, "from",
			 block_json(p, r->from, 1), "to", block_json(p, r->to, r->share), "other",
			 block_json(p, r->other, r->other_share), "meets",
			 r->has_meets ? block_json(p, r->meets, -1) : json_null());
}

static void change_json(const struct phase_watch *w, const struct watching_change *c)
{
	json_t *blocks = json_array(), *change;
	bool clump = c->of == CHANGE_CLUMP, process = c->of == CHANGE_PROCESS;

	for (unsigned i = 0; i < 2 && process; i++)
		if (c->block[i].share > 0)
			json_array_append_new(
				blocks, block_json(w->p, c->block[i].block, c->block[i].share));
	if (clump)
		json_array_append_new(blocks, block_json(w->p, c->block[0].block, c->now));
	change = json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "figure", "change",
			   "of", change_names[c->of], "at", json_number(c->at), "at_ns",
			   json_time(w->first_ns ? w->first_ns + llround(c->at * 1e9) : 0), "run",
			   json_count(c->run), "process",
			   process ? json_count(c->process) : json_null(), "value",
			   json_number(c->now), "before", json_number(c->before), "unlikely",
			   json_number(c->unlikely), "off", json_number(c->off), "blocks", blocks);
	json_object_set_new(change, "route",
			    c->of == CHANGE_ROUTE ? route_json(w->p, &c->route) : json_null());
	json_print(change, stdout);
}

static void route_text(const struct phase *p, const struct routes_fork *r)
{
	char from[PHASE_BLOCK], to[PHASE_BLOCK], other[PHASE_BLOCK], meets[PHASE_BLOCK];

	phase_block_text(p, r->from, from);
	phase_block_text(p, r->to, to);
	phase_block_text(p, r->other, other);
	phase_block_text(p, r->meets, meets);
	if (!r->begins) {
		printf("no process goes from %s to %s any more; most go to %s", from, to, other);
		return;
	}
	printf("two routes from %s: to %s (%.2g of all), and to %s (%.2g)", from, to, r->share,
	       other, r->other_share);
	if (r->has_meets)
		printf("; they meet in %s", meets);
}

static void clump_text(const struct phase *p, const struct watching_change *c)
{
	char where[PHASE_BLOCK];

	phase_block_text(p, c->block[0].block, where);
	printf("most processes are in %s for %.2g of the time", where, c->now);
	if (isnan(c->before))
		printf(", from the beginning on");
	else
		printf(", before for %.2g", c->before);
}

static void bits_text(const struct phase *p, const struct watching_change *c)
{
	char where[PHASE_BLOCK];

	if (c->of == CHANGE_PROCESS)
		printf("the entropy of process %u", c->process);
	else
		printf("the entropy of the %s", change_names[c->of]);
	printf(" %s from %.3g to %.3g bits", c->now < c->before ? "falls" : "rises", c->before,
	       c->now);
	if (c->of == CHANGE_PROCESS && c->block[0].share <= 0)
		printf(": it enters no block");
	for (unsigned i = 0; i < 2 && c->of == CHANGE_PROCESS && c->block[i].share > 0; i++) {
		phase_block_text(p, c->block[i].block, where);
		printf("%s %s (%.2g)", i ? " and" : ": it enters", where, c->block[i].share);
	}
}

static void change_show(void *arg, const struct watching_change *c)
{
	const struct phase_watch *w = arg;

	if (w->p->follow.common.json) {
		change_json(w, c);
		return;
	}
	if (c->run > 1)
		printf("run %llu, ", (unsigned long long)c->run);
	printf("%.6g%s: ", c->at, w->first_ns ? " s" : "");
	if (c->of == CHANGE_ROUTE)
		route_text(w->p, &c->route);
	else if (c->of == CHANGE_CLUMP)
		clump_text(w->p, c);
	else
		bits_text(w->p, c);
	if (c->off > 0 && c->off >= fabs(c->now - c->before))
		printf(" (or nothing has changed: clocks are not known better)");
	printf("\n");
}

/* ---- watching ---- */

static void watch_add_up(struct phase_watch *w)
{
	struct watched now;

	if (!w->watching)
		return;
	now = watching_end(w->watching);
	w->before.spans += now.spans;
	w->before.entries += now.entries;
	w->before.left_out += now.left_out;
	w->before.borders += now.borders;
	w->before.off.share = fmax(w->before.off.share, now.off.share);
	w->before.off.time = fmax(w->before.off.time, now.off.time);
	w->before.off.subset = fmax(w->before.off.subset, now.off.subset);
	watching_free(w->watching);
	w->watching = NULL;
}

/* What is usual is learned anew. */
static void watch_begin(struct phase_watch *w, unsigned processes, double begin)
{
	struct watching_shape shape = {.processes = processes,
				       .begin = begin,
				       .span = w->span,
				       .start = w->p->start,
				       .subset = w->p->in_subset,
				       .tell = change_show,
				       .arg = w};

	watch_add_up(w);
	w->processes = processes;
	w->watching = watching_new(&shape);
}

static void watched_json(const struct phase_watch *w)
{
	const struct watched *n = &w->before;

	json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:{s:o,s:o,s:o}}", "figure",
			     "watched", "spans", json_count(n->spans), "span", json_figure(w->span),
			     "processes", json_count(w->processes), "entries",
			     json_count(n->entries), "late", json_count(w->late), "left_out",
			     json_count(n->left_out), "borders", json_count(n->borders), "off",
			     "share", json_number(n->off.share), "time", json_number(n->off.time),
			     "subset", json_number(n->off.subset)),
		   stdout);
}

static void watched_text(const struct phase_watch *w)
{
	const struct watched *n = &w->before;

	printf("%llu spans of %.3g%s of %u process%s were watched\n", (unsigned long long)n->spans,
	       w->span, w->first_ns ? " s" : "", w->processes, plural(w->processes, "es"));
	if (w->p->sites.n > 0)
		printf("blocks are numbered as their calls came, not by file and line as without "
		       "--watch\n");
	if (!(n->off.share > 0))
		return;
	printf("as clocks are not known better, in any span shares of the time are off by %.3g at "
	       "most,\nthe entropy of the time by %.3g bits",
	       n->off.share, n->off.time);
	if (w->p->in_subset)
		printf(", of the subset by %.3g", n->off.subset);
	printf("; %llu entr%s may be of the span beside\n", (unsigned long long)n->borders,
	       n->borders == 1 ? "y" : "ies");
}

static void watch_end(struct phase_watch *w)
{
	const struct watched *n = &w->before;

	watch_add_up(w);
	if (w->p->follow.common.json)
		watched_json(w);
	else
		watched_text(w);
	if (w->late > 0)
		fprintf(stderr,
			"evspace phase: %llu entries came later than a span, at the end of long "
			"calls; a longer --span has them in their place\n",
			(unsigned long long)w->late);
	if (n->left_out > 0)
		fprintf(stderr,
			"evspace phase: %llu entries are left out: there are too many "
			"different ones in a span\n",
			(unsigned long long)n->left_out);
}

/* ---- a run, or an archive ---- */

static void entry_take(void *arg, int64_t ns, double error_ns, unsigned process, uint32_t block)
{
	struct phase_watch *w = arg;

	w->late += ns < w->passed_ns;
	w->passed_ns = ns > w->passed_ns ? ns : w->passed_ns;
	watching_add(w->watching, (double)(w->passed_ns - w->first_ns) * 1e-9, error_ns * 1e-9,
		     process, block);
}

static int subset_fits(struct phase_watch *w, unsigned processes, struct error *e)
{
	struct phase *p = w->p;

	p->shape.processes = processes;
	free(p->in_subset);
	p->in_subset = NULL;
	return phase_subset_read(p, e);
}

/* What came up to @until_ns, as far as it begins. */
static void watch_until(struct phase_watch *w, int64_t until_ns)
{
	struct block_making *m = w->p->making;
	struct blocks_so_far so_far = blocks_of_events_so_far(m);
	struct error e;

	if (so_far.processes == 0 || so_far.first_ns >= until_ns)
		return;
	if (!w->watching)
		w->first_ns = w->passed_ns = so_far.first_ns;
	if (so_far.processes > w->processes || so_far.said != w->said) {
		if (subset_fits(w, so_far.processes, &e))
			fprintf(stderr, "evspace phase: %s, so far\n", e.text);
		w->said = so_far.said;
		watch_begin(w, so_far.processes, (double)(w->passed_ns - w->first_ns) * 1e-9);
	}
	blocks_of_events_drain(m, until_ns, &w->p->sites, entry_take, w);
}

static void watch_wave(struct phase_watch *w)
{
	const struct evspace_wave *wave = evspace_wave(w->p->follow.client);

	/* a call that takes longer than a span comes late */
	watch_until(w, (int64_t)((uint64_t)wave->taken_ns - (uint64_t)llround(w->span * 1e9)));
}

static int span_of_run(struct phase_watch *w, struct error *e)
{
	uint64_t ns = SPAN_NS;

	if (w->p->span && quantity_duration(w->p->span, QUANTITY_SECONDS, &ns, e))
		return error_prefix(e, "--span");
	if (ns == 0)
		return errorf(e, "--span: it is a time above 0");
	w->span = (double)ns * 1e-9;
	return 0;
}

int phase_watch_run(struct phase *p, const char *command, int *code, struct error *e)
{
	struct phase_watch w = {.p = p};

	if (span_of_run(&w, e))
		return -1;
	p->watching = &w;
	p->on_wave = watch_wave;
	*code = phase_live(p, command);
	if (p->came) {
		watch_until(&w, INT64_MAX);
		watch_end(&w);
	}
	p->watching = NULL;
	p->on_wave = NULL;
	watching_free(w.watching);
	return 0;
}

/* ---- a file ---- */

static int span_of_file(struct phase_watch *w, struct error *e)
{
	char *end;

	w->span = w->p->last / FILE_SPANS;
	if (!w->p->span)
		return w->span > 0 ? 0 : errorf(e, "all of it is at time 0");
	w->span = strtod(w->p->span, &end);
	if (end == w->p->span || *end || !(w->span > 0) || !isfinite(w->span))
		return errorf(e,
			      "--span %.60s: of a file it is a number above 0, in its unit of time",
			      w->p->span);
	return 0;
}

/* @here: the processes that have come in this run. */
static int entries_watch(struct phase_watch *w, struct entries *in, bool *here, struct error *e)
{
	unsigned n = 0;
	struct entry entry;
	double time = 0;
	int got;

	while ((got = entries_next(in, &entry, e)) > 0) {
		if (entry.time < time) {
			if (n < w->processes)
				return entries_unsorted(in, w->processes, e);
			watching_run(w->watching);
			memset(here, 0, w->processes * sizeof(*here));
			n = 0;
		}
		time = entry.time;
		n += !here[entry.process];
		here[entry.process] = true;
		watching_add(w->watching, time, entry.bound, entry.process, entry.block);
	}
	return got;
}

int phase_watch_file(struct phase *p, struct entries *in, struct error *e)
{
	struct phase_watch w = {.p = p};
	bool *here;
	int rc;

	if (span_of_file(&w, e))
		return -1;
	here = memory_new(p->shape.processes, sizeof(*here));
	watch_begin(&w, p->shape.processes, 0);
	entries_rewind(in);
	rc = entries_watch(&w, in, here, e);
	if (rc == 0)
		watch_end(&w);
	watching_free(w.watching);
	free(here);
	return rc;
}
