/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes names as host lists: those that differ in one number only become one. */
#include "pathmap/model/hostlist.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/range.h"

/* The number in a name that others may have differently: how much is before it, and behind. */
struct stem {
	const char *name;
	size_t before, after;
};

static bool is_digit(char c)
{
	return isdigit((unsigned char)c);
}

/* Where @a and @b differ, whole numbers taken together. */
static void stem_find(struct stem *stem, const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), before = 0, after = 0;

	while (a[before] && a[before] == b[before])
		before++;
	while (before > 0 && is_digit(a[before - 1]))
		before--;
	while (after < n - before && after < m - before && a[n - 1 - after] == b[m - 1 - after])
		after++;
	/* digits that both end their numbers with are part of these */
	while (after > 0 && is_digit(a[n - after]))
		after--;
	*stem = (struct stem){.name = a, .before = before, .after = after};
}

/* The number of @name at the stem. Returns false when there is none, or the rest is another.
 */
static bool stem_number(const struct stem *stem, const char *name, unsigned *value, size_t *width)
{
	size_t n = strlen(name), length = strlen(stem->name);

	if (n <= stem->before + stem->after || n - stem->before - stem->after > 9 ||
	    strncmp(name, stem->name, stem->before) != 0 ||
	    strcmp(name + n - stem->after, stem->name + length - stem->after) != 0)
		return false;
	*width = n - stem->before - stem->after;
	for (size_t i = 0; i < *width; i++)
		if (!is_digit(name[stem->before + i]))
			return false;
	*value = (unsigned)strtoul(name + stem->before, NULL, 10);
	/* leading zeros are kept where all have the same width */
	if (name[stem->before] != '0' || *width == 1)
		*width = 0;
	return *value <= RANGE_MAX;
}

/* How many names from @names on have the stem, and so can be in one list. */
static size_t stem_count(const struct stem *stem, const char *const *names, size_t n)
{
	size_t count = 0, width, first_length = strlen(names[0]);
	bool zeros = false;
	unsigned value;

	for (; count < n && stem_number(stem, names[count], &value, &width); count++) {
		zeros = zeros || width > 0;
		if (zeros && strlen(names[count]) != first_length)
			break;
	}
	return count;
}

/* The numbers of @n names that have the stem. */
static void print_list(FILE *out, const struct stem *stem, const char *const *names, size_t n)
{
	const char *tail = stem->name + strlen(stem->name) - stem->after;
	size_t width, digits;

	fprintf(out, "%.*s[", (int)stem->before, stem->name);
	for (size_t i = 0, last; i < n; i = last + 1) {
		unsigned first, next, end;

		stem_number(stem, names[i], &first, &width);
		digits = strlen(names[i]) - stem->before - stem->after;
		end = first;
		for (last = i; last + 1 < n; last++, end = next)
			if (!stem_number(stem, names[last + 1], &next, &width) || next != end + 1)
				break;
		/* as it is written: leading zeros, if any, are those of all */
		fprintf(out, "%s%.*s", i ? "," : "", (int)digits, names[i] + stem->before);
		digits = strlen(names[last]) - stem->before - stem->after;
		if (last > i)
			fprintf(out, "-%.*s", (int)digits, names[last] + stem->before);
	}
	fprintf(out, "]%s", tail);
}

char *hostlist_text(const char *const *names, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	for (size_t i = 0, count; i < n; i += count) {
		struct stem stem;

		count = 1;
		if (i + 1 < n) {
			stem_find(&stem, names[i], names[i + 1]);
			count = stem_count(&stem, names + i, n - i);
		}
		fprintf(out, i ? " " : "");
		if (count > 1)
			print_list(out, &stem, names + i, count);
		else
			fprintf(out, "%s", names[i]);
		count = count > 1 ? count : 1;
	}
	fclose(out);
	return text;
}
