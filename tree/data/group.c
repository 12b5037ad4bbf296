/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: an array, and a small hash table over it that is cleared entry by entry. */
#include "tree/data/group.h"

#include <stdlib.h>

#include "pathmap/base/memory.h"

#define FIRST_BITS 6

void groups_reset(struct groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		groups->index[groups->items[i].slot] = 0;
	groups->n = 0;
}

void groups_fini(struct groups *groups)
{
	free(groups->items);
	free(groups->index);
	*groups = (struct groups){0};
}

/* Where the key is, or the free entry where it belongs. */
static uint32_t find(const struct groups *groups, const uint64_t key[2])
{
	uint32_t mask = (UINT32_C(1) << groups->bits) - 1;
	uint64_t mixed =
		(key[0] ^ key[1] * UINT64_C(0xc2b2ae3d27d4eb4f)) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t slot = (uint32_t)(mixed >> (64 - groups->bits));

	while (groups->index[slot]) {
		const struct group *g = &groups->items[groups->index[slot] - 1];

		if (g->key[0] == key[0] && g->key[1] == key[1])
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

static void grow(struct groups *groups)
{
	groups->bits = groups->bits ? groups->bits + 1 : FIRST_BITS;
	free(groups->index);
	groups->index = memory_new((size_t)1 << groups->bits, sizeof(*groups->index));
	for (size_t i = 0; i < groups->n; i++) {
		struct group *g = &groups->items[i];

		g->slot = find(groups, g->key);
		groups->index[g->slot] = (uint32_t)i + 1;
	}
	/* Half full at most. */
	groups->room = (size_t)1 << (groups->bits - 1);
	groups->items = reallocarray(groups->items, groups->room, sizeof(*groups->items));
	if (!groups->items)
		abort();
}

struct group *groups_at(struct groups *groups, const uint64_t key[2], bool *is_new)
{
	struct group *g;
	uint32_t slot;

	if (groups->n == groups->room)
		grow(groups);
	slot = find(groups, key);
	*is_new = groups->index[slot] == 0;
	if (!*is_new)
		return &groups->items[groups->index[slot] - 1];
	g = &groups->items[groups->n++];
	*g = (struct group){.key = {key[0], key[1]}, .slot = slot};
	groups->index[slot] = (uint32_t)groups->n;
	return g;
}
