/* SPDX-License-Identifier: BSD-3-Clause */
/* The application map as data: recordings of channels, views, and the defaults of both; resolves
 * `use` in views. */
#include "pathmap/model/application.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/grammar/directive.h"
#include "pathmap/model/pattern.h"

const struct view *application_view(const struct application *application, const char *name)
{
	for (size_t i = 0; i < application->n_views; i++) {
		if (strcmp(application->views[i]->name, name) == 0)
			return application->views[i];
	}
	return NULL;
}

const char **application_view_names(const struct application *application)
{
	const char **names = memory_new(application->n_views, sizeof(*names));

	for (size_t i = 0; i < application->n_views; i++)
		names[i] = application->views[i]->name;
	return names;
}

void application_add(struct application *application, struct view *view)
{
	application->views =
		memory_room(application->views, application->n_views, sizeof(struct view *));
	application->views[application->n_views++] = view;
}

/* Only calls: the completions of what they start overlap them, and bytes would count twice. */
#define CALLS "channel!=completion"

/* Shipped views; a view of the map with the same name replaces one. */
static const struct {
	const char *name, *select;
	enum reading reading;
	bool quiet;
	struct {
		enum level level;
		const char *kind, *args;
	} stages[6]; /* the first without a kind ends them */
} shipped[] = {
	{"heartbeat", "/**", READ_LATEST, false, {{LEVEL_THREAD, "reduce", "last"}}},
	{"events", "/**", READ_STREAM, false, {{0}}},
	{"latest", "/**", READ_LATEST, true, {{0}}},
	{"rates",
	 "/**",
	 READ_COUNTS,
	 true,
	 {{LEVEL_THREAD, "counts", "by channel by comm"},
	  {LEVEL_NODE, "counts", "by channel by comm"},
	  {LEVEL_CLUSTER, "counts", "by channel by comm"},
	  {LEVEL_ALL, "counts", "by channel by comm"}}},
	{"histogram",
	 "/**",
	 READ_STREAM,
	 true,
	 {{LEVEL_ELEMENT, "filter", CALLS},
	  {LEVEL_THREAD, "histogram", "of duration by op"},
	  {LEVEL_NODE, "histogram", "of duration by op"},
	  {LEVEL_CLUSTER, "histogram", "of duration by op"},
	  {LEVEL_ALL, "histogram", "of duration by op"}}},
	{"sizes",
	 "/**",
	 READ_STREAM,
	 true,
	 {{LEVEL_ELEMENT, "filter", CALLS},
	  {LEVEL_THREAD, "histogram", "of bytes by op"},
	  {LEVEL_NODE, "histogram", "of bytes by op"},
	  {LEVEL_CLUSTER, "histogram", "of bytes by op"},
	  {LEVEL_ALL, "histogram", "of bytes by op"}}},
	{"slowest",
	 "/**",
	 READ_STREAM,
	 true,
	 {{LEVEL_ELEMENT, "filter", CALLS},
	  {LEVEL_NODE, "slowest", "10"},
	  {LEVEL_CLUSTER, "slowest", "10"},
	  {LEVEL_ALL, "slowest", "10"}}},
	{"largest",
	 "/**",
	 READ_STREAM,
	 true,
	 {{LEVEL_ELEMENT, "filter", CALLS},
	  {LEVEL_NODE, "slowest", "10 by bytes"},
	  {LEVEL_CLUSTER, "slowest", "10 by bytes"},
	  {LEVEL_ALL, "slowest", "10 by bytes"}}},
	{"matrix",
	 "/**",
	 READ_STREAM,
	 true,
	 {{LEVEL_NODE, "matrix", "by rank"},
	  {LEVEL_CLUSTER, "matrix", "by rank"},
	  {LEVEL_ALL, "matrix", "by rank"}}},
	{"traffic",
	 "/**",
	 READ_STREAM,
	 true,
	 {{LEVEL_NODE, "matrix", "by node"},
	  {LEVEL_CLUSTER, "matrix", "by node"},
	  {LEVEL_ALL, "matrix", "by node"}}},
	{"blocks",
	 "/**/t0/**",
	 READ_LATEST,
	 true,
	 {{LEVEL_ELEMENT, "filter", CALLS " channel!=user"},
	  {LEVEL_THREAD, "reduce", "last"},
	  {LEVEL_NODE, "reduce", "count by block"},
	  {LEVEL_CLUSTER, "reduce", "count by block"},
	  {LEVEL_ALL, "reduce", "count by block"}}},
	{"states",
	 "/**/t0/user",
	 READ_LATEST,
	 true,
	 {{LEVEL_ELEMENT, "filter", "op=evspace_state"},
	  {LEVEL_NODE, "reduce", "count by block"},
	  {LEVEL_CLUSTER, "reduce", "count by block"},
	  {LEVEL_ALL, "reduce", "count by block"}}},
	{"meet",
	 "/**/collective",
	 READ_STREAM,
	 true,
	 {{LEVEL_NODE, "meet", ""}, {LEVEL_CLUSTER, "meet", ""}, {LEVEL_ALL, "meet", ""}}},
};

static void views_ship(struct application *application)
{
	for (size_t i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++) {
		struct view *view;

		if (application_view(application, shipped[i].name) != NULL)
			continue;
		view = view_new(shipped[i].name);
		view->shipped = true;
		view->quiet = shipped[i].quiet;
		view->has_reading = true;
		view->reading = shipped[i].reading;
		view_select(view, shipped[i].select);
		for (size_t k = 0; shipped[i].stages[k].kind != NULL; k++) {
			struct plan_stage stage = {
				.level = shipped[i].stages[k].level,
				.kind = (char *)(uintptr_t)shipped[i].stages[k].kind,
				.args = (char *)(uintptr_t)shipped[i].stages[k].args,
			};

			if (application->check != NULL)
				application->check(stage.kind, stage.args, NULL, &stage.traits,
						   NULL);
			view_stage(view, &stage);
		}
		application_add(application, view);
	}
}

const struct view *application_view_to(const struct application *application, const char *name,
				       enum level *top)
{
	const struct view *view = application_view(application, name);
	const char *at = strrchr(name, '@');
	char *base;

	*top = LEVEL_ALL;
	if (view != NULL || at == NULL)
		return view;
	if (!view_top(name, top))
		return NULL;
	base = memory_format("%.*s", (int)(at - name), name);
	view = application_view(application, base);
	free(base);
	return view;
}

void application_finish(struct application *application)
{
	bool any = false;

	for (size_t i = 0; i < RECORDING_CHANNELS; i++)
		any = any || application->recordings[i].collected;
	for (size_t i = 0; i < RECORDING_CHANNELS; i++) {
		struct recording *recording = &application->recordings[i];

		recording->collected = recording->collected || !any;
		recording_finish(recording, application->capacity);
	}
	definable_finish(&application->definable);
	views_ship(application);
}

void application_init(struct application *application, const char *name, pathmap_stage_check *check)
{
	*application = (struct application){.name = memory_copy(name), .check = check};
	application_finish(application);
}

void application_fini(struct application *application)
{
	for (size_t i = 0; i < application->n_views; i++)
		view_free(application->views[i]);
	free(application->views);
	for (size_t i = 0; i < application->n_rules; i++)
		free(application->rules[i].pattern);
	free(application->rules);
	application_made_fini(application);
	interval_set_fini(&application->only_ranks);
	definable_fini(&application->definable);
	stage_alias_fini(&application->aliases);
	free(application->name);
	*application = (struct application){0};
}

/* ---- `use` in views ---- */

struct view_use_resolver {
	const struct application *application;
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

/* The view that is used, resolved, or NULL after a diagnostic. */
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
			 "view `%.60s` uses itself%s%.60s%s; remove this `use`", other->name,
			 other != view ? " by way of `" : "", other != view ? view->name : "",
			 other != view ? "`" : "");
		return NULL;
	}
	view_resolve(r, other);
	return other;
}

static void take_reading(struct view_use_resolver *r, struct view *view, const struct view *other,
			 const struct view_use *use)
{
	if (!view->has_reading) {
		view->reading = other->reading;
		view->sample = memory_copy(other->sample);
	} else if (view->reading != other->reading || !view->sample != !other->sample) {
		complain(
			r->diagnostics, r->source, use->offset,
			"view `%.60s` reads `%s`, but `%.60s`, which uses it, `%s`; a view has one "
			"reading",
			other->name, reading_name(other->reading, other->sample), view->name,
			reading_name(view->reading, view->sample));
	}
	view->has_reading = true;
}

static void take_stage(struct view_use_resolver *r, struct view *view,
		       const struct plan_stage *stage, const struct view_use *use)
{
	enum level last = view->n_stages > 0 ? view->stages[view->n_stages - 1].level : 0;

	/* one too many is enough to be said, and views that use views would be more and more */
	if (view->n_stages > VIEW_STAGES_MAX)
		return;
	if (stage->level < last)
		complain(
			r->diagnostics, r->source, use->offset,
			"with `use %.60s` a stage at level `%s` is behind one at level `%s`; order "
			"them from the elements up: element, thread, node, cluster, all",
			use->view, level_name(stage->level), level_name(last));
	else
		view_stage(view, stage);
}

/* Once is enough; one too many is enough to be said, as of stages. */
static void take_select(struct view *view, const char *pattern)
{
	bool known = view->n_select > PATTERNS_MAX;

	for (size_t i = 0; i < view->n_select && !known; i++)
		known = strcmp(view->select[i], pattern) == 0;
	if (!known)
		view_select(view, pattern);
}

static void take_use(struct view_use_resolver *r, struct view *view, const struct view_use *use,
		     bool selects)
{
	const struct view *other = used(r, view, use);

	if (other == NULL)
		return;
	take_reading(r, view, other, use);
	for (size_t i = 0; i < other->n_select && !selects; i++)
		take_select(view, other->select[i]);
	for (size_t i = 0; i < other->n_stages; i++) {
		struct plan_stage stage = other->stages[i];

		stage.offset = use->offset;
		take_stage(r, view, &stage, use);
	}
}

/* Merges the view's own stages with those of the views that it uses, in their order. */
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

/* Checks that each stage takes what comes to it from below: at first what the view reads. */
static void view_check(const struct view_use_resolver *r, const struct view *view)
{
	struct stage_traits below = {.counts = view->reading == READ_COUNTS};

	if (view->n_stages > VIEW_STAGES_MAX)
		complain(r->diagnostics, r->source, view->offset,
			 "view `%.60s` has more than %u stages, with those of views that it uses; "
			 "leave some out",
			 view->name, VIEW_STAGES_MAX);
	if (view->n_select > PATTERNS_MAX)
		complain(r->diagnostics, r->source, view->offset,
			 "view `%.60s` has more than %u patterns, with those of views that it "
			 "uses; leave some out",
			 view->name, PATTERNS_MAX);
	for (size_t i = 0; i < view->n_stages && !view->shipped && r->application->check; i++) {
		const struct plan_stage *stage = &view->stages[i];
		struct stage_traits makes = stage->traits;
		struct error e;

		/* what one `use` brings is complained of where it is from */
		if (r->application->check(stage->kind, stage->args, &below, &makes, &e) == 0 ||
		    (i > 0 && stage->offset == stage[-1].offset)) {
			below = makes;
			continue;
		}
		if (i == 0)
			complain(r->diagnostics, r->source, stage->offset,
				 "view `%.60s` reads `%s`: %s", view->name,
				 reading_name(view->reading, view->sample), e.text);
		else
			complain(r->diagnostics, r->source, stage->offset,
				 "view `%.60s`, behind `%s%s%.60s`: %s", view->name, stage[-1].kind,
				 *stage[-1].args ? " " : "", stage[-1].args, e.text);
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

void application_resolve_view(const struct application *application, struct view *view,
			      const struct mapfile *source, struct diagnostics *diagnostics)
{
	struct view_use_resolver r = {application, source, diagnostics};

	view_resolve(&r, view);
	view_check(&r, view);
}
