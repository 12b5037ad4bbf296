/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the latest time of two processes, as one is not compared with itself. */
#include "consumers/phase/doubt.h"

#include <math.h>
#include <stdlib.h>

/* Changes of a span that are looked at, 16 MB. */
#define CHANGES_MOST (1u << 20)

void doubt_begin(struct doubt *d)
{
	d->last = d->other = (struct doubt_reach){.until = -INFINITY};
}

static void reach_add(struct doubt *d, double until, unsigned process)
{
	struct doubt_reach *to = process == d->last.process ? &d->last : &d->other;

	if (until <= to->until)
		return;
	if (to == &d->other && until > d->last.until) {
		d->other = d->last;
		to = &d->last;
	}
	*to = (struct doubt_reach){until, process};
}

bool doubt_add(struct doubt *d, double time, double bound, unsigned process)
{
	const struct doubt_reach *before = process == d->last.process ? &d->other : &d->last;
	bool unsure = time - bound < before->until;

	reach_add(d, time + bound, process);
	return unsure;
}

/* ---- a span ---- */

/* The first change that may be as late as @time, or one before it. */
static size_t first_until(const struct doubt_span *s, double time)
{
	size_t from = 0, to = s->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (s->changes[mid].until > time)
			to = mid;
		else
			from = mid + 1;
	}
	return from;
}

void doubt_span_add(struct doubt_span *s, double time, double bound, unsigned process)
{
	bool unsure = doubt_add(&s->doubt, time, bound, process);
	size_t from = unsure ? first_until(s, time - bound) : s->n;
	double until = time + bound;

	if (s->n == CHANGES_MOST) {
		s->further++;
		return;
	}
	if (s->n > 0)
		until = fmax(until, s->changes[s->n - 1].until);
	s->before += unsure && from == s->n;
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		s->changes = reallocarray(s->changes, s->room, sizeof(*s->changes));
		if (!s->changes)
			abort();
	}
	s->changes[s->n++] = (struct doubt_change){until, (uint32_t)from};
}

size_t doubt_span_all(const struct doubt_span *s)
{
	return s->n + s->further;
}

size_t doubt_span_unknown(const struct doubt_span *s)
{
	size_t n = s->before + s->further, first = s->n;

	/* is there one behind it that may be before it? */
	for (size_t i = s->n; i-- > 0;) {
		n += first <= i;
		first = s->changes[i].from < first ? s->changes[i].from : first;
	}
	return n < doubt_span_all(s) ? n : doubt_span_all(s);
}

void doubt_span_next(struct doubt_span *s)
{
	s->n = s->before = s->further = 0;
}

void doubt_span_fini(struct doubt_span *s)
{
	free(s->changes);
	*s = (struct doubt_span){0};
}

double doubt_bits(double share, double kinds)
{
	if (!(share > 0) || kinds < 2)
		return 0;
	if (share >= 1 - 1 / kinds)
		return log2(kinds);
	return share * log2(kinds - 1) - share * log2(share) - (1 - share) * log2(1 - share);
}
