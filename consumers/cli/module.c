/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads objects of single commands, and finds their programs. */
#include "consumers/cli/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/preload.h"
#include "pathmap/base/memory.h"

void *module_function(const char *object, const char *symbol, const char *needs, struct error *e)
{
	char path[PATH_MAX], library[PATH_MAX + 64];
	void *loaded, *function;

	if (preload_library(path, sizeof(path), e) < 0)
		return NULL;
	path[strcspn(path, ":")] = '\0';
	*(strrchr(path, '/') + 1) = '\0';
	snprintf(library, sizeof(library), "%s%.63s", path, object);
	/* never closed, and opened once: dlopen() counts */
	loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	function = loaded ? dlsym(loaded, symbol) : NULL;
	if (!function) {
		errno = ENOTSUP;
		errorf(e, "this evspace was built without %s, or there is no %.300s", needs,
		       library);
	}
	return function;
}

char *module_program(const char *name)
{
	char self[PATH_MAX], *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	path = memory_format("%s-%s", self, name);
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return memory_format(PKGLIBEXECDIR "/evspace-%s", name);
}
