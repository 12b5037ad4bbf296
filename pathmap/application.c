/* SPDX-License-Identifier: BSD-3-Clause */
/* The application map as data: channels and what is recorded of them, views, and the defaults of
 * both. */
#include "pathmap/application.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/memory.h"

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

/* A view that every program has, if the map does not have its own by the same name. */
static struct view *view_ship(struct application *application, const char *name,
			      enum reading reading)
{
	struct view *view;

	if (application_view(application, name) != NULL)
		return NULL;
	view = view_new(name);
	view->shipped = true;
	view->reading = reading;
	view_select(view, "/**");
	application_add(application, view);
	return view;
}

void application_finish(struct application *application)
{
	struct view *heartbeat;
	bool any = false;

	if (application->capacity == 0)
		application->capacity = CAPACITY_DEFAULT;
	for (size_t i = 0; i < RECORDING_CHANNELS; i++)
		any = any || application->recordings[i].collected;
	for (size_t i = 0; i < RECORDING_CHANNELS; i++) {
		struct recording *recording = &application->recordings[i];

		recording->collected = recording->collected || !any;
		recording_finish(recording, application->capacity);
	}
	heartbeat = view_ship(application, "heartbeat", READ_LATEST);
	if (heartbeat != NULL)
		view_stage(heartbeat, LEVEL_THREAD, "reduce", "last");
	view_ship(application, "events", READ_STREAM);
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
