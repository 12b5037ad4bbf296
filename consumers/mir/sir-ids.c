/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what begins in each line of each source. */
#include "consumers/mir/sir-ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

struct sir_line {
	struct sir_place {
		uint32_t source;
		int32_t line;
	} place;
	unsigned functions, others;
	UT_hash_handle hh;
};

/** A function, by "SOURCE-LINE NAME". */
struct sir_function {
	struct sir_place place;
	int column;
	unsigned order, nth; /* in which they were said; in its line */
	bool told;
	UT_hash_handle hh;
	char key[];
};

struct sir_ids {
	struct sir_line *lines;
	struct sir_function *functions;
	bool settled;
};

struct sir_ids *sir_ids_new(void)
{
	return memory_new(1, sizeof(struct sir_ids));
}

void sir_ids_free(struct sir_ids *ids)
{
	struct sir_function *f, *next;
	struct sir_line *l, *after;

	HASH_ITER(hh, ids->functions, f, next)
	{
		HASH_DEL(ids->functions, f);
		free(f);
	}
	HASH_ITER(hh, ids->lines, l, after)
	{
		HASH_DEL(ids->lines, l);
		free(l);
	}
	free(ids);
}

static struct sir_line *line_of(struct sir_ids *ids, const struct sir_place *place)
{
	struct sir_line *l;

	HASH_FIND(hh, ids->lines, place, sizeof(*place), l);
	if (l)
		return l;
	l = memory_new(1, sizeof(*l));
	l->place = *place;
	HASH_ADD(hh, ids->lines, place, sizeof(l->place), l);
	return l;
}

static struct sir_function *function_find(const struct sir_ids *ids, const char *key)
{
	struct sir_function *f;

	HASH_FIND_STR(ids->functions, key, f);
	return f;
}

static char *key_of(uint32_t source, int line, const char *name)
{
	return memory_format("%08x-%d %s", source, line, name);
}

void sir_ids_add(struct sir_ids *ids, uint32_t source, int line, int column, const char *name)
{
	char *key = key_of(source, line, name);
	struct sir_function *f;

	if (!function_find(ids, key)) {
		f = memory_new(1, sizeof(*f) + strlen(key) + 1);
		f->place = (struct sir_place){source, line};
		f->column = column;
		f->order = HASH_COUNT(ids->functions);
		memcpy(f->key, key, strlen(key) + 1);
		HASH_ADD_STR(ids->functions, key, f);
	}
	free(key);
}

static int functions_compare(const struct sir_function *a, const struct sir_function *b)
{
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/* Where several are in a line, the columns say which one is first. */
static void functions_number(struct sir_ids *ids)
{
	struct sir_function *f;

	HASH_SORT(ids->functions, functions_compare);
	for (f = ids->functions; f; f = f->hh.next)
		f->nth = line_of(ids, &f->place)->functions++;
	ids->settled = true;
}

static void id_write(char id[CODE_ID], uint32_t source, int line, unsigned nth)
{
	int n = snprintf(id, CODE_ID, "%08x-%d", source, line);

	if (nth > 0)
		snprintf(id + n, CODE_ID - (size_t)n, "-%u", nth + 1);
}

bool sir_ids_function(struct sir_ids *ids, uint32_t source, int line, const char *name,
		      char id[CODE_ID])
{
	char *key = key_of(source, line, name);
	struct sir_function *f = function_find(ids, key);

	free(key);
	if (!ids->settled)
		functions_number(ids);
	if (!f || f->told)
		return false;
	f->told = true;
	id_write(id, source, line, f->nth);
	return true;
}

void sir_ids_other(struct sir_ids *ids, uint32_t source, int line, char id[CODE_ID])
{
	struct sir_line *l;

	if (!ids->settled)
		functions_number(ids);
	l = line_of(ids, &(struct sir_place){source, line});
	id_write(id, source, line, l->functions + l->others++);
}
