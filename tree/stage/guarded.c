/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks with guards: words that code of others cannot know, and does not write by accident. */
#include "tree/stage/guarded.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"

#define GUARD_BYTES (GUARDED_WORDS * sizeof(uint64_t))

static const uint64_t *guard(void)
{
	static uint64_t words[GUARDED_WORDS];
	static bool known;

	for (uint32_t i = 0; !known && i < GUARDED_WORDS; i++)
		words[i] = (uint64_t)hash_number(2 * i) << 32 | hash_number(2 * i + 1);
	known = true;
	return words;
}

/* In fewer instructions than a call of memcmp(): there is one for each record. */
static inline bool is_whole(const uint64_t *words, const uint64_t *whole)
{
	uint64_t other = 0;

	for (unsigned i = 0; i < GUARDED_WORDS; i++)
		other |= words[i] ^ whole[i];
	return other == 0;
}

static inline uint64_t *guard_before(const struct guarded *g, size_t i)
{
	return guarded_at(g, i) - GUARDED_WORDS;
}

size_t guarded_add(struct guarded *g)
{
	if (g->n == g->room) {
		g->room = g->room ? 2 * g->room : 1;
		g->words =
			reallocarray(g->words, GUARDED_WORDS + g->room * (g->each + GUARDED_WORDS),
				     sizeof(*g->words));
		if (!g->words)
			abort();
	}
	if (g->n == 0)
		memcpy(g->words, guard(), GUARD_BYTES);
	memset(guarded_at(g, g->n), 0, g->each * sizeof(*g->words));
	memcpy(guard_before(g, g->n + 1), guard(), GUARD_BYTES);
	return g->n++;
}

bool guarded_holds(const struct guarded *g, size_t first, size_t n)
{
	const uint64_t *whole = guard();

	for (size_t i = first; n > 0 && i <= first + n; i++)
		if (!is_whole(guard_before(g, i), whole))
			return false;
	return true;
}

void guarded_fini(struct guarded *g)
{
	free(g->words);
	*g = (struct guarded){.each = g->each};
}
