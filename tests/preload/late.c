/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI that loads a module with it, for itself alone (RTLD_LOCAL), when it runs.
 * Others that are named are loaded before it; the first few are meanwhile opened and closed all the
 * time, by a thread each.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { OPENERS = 4 };

static _Atomic int opened, over;

static void *load(const char *path)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (object)
		return object;
	fprintf(stderr, "late: %s\n", dlerror());
	_exit(2);
}

static void *open_often(void *path)
{
	for (int i = 0; !over; i++) {
		dlclose(load(path));
		if (i == 0)
			opened++;
	}
	return NULL;
}

static int run_beside(int (*run)(void), char **others, int n)
{
	pthread_t openers[OPENERS];
	int rc;

	for (int i = 0; i < n; i++)
		if (pthread_create(&openers[i], NULL, open_often, others[i]) != 0)
			return 2;
	while (opened < n)
		sched_yield();
	rc = run();
	over = 1;
	for (int i = 0; i < n; i++)
		pthread_join(openers[i], NULL);
	return rc;
}

int main(int argc, char **argv)
{
	int (*run)(void), others = argc - 2;

	if (argc < 2) {
		fprintf(stderr, "usage: late MODULE [OTHER...]\n");
		return 2;
	}
	for (int i = OPENERS; i < others; i++)
		load(argv[2 + i]);
	*(void **)(void *)&run = dlsym(load(argv[1]), "plugin_run");
	return run ? run_beside(run, argv + 2, others < OPENERS ? others : OPENERS) : 2;
}
