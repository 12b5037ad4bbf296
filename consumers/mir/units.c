/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the heads of units in answers, as sir-write.c writes them. */
#include "consumers/mir/units.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

#define HEAD "<unit id=\""
#define NAME "\" name=\""

static struct sir_unit *unit_find(const struct probe_owner *owner, uint32_t id)
{
	struct sir_unit *u;

	LIST_FOREACH (u, &owner->units, link)
		if (u->id == id)
			return u;
	return NULL;
}

/* @at is behind the head. */
static void unit_note(struct probe_owner *owner, const char *at, const char *end)
{
	char *behind;
	uint32_t id = (uint32_t)strtoul(at, &behind, 16);
	const char *name = behind + strlen(NAME), *last, *folder;
	struct sir_unit *u;

	if (strncmp(behind, NAME, strlen(NAME)) != 0 || unit_find(owner, id))
		return;
	last = memchr(name, '"', (size_t)(end - name));
	if (!last)
		return;
	folder = memrchr(name, '/', (size_t)(last - name));
	name = folder ? folder + 1 : name;
	u = memory_new(1, sizeof(*u));
	u->id = id;
	u->name = memory_copy_bytes(name, (size_t)(last - name));
	LIST_INSERT_HEAD(&owner->units, u, link);
}

void units_note(struct probe_owner *owner, const char *text, size_t n)
{
	const char *at = text, *end = text + n;
	const struct sir_unit *u;
	unsigned room = UNITS_MAX;

	LIST_FOREACH (u, &owner->units, link)
		room -= room > 0;
	for (; room > 0 && (at = memmem(at, (size_t)(end - at), HEAD, strlen(HEAD))); room--) {
		at += strlen(HEAD);
		unit_note(owner, at, end);
	}
}

const char *units_name(const struct probe_owner *owner, const char *id)
{
	const struct sir_unit *u = unit_find(owner, (uint32_t)strtoul(id, NULL, 16));

	return u ? u->name : NULL;
}

void units_free(struct probe_owner *owner)
{
	struct sir_unit *u;

	while ((u = LIST_FIRST(&owner->units))) {
		LIST_REMOVE(u, link);
		free(u->name);
		free(u);
	}
}
