/* SPDX-License-Identifier: BSD-3-Clause */
/* Reasons over one look at all threads: who is stuck, who is waited for, who waits in a circle. */
#include "consumers/stall.h"

#include <stdlib.h>
#include <string.h>

#include "tree/op.h"

static bool is_member(uint32_t comm, int32_t rank, stall_members *members, void *arg)
{
	int32_t stack[256], *list = stack;
	size_t n = members(arg, comm, stack, 256);
	bool found = n == 0; /* unknown members: anybody may be one */

	if (n > 256) {
		list = malloc(n * sizeof(*list));
		if (!list)
			abort();
		members(arg, comm, list, n);
	}
	for (size_t i = 0; i < n && !found; i++)
		found = list[i] == rank;
	if (list != stack)
		free(list);
	return found;
}

/* Has @other entered the collective that @p is in? Numbers grow on a communicator, so a later one
 * says so, too. */
static bool has_entered(const struct pulse *p, const struct pulse *other)
{
	return other->comm == p->comm && op_channel(other->op_number) == op_channel(p->op_number) &&
	       (int32_t)(other->seq - p->seq) >= 0;
}

bool stall_awaits(const struct pulse *p, const struct pulse *other, stall_members *members,
		  void *arg)
{
	if (!p->running || p->rank == other->rank)
		return false;
	if (p->peer >= 0)
		return other->rank == p->peer;
	if (!op_synchronizes(p->op_number))
		return false;
	return !has_entered(p, other) && is_member(p->comm, other->rank, members, arg);
}

/* Of several threads of a rank, one that has entered speaks for the rank. */
static bool rank_has_entered(const struct pulse *pulses, size_t n, const struct pulse *p,
			     int32_t rank)
{
	for (size_t i = 0; i < n; i++) {
		if (pulses[i].rank == rank && has_entered(p, &pulses[i]))
			return true;
	}
	return false;
}

static void find_awaited(struct pulse *pulses, size_t n, size_t at, stall_members *members,
			 void *arg)
{
	struct pulse *p = &pulses[at];
	int32_t last = -1;

	p->awaits = 0;
	for (size_t i = 0; i < n; i++) {
		if (!stall_awaits(p, &pulses[i], members, arg) || pulses[i].rank == last ||
		    (p->peer < 0 && rank_has_entered(pulses, n, p, pulses[i].rank)))
			continue;
		/* Threads come sorted by name, so those of a rank are neighbours. */
		last = pulses[i].rank;
		if (p->awaits++ == 0)
			p->first = i;
	}
}

/* Follow the first one that each waits for: a chain that comes back is a circle. */
static bool comes_back(const struct pulse *pulses, size_t n, size_t at)
{
	size_t i = at;

	for (size_t steps = 0; steps <= n; steps++) {
		if (!pulses[i].stuck || pulses[i].awaits == 0)
			return false;
		i = pulses[i].first;
		if (i == at)
			return true;
	}
	return false;
}

size_t stall_find(struct pulse *pulses, size_t n, int64_t after_ns, stall_members *members,
		  void *arg)
{
	size_t stuck = 0;

	for (size_t i = 0; i < n; i++) {
		pulses[i].stuck = pulses[i].running && pulses[i].still_ns >= after_ns;
		pulses[i].culprit = pulses[i].cycle = false;
		pulses[i].awaits = 0;
		if (pulses[i].stuck)
			find_awaited(pulses, n, i, members, arg);
	}
	for (size_t i = 0; i < n; i++) {
		struct pulse *p = &pulses[i], *first = &pulses[p->first];

		if (!p->running || !p->stuck || p->awaits == 0 || first->running ||
		    first->still_ns < after_ns)
			continue;
		first->culprit = first->stuck = true;
	}
	for (size_t i = 0; i < n; i++) {
		pulses[i].cycle = comes_back(pulses, n, i);
		stuck += pulses[i].stuck;
	}
	return stuck;
}
