/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what waves bring, and turns their runs into events, totals, bins, medians, cells and
 * classes. */
#include "consumers/client/client.h"

#include <stdlib.h>
#include <string.h>

#include "tree/data/names-comm.h"
#include "tree/data/op.h"
#include "tree/data/signature.h"

/* ---- counting ---- */

static void count_part(struct evspace_wave *w, const struct part *p)
{
	w->processes += p->processes;
	w->unreadable += p->unreadable;
	w->elements += p->elements;
	w->written += p->written;
	w->cost_ns += p->cost_ns;
}

uint32_t client_count_wave(struct evspace_client *c, struct client_answer *a)
{
	struct evspace_counts *n = &c->counts;
	struct batch_cursor cursor = {0};
	struct run_view run;
	uint32_t cpu_us = 0;

	while (batch_next_part(&a->batch, &cursor, &run)) {
		if (run.run->flags & RUN_FOLD)
			continue;
		count_part(&a->wave, run.part);
		if (run.part->cpu_us > cpu_us)
			cpu_us = run.part->cpu_us;
	}
	n->waves++;
	n->again += a->wave.again ? 1 : 0;
	n->cpu_us += a->wave.cpu_us;
	n->delivered += a->sums.tuples;
	n->read += a->sums.read;
	n->lost += a->sums.lost;
	n->discarded += a->sums.discarded;
	n->filtered += a->sums.filtered;
	n->reduced += a->sums.reduced;
	c->sampled += a->sums.sampled;
	n->repeated += a->sums.repeated;
	n->unaccounted += a->sums.unaccounted;
	evspace_rewind(c);
	return cpu_us;
}

void evspace_rewind(struct evspace_client *c)
{
	c->cursor = (struct batch_cursor){0};
	c->at_run = (struct run_view){0};
	c->record = 0;
	c->first_read_ns = 0;
}

void evspace_counts(struct evspace_client *c, struct evspace_counts *counts)
{
	const struct evspace_connection *on = c->connection;
	uint64_t sent = 0, received = 0;

	*counts = c->counts;
	if (on->link)
		link_bytes(on->link, &sent, &received);
	counts->sent_bytes = on->bytes_sent + sent;
	counts->received_bytes = on->bytes_received + received;
	counts->unpacked_bytes = on->bytes_unpacked + (on->link ? link_unpacked(on->link) : 0);
	counts->leaves = (unsigned)delivery_leaves(c->delivery);
	counts->seconds = c->begun_ns ? (double)(clock_mono_ns() - c->begun_ns) * 1e-9 : 0;
	counts->unaccounted += delivery_unaccounted(c->delivery);
	counts->owing += (unsigned)delivery_owed(c->delivery);
	counts->unreadable += (unsigned)delivery_unreadable(c->delivery);
}

uint64_t evspace_sampled(const struct evspace_client *c)
{
	return c->sampled;
}

int evspace_leaf(const struct evspace_client *c, size_t i, struct evspace_leaf *leaf)
{
	const struct delivery_leaf *l = delivery_leaf(c->delivery, i);

	if (!l)
		return 0;
	*leaf = (struct evspace_leaf){
		.name = l->name,
		.read = l->sums.read,
		.lost = l->sums.lost,
		.discarded = l->sums.discarded,
		.filtered = l->sums.filtered,
		.reduced = l->sums.reduced,
		.owing = l->owed.n > 0,
		.unreadable = l->unreadable,
	};
	return 1;
}

/* ---- reading ---- */

/* The base of a clock line is the time when the host was read. */
static void part_enter(struct evspace_client *c)
{
	int64_t read_ns;

	c->part = *c->at_run.part;
	read_ns = c->part.clock.base_ns;
	if (!(c->at_run.run->flags & RUN_FOLD) && (!c->first_read_ns || read_ns < c->first_read_ns))
		c->first_read_ns = read_ns;
	c->read_ns = c->at_run.run->flags & RUN_FOLD ? c->first_read_ns : read_ns;
}

/* The next record of this kind in the current wave; NULL at the end. */
static const void *client_record(struct evspace_client *c, enum run_kind kind)
{
	while (c->taken.here) {
		if (c->at_run.run && c->at_run.run->kind == kind &&
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

/* The text of a name and, unless NULL, its rank; "?" and -1 if it is unknown. */
static const char *client_name(const struct evspace_client *c, uint32_t element, int32_t *rank)
{
	const struct name *n = names_find(c->names, element);

	if (rank)
		*rank = n ? n->rank : -1;
	return n ? n->text : "?";
}

int evspace_event(struct evspace_client *c, struct evspace_event *event)
{
	const struct tuple *t = client_record(c, RUN_TUPLES);
	int64_t start_ns;

	if (!t)
		return 0;
	start_ns = clock_line_ns(&c->part.clock, t->start);
	*event = (struct evspace_event){
		.number = run_number(c->at_run.run, c->record - 1),
		.start_ns = start_ns,
		.end_ns = t->end && !(t->flags & TUPLE_RUNNING)
				  ? clock_line_ns(&c->part.clock, t->end)
				  : 0,
		.error_ns = clock_error_ns(c->part.clock.error_ns,
					   (double)c->read_ns - (double)start_ns),
		.read_ns = c->read_ns,
		.op = op_name(t->op),
		.op_number = t->op,
		.flags = t->flags,
		.peer = signature_peer(t),
		.seq_or_tag = t->seq_or_tag,
		.comm = t->comm,
		.bytes = t->bytes,
		.signature = t->peer,
	};
	event->name = client_name(c, c->at_run.run->element, &event->rank);
	return 1;
}

int evspace_collective(const struct evspace_client *c, const struct evspace_event *event,
		       struct evspace_collective *collective)
{
	const struct tuple t = {.op = event->op_number, .peer = event->signature};
	const struct signature s = signature_of(&t);
	const struct name_comm *m = names_comm_find(c->names, event->comm);

	if (!op_is_collective(t.op))
		return 0;
	*collective = (struct evspace_collective){
		.root = s.root,
		.reduction = s.reduction,
		.type = s.type,
		.type_bytes = s.type_bytes,
		.size = s.tasks ? s.tasks
			: m	? m->size
				: 0,
		.here = s.here,
	};
	return 1;
}

int evspace_loss(struct evspace_client *c, struct evspace_loss *loss)
{
	while (c->taken.here && batch_next(&c->taken.batch, &c->cursor, &c->at_run)) {
		if (c->at_run.run->kind == RUN_PART)
			part_enter(c);
		if ((c->at_run.run->kind != RUN_TUPLES && c->at_run.run->kind != RUN_TYPED) ||
		    c->at_run.lost == 0)
			continue;
		*loss = (struct evspace_loss){
			.first = c->at_run.run->first - c->at_run.lost,
			.lost = c->at_run.lost,
			.discarded = (c->at_run.run->flags & RUN_DISCARDED) != 0,
		};
		loss->name = client_name(c, c->at_run.run->element, &loss->rank);
		return 1;
	}
	c->at_run.run = NULL;
	return 0;
}

int evspace_total(struct evspace_client *c, struct evspace_total *total)
{
	const struct total *t = client_record(c, RUN_TOTALS);

	if (!t)
		return 0;
	*total = (struct evspace_total){
		.name = client_name(c, c->at_run.run->element, NULL),
		.op = t->op ? op_name(t->op) : "",
		.comm = t->comm,
		.what = t->value == TOTAL_BYTES ? "bytes" : "duration",
		.fold = total_fold_name(t->fold),
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

const char *evspace_label(const struct evspace_client *c, uint32_t seq_or_tag)
{
	return names_label_find(c->names, seq_or_tag);
}

const char *evspace_host(const struct evspace_client *c, int32_t place)
{
	const struct delivery_leaf *l =
		place >= 0 ? delivery_leaf_at(c->delivery, (uint32_t)place % PLAN_PLACES) : NULL;

	return l ? l->name : NULL;
}

const char *evspace_op_name(uint16_t op)
{
	return op_name(op);
}

int evspace_is_world(const struct evspace_client *c, uint32_t comm)
{
	return names_comm_is_world(names_comm_find(c->names, comm));
}

/* ---- records of stages that fold ---- */

int evspace_is_stream(const struct evspace_client *c)
{
	return c->reading == READ_STREAM && !c->newest;
}

int evspace_bin(struct evspace_client *c, struct evspace_bin *bin)
{
	const struct bin *b = client_record(c, RUN_BINS);

	if (!b)
		return 0;
	*bin = (struct evspace_bin){
		.name = client_name(c, c->at_run.run->element, NULL),
		.op = b->op ? op_name(b->op) : "",
		.comm = b->comm,
		.what = total_value_name(bin_value(b)),
		.low = bin_low(bin_place(b)),
		.high = bin_high(bin_place(b)),
		.count = b->count,
		.sum = b->sum,
		.most = b->most,
	};
	return 1;
}

int evspace_median(struct evspace_client *c, struct evspace_median *median)
{
	const struct median *m = client_record(c, RUN_MEDIANS);

	while (m && m->all == 0)
		m = client_record(c, RUN_MEDIANS);
	if (!m)
		return 0;
	*median = (struct evspace_median){
		.name = client_name(c, c->at_run.run->element, NULL),
		.op = m->bin.op ? op_name(m->bin.op) : "",
		.comm = m->bin.comm,
		.what = total_value_name(bin_value(&m->bin)),
		.value = median_value(m),
		.low = bin_low(bin_place(&m->bin)),
		.high = m->bin.most,
		.count = m->all,
	};
	return 1;
}

int evspace_cell(struct evspace_client *c, struct evspace_cell *cell)
{
	const struct cell *m = client_record(c, RUN_CELLS);

	if (!m)
		return 0;
	*cell = (struct evspace_cell){
		.name = client_name(c, c->at_run.run->element, NULL),
		.from_rank = m->named & CELL_FROM_NAMED ? -1 : (int32_t)m->from,
		.to_rank = m->named & CELL_TO_NAMED ? -1 : (int32_t)m->to,
		.calls = m->calls,
		.bytes = m->bytes,
	};
	if (m->named & CELL_FROM_NAMED)
		cell->from = client_name(c, m->from, NULL);
	if (m->named & CELL_TO_NAMED)
		cell->to = client_name(c, m->to, NULL);
	return 1;
}

int evspace_meeting(struct evspace_client *c, struct evspace_meeting *meeting)
{
	const struct meet *record = client_record(c, RUN_MEETS);
	const struct name_comm *comm;
	struct signature s;
	struct meet m;

	if (!record)
		return 0;
	m = *record;
	meet_to_ns(&m, &c->part.clock);
	comm = names_comm_find(c->names, m.comm);
	s = signature_of(&(struct tuple){.op = m.op, .peer = m.signature});
	*meeting = (struct evspace_meeting){
		.name = client_name(c, c->at_run.run->element, NULL),
		.comm = m.comm,
		.number = m.number,
		.count = m.count,
		.size = s.tasks ? s.tasks
			: comm	? comm->size
				: 0,
		.op = op_name(m.op),
		.op_number = m.op,
		.magnitude = m.magnitude,
		.mixed = m.flags & MEET_MIXED ? 1 : 0,
		.root = s.root,
		.start_ns = (int64_t)m.start,
		.before_ns = (int64_t)m.before,
		.last_ns = (int64_t)m.last,
		.end_ns = (int64_t)m.end,
		.last_end_ns = (int64_t)m.last_end,
		.waited_ns = m.waited,
		.bytes = m.bytes,
		.error_ns = clock_error_ns(c->part.clock.error_ns,
					   (double)c->read_ns - (double)m.start),
		.hosts = m.flags & MEET_HOSTS ? 1 : 0,
	};
	meeting->who = client_name(c, m.who, &meeting->rank);
	return 1;
}

int evspace_class(struct evspace_client *c, struct evspace_class *class_of)
{
	const struct count *n = client_record(c, RUN_COUNTS);

	if (!n)
		return 0;
	*class_of = (struct evspace_class){
		.name = client_name(c, c->at_run.run->element, NULL),
		.channel = n->channel == COUNT_ALL_CHANNELS ? "" : channel_name(n->channel),
		.comm = n->comm,
		.calls = n->calls,
		.bytes = n->bytes,
		.time_ns = n->time_ns,
		.skipped = n->skipped,
	};
	return 1;
}

int evspace_foreign(struct evspace_client *c, struct evspace_foreign *record)
{
	const struct foreign *words = client_record(c, RUN_FOREIGN);

	if (!words)
		return 0;
	/* the run's head, which was checked with the batch */
	if (c->record == 1) {
		foreign_read(words, c->at_run.run->count, &c->foreign);
		words += FOREIGN_HEAD;
		c->record += FOREIGN_HEAD;
	}
	c->record += c->foreign.words - 1;
	*record = (struct evspace_foreign){
		.name = client_name(c, c->at_run.run->element, NULL),
		.kind = c->foreign.name,
		.words = &words->word,
		.n_words = c->foreign.words,
		.keyed = c->foreign.keyed,
	};
	return 1;
}

/* ---- elements of programs ---- */

/* Begin with the run that the client is at the first word of. Returns its first tuple, NULL: it has
 * none. */
static const struct typed_word *typed_enter(struct evspace_client *c)
{
	struct typed_word *words = c->at_run.typed_words;
	uint32_t count = c->at_run.run->count;

	c->record = count;
	typed_own(words, count);
	if (!typed_read(&c->typed, words, count) || c->typed.n == 0)
		return NULL;
	c->record = (uint32_t)(c->typed.tuples - words) + 1;
	return c->typed.tuples;
}

int evspace_typed(struct evspace_client *c, struct evspace_typed *typed)
{
	const struct typed_word *tuple;
	int64_t time_ns;

	do {
		tuple = client_record(c, RUN_TYPED);
		if (!tuple)
			return 0;
		if (c->record == 1)
			tuple = typed_enter(c);
	} while (!tuple);
	c->record += c->typed.words - 1;
	time_ns = typed_ticks(tuple) ? clock_line_ns(&c->part.clock, typed_ticks(tuple)) : 0;
	*typed = (struct evspace_typed){
		.number = run_number(c->at_run.run,
				     (uint32_t)(tuple - c->typed.tuples) / c->typed.words),
		.time_ns = time_ns,
		.error_ns = clock_error_ns(c->part.clock.error_ns,
					   (double)c->read_ns - (double)time_ns),
		.fields = c->typed.text,
		.tuple = typed_fields(tuple),
		.bytes = c->typed.fields.bytes,
	};
	typed->name = client_name(c, c->at_run.run->element, &typed->rank);
	return 1;
}

int evspace_figure(struct evspace_client *c, struct evspace_figure *figure)
{
	const struct field_figure *f = client_record(c, RUN_FIGURES);

	if (!f)
		return 0;
	*figure = (struct evspace_figure){
		.name = client_name(c, c->at_run.run->element, NULL),
		.field = f->field,
		.fold = total_fold_name(f->fold),
		.count = f->count,
		.sum = f->mean * (double)f->count,
		.min = f->min,
		.max = f->max,
		.mean = f->mean,
		.variance = f->m2 / (double)f->count,
	};
	return 1;
}
