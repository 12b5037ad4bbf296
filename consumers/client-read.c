/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what waves bring, drops what came before, and turns runs into events and totals. */
#include "consumers/client.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "tree/op.h"

/* Our own mark on a part, in the batch that is ours alone: it has come before, skip what follows.
 */
#define RUN_SKIP 0x80u

struct client_count {
	uint32_t element;
	uint64_t first, end; /* numbers seen: [first, end) … */
	uint64_t sum;	     /* … and how many of them were delivered or lost */
	UT_hash_handle hh;
};

/* ---- counting ---- */

static bool part_is_new(struct evspace_client *c, uint32_t index, uint64_t wave)
{
	if (c->reading != READ_STREAM)
		return true;
	for (size_t i = 0; i < c->n_leaves; i++) {
		uint64_t *seen = &c->leaves[i].seen[wave % CLIENT_SEEN];

		if (c->leaves[i].index != index)
			continue;
		if (*seen == wave)
			return false;
		*seen = wave;
		return true;
	}
	return true;
}

static void count_run(struct evspace_client *c, const struct run_view *run)
{
	uint64_t first = run->run->first - run->lost, n = run->run->count + run->lost;
	struct client_count *e;

	c->counts.delivered += run->run->count;
	if (c->reading != READ_STREAM || (run->run->flags & RUN_SPARSE))
		return;
	HASH_FIND(hh, c->elements, &run->run->element, sizeof(uint32_t), e);
	if (!e) {
		e = calloc(1, sizeof(*e));
		if (!e)
			abort();
		e->element = run->run->element;
		e->first = first;
		HASH_ADD(hh, c->elements, element, sizeof(uint32_t), e);
	}
	e->first = first < e->first ? first : e->first;
	e->end = first + n > e->end ? first + n : e->end;
	e->sum += n;
}

static void count_part(struct evspace_client *c, struct evspace_wave *w, const struct part *p)
{
	w->processes += p->processes;
	w->elements += p->elements;
	w->written += p->written;
	w->cost_ns += p->cost_ns;
	c->counts.read += p->read;
	c->counts.lost += p->lost;
	c->counts.filtered += p->filtered;
	c->counts.reduced += p->reduced;
}

void client_count_wave(struct evspace_client *c, struct client_answer *a)
{
	struct batch_cursor cursor = {0};
	struct run_view run;
	bool skip = false, any_skipped = false;

	c->counts.waves++;
	c->counts.again += a->wave.again ? 1 : 0;
	c->counts.cpu_us += a->wave.cpu_us;
	while (batch_next(&a->batch, &cursor, &run)) {
		if (run.run->kind == RUN_PART) {
			/* A mark joins parts before it: it is new if all of them are. */
			skip = run.run->flags & RUN_FOLD
				       ? any_skipped
				       : !part_is_new(c, run.run->element, run.run->first);
			any_skipped = any_skipped || skip;
			if (skip)
				run.run->flags |= RUN_SKIP;
			else
				count_part(c, &a->wave, run.part);
		} else if (!skip && run.run->kind == RUN_TUPLES) {
			count_run(c, &run);
		}
	}
	evspace_rewind(c);
}

void evspace_rewind(struct evspace_client *c)
{
	c->cursor = (struct batch_cursor){0};
	c->at_run = (struct run_view){0};
	c->record = 0;
	c->skipping = false;
	c->first_read_ns = 0;
}

void client_counts_fini(struct evspace_client *c)
{
	struct client_count *e, *next;

	HASH_ITER(hh, c->elements, e, next)
	{
		HASH_DEL(c->elements, e);
		free(e);
	}
}

void evspace_counts(struct evspace_client *c, struct evspace_counts *counts)
{
	const struct client_count *e;
	uint64_t sent = 0, received = 0;

	*counts = c->counts;
	if (c->link)
		link_bytes(c->link, &sent, &received);
	counts->sent_bytes = c->bytes_sent + sent;
	counts->received_bytes = c->bytes_received + received;
	counts->leaves = (unsigned)c->n_leaves;
	counts->seconds = c->begun_ns ? (double)(clock_mono_ns() - c->begun_ns) * 1e-9 : 0;
	/* Where stages take tuples out, numbers have gaps that are counted elsewhere. */
	if (counts->filtered || counts->reduced)
		return;
	for (e = c->elements; e; e = e->hh.next)
		counts->unaccounted += e->end - e->first > e->sum ? e->end - e->first - e->sum
								  : e->sum - (e->end - e->first);
}

/* ---- reading ---- */

/* A clock line is taken when a host is read: its base says when. */
static void part_enter(struct evspace_client *c)
{
	int64_t read_ns;

	c->part = *c->at_run.part;
	c->skipping = c->at_run.run->flags & RUN_SKIP;
	read_ns = c->part.clock.base_ns;
	if (!(c->at_run.run->flags & RUN_FOLD) && (!c->first_read_ns || read_ns < c->first_read_ns))
		c->first_read_ns = read_ns;
	c->read_ns = c->at_run.run->flags & RUN_FOLD ? c->first_read_ns : read_ns;
}

/* The next record of this kind in the current wave; NULL at the end. */
static const void *next_record(struct evspace_client *c, enum run_kind kind)
{
	while (c->taken.here) {
		if (c->at_run.run && c->at_run.run->kind == kind && !c->skipping &&
		    c->record < c->at_run.run->count)
			return c->at_run.records + run_record_bytes(kind) * c->record++;
		if (!batch_next(&c->taken.batch, &c->cursor, &c->at_run))
			break;
		c->record = 0;
		if (c->at_run.run->kind != RUN_PART)
			continue;
		part_enter(c);
	}
	c->at_run.run = NULL;
	return NULL;
}

static const char *name_text(const struct evspace_client *c, uint32_t element, int32_t *rank)
{
	const struct name *n = names_find(c->names, element);

	if (rank)
		*rank = n ? n->rank : -1;
	return n ? n->text : "?";
}

int evspace_event(struct evspace_client *c, struct evspace_event *event)
{
	const struct tuple *t = next_record(c, RUN_TUPLES);

	if (!t)
		return 0;
	*event = (struct evspace_event){
		.name = name_text(c, c->at_run.run->element, &event->rank),
		.number = c->at_run.run->first + c->record - 1,
		.start_ns = clock_line_ns(&c->part.clock, t->start),
		.end_ns = t->flags & TUPLE_RUNNING ? 0 : clock_line_ns(&c->part.clock, t->end),
		.error_ns = c->part.clock.error_ns,
		.read_ns = c->read_ns,
		.op = op_name(t->op),
		.op_number = t->op,
		.flags = t->flags,
		.peer = t->peer,
		.seq_or_tag = t->seq_or_tag,
		.comm = t->comm,
		.bytes = t->bytes,
	};
	name_text(c, c->at_run.run->element, &event->rank);
	return 1;
}

int evspace_total(struct evspace_client *c, struct evspace_total *total)
{
	static const char *const folds[] = {
		[FOLD_COUNT] = "count", [FOLD_SUM] = "sum",   [FOLD_MIN] = "min",
		[FOLD_MAX] = "max",	[FOLD_MEAN] = "mean", [FOLD_VARIANCE] = "variance",
	};
	const struct total *t = next_record(c, RUN_TOTALS);

	if (!t)
		return 0;
	*total = (struct evspace_total){
		.name = name_text(c, c->at_run.run->element, NULL),
		.op = t->op ? op_name(t->op) : "",
		.comm = t->comm,
		.what = t->value == TOTAL_BYTES ? "bytes" : "duration",
		.fold = t->fold < FOLD_COUNT_OF_KINDS ? folds[t->fold] : "?",
		.count = t->count,
		.sum = t->sum,
		.min = t->min,
		.max = t->max,
		.mean = t->mean,
		.variance = t->count ? t->m2 / (double)t->count : 0,
	};
	return 1;
}

size_t evspace_members(const struct evspace_client *c, uint32_t comm, int32_t *members, size_t room)
{
	const struct name_comm *m = names_comm_find(c->names, comm);

	if (!m)
		return 0;
	for (uint32_t i = 0; i < m->size && i < room; i++)
		members[i] = m->members ? m->members[i] : m->world ? (int32_t)i : -1;
	return m->size;
}

int evspace_is_world(const struct evspace_client *c, uint32_t comm)
{
	const struct name_comm *m = names_comm_find(c->names, comm);

	return m && m->world;
}
