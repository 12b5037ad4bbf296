/* SPDX-License-Identifier: BSD-3-Clause */
/* Folds values of one field of typed tuples into figures, and merges those from below. */
#include "tree/stage/field-reduce.h"

#include <math.h>

#include "tree/data/typed.h"

/* Add a tuple's values. Returns whether it has any. */
static bool tuple_add(struct field_figure *to, const struct field *field, const void *tuple)
{
	uint64_t before = to->count;
	double value;

	for (uint32_t i = 0; i < field->count && field->kind != FIELD_TEXT; i++) {
		value = field_number(field, tuple, i);
		if (!isnan(value))
			field_figure_add(to, value);
	}
	return to->count > before;
}

/* What @key's group has of the field. */
static struct field_figure *figure_at(struct stage *s, uint32_t name, const struct field_figure *of)
{
	uint64_t key[2];
	struct group *g;
	bool is_new;

	group_key_of(key, name, of->fold, field_figure_key(of));
	g = groups_at(&fold_of(s)->groups, key, &is_new);
	return (struct field_figure *)(void *)g->record;
}

static void typed_take(struct stage *s, const struct run_view *view, uint32_t name,
		       const struct field_figure *like)
{
	struct part *part = fold_part(fold_of(s));
	struct field_figure sum = *like, *to;
	const struct field *field;
	struct typed_run run;
	uint32_t taken = 0;

	typed_own(view->typed_words, view->run->count);
	if (!typed_read(&run, view->typed_words, view->run->count))
		return;
	field = fields_find(&run.fields, like->field);
	for (uint32_t i = 0; field && i < run.n; i++)
		taken += tuple_add(&sum, field, typed_fields(run.tuples + (size_t)i * run.words));
	part->reduced += taken;
	part->filtered += run.n - taken;
	if (sum.count == 0)
		return;
	to = figure_at(s, name, like);
	if (to->count > 0)
		field_figure_merge(to, &sum);
	else
		*to = sum;
}

/* Those of hosts below, in turns: a run may have 65,535. */
static int figures_take(struct stage *s, const struct run_view *view, uint32_t name)
{
	uint32_t *i = &fold_of(s)->done.record;

	while (*i < view->run->count) {
		const struct field_figure *from = &view->field_figures[*i];
		struct field_figure *to = figure_at(s, name, from);

		if (to->count > 0)
			field_figure_merge(to, from);
		else
			*to = *from;
		if (++*i < view->run->count && stage_over(s, 1))
			return 1;
	}
	*i = 0;
	return 0;
}

int field_reduce_run(struct stage *s, const struct run_view *view, uint32_t name,
		     const struct field_figure *like)
{
	struct fold *fold = fold_of(s);

	if (view->run->kind == RUN_TYPED) {
		typed_take(s, view, name, like);
	} else if (view->run->kind == RUN_TUPLES) {
		fold_part(fold)->filtered += view->run->count;
	} else if (view->run->kind == RUN_FIGURES) {
		return figures_take(s, view, name);
	} else {
		batch_keep(&fold->others, view);
	}
	return 0;
}
