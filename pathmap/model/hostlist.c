/* SPDX-License-Identifier: BSD-3-Clause */
/* Expands and writes host lists, with brackets and commas, and expands lists of ranks. */
#include "pathmap/model/hostlist.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"

/* Most brackets in a list: rack, chassis, node and one more. */
#define HOSTLIST_GROUPS 4

/* One number to write, with leading zeros up to its width. */
struct number {
	unsigned value;
	unsigned width;
};

/* A literal text and the numbers in the brackets after it. */
struct hostlist_group {
	const char *prefix;
	size_t prefix_length;
	struct number *numbers;
	size_t n;
};

/* The next bracket with numbers in @text, or NULL. A bracket with a colon is an IPv6 address. */
static const char *hostlist_bracket(const char *text)
{
	for (const char *p = text; (p = strchr(p, '[')) != NULL; p++) {
		size_t inside = strcspn(p + 1, "]");

		if (memchr(p, ':', inside + 1) == NULL)
			return p;
		p += inside;
	}
	return NULL;
}

static int group_read(struct hostlist_group *group, const char **text, size_t room, struct error *e)
{
	int more = 1;

	while (more == 1) {
		const char *start = *text;
		struct range range;

		more = range_next(text, &range, e);
		if (more < 0)
			return -1;
		if (range.last - range.first >= room - group->n) {
			*text = start;
			return errorf(e, "more than %d names in one list; write smaller lists",
				      HOSTLIST_MAX);
		}
		for (unsigned value = range.first; value <= range.last; value++) {
			group->numbers =
				memory_room(group->numbers, group->n, sizeof(*group->numbers));
			group->numbers[group->n++] = (struct number){value, range.width};
		}
	}
	return 0;
}

/* Write the name number @index, the last group turning fastest. Returns its length. */
static size_t name_write(char *name, const struct hostlist_group *groups, size_t n_groups,
			 const char *rest, size_t index)
{
	size_t turn[HOSTLIST_GROUPS] = {0};
	size_t length = 0;

	for (size_t i = n_groups; i-- > 0; index /= groups[i].n)
		turn[i] = index % groups[i].n;
	for (size_t i = 0; i < n_groups && length < NAME_BYTES; i++) {
		const struct number *number = &groups[i].numbers[turn[i]];

		length += (size_t)snprintf(name + length, NAME_BYTES - length, "%.*s%0*u",
					   (int)groups[i].prefix_length, groups[i].prefix,
					   (int)number->width, number->value);
	}
	if (length < NAME_BYTES)
		length += (size_t)snprintf(name + length, NAME_BYTES - length, "%s", rest);
	return length;
}

static void hostlist_cut(struct hostlist *list, size_t n)
{
	while (list->n > n)
		free(list->names[--list->n]);
	/* leave no allocated but empty list after a failure */
	if (n == 0) {
		free(list->names);
		list->names = NULL;
	}
}

static int names_add(struct hostlist *list, const struct hostlist_group *groups, size_t n_groups,
		     const char *rest, size_t total, struct error *e)
{
	size_t before = list->n;
	char name[NAME_BYTES];

	for (size_t i = 0; i < total; i++) {
		if (name_write(name, groups, n_groups, rest, i) >= sizeof(name)) {
			hostlist_cut(list, before);
			return errorf(e, "a name of more than %d characters", NAME_BYTES - 1);
		}
		list->names = memory_room(list->names, list->n, sizeof(*list->names));
		list->names[list->n++] = memory_copy(name);
	}
	return 0;
}

/* The same without a comma outside brackets. */
static int hostlist_add_one(struct hostlist *list, const char *text, size_t *at, struct error *e)
{
	struct hostlist_group groups[HOSTLIST_GROUPS] = {0};
	size_t n_groups = 0, total = 1;
	const char *p = text, *bracket;
	int result = -1;

	while ((bracket = hostlist_bracket(p)) != NULL) {
		struct hostlist_group *group = &groups[n_groups];

		if (n_groups == HOSTLIST_GROUPS) {
			p = bracket;
			errorf(e, "more than %d brackets in one list", HOSTLIST_GROUPS);
			goto out;
		}
		*group = (struct hostlist_group){.prefix = p,
						 .prefix_length = (size_t)(bracket - p)};
		n_groups++;
		p = bracket + 1;
		if (group_read(group, &p, HOSTLIST_MAX / total, e) < 0)
			goto out;
		total *= group->n;
	}
	if (strchr(p, ']') != NULL && strchr(p, '[') == NULL) {
		p = strchr(p, ']');
		errorf(e, "`]` without its `[`; write it without blanks, like `w[0-3,6]`");
		goto out;
	}
	result = names_add(list, groups, n_groups, p, total, e);
	if (result < 0)
		p = text;
out:
	if (result < 0)
		*at = (size_t)(p - text);
	for (size_t i = 0; i < n_groups; i++)
		free(groups[i].numbers);
	return result;
}

/* The end of the first list in @text: a comma, or the end of the text. */
static const char *hostlist_end(const char *text)
{
	int depth = 0;

	for (; *text != '\0' && (*text != ',' || depth > 0); text++)
		depth += (*text == '[') - (*text == ']');
	return text;
}

int hostlist_add(struct hostlist *list, const char *text, size_t *at, struct error *e)
{
	size_t before = list->n;
	const char *begin = text, *end;
	int result;

	do {
		char *one;

		end = hostlist_end(begin);
		one = memory_copy_bytes(begin, (size_t)(end - begin));
		*at = 0;
		if (begin == end && *text != '\0')
			result = errorf(e, "a comma without a name beside it");
		else
			result = hostlist_add_one(list, one, at, e);
		free(one);
		if (result < 0) {
			*at += (size_t)(begin - text);
			hostlist_cut(list, before);
		}
		begin = end + 1;
	} while (result == 0 && *end != '\0');
	return result;
}

void hostlist_fini(struct hostlist *list)
{
	hostlist_cut(list, 0);
	*list = (struct hostlist){0};
}

/* ---- writing ---- */

/* The number in a name by which it differs from others: lengths of what is before and after it. */
struct stem {
	const char *name;
	size_t before, after;
};

static bool is_digit(char c)
{
	return isdigit((unsigned char)c);
}

/* Find where @a and @b differ, extended to whole numbers. */
static void stem_find(struct stem *stem, const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), before = 0, after = 0;

	while (a[before] && a[before] == b[before])
		before++;
	while (before > 0 && is_digit(a[before - 1]))
		before--;
	while (after < n - before && after < m - before && a[n - 1 - after] == b[m - 1 - after])
		after++;
	/* common final digits are part of the numbers */
	while (after > 0 && is_digit(a[n - after]))
		after--;
	*stem = (struct stem){.name = a, .before = before, .after = after};
}

/* Reads the number of @name at the stem. Returns false when there is none, or the rest differs. */
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
	/* keep leading zeros if all have the same width */
	if (name[stem->before] != '0' || *width == 1)
		*width = 0;
	return *value <= RANGE_MAX;
}

/* How many names at the start of @names have the stem, so that one list can hold them. */
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
		/* copied, with leading zeros */
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

/* ---- ranks ---- */

/* The rank that @name ("rank3") stands for, or RANKS_MAX. */
static unsigned rank_number(const char *name)
{
	static const char prefix[] = "rank";
	const char *digits = name + strlen(prefix);
	unsigned number = 0;

	if (strncmp(name, prefix, strlen(prefix)) != 0 || *digits == '\0' ||
	    (*digits == '0' && digits[1] != '\0'))
		return RANKS_MAX;
	for (; *digits != '\0'; digits++) {
		if (*digits < '0' || *digits > '9')
			return RANKS_MAX;
		number = number * 10 + (unsigned)(*digits - '0');
		if (number >= RANKS_MAX)
			return RANKS_MAX;
	}
	return number;
}

int rank_list_add(struct rank_list *list, const char *text, size_t *at, struct error *e)
{
	struct hostlist names = {0};
	size_t before = list->n;
	int result = 0;

	if (hostlist_add(&names, text, at, e) < 0)
		return -1;
	for (size_t i = 0; i < names.n && result == 0; i++) {
		unsigned rank = rank_number(names.names[i]);

		if (rank == RANKS_MAX) {
			*at = 0;
			result = errorf(e,
					"`%.60s` is not a rank; ranks are `rank0` to `rank%u`, or "
					"several, like `rank[0-11]`",
					names.names[i], RANKS_MAX - 1);
			break;
		}
		list->ranks = memory_room(list->ranks, list->n, sizeof(*list->ranks));
		list->ranks[list->n++] = rank;
	}
	if (result < 0)
		list->n = before;
	hostlist_fini(&names);
	return result;
}
