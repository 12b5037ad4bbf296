/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and checks `stage NAME from "FILE.so";` of application.map. */
#include "pathmap/model/stage-alias.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/application-read.h"
#include "pathmap/model/pattern.h"

#define SUFFIX ".so"

static const struct stage_alias *alias_find(const struct stage_aliases *aliases, const char *name)
{
	for (size_t i = 0; i < aliases->n; i++) {
		if (strcmp(aliases->items[i].name, name) == 0)
			return &aliases->items[i];
	}
	return NULL;
}

const char *stage_alias_file(const struct stage_aliases *aliases, const char *name)
{
	const struct stage_alias *alias = alias_find(aliases, name);

	return alias != NULL ? alias->file : NULL;
}

const char *stage_alias_name(const struct stage_aliases *aliases, const char *file)
{
	for (size_t i = 0; i < aliases->n; i++) {
		if (strcmp(aliases->items[i].file, file) == 0)
			return aliases->items[i].name;
	}
	return file;
}

const char *stage_alias_nearest(const struct stage_aliases *aliases, const char *name)
{
	const char *names[STAGE_ALIASES_MAX];

	for (size_t i = 0; i < aliases->n; i++)
		names[i] = aliases->items[i].name;
	return word_nearest(name, names, aliases->n);
}

void stage_alias_fini(struct stage_aliases *aliases)
{
	for (size_t i = 0; i < aliases->n; i++) {
		free(aliases->items[i].name);
		free(aliases->items[i].file);
	}
	free(aliases->items);
	*aliases = (struct stage_aliases){0};
}

/* Is it the name of a file in a folder of stages? */
static bool is_file(const char *text)
{
	size_t n = strlen(text);
	struct error e;

	return n > strlen(SUFFIX) && strcmp(text + n - strlen(SUFFIX), SUFFIX) == 0 &&
	       name_part_check(text, &e) == 0;
}

void stage_alias_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct application *application = target;
	struct stage_aliases *aliases = &application->aliases;
	const struct word *words = statement->words;
	const struct stage_alias *same = alias_find(aliases, words[1].text);
	struct error e;

	if (strcmp(words[2].text, "from") != 0)
		reader_complain(reader, &words[2],
				"`%.60s` instead of `from`; write `stage NAME from \"FILE.so\";`",
				words[2].text);
	else if (name_part_check(words[1].text, &e) < 0)
		reader_complain(reader, &words[1], "%s", e.text);
	else if (same != NULL)
		reader_complain(reader, &words[1], "a second stage `%s`; the first is in line %zu",
				words[1].text, mapfile_line(reader->source, same->offset));
	else if (application->check != NULL &&
		 application->check(words[1].text, NULL, NULL, NULL, &e) == 0)
		reader_complain(reader, &words[1],
				"there is a stage `%s` already; give this one another name",
				words[1].text);
	else if (!is_file(words[3].text))
		reader_complain(reader, &words[3],
				"`%.60s` is no name of a file in the agents' folder of stages; "
				"write one such as \"sketch.so\"",
				words[3].text);
	else if (aliases->n == STAGE_ALIASES_MAX)
		reader_complain(reader, &words[1], "more than %u stages of others; leave some out",
				STAGE_ALIASES_MAX);
	else {
		aliases->items = memory_room(aliases->items, aliases->n, sizeof(*aliases->items));
		aliases->items[aliases->n++] = (struct stage_alias){
			.name = memory_copy(words[1].text),
			.file = memory_copy(words[3].text),
			.offset = words[1].offset,
		};
	}
}
