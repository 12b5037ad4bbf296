/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes views whole that are made of others (the paper's section 4.2: views of similar sub-views).
 */
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/application.h"
#include "pathmap/grammar/directive.h"
#include "pathmap/base/memory.h"

struct view_use_resolver {
	struct application *application;
	const struct mapfile *source;
	struct diagnostics *diagnostics;
};

static void view_resolve(struct view_use_resolver *r, struct view *view);

static struct view *view_named(const struct view_use_resolver *r, const char *name)
{
	for (size_t i = 0; i < r->application->n_views; i++) {
		if (strcmp(r->application->views[i]->name, name) == 0)
			return r->application->views[i];
	}
	return NULL;
}

static void complain_unknown(const struct view_use_resolver *r, const struct view_use *use)
{
	const char **names = application_view_names(r->application);
	const char *nearest = word_nearest(use->view, names, r->application->n_views);

	if (nearest != NULL)
		complain(r->diagnostics, r->source, use->offset,
			 "there is no view `%.60s`; did you mean `%s`?", use->view, nearest);
	else
		complain(r->diagnostics, r->source, use->offset,
			 "there is no view `%.60s`; write the name of another view of this map, or "
			 "of a shipped one",
			 use->view);
	free(names);
}

/* The view that is used, made whole, or NULL after a diagnostic. */
static const struct view *used(struct view_use_resolver *r, const struct view *view,
			       const struct view_use *use)
{
	struct view *other = view_named(r, use->view);

	if (other == NULL) {
		complain_unknown(r, use);
		return NULL;
	}
	if (other->state == VIEW_RESOLVING) {
		complain(r->diagnostics, r->source, use->offset,
			 "view `%.60s` is made of itself%s%.60s%s; take this `use` away",
			 other->name, other != view ? " by way of `" : "",
			 other != view ? view->name : "", other != view ? "`" : "");
		return NULL;
	}
	view_resolve(r, other);
	return other;
}

static void take_reading(struct view_use_resolver *r, struct view *view, const struct view *other,
			 const struct view_use *use)
{
	if (!view->has_reading)
		view->reading = other->reading;
	else if (view->reading != other->reading)
		complain(
			r->diagnostics, r->source, use->offset,
			"view `%.60s` reads `%s`, but `%.60s`, which uses it, `%s`; a view has one "
			"reading",
			other->name, reading_name(other->reading), view->name,
			reading_name(view->reading));
	view->has_reading = true;
}

static void take_stage(struct view_use_resolver *r, struct view *view,
		       const struct plan_stage *stage, const struct view_use *use)
{
	enum level last = view->n_stages > 0 ? view->stages[view->n_stages - 1].level : 0;

	if (stage->level < last)
		complain(
			r->diagnostics, r->source, use->offset,
			"with `use %.60s` a stage at level `%s` is behind one at level `%s`; order "
			"them from the elements up: element, thread, node, cluster, all",
			use->view, level_name(stage->level), level_name(last));
	else
		view_stage(view, stage->level, stage->kind, stage->args);
}

static void take_use(struct view_use_resolver *r, struct view *view, const struct view_use *use,
		     bool selects)
{
	const struct view *other = used(r, view, use);

	if (other == NULL)
		return;
	take_reading(r, view, other, use);
	for (size_t i = 0; i < other->n_select && !selects; i++)
		view_select(view, other->select[i]);
	for (size_t i = 0; i < other->n_stages; i++)
		take_stage(r, view, &other->stages[i], use);
}

/* Its own stages, with those of what it uses before, between and behind them. */
static void view_resolve(struct view_use_resolver *r, struct view *view)
{
	struct plan_stage *own = view->stages;
	size_t n_own = view->n_stages, at = 0;
	bool selects = view->n_select > 0;

	if (view->state != VIEW_RAW)
		return;
	view->state = VIEW_RESOLVING;
	view->stages = NULL;
	view->n_stages = 0;
	for (size_t i = 0; i < view->n_uses; i++) {
		for (; at < view->uses[i].before; at++)
			take_stage(r, view, &own[at], &view->uses[i > 0 ? i - 1 : 0]);
		take_use(r, view, &view->uses[i], selects);
	}
	for (; at < n_own; at++)
		take_stage(r, view, &own[at],
			   view->n_uses > 0 ? &view->uses[view->n_uses - 1] : NULL);
	if (view->n_select == 0)
		view_select(view, "/**");
	for (size_t i = 0; i < n_own; i++) {
		free(own[i].kind);
		free(own[i].args);
	}
	free(own);
	view->state = VIEW_RESOLVED;
}

/* Counts are no tuples: only one stage knows what to do with them, and that with nothing else. */
static void view_check(const struct view_use_resolver *r, const struct view *view)
{
	for (size_t i = 0; i < view->n_stages && !view->shipped; i++) {
		const char *kind = view->stages[i].kind;
		bool counts = strcmp(kind, "counts") == 0;

		if (counts == (view->reading == READ_COUNTS))
			continue;
		if (counts)
			complain(r->diagnostics, r->source, view->offset,
				 "view `%.60s` has a stage `counts`, which adds up what `read "
				 "counts;` reads, but it reads `%s`",
				 view->name, reading_name(view->reading));
		else
			complain(
				r->diagnostics, r->source, view->offset,
				"view `%.60s` reads counts, which its stage `%.60s` can do nothing "
				"with; write `counts`, or `read stream;`",
				view->name, kind);
		return;
	}
}

void application_resolve(struct application *application, const struct mapfile *source,
			 struct diagnostics *diagnostics)
{
	struct view_use_resolver r = {application, source, diagnostics};

	for (size_t i = 0; i < application->n_views; i++) {
		view_resolve(&r, application->views[i]);
		view_check(&r, application->views[i]);
	}
}
