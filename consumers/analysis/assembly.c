/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps open operations in lists by age, of all and of each communicator, and in a hash table. */
#include "consumers/analysis/assembly.h"

void assemblies_init(struct assemblies *all)
{
	*all = (struct assemblies){0};
	TAILQ_INIT(&all->by_age);
	TAILQ_INIT(&all->by_use);
}

/* ---- communicators ---- */

struct assembly_circle *assembly_circle_find(struct assemblies *all, uint32_t comm)
{
	struct assembly_circle *c;

	HASH_FIND(hh, all->circles, &comm, sizeof(comm), c);
	if (!c)
		return NULL;
	TAILQ_REMOVE(&all->by_use, c, of_all);
	TAILQ_INSERT_TAIL(&all->by_use, c, of_all);
	return c;
}

void assembly_circle_add(struct assemblies *all, struct assembly_circle *c, uint32_t comm)
{
	c->comm = comm;
	TAILQ_INIT(&c->open);
	HASH_ADD(hh, all->circles, comm, sizeof(c->comm), c);
	TAILQ_INSERT_TAIL(&all->by_use, c, of_all);
}

void assembly_circle_remove(struct assemblies *all, struct assembly_circle *c)
{
	HASH_DEL(all->circles, c);
	TAILQ_REMOVE(&all->by_use, c, of_all);
}

struct assembly_circle *assembly_circle_idle(const struct assemblies *all,
					     const struct assembly_circle *keep)
{
	struct assembly_circle *c = TAILQ_FIRST(&all->by_use);

	while (c && (c == keep || !TAILQ_EMPTY(&c->open)))
		c = TAILQ_NEXT(c, of_all);
	return c;
}

/* ---- operations ---- */

struct assembly *assembly_find(const struct assemblies *all, uint32_t comm, uint32_t number)
{
	const uint32_t at[2] = {comm, number};
	struct assembly *a;

	HASH_FIND(hh, all->open, at, sizeof(at), a);
	return a;
}

void assembly_add(struct assemblies *all, struct assembly *a, struct assembly_circle *circle,
		  uint32_t number)
{
	a->comm = circle->comm;
	a->number = number;
	a->circle = circle;
	HASH_ADD(hh, all->open, comm, 2 * sizeof(uint32_t), a);
	TAILQ_INSERT_TAIL(&all->by_age, a, of_all);
	TAILQ_INSERT_TAIL(&circle->open, a, of_circle);
}

bool assembly_is_over(const struct assembly_circle *c, uint32_t number)
{
	return c->gave_up && !assembly_is_before(c->given_up, number);
}

void assembly_again(struct assembly_circle *c)
{
	c->gave_up = false;
}

void assembly_end(struct assemblies *all, const struct assembly *a, enum meeting_gap gap,
		  bool mixed)
{
	struct assembly_circle *c = a->circle;

	all->counts.n[gap]++;
	all->counts.mixed += mixed;
	if (gap == MEETING_WHOLE || assembly_is_over(c, a->number))
		return;
	c->gave_up = true;
	c->given_up = a->number;
}

void assembly_remove(struct assemblies *all, struct assembly *a)
{
	HASH_DEL(all->open, a);
	TAILQ_REMOVE(&all->by_age, a, of_all);
	TAILQ_REMOVE(&a->circle->open, a, of_circle);
}
