/* SPDX-License-Identifier: BSD-3-Clause */
/* The application map as data: channels and what is recorded of them, views, and the defaults of
 * both. */
#include "pathmap/model/application.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

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

/* What calls take, not what they start: that overlaps, and the bytes would count twice. */
#define CALLS "channel!=completion"

/* Views that every program has, if the map does not have its own by the same name. */
static const struct {
	const char *name;
	enum reading reading;
	bool quiet;
	struct {
		enum level level;
		const char *kind, *args;
	} stages[6]; /* ended by no kind */
} shipped[] = {
	{"heartbeat", READ_LATEST, false, {{LEVEL_THREAD, "reduce", "last"}}},
	{"events", READ_STREAM, false, {{0}}},
	{"latest", READ_LATEST, true, {{0}}},
	{"rates",
	 READ_COUNTS,
	 true,
	 {{LEVEL_THREAD, "counts", "by channel by comm"},
	  {LEVEL_NODE, "counts", "by channel by comm"},
	  {LEVEL_CLUSTER, "counts", "by channel by comm"},
	  {LEVEL_ALL, "counts", "by channel by comm"}}},
	{"histogram",
	 READ_STREAM,
	 true,
	 {{LEVEL_ELEMENT, "filter", CALLS},
	  {LEVEL_THREAD, "histogram", "of duration by op"},
	  {LEVEL_NODE, "histogram", "of duration by op"},
	  {LEVEL_CLUSTER, "histogram", "of duration by op"},
	  {LEVEL_ALL, "histogram", "of duration by op"}}},
	{"sizes",
	 READ_STREAM,
	 true,
	 {{LEVEL_ELEMENT, "filter", CALLS},
	  {LEVEL_THREAD, "histogram", "of bytes by op"},
	  {LEVEL_NODE, "histogram", "of bytes by op"},
	  {LEVEL_CLUSTER, "histogram", "of bytes by op"},
	  {LEVEL_ALL, "histogram", "of bytes by op"}}},
	{"slowest",
	 READ_STREAM,
	 true,
	 {{LEVEL_ELEMENT, "filter", CALLS},
	  {LEVEL_NODE, "slowest", "10"},
	  {LEVEL_CLUSTER, "slowest", "10"},
	  {LEVEL_ALL, "slowest", "10"}}},
	{"largest",
	 READ_STREAM,
	 true,
	 {{LEVEL_ELEMENT, "filter", CALLS},
	  {LEVEL_NODE, "slowest", "10 by bytes"},
	  {LEVEL_CLUSTER, "slowest", "10 by bytes"},
	  {LEVEL_ALL, "slowest", "10 by bytes"}}},
	{"matrix",
	 READ_STREAM,
	 true,
	 {{LEVEL_NODE, "matrix", "by rank"},
	  {LEVEL_CLUSTER, "matrix", "by rank"},
	  {LEVEL_ALL, "matrix", "by rank"}}},
	{"traffic",
	 READ_STREAM,
	 true,
	 {{LEVEL_NODE, "matrix", "by node"},
	  {LEVEL_CLUSTER, "matrix", "by node"},
	  {LEVEL_ALL, "matrix", "by node"}}},
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
		view_select(view, "/**");
		for (size_t k = 0; shipped[i].stages[k].kind != NULL; k++)
			view_stage(view, shipped[i].stages[k].level, shipped[i].stages[k].kind,
				   shipped[i].stages[k].args);
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
	while (*top > LEVEL_ELEMENT && strcmp(level_name(*top), at + 1) != 0)
		(*top)--;
	if (strcmp(level_name(*top), at + 1) != 0)
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
	views_ship(application);
}

void application_init(struct application *application, const char *name)
{
	*application = (struct application){.name = memory_copy(name)};
	application_finish(application);
}

void application_fini(struct application *application)
{
	for (size_t i = 0; i < application->n_views; i++)
		view_free(application->views[i]);
	free(application->views);
	free(application->name);
	*application = (struct application){0};
}
