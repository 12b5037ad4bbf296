/* SPDX-License-Identifier: BSD-3-Clause */
/* Meets: of one tuple, merged, converted, checked. */
#include "tree/data/meet.h"

#include "tree/data/op.h"
#include "tree/data/signature.h"

#define MAGNITUDE_MOST 64u

bool meet_take(struct meet *meet, const struct tuple *t, uint32_t who)
{
	const unsigned none =
		TUPLE_RUNNING | TUPLE_COMPLETION | TUPLE_GONE | TUPLE_FAILED | TUPLE_UNNUMBERED;
	uint64_t end = t->end > t->start ? t->end : t->start;

	if (!op_is_collective(t->op) || !t->end || !t->comm || t->flags & none)
		return false;
	*meet = (struct meet){
		.start = t->start,
		.before = t->start,
		.last = t->start,
		.end = end,
		.last_end = end,
		.bytes = t->bytes,
		.comm = t->comm,
		.number = t->seq_or_tag,
		.count = 1,
		.who = who,
		.signature = signature_common(t),
		.op = t->op,
	};
	for (uint64_t left = t->bytes; left; left >>= 1)
		meet->magnitude++;
	return true;
}

/* ---- clocks ---- */

/* What a damaged ring or a peer says is brought into order, so that it stays sound. */
static uint64_t time_to_ns(const struct clock_line *line, uint64_t ticks, uint64_t least)
{
	int64_t ns = clock_line_ns(line, ticks);

	return ns > 0 && (uint64_t)ns > least ? (uint64_t)ns : least;
}

void meet_to_ns(struct meet *m, const struct clock_line *line)
{
	double waited = (double)m->waited * line->ns_per_tick + 0.5;

	m->start = time_to_ns(line, m->start, 0);
	m->before = time_to_ns(line, m->before, m->start);
	m->last = time_to_ns(line, m->last, m->before);
	m->end = time_to_ns(line, m->end, m->start);
	m->last_end = time_to_ns(line, m->last_end, m->end);
	if (m->last_end < m->last)
		m->last_end = m->last;
	if (line->ns_per_tick != 1)
		m->waited = waited < 9e18 ? (uint64_t)waited : (uint64_t)INT64_MAX;
}

/* ---- merging ---- */

static bool is_later(const struct meet *a, const struct meet *b)
{
	return a->last != b->last ? a->last > b->last : a->who > b->who;
}

/* Make @m one whose last start is that of @late. */
static void waited_until(struct meet *m, const struct meet *late)
{
	m->waited += m->count * (late->last - m->last);
}

void meet_merge(void *into, const void *of)
{
	struct meet *to = into, from = *(const struct meet *)of;
	const struct meet late = is_later(to, &from) ? *to : from;
	const struct meet early = is_later(to, &from) ? from : *to;

	waited_until(to, &late);
	waited_until(&from, &late);
	to->waited += from.waited;
	to->before = late.count > 1 && late.before > early.last ? late.before : early.last;
	to->last = late.last;
	to->who = late.who;
	to->start = from.start < to->start ? from.start : to->start;
	to->end = from.end < to->end ? from.end : to->end;
	to->last_end = from.last_end > to->last_end ? from.last_end : to->last_end;
	to->bytes += from.bytes;
	if (__builtin_add_overflow(to->count, from.count, &to->count))
		to->count = UINT32_MAX;
	to->magnitude = from.magnitude > to->magnitude ? from.magnitude : to->magnitude;
	to->signature = from.signature == to->signature ? to->signature : TUPLE_NO_PEER;
	to->flags |= from.flags | (from.op != to->op ? MEET_MIXED : 0);
	to->op = from.op < to->op ? from.op : to->op;
}

bool meet_sound(const void *record)
{
	const struct meet *m = record;

	return m->start <= m->before && m->before <= m->last && m->start <= m->end &&
	       m->end <= m->last_end && m->last <= m->last_end && m->count > 0 &&
	       m->magnitude <= MAGNITUDE_MOST && !(m->flags & ~(MEET_HOSTS | MEET_MIXED));
}
