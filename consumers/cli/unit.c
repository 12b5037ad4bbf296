/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes quantities with their units. */
#include "consumers/cli/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS 1e9

struct unit {
	const char *name;
	double size;
};

int unit_rate(const char *text, double *rate, struct error *e)
{
	char *end;

	if (strcmp(text, "max") == 0) {
		*rate = 0;
		return 0;
	}
	*rate = strtod(text, &end);
	if (end == text || *end || !(*rate >= 0.001) || *rate > 1e6)
		return errorf(e, "'%s' is not a rate; write waves per second such as 25, or max",
			      text);
	return 0;
}

/* Three digits of @value in the largest of @units that it reaches. */
static const char *in_units(char buf[UNIT_TEXT], double value, const struct unit *units, size_t n)
{
	size_t i = n - 1;
	double scaled;
	int decimals;

	while (i > 0 && value < units[i].size)
		i--;
	scaled = value / units[i].size;
	decimals = i == 0 || scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
	snprintf(buf, UNIT_TEXT, "%.*f %s", decimals, scaled, units[i].name);
	return buf;
}

const char *unit_duration(char buf[UNIT_TEXT], uint64_t ns)
{
	static const struct unit units[] = {{"ns", 1},	      {"us", 1e3},	{"ms", 1e6},
					    {"s", NS},	      {"min", 60 * NS}, {"h", 3600 * NS},
					    {"d", 86400 * NS}};

	return in_units(buf, (double)ns, units, sizeof(units) / sizeof(units[0]));
}

const char *unit_bytes(char buf[UNIT_TEXT], uint64_t bytes)
{
	static const struct unit units[] = {{"B", 1},
					    {"KiB", 1024.0},
					    {"MiB", 1048576.0},
					    {"GiB", 1073741824.0},
					    {"TiB", 1099511627776.0}};

	return in_units(buf, (double)bytes, units, sizeof(units) / sizeof(units[0]));
}

const char *unit_share(char buf[UNIT_TEXT], double share)
{
	double percent = 100 * share;

	if (percent > 0 && percent < 0.001)
		snprintf(buf, UNIT_TEXT, "under 0.001 %%");
	else
		snprintf(buf, UNIT_TEXT, "%.*f %%",
			 percent >= 10 || percent <= 0 ? 0
			 : percent >= 1		       ? 1
			 : percent >= 0.1	       ? 2
						       : 3,
			 percent);
	return buf;
}

const char *unit_count(char buf[UNIT_TEXT], uint64_t n)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, n), at = 0;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}
