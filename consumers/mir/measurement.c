/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes measurement documents short: what the request says is left out, what elements share is said
 * once. */
#include "consumers/mir/measurement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/mir/answer.h"

/* Keys: the probe, then the entities from the largest on. */
#define KEYS (1 + MIR_LEVELS)

static const char *const names[KEYS] = {"probeId",	  "siteId",    "nodeId",
					"communicatorId", "processId", "threadId"};

/* Attributes that an element gets from keys that it shares with no other one. */
struct mir_shown {
	bool key[KEYS];
};

struct mir_document {
	FILE *out;
	bool one_probe;
};

static const char *key_of(const struct mir_tuple *t, unsigned key)
{
	return key == 0 ? t->probe : t->id[key - 1];
}

static bool is_shown(const struct mir_document *d, const struct mir_tuple *t, unsigned key)
{
	return key == 0 ? !d->one_probe : !t->as_requested[key - 1];
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Does it say more behind that key? */
static bool goes_deeper(const struct mir_tuple *t, unsigned key)
{
	while (++key < KEYS)
		if (key_of(t, key))
			return true;
	return false;
}

/* A decimal of XML Schema has no exponent. */
static void value_write(FILE *out, const struct mir_tuple *t)
{
	char text[400];
	size_t n;

	if (!t->known || !isfinite(t->value))
		return;
	snprintf(text, sizeof(text), "%.9f", t->value);
	n = strlen(text);
	while (text[n - 1] == '0')
		n--;
	n -= text[n - 1] == '.';
	text[n] = '\0';
	answer_attribute(out, "value", strcmp(text, "-0") == 0 ? "0" : text);
}

static void begin_write(struct mir_document *d, const struct mir_tuple *t,
			const struct mir_shown *shown)
{
	fputs("<measurement", d->out);
	for (unsigned k = 0; k < KEYS; k++)
		if (shown->key[k])
			answer_attribute(d->out, names[k], key_of(t, k));
}

static size_t run_of(const struct mir_tuple *t, size_t n, unsigned key)
{
	size_t same = 1;

	while (same < n && is_same(key_of(t, key), key_of(&t[same], key)))
		same++;
	return same;
}

static size_t siblings_write(struct mir_document *d, const struct mir_tuple *t, size_t n,
			     unsigned key, struct mir_shown shown);

/* One element around what @n tuples have behind @key. */
static size_t nest_write(struct mir_document *d, const struct mir_tuple *t, size_t n, unsigned key,
			 const struct mir_shown *shown)
{
	begin_write(d, t, shown);
	fputc('>', d->out);
	siblings_write(d, t, n, key + 1, (struct mir_shown){{false}});
	fputs("</measurement>", d->out);
	return 1;
}

/* What has one key in common. @alone: nothing beside it has another one. */
static size_t group_write(struct mir_document *d, const struct mir_tuple *t, size_t n, unsigned key,
			  struct mir_shown shown, bool alone)
{
	bool shows = key_of(t, key) && is_shown(d, t, key);
	bool counts = key_of(t, key) && !shows && !alone;

	shown.key[key] = shows;
	if ((shows && n > 1) || (counts && (n > 1 || goes_deeper(t, key))))
		return nest_write(d, t, n, key, &shown);
	return siblings_write(d, t, n, key + 1, shown);
}

/* Elements beside each other for tuples that are alike up to @key. Returns how many. */
static size_t siblings_write(struct mir_document *d, const struct mir_tuple *t, size_t n,
			     unsigned key, struct mir_shown shown)
{
	size_t written = 0;

	for (size_t i = 0, same; i < n; i += same) {
		same = key < KEYS ? run_of(&t[i], n - i, key) : 1;
		if (key < KEYS) {
			written += group_write(d, &t[i], same, key, shown, same == n);
			continue;
		}
		begin_write(d, &t[i], &shown);
		value_write(d->out, &t[i]);
		fputs("/>", d->out);
		written++;
	}
	return written;
}

void measurement_write(FILE *out, const struct mir_tuple *tuples, size_t n)
{
	struct mir_document d = {.one_probe = n == 0 || run_of(tuples, n, 0) == n};
	char *text = NULL;
	size_t bytes, written;

	d.out = open_memstream(&text, &bytes);
	if (!d.out)
		abort();
	written = siblings_write(&d, tuples, n, 0, (struct mir_shown){{false}});
	if (fclose(d.out) != 0)
		abort();
	if (written == 0)
		fputs("<measurement/>", out);
	else
		fprintf(out, "%s%s%s", written > 1 ? "<measurement>" : "", text,
			written > 1 ? "</measurement>" : "");
	free(text);
}
