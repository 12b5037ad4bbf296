/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of numbers as sorted intervals, searched by bisection; ranges in brackets. */
#include "pathmap/base/interval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool interval_next(const char **text, struct interval *next)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	next->from = strtoull(*text, &end, 10);
	next->to = *end == '-' ? strtoull(end + 1, &end, 10) : next->from;
	next->to += next->to < UINT64_MAX;
	*text = end + (*end == ',');
	return true;
}

void interval_set_fini(struct interval_set *s)
{
	free(s->items);
	*s = (struct interval_set){0};
}

/* The first span that ends at @number or later. */
static size_t interval_set_find(const struct interval_set *s, uint64_t number)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].to < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Replace @n spans at @at by @with_n others. */
static void interval_set_replace(struct interval_set *s, size_t at, size_t n,
				 const struct interval *with, size_t with_n)
{
	if (s->n - n + with_n > s->room) {
		s->room = s->room ? 2 * s->room : 4;
		s->items = reallocarray(s->items, s->room, sizeof(*s->items));
		if (!s->items)
			abort();
	}
	if (s->n - at - n > 0)
		memmove(s->items + at + with_n, s->items + at + n,
			(s->n - at - n) * sizeof(*s->items));
	for (size_t i = 0; i < with_n; i++)
		s->items[at + i] = with[i];
	s->n = s->n - n + with_n;
}

void interval_set_add(struct interval_set *s, uint64_t from, uint64_t to)
{
	size_t at = interval_set_find(s, from), end = at;
	struct interval whole = {from, to};

	if (from >= to)
		return;
	while (end < s->n && s->items[end].from <= to) {
		whole.from = s->items[end].from < whole.from ? s->items[end].from : whole.from;
		whole.to = s->items[end].to > whole.to ? s->items[end].to : whole.to;
		end++;
	}
	interval_set_replace(s, at, end - at, &whole, 1);
}

uint64_t interval_set_remove(struct interval_set *s, uint64_t from, uint64_t to)
{
	size_t at = interval_set_find(s, from + 1), end = at, n = 0;
	struct interval rest[2];
	uint64_t removed = 0;

	if (from >= to)
		return 0;
	for (; end < s->n && s->items[end].from < to; end++) {
		struct interval *old = &s->items[end];
		uint64_t low = old->from > from ? old->from : from;
		uint64_t high = old->to < to ? old->to : to;

		removed += high - low;
		if (old->from < low)
			rest[n++] = (struct interval){old->from, low};
		if (high < old->to)
			rest[n++] = (struct interval){high, old->to};
	}
	if (end > at)
		interval_set_replace(s, at, end - at, rest, n);
	return removed;
}

bool interval_set_have(const struct interval_set *s, uint64_t number)
{
	size_t at = interval_set_find(s, number + 1);

	return at < s->n && s->items[at].from <= number;
}

void interval_set_read(struct interval_set *set, const char *text)
{
	struct interval next;

	while (interval_next(&text, &next) &&
	       (set->n == 0 || next.from >= set->items[set->n - 1].to))
		interval_set_add(set, next.from, next.to);
}

char *interval_set_text(const struct interval_set *set)
{
	char number[INTERVAL_TEXT], *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	for (size_t i = 0; i < set->n; i++)
		fprintf(out, "%s%s", i ? "," : "",
			interval_text(number, set->items[i].from, set->items[i].to));
	fclose(out);
	return text;
}

/* Most digits of a number in brackets: those of RANGE_MAX. */
#define RANGE_DIGITS 9

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int range_number(const char **text, unsigned *value, unsigned *width, struct error *e)
{
	const char *p = *text;
	unsigned number = 0;

	if (!is_digit(*p))
		return errorf(e, *p == '\0'
					 ? "`[` without its `]`; write it without blanks, "
					   "like `w[0-3,6]`"
					 : "no number here; brackets hold numbers and ranges, like "
					   "`w[0-3,6]`");
	for (; is_digit(*p); p++) {
		if (p - *text == RANGE_DIGITS)
			return errorf(e, "a number of more than %d digits; at most %u",
				      RANGE_DIGITS, RANGE_MAX);
		number = number * 10 + (unsigned)(*p - '0');
	}
	*value = number;
	*width = **text == '0' && p - *text > 1 ? (unsigned)(p - *text) : 0;
	*text = p;
	return 0;
}

int range_next(const char **text, struct range *range, struct error *e)
{
	const char *start = *text;
	unsigned width;

	if (range_number(text, &range->first, &range->width, e) < 0)
		return -1;
	range->last = range->first;
	if (**text == '-') {
		const char *last = ++*text;

		if (range_number(text, &range->last, &width, e) < 0)
			return -1;
		if (range->last < range->first) {
			*text = start;
			return errorf(e, "the range runs backwards; write `%u-%u`", range->last,
				      range->first);
		}
		if (width != 0 && width != range->width) {
			*text = last;
			return errorf(e, "the ends of the range have leading zeros for different "
					 "widths; write both with the same number of digits");
		}
	}
	if (**text != ',' && **text != ']')
		return errorf(e, **text == '\0'
					 ? "`[` without its `]`; write it without blanks, like "
					   "`w[0-3,6]`"
					 : "only `,`, `-` and `]` can follow a number in "
					   "brackets, like `w[0-3,6]`");
	return *(*text)++ == ',';
}

bool range_holds(const struct range *range, const char *digits, size_t length)
{
	unsigned value = 0;

	if (length == 0 || length > RANGE_DIGITS)
		return false;
	if (digits[0] == '0' && length > 1 && length != range->width)
		return false;
	if (range->width > length)
		return false;
	for (size_t i = 0; i < length; i++)
		value = value * 10 + (unsigned)(digits[i] - '0');
	return value >= range->first && value <= range->last;
}
