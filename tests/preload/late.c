/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI that loads a module with it, for itself alone (RTLD_LOCAL), when it runs.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*run)(void);

	if (!module) {
		fprintf(stderr, "late: %s\n", argc > 1 ? dlerror() : "usage: late MODULE");
		return 2;
	}
	*(void **)(void *)&run = dlsym(module, "plugin_run");
	return run ? run() : 2;
}
