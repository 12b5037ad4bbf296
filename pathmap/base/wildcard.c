/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches wildcards by going back to the last `*` alone. */
#include "pathmap/base/wildcard.h"

#include <string.h>

bool wildcard_is(const char *pattern)
{
	return strpbrk(pattern, "*?") != NULL;
}

/* The @n bytes of @pattern. */
static bool is_match(const char *pattern, size_t n, const char *name)
{
	size_t at = 0, star = n;
	const char *from = name;

	while (*name) {
		if (at < n && pattern[at] == '*') {
			star = at++;
			from = name;
		} else if (at < n && (pattern[at] == '?' || pattern[at] == *name)) {
			at++;
			name++;
		} else if (star < n) {
			at = star + 1;
			name = ++from;
		} else {
			return false;
		}
	}
	while (at < n && pattern[at] == '*')
		at++;
	return at == n;
}

bool wildcard_match(const char *pattern, const char *name)
{
	return is_match(pattern, strlen(pattern), name);
}

bool wildcard_list_match(const char *list, const char *name)
{
	for (;;) {
		size_t n = strcspn(list, ",");

		if (is_match(list, n, name))
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
}
