/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects what who applies a map should know. */
#include "node-agent/control/remap-notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"
#include "tree/stage/stage-object.h"
#include "tree/stage/stage.h"

/* They fit into an answer. */
#define NOTES_MOST 32u

void remap_notes_add(struct remap_notes *notes, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (notes->n > NOTES_MOST)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	utf8_clean(text);
	notes->texts = memory_room(notes->texts, notes->n, sizeof(*notes->texts));
	notes->texts[notes->n] = memory_copy(notes->n < NOTES_MOST ? text : "and others likewise");
	notes->n++;
}

static bool is_missing(const char *kind)
{
	return stage_object_is(kind) && !stage_find(kind);
}

/* The kind of a stage that the place has to run, and is not here; NULL: there is none. */
static const char *missing_of(const struct plan_place *p)
{
	for (size_t i = 0; i < p->n_local; i++) {
		if (is_missing(p->local[i].kind))
			return p->local[i].kind;
	}
	for (size_t i = 0; i < p->n_joined; i++) {
		if (is_missing(p->joined[i].kind))
			return p->joined[i].kind;
	}
	return NULL;
}

static void view_note(struct remap_notes *notes, const struct pathmap *map, const char *view)
{
	struct plan *plan;
	const char *kind;
	struct error e;

	if (plan_make(map, view, &plan, NULL) < 0)
		return;
	kind = missing_of(plan->root);
	if (kind) {
		stage_object_missing(kind, &e);
		remap_notes_add(notes, "view `%s` cannot be opened: %.800s", view, e.text);
	}
	plan_free(plan);
}

void remap_notes_stages(struct remap_notes *notes, const struct pathmap *map)
{
	const char *const *views;
	size_t n = pathmap_views(map, &views);

	for (size_t i = 0; i < n; i++) {
		const struct view *v = pathmap_view(map, views[i]);
		bool missing = false;

		for (size_t k = 0; k < v->n_stages; k++)
			missing |= is_missing(v->stages[k].kind);
		/* trees are large, and stages mostly here */
		if (missing)
			view_note(notes, map, views[i]);
	}
}

void remap_notes_fini(struct remap_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->texts[i]);
	free(notes->texts);
	*notes = (struct remap_notes){NULL, 0};
}
