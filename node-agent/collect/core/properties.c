/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what the application map says of this process's elements by name. */
#include "node-agent/collect/core/properties.h"

#include <stdio.h>
#include <string.h>

#include "node-agent/collect/core/settings.h"
#include "node-agent/segment/segment-class.h"
#include "pathmap/base/interval.h"
#include "pathmap/base/quantity.h"
#include "tree/data/op.h"

/* Is @rank in the list at *@text, which ends with a slash? "": it is. Moves *@text to the slash. */
static bool is_for(const char **text, int32_t rank)
{
	bool any = **text == '/', in = false;
	struct interval next;

	while (interval_next(text, &next))
		in = in || (rank >= 0 && (uint64_t)rank >= next.from && (uint64_t)rank < next.to);
	return any || in;
}

static bool word_take(struct property *p, const char *word, const char *value)
{
	uint64_t ns;

	if (strcmp(word, "capacity") == 0)
		return quantity_count(value, 2, SETTINGS_CAPACITY_MAX, &p->capacity, NULL) == 0;
	if (strcmp(word, "mode") == 0) {
		p->mode = segment_mode_find(value);
		return p->mode >= 0;
	}
	if (strcmp(word, "lifetime") != 0 || quantity_duration(value, 0, &ns, NULL) < 0 ||
	    ns > SETTINGS_LIFETIME_MAX)
		return false;
	p->lifetime_ns = ns;
	return true;
}

/* Takes "WORD:VALUE,WORD:VALUE", of @n characters. */
static bool words_take(struct property *p, const char *words, size_t n)
{
	const char *end = words + n;
	char text[64], *value;

	for (; words < end; words += n + 1) {
		n = strcspn(words, ",;");
		if (n >= sizeof(text))
			return false;
		memcpy(text, words, n);
		text[n] = '\0';
		value = strchr(text, ':');
		if (!value)
			return false;
		*value++ = '\0';
		if (!word_take(p, text, value))
			return false;
	}
	return true;
}

/* Reads "RANKS/PATTERN=WORDS", of @n characters. */
static bool item_read(struct properties *p, const char *item, size_t n)
{
	const char *end = item + n, *equal;
	struct property made = {.mode = -1};
	bool mine = is_for(&item, p->rank);

	equal = memchr(item, '=', (size_t)(end - item));
	if (*item != '/' || !equal || (size_t)(equal - item) >= sizeof(made.pattern))
		return false;
	memcpy(made.pattern, item, (size_t)(equal - item));
	if (pattern_check(made.pattern, NULL) < 0 ||
	    !words_take(&made, equal + 1, (size_t)(end - equal - 1)))
		return false;
	if (!mine)
		return true;
	if (p->n == PROPERTIES_MAX)
		return false;
	p->items[p->n++] = made;
	return true;
}

bool properties_read(struct properties *p, const char *text, int32_t rank)
{
	bool right = true;
	size_t n;

	p->rank = rank;
	p->n = 0;
	for (; text && *text; text += n + (text[n] == ';')) {
		n = strcspn(text, ";");
		right = item_read(p, text, n) && right;
	}
	return right;
}

struct property properties_of(const struct properties *p, uint32_t thread, unsigned channel)
{
	struct property of = {.mode = -1};
	char name[64];

	snprintf(name, sizeof(name), "/rank%d/t%u/%s", p->rank, thread, channel_name(channel));
	for (uint32_t i = 0; i < p->n; i++) {
		const struct property *item = &p->items[i];

		if (!pattern_match(item->pattern, name))
			continue;
		of.capacity = item->capacity ? item->capacity : of.capacity;
		of.lifetime_ns = item->lifetime_ns ? item->lifetime_ns : of.lifetime_ns;
		of.mode = item->mode >= 0 ? item->mode : of.mode;
	}
	return of;
}
