/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells for whom threads that died have waited. */
#include "consumers/watch/stall.h"

size_t stall_autopsy(struct stall *stall, struct thread_state *all, size_t n,
		     stall_members *members, void *arg)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		all[i].running = all[i].died_inside;
	stall_find(stall, all, n, 0, members, arg);
	for (size_t i = 0; i < n; i++) {
		all[i].running = all[i].odd = false;
		all[i].stuck = all[i].culprit;
		found += all[i].stuck;
	}
	return found;
}
