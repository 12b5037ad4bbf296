/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads objects of single commands. */
#include "consumers/cli/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "consumers/cli/preload.h"

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
