/* SPDX-License-Identifier: BSD-3-Clause */
/* The heads of runs of foreign records, written as numbers, so that byte order does not matter. */
#include "tree/data/foreign.h"

#include <string.h>

/* In the first word: the words of a record, and whether they have a key. */
#define KEYED (UINT64_C(1) << 32)

bool foreign_name(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n > 0 && n < FOREIGN_NAME && text[n] == '\0' && *text >= 'a' && *text <= 'z';
}

void foreign_head(struct foreign head[FOREIGN_HEAD], const struct foreign_kind *kind)
{
	memset(head, 0, FOREIGN_HEAD * sizeof(*head));
	head[0].word = kind->words | (kind->keyed ? KEYED : 0);
	for (unsigned i = 0; i < FOREIGN_NAME; i++)
		head[1 + i / 8].word |= (uint64_t)(unsigned char)kind->name[i] << i % 8 * 8;
}

unsigned foreign_read(const struct foreign *words, unsigned count, struct foreign_kind *kind)
{
	uint64_t shape;

	if (count <= FOREIGN_HEAD)
		return 0;
	shape = words[0].word & ~KEYED;
	if (shape == 0 || shape > FOREIGN_WORDS || (count - FOREIGN_HEAD) % shape != 0)
		return 0;
	kind->words = (unsigned)shape;
	kind->keyed = (words[0].word & KEYED) != 0;
	for (unsigned i = 0; i < FOREIGN_NAME; i++)
		kind->name[i] = (char)(words[1 + i / 8].word >> i % 8 * 8);
	if (kind->name[FOREIGN_NAME - 1] != '\0' || !foreign_name(kind->name))
		return 0;
	return (count - FOREIGN_HEAD) / kind->words;
}
