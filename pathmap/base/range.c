/* SPDX-License-Identifier: BSD-3-Clause */
/* Number ranges in brackets, "[0-3,6]", for host lists and patterns. */
#include "pathmap/base/range.h"

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
