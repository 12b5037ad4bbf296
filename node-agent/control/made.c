/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of a map, in the folders of their runs. */
#include "node-agent/control/made.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/collect/core/settings.h"
#include "node-agent/segment/folder.h"
#include "pathmap/base/memory.h"
#include "pathmap/plan/made.h"

/* A line of the text, checked. */
struct made_line {
	char node[64], run[64], name[PASTSET_NAME];
	unsigned capacity, wait_ms;
	struct fields fields;
};

static bool line_read(struct made_line *line, const char *text)
{
	int at = 0;

	return sscanf(text, "%63s %63s %63s %9u %10u %n", line->node, line->run, line->name,
		      &line->capacity, &line->wait_ms, &at) == 5 &&
	       at > 0 && line->wait_ms <= INT32_MAX && folder_is_run(line->run) &&
	       fields_parse(&line->fields, text + at, NULL) == 0;
}

/* The folder of its run, which is made if it is missing. */
static int run_open(const struct store *store, const char *run, char *path, size_t room,
		    struct error *e)
{
	snprintf(path, room, "%s/%s", store->base, run);
	if ((mkdir(store->base, 0700) < 0 && errno != EEXIST) ||
	    (mkdir(path, 0700) < 0 && errno != EEXIST))
		return errorf(e, "cannot make %s: %s", path, strerror(errno));
	return folder_open(AT_FDCWD, path, path, e);
}

static int element_check(const struct made_line *line, int dir, const char *path, struct error *e)
{
	char is[FIELDS_TEXT];
	struct pastset file;
	int rc = 0;

	if (pastset_open(&file, dir, path, line->name, false, e) < 0)
		return -1;
	if (strcmp(file.said.fields, fields_text(&line->fields, is)) != 0)
		rc = errorf(e,
			    "the element %s in %s has the fields \"%s\", not \"%s\" as in the map",
			    line->name, path, file.said.fields, is);
	else if (file.said.capacity != line->capacity ||
		 file.said.wait_ms != (int32_t)line->wait_ms)
		rc = errorf(e,
			    "the element %s in %s has capacity %u and patience %d ms, not %u and "
			    "%u as in the map",
			    line->name, path, file.said.capacity, file.said.wait_ms, line->capacity,
			    line->wait_ms);
	pastset_close(&file);
	return rc;
}

static int element_make(const struct store *store, const struct made_line *line, struct error *e)
{
	char path[sizeof(store->base) + FOLDER_RUN + 1];
	struct settings settings;
	struct pastset_plan plan = {
		.name = line->name,
		.run = line->run,
		.fields = &line->fields,
		.capacity = line->capacity,
		.wait_ms = (int32_t)line->wait_ms,
		.made_by = line->node,
	};
	int dir = run_open(store, line->run, path, sizeof(path), e), rc;

	if (dir < 0)
		return -1;
	settings_read(&settings);
	plan.quota = settings.quota;
	rc = pastset_make(dir, path, &plan, e);
	if (rc < 0 && errno == EEXIST)
		rc = element_check(line, dir, path, e);
	close(dir);
	return rc;
}

/* Does the map have it? */
static bool is_wanted(const struct made_line *lines, size_t n, const struct store_element *m)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(lines[i].run, m->run) == 0 &&
		    strcmp(lines[i].name, m->file.said.name) == 0)
			return true;
	return false;
}

static int element_remove(const struct store *store, const struct store_element *m, struct error *e)
{
	char path[sizeof(store->base) + FOLDER_RUN + PASTSET_NAME + sizeof(ELEMENT_SUFFIX) + 2];

	snprintf(path, sizeof(path), "%s/%s/%s" ELEMENT_SUFFIX, store->base, m->run,
		 m->file.said.name);
	if (!folder_file_is_idle(AT_FDCWD, path))
		return errorf(e,
			      "the element %s of run %s is not in the map, and stays: a program "
			      "has it open",
			      m->file.said.name, m->run);
	if (unlink(path) == 0 || errno == ENOENT)
		return 0;
	return errorf(e, "cannot remove %s: %s", path, strerror(errno));
}

/* The lines of @node. */
static struct made_line *lines_read(const char *text, const char *node, size_t *n)
{
	char *copy = memory_copy(text), *rest = copy, *one;
	struct made_line *lines = NULL;

	*n = 0;
	while ((one = strsep(&rest, ";"))) {
		struct made_line line;

		if (!line_read(&line, one) || strcmp(line.node, node) != 0)
			continue;
		lines = memory_room(lines, *n, sizeof(*lines));
		lines[(*n)++] = line;
	}
	free(copy);
	return lines;
}

int made_keep(const struct store *store, const char *node, const char *text, bool removes,
	      struct error *e)
{
	const struct store_element *m;
	struct made_line *lines;
	uint64_t room = 0;
	size_t n;
	int rc = 0;

	if (strlen(text) > MADE_TEXT_MAX)
		return errorf(e, "the elements of the map are too many");
	lines = lines_read(text, node, &n);
	for (size_t i = 0; i < n; i++)
		room += made_room(lines[i].fields.bytes, lines[i].capacity);
	if (room > MADE_ROOM_MAX) {
		free(lines);
		return errorf(e, "the elements of the map are too large");
	}
	for (size_t i = 0; i < n; i++)
		rc = element_make(store, &lines[i], e) < 0 ? -1 : rc;
	TAILQ_FOREACH (m, &store->elements, link) {
		if (removes && strcmp(m->file.said.made_by, node) == 0 && !is_wanted(lines, n, m) &&
		    element_remove(store, m, e) < 0)
			rc = -1;
	}
	free(lines);
	return rc;
}
