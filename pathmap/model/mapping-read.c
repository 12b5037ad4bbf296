/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and checks mapping.map against the application and the cluster map. */
#include "pathmap/model/mapping-read.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/model/hostlist.h"
#include "pathmap/base/memory.h"

static const char *const contexts[] = {
	[IN_MAP] = "mapping.map", [IN_VIEW] = "view", [IN_STEER] = "steer", NULL};

static void entry_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct mapping_reading *reading = reader->map;
	struct mapping *mapping = reading->mapping;

	(void)target;
	reading->has_entry = true;
	mapping->entry = mapped_node(reader, &statement->words[1], statement->words[1].text);
	mapping->entry_line = mapfile_line(reader->source, statement->words[1].offset);
}

/* Report a view that the application map does not have, or that was there before. */
static void view_check(struct reader *reader, const struct word *word)
{
	const struct mapping_reading *reading = reader->map;
	const struct application *application = reading->application;
	const struct mapping *mapping = reading->mapping;
	const char **names;

	if (application_view(application, word->text) == NULL && !application->incomplete) {
		names = application_view_names(application);
		reader_complain_unknown(reader, word, "view", names, application->n_views);
		free(names);
	}
	for (size_t i = 0; i < mapping->n_views; i++) {
		if (strcmp(mapping->views[i].view, word->text) == 0)
			reader_complain(reader, word,
					"a second `view %.60s`; put what both say into one",
					word->text);
	}
}

static void view_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct mapping *mapping = ((struct mapping_reading *)reader->map)->mapping;
	struct view_tree view = {.view = memory_copy(statement->words[1].text)};

	(void)target;
	view_check(reader, &statement->words[1]);
	directives_apply(reader, IN_VIEW, statement->body, statement->n_body, &view.tree);
	mapping->views = memory_room(mapping->views, mapping->n_views, sizeof(*mapping->views));
	mapping->views[mapping->n_views++] = view;
}

static const struct directive directives[] = {
	{.usage = "place rank[0-7] on w[0-7];",
	 .contexts = 1u << IN_MAP,
	 .least = 3,
	 .most = DIRECTIVE_ANY,
	 .apply = place_apply},
	{.usage = "entry NODE;", .contexts = 1u << IN_MAP, .once = true, .apply = entry_apply},
	{.usage = "tree by-cluster;",
	 .contexts = 1u << IN_MAP | 1u << IN_VIEW,
	 .most = 3,
	 .body = BODY_OPTIONAL,
	 .once = true,
	 .apply = tree_apply},
	{.usage = "cluster on NODE;",
	 .contexts = 1u << IN_MAP | 1u << IN_VIEW,
	 .least = 2,
	 .apply = head_apply},
	{.usage = "stages thread node at cluster;",
	 .contexts = 1u << IN_MAP | 1u << IN_VIEW,
	 .least = 3,
	 .most = 2 + LEVEL_COUNT,
	 .apply = stages_apply},
	{.usage = "concurrency 8;",
	 .contexts = 1u << IN_MAP | 1u << IN_VIEW,
	 .once = true,
	 .apply = concurrency_apply},
	{.usage = "alternate w1 for w0;",
	 .contexts = 1u << IN_MAP | 1u << IN_VIEW,
	 .least = 3,
	 .most = DIRECTIVE_ANY,
	 .apply = alternate_apply},
	{.usage = "view NAME { tree flat; cluster on NODE; }",
	 .contexts = 1u << IN_MAP,
	 .body = BODY_REQUIRED,
	 .apply = view_apply},
	{.usage = "steer allreduce barrier { bytes at most 4k; }",
	 .contexts = 1u << IN_MAP,
	 .least = 1,
	 .most = STEER_KINDS,
	 .body = BODY_OPTIONAL,
	 .apply = steer_apply},
	{.usage = "along VIEW;",
	 .contexts = 1u << IN_STEER,
	 .once = true,
	 .apply = steer_along_apply},
	{.usage = "communicator world;",
	 .contexts = 1u << IN_STEER,
	 .once = true,
	 .apply = steer_communicator_apply},
	{.usage = "bytes at most 4KiB;",
	 .contexts = 1u << IN_STEER,
	 .least = 1,
	 .most = 3,
	 .once = true,
	 .apply = steer_bytes_apply},
	{.usage = "in order;",
	 .contexts = 1u << IN_STEER,
	 .once = true,
	 .apply = steer_order_apply},
	{.usage = "collect arrival reduce send;",
	 .contexts = 1u << IN_STEER,
	 .least = 1,
	 .most = STEER_STAGES,
	 .once = true,
	 .apply = steer_collect_apply},
	{.usage = "lead rank[5,3];",
	 .contexts = 1u << IN_STEER,
	 .most = DIRECTIVE_ANY,
	 .once = true,
	 .apply = steer_lead_apply},
};

/* Report ranks that are not placed although others are. */
static void unplaced_check(struct reader *reader)
{
	const struct mapping_reading *reading = reader->map;
	const struct mapping *mapping = reading->mapping;
	unsigned ranks = reading->application->ranks, last;

	if (!mapping->places || mapping->everywhere != NULL)
		return;
	for (unsigned first = 0; first < ranks; first = last + 1) {
		last = first;
		if (mapping_rank_node(mapping, first) != NULL)
			continue;
		while (last + 1 < ranks && mapping_rank_node(mapping, last + 1) == NULL)
			last++;
		if (last > first)
			complain(
				reader->diagnostics, reader->source, reading->place_offset,
				"rank[%u-%u] of the application map are placed nowhere; add `place "
				"rank[%u-%u] on NODES;`",
				first, last, first, last);
		else
			complain(reader->diagnostics, reader->source, reading->place_offset,
				 "rank%u of the application map is placed nowhere; add `place "
				 "rank%u "
				 "on NODE;`",
				 first, first);
	}
}

void mapping_read(struct mapping *mapping, const struct mapfile *source,
		  const struct application *application, const struct cluster_map *clusters,
		  struct diagnostics *diagnostics)
{
	struct mapping_reading reading = {
		.mapping = mapping,
		.application = application,
		.clusters = clusters,
	};
	struct reader reader = {
		.source = source,
		.diagnostics = diagnostics,
		.table = directives,
		.n_table = sizeof(directives) / sizeof(directives[0]),
		.contexts = contexts,
		.map = &reading,
	};

	*mapping = (struct mapping){0};
	reader_begin(&reader, IN_MAP, &mapping->tree);
	if (reader_is_clean(&reader) && !clusters->incomplete)
		unplaced_check(&reader);
	if (!reading.has_entry)
		complain_file(diagnostics, source,
			      "no entry, where consumers connect; add `entry NODE;`");
	free(reading.rank_offsets);
	reader_end(&reader);
}
