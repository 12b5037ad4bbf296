/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads views that consumers define. */
#include "pathmap/model/definition.h"

#include <errno.h>

#include "pathmap/model/application-read.h"
#include "pathmap/model/parts.h"

/* Tuples, unless the stages take counts. */
static void reading_default(struct view *view)
{
	if (view->has_reading || view->n_uses > 0)
		return;
	view->has_reading = true;
	view->reading = READ_STREAM;
	for (size_t i = 0; i < view->n_stages; i++) {
		if (view->stages[i].traits.counts)
			view->reading = READ_COUNTS;
	}
}

static struct view *text_read(const struct mapfile *source, const struct pathmap *map,
			      pathmap_stage_check *check, struct diagnostics *diagnostics)
{
	struct application_map reading = {
		.check = map != NULL ? map->application.check : check,
		.definable = map != NULL ? &map->application.definable : NULL,
		.aliases = map != NULL ? &map->application.aliases : NULL,
	};
	struct view *view = view_new(DEFINITION_VIEW);
	struct reader reader;

	application_reader(&reader, &reading, source, diagnostics);
	reader_begin(&reader, IN_VIEW, view);
	reader_end(&reader);
	reading_default(view);
	if (map == NULL || diagnostics->total > 0)
		return view;
	application_resolve_view(&map->application, view, source, diagnostics);
	if (view->n_stages > reading.definable->stages)
		complain_file(diagnostics, source,
			      "more than %u stages with those of the views that it uses, which is "
			      "what the map lets consumers define; leave some out",
			      reading.definable->stages);
	return view;
}

/* Is the text one that is looked at at all? */
static bool is_allowed(const struct mapfile *source, const struct pathmap *map,
		       struct diagnostics *diagnostics)
{
	errno = EINVAL;
	if (source->length > DEFINITION_BYTES)
		complain_file(
			diagnostics, source,
			"%zu bytes; the text of a view has %u at most: use fewer patterns, or "
			"have it put into the map",
			source->length, DEFINITION_BYTES);
	if (source->length == 0)
		complain_file(
			diagnostics, source,
			"no text; write what a view has, such as `thread filter bytes>=10k; all "
			"slowest 5`");
	if (map == NULL || map->application.definable.by != DEFINER_NONE)
		return source->usable && diagnostics->total == 0;
	errno = EACCES;
	complain_file(
		diagnostics, source,
		"the map lets no consumer define views (`views { defined by none; }`); ask for "
		"one of its own, or have yours put into it");
	return false;
}

struct view *definition_read(const struct definition *definition, const struct pathmap *map,
			     pathmap_stage_check *check, FILE *diagnostics, struct error *e)
{
	struct diagnostics faults = {0};
	struct view *view = NULL;
	struct mapfile source;
	int number;

	mapfile_set(&source, "--define", definition->text, definition->bytes, &faults);
	source.fragment = true;
	if (is_allowed(&source, map, &faults)) {
		view = text_read(&source, map, check, &faults);
		errno = EINVAL;
	}
	number = errno;
	if (faults.total > 0) {
		diagnostics_error(&faults, e);
		view_free(view);
		view = NULL;
	}
	if (diagnostics != NULL)
		diagnostics_print(&faults, diagnostics);
	diagnostics_fini(&faults);
	mapfile_fini(&source);
	errno = number;
	return view;
}
