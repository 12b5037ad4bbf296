/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the heads of units in answers, as sir-write.c writes them, where these are written; and
 * keeps what that has found. */
#include "consumers/mir/units.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/code/code.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

#define HEAD "<unit id=\""
#define NAME "\" name=\""

/* Where a region of another source has the name of that. */
#define FILE_HEAD "\" file=\""

/* ---- found ---- */

struct unit_said {
	UT_hash_handle hh;
	uint32_t id;
};

struct unit_saying {
	FILE *out;
	struct unit_said *said;
};

/* The source with that number has the name that begins at @name and ends with a quote. */
static void unit_say(struct unit_saying *s, uint32_t id, const char *name, const char *end)
{
	const char *last = memchr(name, '"', (size_t)(end - name)), *folder;
	struct unit_said *u;

	HASH_FIND(hh, s->said, &id, sizeof(id), u);
	if (!last || u || HASH_COUNT(s->said) >= UNITS_MAX)
		return;
	u = memory_new(1, sizeof(*u));
	u->id = id;
	HASH_ADD(hh, s->said, id, sizeof(u->id), u);
	folder = memrchr(name, '/', (size_t)(last - name));
	name = folder ? folder + 1 : name;
	fprintf(s->out, "%08x %.*s\n", id, (int)(last - name), name);
}

/* @at is behind the head. */
static void unit_find(struct unit_saying *s, const char *at, const char *end)
{
	char *behind;
	uint32_t id = (uint32_t)strtoul(at, &behind, 16);

	if (strncmp(behind, NAME, strlen(NAME)) == 0)
		unit_say(s, id, behind + strlen(NAME), end);
}

/* A header, whose regions are in the units that include it; @at is its name. */
static void header_find(struct unit_saying *s, const char *at, const char *end)
{
	const char *last = memchr(at, '"', (size_t)(end - at));
	char *path = memory_copy_bytes(at, last ? (size_t)(last - at) : 0);

	/* what is escaped has another number */
	if (last && !strchr(path, '&'))
		unit_say(s, code_source_id(path), at, end);
	free(path);
}

void units_say(FILE *out, const char *text, size_t n)
{
	static const struct {
		const char *head;
		void (*find)(struct unit_saying *, const char *, const char *);
	} kinds[] = {{HEAD, unit_find}, {FILE_HEAD, header_find}};
	struct unit_saying s = {.out = out};
	struct unit_said *u, *next;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *at = text, *end = text + n;

		while ((at = memmem(at, (size_t)(end - at), kinds[i].head,
				    strlen(kinds[i].head)))) {
			at += strlen(kinds[i].head);
			kinds[i].find(&s, at, end);
		}
	}
	HASH_ITER(hh, s.said, u, next)
	{
		HASH_DEL(s.said, u);
		free(u);
	}
}

/* ---- kept ---- */

static struct sir_unit *unit_of(const struct probe_owner *owner, uint32_t id)
{
	struct sir_unit *u;

	LIST_FOREACH (u, &owner->units, link)
		if (u->id == id)
			return u;
	return NULL;
}

/* Returns whether it is new. */
static bool unit_add(struct probe_owner *owner, const char *line)
{
	char *name;
	uint32_t id = (uint32_t)strtoul(line, &name, 16);
	struct sir_unit *u;

	if (*name != ' ' || unit_of(owner, id))
		return false;
	u = memory_new(1, sizeof(*u));
	u->id = id;
	u->name = memory_copy(name + 1);
	LIST_INSERT_HEAD(&owner->units, u, link);
	return true;
}

void units_note(struct probe_owner *owner, const char *text, size_t n)
{
	char *said = memory_copy_bytes(text, n), *rest = said, *line;
	const struct sir_unit *u;
	unsigned room = UNITS_MAX;

	LIST_FOREACH (u, &owner->units, link)
		room -= room > 0;
	while (room > 0 && (line = strsep(&rest, "\n")) && *line)
		room -= unit_add(owner, line);
	free(said);
}

const char *units_name(const struct probe_owner *owner, const char *id)
{
	const struct sir_unit *u = unit_of(owner, (uint32_t)strtoul(id, NULL, 16));

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
