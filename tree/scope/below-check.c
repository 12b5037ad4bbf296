/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that an answer speaks for leaves and elements of its part of the tree alone. */
#include "tree/scope/below.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/columns.h"

static int stranger(uint32_t leaf, struct error *e)
{
	errno = EPROTO;
	return errorf(e, "refused: its answer speaks for leaf %u, which is not below it", leaf);
}

/* No wave drops more tuples of a host, so that sums fit (struct part). */
#define FILTERED_MOST (UINT64_C(1) << 40)

/* How many runs, and ranges of leaves, to check before looking at the clock. */
#define RUNS_AT_ONCE 4096u

/* An answer speaks once for a leaf: says that it is missing, or brings its part. */
static int leaf_check(struct below_spoken *s, uint32_t leaf, struct error *e)
{
	size_t at = below_first(s->below, leaf);

	errno = EPROTO;
	if (!below_has(s->below, leaf))
		return stranger(leaf, e);
	if (s->of[at])
		return errorf(e, "refused: its answer speaks for leaf %u twice", leaf);
	s->of[at] = true;
	return 0;
}

static int missing_check(struct below_spoken *s, struct error *e)
{
	const Evspace__Answer *answer = s->answer;
	size_t n = s->below->n;

	errno = EPROTO;
	if (answer->n_missing > n || answer->leaves > n - answer->n_missing)
		return errorf(e,
			      "refused: its answer has %u leaves and lacks %zu, but %zu are "
			      "below it",
			      answer->leaves, answer->n_missing, n);
	for (size_t i = 0; i < answer->n_missing; i++) {
		if (leaf_check(s, answer->missing[i]->leaf, e) < 0)
			return -1;
	}
	return 0;
}

/* A part must be of the wave that is answered, whether asked for the first time or again. The
 * leaves of a folded one come behind it. */
static int part_check(struct below_spoken *s, const struct run_view *view, struct error *e)
{
	bool is_folded = view->run->flags & RUN_MANY;

	errno = EPROTO;
	if (view->run->flags & RUN_LOST && !s->below->sampled)
		return errorf(e, "refused: its answer has counts of what was sampled out, which "
				 "nobody asked for");
	if (view->part->filtered > FILTERED_MOST)
		return errorf(e, "refused: its answer has filtered %llu tuples, more than can be",
			      (unsigned long long)view->part->filtered);
	if (view->run->flags & RUN_FOLD) {
		if (view->part->elements > s->parts)
			return errorf(e, "refused: its answer has a mark over %u parts behind %zu",
				      view->part->elements, s->parts);
		s->parts = 0;
		return 0;
	}
	if (view->run->first != s->answer->wave)
		return errorf(e, "refused: its answer to wave %llu has a part of wave %llu",
			      (unsigned long long)s->answer->wave,
			      (unsigned long long)view->run->first);
	if (is_folded && !s->below->folds)
		return errorf(e, "refused: its answer has a folded part, which nobody asked for");
	s->parts++;
	s->leaves += !is_folded;
	return is_folded ? 0 : leaf_check(s, view->run->element, e);
}

/* All places of the ranges must be there. How many leaves they have is no matter for the time it
 * takes. */
static int leaves_check(struct below_spoken *s, const struct run_view *view, struct error *e)
{
	const struct below *below = s->below;

	for (unsigned i = 0; i < view->run->count; i++) {
		const struct leaf_range *range = &view->leaf_ranges[i];
		size_t from = below_first(below, range->from), n;
		const bool *twice;

		if (!below_places(below, range->from, range->count))
			return stranger(range->from, e);
		n = below_first(below, range->from + range->count) - from;
		twice = memchr(s->of + from, 1, n);
		errno = EPROTO;
		if (twice)
			return errorf(e, "refused: its answer speaks for leaf %u twice",
				      below->leaves[twice - s->of]);
		memset(s->of + from, 1, n);
		s->leaves += (uint32_t)n;
	}
	return 0;
}

/* What a run holds, open or not. */
static struct columns run_holds(const struct run_view *view)
{
	return view->run->kind == RUN_COLUMNS ? columns_head(view->records)
					      : (struct columns){view->run->kind, view->run->count};
}

static bool run_is_below(const struct below *below, const struct names *names,
			 const struct run *run, const struct columns *holds)
{
	const struct name *name;

	if (below_names(below, run->element))
		return holds->kind != RUN_NEWEST ||
		       name_place(run->element) == name_place(run->element + holds->count - 1);
	name = holds->kind == RUN_NEWEST ? NULL : names_find(names, run->element);
	return name && name->level > LEVEL_ELEMENT && below_spells(below, name);
}

/* Returns 1 when it is time for others. */
static int runs_check(struct below_spoken *s, const struct names *names, const struct batch *body,
		      uint64_t until_ns, struct error *e)
{
	struct run_view view;
	unsigned left = RUNS_AT_ONCE;

	while (batch_next_packed(body, &s->at, &view)) {
		const struct run *run = view.run;
		struct columns holds = run_holds(&view);
		unsigned work = run->kind == RUN_LEAVES ? run->count : 1;

		if (run->kind == RUN_PART) {
			if (part_check(s, &view, e) < 0)
				return -1;
		} else if (run->kind == RUN_LEAVES) {
			if (leaves_check(s, &view, e) < 0)
				return -1;
		} else if (run->kind == RUN_WORST) {
			continue; /* of the leaves before it */
		} else if (holds.kind == RUN_NEWEST || name_place(run->element) + 1 != s->good) {
			if (!run_is_below(s->below, names, run, &holds))
				return stranger(name_place(run->element), e);
			s->good = below_names(s->below, run->element) ? name_place(run->element) + 1
								      : 0;
		}
		left = left > work ? left - work : 0;
		if (left == 0 && clock_mono_ns() >= until_ns)
			return 1;
		if (left == 0)
			left = RUNS_AT_ONCE;
	}
	return 0;
}

static int body_check(struct below_spoken *s, const struct names *names, const struct batch *body,
		      uint64_t until_ns, struct error *e)
{
	int result = runs_check(s, names, body, until_ns, e);

	if (result != 0 || s->leaves == s->answer->leaves)
		return result;
	errno = EPROTO;
	return errorf(e, "refused: its answer has %u leaves, but parts of %u", s->answer->leaves,
		      s->leaves);
}

int below_check(const struct below *below, struct below_spoken *s, const struct names *names,
		const Evspace__Answer *answer, const struct batch *body, uint64_t until_ns,
		struct error *e)
{
	bool first = !s->of;
	int result = 0;

	s->below = below;
	s->answer = answer;
	if (first) {
		s->of = below->n <= sizeof(s->few) ? s->few : memory_new(below->n, sizeof(bool));
		result = missing_check(s, e);
	}
	if (result == 0)
		result = body_check(s, names, body, until_ns, e);
	if (result <= 0)
		below_spoken_fini(s);
	return result;
}

void below_spoken_fini(struct below_spoken *s)
{
	if (s->of != s->few)
		free(s->of);
	*s = (struct below_spoken){0};
}
