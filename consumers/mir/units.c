/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the heads of units in answers, as sir-write.c writes them. */
#include "consumers/mir/units.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/code/code.h"
#include "pathmap/base/memory.h"

#define HEAD "<unit id=\""
#define NAME "\" name=\""

/* Where a region of another source has the name of that. */
#define FILE_HEAD "\" file=\""

static struct sir_unit *unit_find(const struct probe_owner *owner, uint32_t id)
{
	struct sir_unit *u;

	LIST_FOREACH (u, &owner->units, link)
		if (u->id == id)
			return u;
	return NULL;
}

/* The source with that number has the name that begins at @name and ends with a quote. */
static void unit_add(struct probe_owner *owner, uint32_t id, const char *name, const char *end)
{
	const char *last = memchr(name, '"', (size_t)(end - name)), *folder;
	struct sir_unit *u;

	if (!last || unit_find(owner, id))
		return;
	folder = memrchr(name, '/', (size_t)(last - name));
	name = folder ? folder + 1 : name;
	u = memory_new(1, sizeof(*u));
	u->id = id;
	u->name = memory_copy_bytes(name, (size_t)(last - name));
	LIST_INSERT_HEAD(&owner->units, u, link);
}

/* @at is behind the head. */
static void unit_note(struct probe_owner *owner, const char *at, const char *end)
{
	char *behind;
	uint32_t id = (uint32_t)strtoul(at, &behind, 16);

	if (strncmp(behind, NAME, strlen(NAME)) == 0)
		unit_add(owner, id, behind + strlen(NAME), end);
}

/* A header, whose regions are in the units that include it; @at is its name. */
static void header_note(struct probe_owner *owner, const char *at, const char *end)
{
	const char *last = memchr(at, '"', (size_t)(end - at));
	char *path = memory_copy_bytes(at, last ? (size_t)(last - at) : 0);

	/* what is escaped has another number */
	if (last && !strchr(path, '&'))
		unit_add(owner, code_source_id(path), at, end);
	free(path);
}

void units_note(struct probe_owner *owner, const char *text, size_t n)
{
	static const struct {
		const char *head;
		void (*note)(struct probe_owner *, const char *, const char *);
	} kinds[] = {{HEAD, unit_note}, {FILE_HEAD, header_note}};
	const struct sir_unit *u;
	unsigned room = UNITS_MAX;

	LIST_FOREACH (u, &owner->units, link)
		room -= room > 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *at = text, *end = text + n;

		for (; room > 0 &&
		       (at = memmem(at, (size_t)(end - at), kinds[i].head, strlen(kinds[i].head)));
		     room--) {
			at += strlen(kinds[i].head);
			kinds[i].note(owner, at, end);
		}
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
