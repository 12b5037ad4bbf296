/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the elements that a map has agents make, for each node of theirs. */
#include "pathmap/plan/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void line_write(FILE *out, const struct pathmap *map, const struct made_element *m,
		       const char *node)
{
	fprintf(out, "%s %s %s %u %u %s;", node, m->run ? m->run : map->application.name, m->name,
		m->capacity, m->wait_ms, m->fields);
}

char *made_text(const struct pathmap *map)
{
	const struct application *application = &map->application;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (out == NULL)
		abort();
	for (size_t i = 0; i < application->n_made; i++) {
		const struct made_element *m = &application->made[i];

		if (m->n_nodes == 0)
			line_write(out, map, m, pathmap_entry(map));
		for (size_t k = 0; k < m->n_nodes; k++)
			line_write(out, map, m, m->nodes[k]);
	}
	if (fclose(out) == EOF)
		abort();
	return text;
}

void made_check(const struct pathmap *map, const struct mapfile *source,
		struct diagnostics *diagnostics)
{
	const struct application *application = &map->application;
	char *text = made_text(map);
	uint64_t room = 0;

	for (size_t i = 0; i < application->n_made; i++) {
		const struct made_element *m = &application->made[i];

		room += made_room(m->bytes, m->capacity);
		if (room > MADE_ROOM_MAX)
			complain(diagnostics, source, m->offset,
				 "the elements to make, up to `%s`, take %llu MiB, and %llu is the "
				 "most; write a smaller `capacity`, or have the program make it",
				 m->name, (unsigned long long)room >> 20,
				 (unsigned long long)MADE_ROOM_MAX >> 20);
		for (size_t k = 0; k < m->n_nodes; k++)
			if (cluster_map_node(&map->clusters, m->nodes[k]) == NULL)
				complain(diagnostics, source, m->offset,
					 "element `%s` is to be on `%.60s`, which is no node of "
					 "cluster.map",
					 m->name, m->nodes[k]);
	}
	if (strlen(text) > MADE_TEXT_MAX)
		complain(diagnostics, source, application->made[0].offset,
			 "the elements to make are too many on too many nodes: %zu characters, and "
			 "%u is the most that agents can be told",
			 strlen(text), MADE_TEXT_MAX);
	free(text);
}
