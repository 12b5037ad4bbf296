/* SPDX-License-Identifier: BSD-3-Clause */
/* Filter: keeps the tuples that fulfil all conditions, and counts the others. */
#include "tree/stage/stage.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/stage/condition.h"

/* Runs are split at gaps as long as the pieces hold this many tuples on average; a header takes 16
 * bytes. */
#define SPLIT_LEAST 2

struct filter {
	struct condition *conditions;
	size_t n;
	bool by_name;	       /* a condition needs the element's name */
	struct batch out;      /* kept from wave to wave, as is the next */
	bool keep[UINT16_MAX]; /* which tuples of a run are kept */
	/* progress in the current wave */
	struct batch_cursor next;
	struct part *part;
};

static int filter_init(struct stage *s, const char *args, struct error *e)
{
	struct filter *filter = (struct filter *)(void *)s->private;

	do {
		filter->conditions =
			memory_room(filter->conditions, filter->n, sizeof(*filter->conditions));
		if (condition_parse(&filter->conditions[filter->n], &args, e) < 0)
			return -1;
		filter->by_name |= condition_wants_name(&filter->conditions[filter->n]);
		filter->n++;
	} while (*args);
	return 0;
}

static void filter_fini(struct stage *s)
{
	struct filter *filter = (struct filter *)(void *)s->private;

	free(filter->conditions);
	batch_fini(&filter->out);
}

static bool all_hold(const struct filter *filter, const struct condition_subject *subject,
		     bool of_element)
{
	for (size_t i = 0; i < filter->n; i++)
		if (condition_on_element(&filter->conditions[i]) == of_element &&
		    !condition_holds(&filter->conditions[i], subject))
			return false;
	return true;
}

/* Mark the tuples to keep. Returns their number; *@pieces is the number of their pieces without
 * gaps. */
static uint32_t choose(struct filter *filter, const struct run_view *view,
		       struct condition_subject *subject, uint32_t *pieces)
{
	uint32_t kept = 0;
	bool before = false;

	*pieces = 0;
	subject->name = filter->by_name ? names_find(subject->names, view->run->element) : NULL;
	if (!all_hold(filter, subject, true))
		return 0;
	for (unsigned i = 0; i < view->run->count; i++) {
		bool keep;

		subject->tuple = &view->tuples[i];
		keep = all_hold(filter, subject, false);
		filter->keep[i] = keep;
		kept += keep;
		*pieces += keep && !before;
		before = keep;
	}
	return kept;
}

/* Add the kept tuples of [from, to), @count of them, as a run. */
static void put(struct filter *filter, const struct run_view *view, unsigned from, unsigned to,
		uint32_t count, uint64_t lost)
{
	struct tuple *out = batch_add(&filter->out, RUN_TUPLES, view->run->element,
				      run_number(view->run, from), count, lost);

	for (unsigned i = from; i < to; i++)
		if (filter->keep[i])
			*out++ = view->tuples[i];
	if (count < to - from || view->run->flags & RUN_SPARSE)
		filter->out.last->flags |= RUN_SPARSE;
}

static void put_some(struct filter *filter, const struct run_view *view, uint32_t kept,
		     uint32_t pieces)
{
	bool split = kept >= SPLIT_LEAST * pieces;
	uint64_t lost = view->lost;
	unsigned end, count = view->run->count;

	/* what is lost was before the first, kept or not */
	if (lost > 0 && !filter->keep[0]) {
		batch_add(&filter->out, RUN_TUPLES, view->run->element, view->run->first, 0, lost);
		lost = 0;
	}
	for (unsigned at = 0; at < count; at = end) {
		while (at < count && !filter->keep[at])
			at++;
		end = split ? at : count;
		while (split && end < count && filter->keep[end])
			end++;
		if (at == count)
			break;
		while (!split && !filter->keep[end - 1])
			end--;
		put(filter, view, at, end, split ? end - at : kept, lost);
		lost = 0;
		if (!split)
			break;
	}
}

static void filter_run(struct stage *s, const struct run_view *view)
{
	static const struct clock_line ns = CLOCK_LINE_NS;
	struct filter *filter = (struct filter *)(void *)s->private;
	struct part *part = filter->part;
	struct condition_subject subject = {.names = s->names, .line = part ? &part->clock : &ns};
	uint32_t kept, pieces;

	if (view->run->kind != RUN_TUPLES || view->run->count == 0) {
		batch_keep(&filter->out, view);
		return;
	}
	kept = choose(filter, view, &subject, &pieces);
	if (part)
		part->filtered += view->run->count - kept;
	if (kept == view->run->count)
		batch_keep(&filter->out, view);
	else if (kept > 0)
		put_some(filter, view, kept, pieces);
	else if (view->lost > 0)
		batch_add(&filter->out, RUN_TUPLES, view->run->element, view->run->first, 0,
			  view->lost);
}

static int filter_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	struct filter *filter = (struct filter *)(void *)s->private;
	struct run_view view;

	(void)ask;
	if (!s->paused) {
		batch_clear(&filter->out);
		filter->next = (struct batch_cursor){0};
		filter->part = NULL;
	}
	while (batch_next(b, &filter->next, &view)) {
		if (view.run->kind == RUN_PART)
			filter->part = view.part;
		filter_run(s, &view);
		if (stage_over(s, 1 + view.run->count))
			return 1;
	}
	batch_clear(b);
	batch_link(b, &filter->out);
	return 0;
}

const struct stage_ops filter_ops = {
	.name = "filter",
	.op = OP_EVSPACE_FILTER,
	.size = sizeof(struct filter),
	.init = filter_init,
	.apply = filter_apply,
	.fini = filter_fini,
};
