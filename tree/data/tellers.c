/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps tellers in a list, since they are few, and processes in a table. */
#include "tree/data/tellers.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/arena.h"
#include "tree/data/names.h"

struct teller {
	char *node;
	bool owns;	/* owns some process */
	uint32_t other; /* the first that it contradicted, or TELLER_NOBODY */
	uint32_t comm;	/* … about which communicator */
	bool told;	/* … and tellers_contradicted() returned it */
};

struct tellers_process {
	int32_t number;
	uint32_t teller, other; /* the first to claim it, and the second; or TELLER_NOBODY */
	bool crowded;		/* more than two claim it */
	UT_hash_handle hh;
};

struct tellers {
	struct arena *memory;
	struct teller *list;
	size_t n, untold; /* those that contradict somebody, which nobody was told */
	struct tellers_process *processes;
};

static void teller_add(struct tellers *t, const char *node)
{
	t->list = memory_room(t->list, t->n, sizeof(*t->list));
	t->list[t->n++] = (struct teller){.node = memory_copy(node), .other = TELLER_NOBODY};
}

struct tellers *tellers_new(struct arena *memory)
{
	struct tellers *t = memory_new(1, sizeof(*t));

	t->memory = memory;
	teller_add(t, "this host");
	return t;
}

void tellers_free(struct tellers *t)
{
	HASH_CLEAR(hh, t->processes);
	for (size_t i = 0; i < t->n; i++)
		free(t->list[i].node);
	free(t->list);
	free(t);
}

uint32_t tellers_number(struct tellers *t, const char *node)
{
	for (size_t i = TELLER_SELF + 1; i < t->n; i++) {
		if (strcmp(t->list[i].node, node) == 0)
			return (uint32_t)i;
	}
	teller_add(t, node);
	return (uint32_t)t->n - 1;
}

static struct tellers_process *process_find(const struct tellers *t, int32_t number)
{
	struct tellers_process *p;

	HASH_FIND(hh, t->processes, &number, sizeof(number), p);
	return p;
}

/* A process of this host has no other owner. */
static void process_claim(struct tellers_process *p, uint32_t teller)
{
	if (p->teller == teller || p->teller == TELLER_SELF || p->other == teller)
		return;
	if (teller == TELLER_SELF)
		p->teller = TELLER_SELF;
	else if (p->other == TELLER_NOBODY)
		p->other = teller;
	else
		p->crowded = true;
}

void tellers_own(struct tellers *t, uint32_t teller, int32_t number)
{
	struct tellers_process *p = process_find(t, number);

	if (!p && (HASH_COUNT(t->processes) >= NAMES_MAX ||
		   (teller != TELLER_SELF && !arena_grant(t->memory, sizeof(*p)))))
		return;
	if (p) {
		process_claim(p, teller);
	} else {
		p = arena_take(t->memory, sizeof(*p));
		*p = (struct tellers_process){number, teller, .other = TELLER_NOBODY};
		HASH_ADD(hh, t->processes, number, sizeof(number), p);
	}
	t->list[teller].owns = true;
}

enum tellers_has tellers_has(const struct tellers *t, uint32_t teller, int32_t number)
{
	const struct tellers_process *p = process_find(t, number);

	if (!p)
		return TELLERS_UNKNOWN;
	if (p->teller == TELLER_SELF || p->other == TELLER_NOBODY)
		return p->teller == teller ? TELLERS_SOLE : TELLERS_OTHERS;
	return p->teller == teller || p->other == teller || p->crowded ? TELLERS_CONTESTED
								       : TELLERS_OTHERS;
}

bool tellers_owns(const struct tellers *t, uint32_t teller)
{
	return t->list[teller].owns;
}

static void note(struct tellers *t, uint32_t a, uint32_t b, uint32_t comm)
{
	if (a == TELLER_NOBODY || b == TELLER_NOBODY || t->list[a].other != TELLER_NOBODY)
		return;
	t->list[a].other = b;
	t->list[a].comm = comm;
	t->untold += a != TELLER_SELF;
}

void tellers_contradict(struct tellers *t, uint32_t a, uint32_t b, uint32_t comm)
{
	note(t, a, b, comm);
	note(t, b, a, comm);
}

bool tellers_contradict_anew(const struct tellers *t)
{
	return t->untold > 0;
}

const char *tellers_contradicted(struct tellers *t, uint32_t teller, uint32_t *comm)
{
	struct teller *it = &t->list[teller];

	if (it->other == TELLER_NOBODY || it->told)
		return NULL;
	it->told = true;
	t->untold -= teller != TELLER_SELF;
	*comm = it->comm;
	return t->list[it->other].node;
}
