/* SPDX-License-Identifier: BSD-3-Clause */
/* Is one PVM task after the other, while another thread is in regions and never waits for it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <pvm3.h>

#include "node-agent/collect/core/evspace.h"

/** That the other thread goes through while this one is a task. */
#define REGIONS 5

static atomic_ulong regions;
static atomic_bool ended;

static void *work(void *arg)
{
	(void)arg;
	while (!ended) {
		evspace_region("outer", EVSPACE_BEGIN);
		evspace_region("inner", EVSPACE_BEGIN);
		evspace_region("outer", EVSPACE_END);
		regions++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int tasks = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL) != 0)
		return 1;
	for (int i = 0; i < tasks; i++) {
		unsigned long until;

		if (pvm_mytid() < 0)
			return 1;
		for (until = regions + REGIONS; regions < until;)
			;
		if (pvm_exit() < 0)
			return 1;
	}
	ended = true;
	return pthread_join(thread, NULL) != 0;
}
