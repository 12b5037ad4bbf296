/* SPDX-License-Identifier: BSD-3-Clause */
/* Pathmaps from texts in memory. */
#include "pathmap/texts.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/parts.h"

static const char *const names[SOURCE_COUNT] = {
	[SOURCE_APPLICATION] = "application.map",
	[SOURCE_CLUSTER] = "cluster.map",
	[SOURCE_MAPPING] = "mapping.map",
};

int texts_read(struct pathmap_texts *texts, const char *dir, struct error *e)
{
	struct mapfile sources[SOURCE_COUNT];
	struct diagnostics diagnostics = {0};
	int result = 0;

	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_read(&sources[i], dir, names[i], &diagnostics);
	if (diagnostics.total > 0)
		result = diagnostics_error(&diagnostics, e);
	else
		texts_set(texts, sources[SOURCE_APPLICATION].text, sources[SOURCE_CLUSTER].text,
			  sources[SOURCE_MAPPING].text);
	diagnostics_fini(&diagnostics);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_fini(&sources[i]);
	return result;
}

void texts_local(struct pathmap_texts *texts, const char *node)
{
	texts->application = memory_copy("application local {\n\tranks any;\n}\n");
	texts->cluster = memory_format("cluster local {\n\tnodes \"%s\";\n}\n", node);
	texts->mapping = memory_format("entry \"%s\";\nplace all on \"%s\";\n", node, node);
}

void texts_set(struct pathmap_texts *texts, const char *application, const char *cluster,
	       const char *mapping)
{
	texts->application = memory_copy(application);
	texts->cluster = memory_copy(cluster);
	texts->mapping = memory_copy(mapping);
}

void texts_fini(struct pathmap_texts *texts)
{
	free(texts->application);
	free(texts->cluster);
	free(texts->mapping);
	*texts = (struct pathmap_texts){0};
}

bool texts_equal(const struct pathmap_texts *a, const struct pathmap_texts *b)
{
	return a->application && b->application && strcmp(a->application, b->application) == 0 &&
	       strcmp(a->cluster, b->cluster) == 0 && strcmp(a->mapping, b->mapping) == 0;
}

struct pathmap *texts_parse(const struct pathmap_texts *texts, pathmap_stage_check *check,
			    struct error *e)
{
	const char *const all[SOURCE_COUNT] = {
		[SOURCE_APPLICATION] = texts->application,
		[SOURCE_CLUSTER] = texts->cluster,
		[SOURCE_MAPPING] = texts->mapping,
	};
	struct mapfile sources[SOURCE_COUNT];
	struct diagnostics diagnostics = {0};
	struct pathmap *map;

	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_set(&sources[i], names[i], all[i], strlen(all[i]), &diagnostics);
	map = pathmap_make(sources, check, &diagnostics);
	if (map == NULL)
		diagnostics_error(&diagnostics, e);
	diagnostics_fini(&diagnostics);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_fini(&sources[i]);
	return map;
}
