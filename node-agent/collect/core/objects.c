/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches all objects of the process without holding a lock of the loader. */
#include "node-agent/collect/core/door.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/** Extra bytes: another thread may load something in between. */
#define SPARE 4096

/** How often it may load more than that. */
#define TRIES 8

/** Paths, one after the other; an empty one ends them. */
struct paths {
	char *text;
	size_t room, used;
};

static int path_add(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct paths *paths = arg;
	size_t n = info->dlpi_name ? strlen(info->dlpi_name) : 0;

	(void)size;
	if (n == 0)
		return 0;
	if (paths->used + n + 2 <= paths->room)
		memcpy(paths->text + paths->used, info->dlpi_name, n + 1);
	paths->used += n + 1;
	return 0;
}

/*
 * dl_iterate_phdr(3) holds a lock that dlopen(3) takes as its second one: opening an object from
 * the callback can deadlock with another thread's dlopen(3). So the paths are copied first. The
 * callback does not allocate either, as the program's own allocator may call dl_iterate_phdr(3),
 * too.
 */
static char *paths_read(void)
{
	struct paths paths = {.text = NULL};

	for (int i = 0; i < TRIES; i++) {
		paths.used = 0;
		dl_iterate_phdr(path_add, &paths);
		if (paths.used + 1 <= paths.room) {
			paths.text[paths.used] = '\0';
			return paths.text;
		}
		free(paths.text);
		paths.room = paths.used + SPARE;
		paths.text = malloc(paths.room);
		if (!paths.text)
			return NULL;
	}
	free(paths.text);
	return NULL;
}

void *objects_search(void *(*look)(void *object, const char *path, void *arg), void *arg)
{
	char *paths = paths_read();
	void *found = NULL;

	for (const char *path = paths; path && *path && !found; path += strlen(path) + 1) {
		void *object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

		if (!object)
			continue;
		found = look(object, path, arg);
		if (!found)
			dlclose(object);
	}
	free(paths);
	return found;
}
