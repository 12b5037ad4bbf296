/* SPDX-License-Identifier: BSD-3-Clause */
/* A view of the application map: which elements it reads, how, and its stages. */
#include "pathmap/model/view.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"

static const char *const levels[LEVEL_COUNT] = {
	[LEVEL_ELEMENT] = "element", [LEVEL_THREAD] = "thread", [LEVEL_NODE] = "node",
	[LEVEL_CLUSTER] = "cluster", [LEVEL_ALL] = "all",
};

const char *level_name(enum level level)
{
	return levels[level];
}

const char *reading_name(enum reading reading, const char *sample)
{
	static const char *const readings[READ_COUNT] = {
		[READ_LATEST] = "latest",
		[READ_STREAM] = "stream",
		[READ_COUNTS] = "counts",
	};

	return sample ? "sample" : readings[reading];
}

struct view *view_new(const char *name)
{
	struct view *view = memory_new(1, sizeof(*view));

	view->name = memory_copy(name);
	return view;
}

void view_free(struct view *view)
{
	if (view == NULL)
		return;
	for (size_t i = 0; i < view->n_select; i++)
		free(view->select[i]);
	for (size_t i = 0; i < view->n_stages; i++) {
		free(view->stages[i].kind);
		free(view->stages[i].args);
	}
	for (size_t i = 0; i < view->n_uses; i++)
		free(view->uses[i].view);
	free(view->uses);
	free(view->select);
	free(view->stages);
	free(view->name);
	free(view->sample);
	free(view);
}

void view_select(struct view *view, const char *pattern)
{
	view->select = memory_room(view->select, view->n_select, sizeof(*view->select));
	view->select[view->n_select++] = memory_copy(pattern);
}

void view_stage(struct view *view, const struct plan_stage *stage)
{
	struct plan_stage *copy;

	view->stages = memory_room(view->stages, view->n_stages, sizeof(*view->stages));
	copy = &view->stages[view->n_stages++];
	*copy = *stage;
	copy->kind = memory_copy(stage->kind);
	copy->args = memory_copy(stage->args);
}

void view_use(struct view *view, const char *name, size_t offset)
{
	view->uses = memory_room(view->uses, view->n_uses, sizeof(*view->uses));
	view->uses[view->n_uses++] = (struct view_use){
		.view = memory_copy(name),
		.offset = offset,
		.before = view->n_stages,
	};
}

bool view_top(const char *name, enum level *top)
{
	const char *at = strrchr(name, '@');

	*top = LEVEL_ALL;
	while (at != NULL && *top > LEVEL_ELEMENT && strcmp(level_name(*top), at + 1) != 0)
		(*top)--;
	return at == NULL || strcmp(level_name(*top), at + 1) == 0;
}

bool view_reaches(const struct view *view, const char *prefix)
{
	for (size_t i = 0; i < view->n_select; i++) {
		if (pattern_reaches(view->select[i], prefix))
			return true;
	}
	return false;
}
