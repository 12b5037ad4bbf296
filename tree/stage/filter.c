/* SPDX-License-Identifier: BSD-3-Clause */
/* Filter: keeps the tuples that fulfil all conditions, or those that tell something new, and counts
 * the others. */
#include "tree/stage/stage.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/stage/condition.h"
#include "tree/stage/thinning.h"

/* Runs are split at gaps as long as the pieces hold this many tuples on average; a header takes 16
 * bytes. */
#define SPLIT_LEAST 2

/* The word for thinning. */
#define ENTROPY "entropy"

struct filter {
	struct condition *conditions;
	size_t n;
	bool by_name;		   /* a condition needs the element's name */
	bool by_field;		   /* one is on a field */
	struct thinning *thinning; /* instead of conditions, or NULL */
	struct batch out;	   /* kept from wave to wave, as is the next */
	bool keep[UINT16_MAX];	   /* which tuples of a run are kept */
	/* progress in the current wave */
	struct batch_cursor next;
	struct part *part;
	uint64_t *sampled; /* of the part; NULL: that is not asked for */
};

static int filter_init(struct stage *s, const char *args, struct error *e)
{
	struct filter *filter = (struct filter *)(void *)s->private;
	size_t entropy = strlen(ENTROPY);

	if (strncmp(args, ENTROPY, entropy) == 0 && strchr(" \t", args[entropy])) {
		filter->thinning = thinning_new(args + entropy, e);
		return filter->thinning ? 0 : error_prefix(e, ENTROPY);
	}
	do {
		filter->conditions =
			memory_room(filter->conditions, filter->n, sizeof(*filter->conditions));
		if (condition_parse(&filter->conditions[filter->n], &args, e) < 0)
			return -1;
		filter->by_name |= condition_wants_name(&filter->conditions[filter->n]);
		filter->by_field |= filter->conditions[filter->n].key == KEY_FIELD;
		filter->n++;
	} while (*args);
	return 0;
}

static void filter_fini(struct stage *s)
{
	struct filter *filter = (struct filter *)(void *)s->private;

	free(filter->conditions);
	thinning_free(filter->thinning);
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

/* Mark the tuples to keep. Returns their number. */
static uint32_t choose(struct filter *filter, const struct run_view *view,
		       struct condition_subject *subject)
{
	uint32_t kept = 0;

	subject->name = filter->by_name ? names_find(subject->names, view->run->element) : NULL;
	if (!all_hold(filter, subject, true))
		return 0;
	for (unsigned i = 0; i < view->run->count; i++) {
		subject->tuple = &view->tuples[i];
		filter->keep[i] = all_hold(filter, subject, false);
		kept += filter->keep[i];
	}
	return kept;
}

/* The tuples of a run, and what says their type if they are a program's own. */
struct filtered {
	const struct typed_word *head; /* NULL: struct tuple */
	const void *tuples;
	size_t head_bytes, bytes; /* of each tuple */
	uint32_t n;
};

/* Of the kept ones: pieces without gaps. */
static uint32_t count_pieces(const struct filter *filter, uint32_t n)
{
	uint32_t pieces = 0;

	for (unsigned i = 0; i < n; i++)
		pieces += filter->keep[i] && (i == 0 || !filter->keep[i - 1]);
	return pieces;
}

/* Add the kept tuples of [from, to), @count of them, as a run. */
static void put(struct filter *filter, const struct run_view *view, const struct filtered *of,
		unsigned from, unsigned to, uint32_t count, uint64_t lost)
{
	const enum run_kind kind = of->head ? RUN_TYPED : RUN_TUPLES;
	const size_t bytes = of->head_bytes + count * of->bytes;
	const char *tuples = of->tuples;
	char *out = batch_add(&filter->out, kind, view->run->element, run_number(view->run, from),
			      (uint32_t)(bytes / run_record_bytes(kind)), lost);

	if (of->head)
		out = (char *)memcpy(out, of->head, of->head_bytes) + of->head_bytes;
	for (unsigned i = from; i < to; i++)
		if (filter->keep[i])
			out = (char *)memcpy(out, tuples + i * of->bytes, of->bytes) + of->bytes;
	if (count < to - from || view->run->flags & RUN_SPARSE)
		filter->out.last->flags |= RUN_SPARSE;
}

static void put_some(struct filter *filter, const struct run_view *view, const struct filtered *of,
		     uint32_t kept)
{
	const size_t piece = SPLIT_LEAST * sizeof(struct tuple) + of->head_bytes;
	/* by the numbers of what is kept who reads it knows how often that was repeated */
	bool split = filter->thinning || kept * of->bytes >= count_pieces(filter, of->n) * piece;
	uint64_t lost = view->lost;
	unsigned end, count = of->n;

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
		put(filter, view, of, at, end, split ? end - at : kept, lost);
		lost = 0;
		if (!split)
			break;
	}
}

/* Count those that go, and put what stays of the run. */
static void keep_some(struct filter *filter, const struct run_view *view, const struct filtered *of,
		      uint32_t kept)
{
	if (filter->part)
		filter->part->filtered += of->n - kept;
	/* if none is kept, nobody may have said so of each */
	if (kept == of->n)
		batch_keep(&filter->out, view);
	else if (kept > 0)
		put_some(filter, view, of, kept);
	else if (view->lost > 0)
		batch_add(&filter->out, RUN_TUPLES, view->run->element, view->run->first, 0,
			  view->lost);
}

/* A program's own element: conditions on fields are about it. */
static void filter_typed(struct filter *filter, const struct run_view *view)
{
	struct filtered of = {.head = view->typed_words};
	struct typed_run run;
	uint32_t kept = 0;

	typed_own(view->typed_words, view->run->count);
	if (typed_read(&run, view->typed_words, view->run->count)) {
		of.tuples = run.tuples;
		of.head_bytes = (size_t)(run.tuples - of.head) * sizeof(*of.head);
		of.bytes = run.words * sizeof(*of.head);
		of.n = run.n;
	}
	for (uint32_t i = 0; i < of.n; i++) {
		const void *tuple = typed_fields(run.tuples + (size_t)i * run.words);

		filter->keep[i] = true;
		for (size_t k = 0; k < filter->n && filter->keep[i]; k++)
			filter->keep[i] =
				condition_holds_typed(&filter->conditions[k], &run.fields, tuple);
		kept += filter->keep[i];
	}
	keep_some(filter, view, &of, kept);
}

static void filter_run(struct stage *s, const struct run_view *view)
{
	static const struct clock_line ns = CLOCK_LINE_NS;
	struct filter *filter = (struct filter *)(void *)s->private;
	struct part *part = filter->part;
	struct condition_subject subject = {.names = s->names, .line = part ? &part->clock : &ns};
	const struct filtered of = {
		.tuples = view->tuples, .bytes = sizeof(struct tuple), .n = view->run->count};
	uint32_t kept;

	if (view->run->kind == RUN_TYPED && filter->by_field) {
		filter_typed(filter, view);
		return;
	}
	if (view->run->kind != RUN_TUPLES || view->run->count == 0) {
		batch_keep(&filter->out, view);
		return;
	}
	kept = filter->thinning ? thinning_choose(filter->thinning, s->names, view, filter->keep)
				: choose(filter, view, &subject);
	if (filter->sampled)
		*filter->sampled += view->run->count - kept;
	keep_some(filter, view, &of, kept);
}

/* A part that says what was sampled out needs a count for that. */
static void filter_part(struct filter *filter, const struct run_view *view, bool sampled)
{
	filter->part = view->part;
	filter->sampled = NULL;
	if (!filter->thinning || !sampled) {
		batch_keep(&filter->out, view);
		return;
	}
	filter->part = batch_add(&filter->out, RUN_PART, view->run->element, view->run->first, 1,
				 UINT64_MAX);
	*filter->part = *view->part;
	filter->out.last->flags |= view->run->flags;
	filter->sampled = (uint64_t *)(void *)(filter->out.last + 1);
	*filter->sampled = view->lost;
}

static int filter_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	struct filter *filter = (struct filter *)(void *)s->private;
	struct run_view view;

	if (!s->paused) {
		batch_clear(&filter->out);
		filter->next = (struct batch_cursor){0};
		filter->part = NULL;
		filter->sampled = NULL;
	}
	while (batch_next(b, &filter->next, &view)) {
		if (view.run->kind == RUN_PART)
			filter_part(filter, &view, ask->sampled);
		else
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
