/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps names without their first two parts in a hash. */
#include "consumers/client/namesakes.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

struct namesake {
	UT_hash_handle hh;
	char rest[]; /* the name after cluster and node */
};

struct namesakes {
	struct namesake *all;
};

struct namesakes *namesakes_new(void)
{
	return memory_new(1, sizeof(struct namesakes));
}

void namesakes_free(struct namesakes *n)
{
	struct namesake *s, *next;

	if (!n)
		return;
	HASH_ITER(hh, n->all, s, next)
	{
		HASH_DEL(n->all, s);
		free(s);
	}
	free(n);
}

bool namesakes_note(struct namesakes *n, const char *name)
{
	struct namesake *known;
	size_t length;

	for (unsigned part = 0; part < 2 && *name == '/'; part++)
		name += 1 + strcspn(name + 1, "/");
	length = strlen(name);
	HASH_FIND(hh, n->all, name, length, known);
	if (known)
		return true;
	known = memory_new(1, sizeof(*known) + length + 1);
	memcpy(known->rest, name, length);
	HASH_ADD_KEYPTR(hh, n->all, known->rest, length, known);
	return false;
}

bool namesakes_renamed(const char *old, const char *new)
{
	const char *node = old + 1 + strcspn(old + 1, "/"), *to = new + 1 + strcspn(new + 1, "/");

	if (*old == '/' && *new == '/') {
		old = node;
		new = to;
	}
	while (*old && *old == *new)
		old++, new ++;
	if (*new == '.')
		new += 1 + strspn(new + 1, "0123456789");
	return strcmp(old, new) == 0;
}
