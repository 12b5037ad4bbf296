/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells which of the threads that wait for each other is the one to look at. */
#include <stdlib.h>

#include "consumers/watch/stall.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"

/* Does it wait for others that wait as well, or is it where their waiting ends? */
static bool is_tangled(const struct thread_state *all, const struct thread_state *p)
{
	if (!p->stuck || !p->running)
		return false;
	return p->circle || p->deadlock || p->holds_up > 0 ||
	       (p->cause != STALL_NOBODY && all[p->cause].running);
}

static int compare(const void *a, const void *b)
{
	const struct thread_state *x = *(const struct thread_state *const *)a,
				  *y = *(const struct thread_state *const *)b;

	if (x->world != y->world)
		return x->world > y->world ? 1 : -1;
	if (x->op_number != y->op_number)
		return x->op_number > y->op_number ? 1 : -1;
	if (x->comm != y->comm)
		return x->comm > y->comm ? 1 : -1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* The @n that are tangled, sorted: the most that are in the same collective, if these are more than
 * half. Returns how many, the first one is *@first. */
static size_t find_most(struct thread_state *const *tangled, size_t n, size_t *first)
{
	size_t best = 0, same;

	for (size_t i = 0; i < n; i += same) {
		for (same = 1; i + same < n && compare(&tangled[i], &tangled[i + same]) == 0;)
			same++;
		if (same > best && op_is_collective(tangled[i]->op_number)) {
			best = same;
			*first = i;
		}
	}
	return 2 * best > n ? best : 0;
}

static bool is_awaited(const struct thread_state *by, int32_t rank)
{
	for (size_t i = 0; i < by->n_awaits; i++) {
		if (by->awaits[i] == rank)
			return true;
	}
	return false;
}

void stall_odd(struct thread_state *all, size_t n)
{
	struct thread_state **tangled = memory_new(n + 1, sizeof(*tangled));
	size_t n_tangled = 0, first = 0, most;

	for (size_t i = 0; i < n; i++) {
		all[i].odd = all[i].stuck && all[i].running && all[i].holds_up > 0 &&
			     !all[i].circle && !all[i].meets;
		if (is_tangled(all, &all[i]))
			tangled[n_tangled++] = &all[i];
	}
	qsort(tangled, n_tangled, sizeof(struct thread_state *), compare);
	most = find_most(tangled, n_tangled, &first);
	for (size_t i = 0; most && i < n_tangled; i++) {
		if (i == first)
			i += most - 1;
		else if (tangled[i]->world == tangled[first]->world)
			tangled[i]->odd |= is_awaited(tangled[first], tangled[i]->rank);
	}
	free(tangled);
}
