/* SPDX-License-Identifier: BSD-3-Clause */
/* Names "/cluster/node/rank/thread/channel" and the patterns that select them (docs/pathmap.md). */
#include "pathmap/model/pattern.h"

#include <stddef.h>
#include <string.h>

#include "pathmap/base/interval.h"

/* One part of a name or pattern, between two slashes. */
struct pattern_part {
	const char *text; /* NULL: of a name with an unknown end */
	size_t length;
	unsigned number; /* from 0: cluster, node, rank, thread, channel */
};

/* Iterates over the parts of a name or pattern. */
struct pattern_parts {
	const char *rest;
	unsigned number; /* of the next part */
	unsigned least;	 /* number of parts, even if not all are known */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* May it be in names that users choose? */
static bool is_part_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
	       (c != '\0' && strchr("._-", c) != NULL);
}

bool name_char(char c)
{
	return is_part_char(c) || (c != '\0' && strchr("@:+", c) != NULL);
}

/* Does the bracket at *@pattern hold the number at *@name? If so, moves both past it. */
static bool number_match(const char **pattern, const char **name, const char *name_end)
{
	const char *digits = *name;
	const char *p = *pattern + 1;
	size_t length = 0;
	bool found = false;
	int more = 1;

	while (digits + length < name_end && is_digit(digits[length]))
		length++;
	while (more == 1) {
		struct range range;

		more = range_next(&p, &range, NULL);
		if (more < 0)
			return false;
		found = found || range_holds(&range, digits, length);
	}
	if (found) {
		*pattern = p;
		*name = digits + length;
	}
	return found;
}

/* Does one part match? On a mismatch the last `*` takes one more character. */
static bool part_match(struct pattern_part pattern, struct pattern_part name)
{
	const char *p = pattern.text, *p_end = p + pattern.length;
	const char *n = name.text, *n_end = n + name.length;
	const char *star = NULL, *taken = NULL;

	for (;;) {
		/* a number is all of its digits: `*[0-7]` does not match `12` by its 2 */
		bool inside = n > name.text && n < n_end && is_digit(n[-1]) && is_digit(*n);

		if (p < p_end && *p == '*') {
			star = ++p;
			taken = n;
			continue;
		}
		if (p == p_end && n == n_end)
			return true;
		if (p < p_end && *p == '[' && !(p == star && inside) && number_match(&p, &n, n_end))
			continue;
		if (p < p_end && n < n_end && *p != '[' && (*p == '?' || *p == *n)) {
			p++;
			n++;
			continue;
		}
		if (star == NULL || taken == n_end)
			return false;
		p = star;
		n = ++taken;
	}
}

/* Take the next part. False at the end. */
static bool part_next(struct pattern_parts *parts, struct pattern_part *part)
{
	*part = (struct pattern_part){.number = parts->number};
	if (parts->rest[0] == '/' && parts->rest[1] != '\0') {
		part->text = parts->rest + 1;
		part->length = strcspn(part->text, "/");
		parts->rest = part->text + part->length;
	} else if (parts->number >= parts->least) {
		return false;
	}
	parts->number++;
	return true;
}

/* Characters of the part before its first wildcard. */
static size_t part_literal(struct pattern_part pattern)
{
	size_t length = 0;

	while (length < pattern.length && strchr("*?[", pattern.text[length]) == NULL)
		length++;
	return length;
}

/* Could the pattern's part match @prefix followed by a number? Wildcards may match anything. */
static bool part_may_be_numbered(struct pattern_part pattern, const char *prefix)
{
	size_t prefix_length = strlen(prefix), literal = part_literal(pattern), i = prefix_length;

	if (literal <= prefix_length)
		return literal < pattern.length && memcmp(pattern.text, prefix, literal) == 0;
	while (i < literal && is_digit(pattern.text[i]))
		i++;
	return i == literal && memcmp(pattern.text, prefix, prefix_length) == 0;
}

/* Could the pattern's part match an unknown part? Those of ranks and threads have known forms. */
static bool part_may_match(struct pattern_part pattern, unsigned number)
{
	bool is_literal = part_literal(pattern) == pattern.length;

	switch (number) {
	case NAME_RANK:
		return part_may_be_numbered(pattern, "rank");
	case NAME_THREAD:
		return part_may_be_numbered(pattern, "t");
	case NAME_CHANNEL:
		return strncmp(pattern.text, "rank", strlen("rank")) != 0 &&
		       !(is_literal && part_may_be_numbered(pattern, "t"));
	default:
		return true;
	}
}

/* Does it stand for any number of parts? */
static bool is_stars(struct pattern_part part)
{
	return part.length == 2 && memcmp(part.text, "**", 2) == 0;
}

/* On a mismatch the last `**` takes one more part. */
static bool path_match(struct pattern_parts pattern, struct pattern_parts name)
{
	struct pattern_parts stars = {0}, taken = {0};
	struct pattern_part p, n;

	if (*pattern.rest != '/' || *name.rest != '/')
		return false;
	for (;;) {
		struct pattern_parts pattern_rest = pattern, name_rest = name;
		bool has_pattern = part_next(&pattern_rest, &p);
		bool has_name = part_next(&name_rest, &n);

		if (has_pattern && is_stars(p)) {
			stars = pattern = pattern_rest;
			taken = name;
			continue;
		}
		if (!has_pattern && !has_name)
			return true;
		if (has_pattern && has_name &&
		    (n.text != NULL ? part_match(p, n) : part_may_match(p, n.number))) {
			pattern = pattern_rest;
			name = name_rest;
			continue;
		}
		if (stars.rest == NULL || !part_next(&taken, &n))
			return false;
		pattern = stars;
		name = taken;
	}
}

/* Copy the name of an element to @bare, without what follows the channel. False: nothing
 * follows. */
static bool name_bare(const char *name, char bare[NAME_BYTES])
{
	struct pattern_parts parts = {.rest = name};
	struct pattern_part part = {0};
	size_t length;

	while (part_next(&parts, &part) && part.number < NAME_CHANNEL)
		;
	if (part.text == NULL || part.number != NAME_CHANNEL)
		return false;
	length = strcspn(part.text, "@.:");
	if (length >= part.length)
		return false;
	length += (size_t)(part.text - name);
	if (length >= NAME_BYTES)
		return false;
	memcpy(bare, name, length);
	bare[length] = '\0';
	return true;
}

static bool match(const char *pattern, const char *name)
{
	struct pattern_parts pattern_parts = {.rest = pattern}, name_parts = {.rest = name};

	return path_match(pattern_parts, name_parts);
}

bool pattern_match(const char *pattern, const char *name)
{
	char bare[NAME_BYTES];

	return pattern_check(pattern, NULL) == 0 &&
	       (match(pattern, name) || (name_bare(name, bare) && match(pattern, bare)));
}

bool pattern_reaches(const char *pattern, const char *prefix)
{
	struct pattern_parts pattern_parts = {.rest = pattern};
	struct pattern_parts name_parts = {.rest = prefix, .least = NAME_PARTS};

	return pattern_check(pattern, NULL) == 0 && path_match(pattern_parts, name_parts);
}

const char *pattern_end(const char *pattern, unsigned i)
{
	while (i-- > 0 && *pattern != '\0')
		pattern += 1 + strcspn(pattern + 1, "/");
	return pattern;
}

/* Where in the pattern one can be after one more part of the name. */
static uint64_t ends_after(const char *pattern, uint64_t ends, struct pattern_part name)
{
	struct pattern_parts parts = {.rest = pattern};
	struct pattern_part part;
	uint64_t after = 0;

	while (part_next(&parts, &part) && part.number < 63) {
		uint64_t here = UINT64_C(1) << part.number;

		if (!(ends & here))
			continue;
		if (is_stars(part)) {
			after |= here;
			ends |= here << 1; /* it may stand for nothing */
		} else if (part_match(part, name)) {
			after |= here << 1;
		}
	}
	return after;
}

uint64_t pattern_ends(const char *pattern, const char *prefix)
{
	struct pattern_parts names = {.rest = prefix}, parts = {.rest = pattern};
	struct pattern_part part;
	uint64_t ends = 1, all = 0;

	while (part_next(&names, &part))
		ends = ends_after(pattern, ends, part);
	while (part_next(&parts, &part) && part.number < 63)
		all |= UINT64_C(1) << part.number;
	return ends & all;
}

/* Is the part at *@at well formed? Moves *@at to its end, or to the fault. */
static int part_check(const char **at, struct error *e)
{
	const char *start = *at;

	if (*start == '/' || *start == '\0')
		return errorf(e,
			      "an empty part; leave this `/` out, or write `*` or `**` behind it");
	while (**at != '/' && **at != '\0') {
		if (**at == '*' && (*at)[1] == '*' &&
		    (*at != start || ((*at)[2] != '/' && (*at)[2] != '\0')))
			return errorf(e, "`**` stands for whole parts of a name; write it between "
					 "slashes, or a single `*`");
		if (**at == '[') {
			struct range range;
			int more = 1;

			++*at;
			while (more == 1)
				more = range_next(at, &range, e);
			if (more < 0)
				return -1;
		} else if (name_char(**at) || **at == '*' || **at == '?') {
			++*at;
		} else {
			return errorf(e,
				      "`%c` cannot be in a pattern; parts are made of letters, "
				      "digits, `.`, `_`, `-`, `@`, `:`, `+`, and of `*`, `?`, "
				      "`[a-b]`",
				      **at);
		}
	}
	return 0;
}

int pattern_check_at(const char *pattern, size_t *offset, struct error *e)
{
	const char *at = pattern;

	*offset = 0;
	if (*at != '/')
		return errorf(e, "a pattern begins with `/`, like `/**` or `/4W/*/rank[0-7]/**`");
	if (strlen(pattern) >= NAME_BYTES)
		return errorf(e, "a pattern of more than %d characters", NAME_BYTES - 1);
	if (at[1] == '\0')
		return 0;
	while (*at == '/') {
		at++;
		if (part_check(&at, e) < 0) {
			*offset = (size_t)(at - pattern);
			return -1;
		}
	}
	return 0;
}

int pattern_check(const char *pattern, struct error *e)
{
	size_t offset;

	if (pattern_check_at(pattern, &offset, e) == 0)
		return 0;
	return error_prefix(e, "pattern `%.80s`, character %zu", pattern, offset + 1);
}

int name_part_check(const char *part, struct error *e)
{
	if (*part == '\0')
		return errorf(e, "an empty name");
	for (const char *p = part; *p != '\0'; p++) {
		if (!is_part_char(*p))
			return errorf(e,
				      "`%c` cannot be in a name; names are made of letters, "
				      "digits, `.`, `_` and `-`",
				      *p >= ' ' && *p < 0x7f ? *p : '?');
		if (p == part && strchr("._-", *p) != NULL)
			return errorf(e, "a name begins with a letter or a digit, not with `%c`",
				      *p);
		if (p - part == NAME_PART_MAX)
			return errorf(e, "a name of more than %d characters", NAME_PART_MAX);
	}
	return 0;
}
