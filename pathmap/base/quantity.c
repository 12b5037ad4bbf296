/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes decimals with a unit. Uses only libc, for collectors. */
#include "pathmap/base/quantity.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct quantity_unit {
	const char *name;
	double factor;
};

static const struct quantity_unit bandwidths[] = {
	{"bit", 1},   {"kbit", 1e3},   {"Mbit", 1e6},	{"Gbit", 1e9},	 {"Tbit", 1e12},
	{"bit/s", 1}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}, {"Tbit/s", 1e12},
};

static const struct quantity_unit times[] = {
	{"ns", 1},   {"us", 1e3},   {"\xc2\xb5s", 1e3}, {"ms", 1e6},	{"s", 1e9},
	{"m", 60e9}, {"min", 60e9}, {"h", 3600e9},	{"d", 86400e9},
};

/* As in GNU's tools. */
static const struct quantity_unit sizes[] = {
	{"", 1},
	{"B", 1},
	{"k", 1024.0},
	{"K", 1024.0},
	{"KiB", 1024.0},
	{"kB", 1e3},
	{"M", 1048576.0},
	{"MiB", 1048576.0},
	{"MB", 1e6},
	{"G", 1073741824.0},
	{"GiB", 1073741824.0},
	{"GB", 1e9},
};

/* Whole numbers are exact up to here, which in ns is longer than any program runs. */
#define WHOLE_MOST 9007199254740992.0 /* 2^53 */
#define NS_MOST	   1e18

/* Reads digits with at most one point; strtod() depends on the locale and accepts other forms. */
static const char *decimal_read(const char *text, double *value)
{
	double scale = 1;
	int digits = 0;

	*value = 0;
	for (; *text >= '0' && *text <= '9'; text++, digits++)
		*value = *value * 10 + (*text - '0');
	if (*text == '.') {
		for (text++; *text >= '0' && *text <= '9'; text++, digits++) {
			scale /= 10;
			*value += scale * (*text - '0');
		}
	}
	return digits > 0 && digits <= 15 ? text : NULL;
}

static int quantity_read(const char *text, const struct quantity_unit *units, size_t n,
			 double *value)
{
	double number;
	const char *unit = decimal_read(text, &number);

	for (size_t i = 0; unit != NULL && i < n; i++) {
		if (strcmp(unit, units[i].name) == 0) {
			*value = number * units[i].factor;
			return 0;
		}
	}
	return -1;
}

#define READ(text, units, value) quantity_read(text, units, sizeof(units) / sizeof(*(units)), value)

int quantity_bandwidth(const char *text, double *bits_per_s, struct error *e)
{
	if (READ(text, bandwidths, bits_per_s) == 0)
		return 0;
	return errorf(e,
		      "`%.60s` is not a bandwidth; write it like `100Mbit` (bit, kbit, Mbit, Gbit, "
		      "Tbit a second)",
		      text);
}

int quantity_duration(const char *text, uint64_t plain_ns, uint64_t *ns, struct error *e)
{
	const char *end;
	double value;

	if (READ(text, times, &value) < 0) {
		end = decimal_read(text, &value);
		if (!end || *end || !plain_ns)
			return errorf(
				e,
				"`%.60s` is not a time; write it like `90s`, `500ms` or `10m` "
				"(ns, us, ms, s, m, h, d)",
				text);
		value *= (double)plain_ns;
	}
	if (value > NS_MOST)
		return errorf(e, "`%.60s` is longer than any program runs", text);
	*ns = (uint64_t)(value + 0.5);
	return 0;
}

int quantity_bytes(const char *text, uint64_t *bytes, struct error *e)
{
	double value;

	if (READ(text, sizes, &value) < 0 || value > WHOLE_MOST)
		return errorf(
			e,
			"`%.60s` is not a size; write it like `1k`, `10kB` or `4096` (k, M, G or "
			"KiB, MiB, GiB: powers of 1,024; kB, MB, GB: of 1,000)",
			text);
	*bytes = (uint64_t)value;
	return 0;
}

int quantity_count(const char *text, unsigned least, unsigned most, unsigned *count,
		   struct error *e)
{
	unsigned long value = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9' && value <= most; p++)
		value = value * 10 + (unsigned long)(*p - '0');
	if (p == text || *p != '\0' || value < least || value > most)
		return errorf(e, "`%.60s` is not a number from %u to %u", text, least, most);
	*count = (unsigned)value;
	return 0;
}

#define NS 1e9

struct unit {
	const char *name;
	double size;
};

int quantity_share(const char *text, double *share, struct error *e)
{
	char *end;
	double percent = strtod(text, &end);

	if (end != text)
		end += strspn(end, " ");
	if (end == text || (*end && strcmp(end, "%") != 0) || !(percent > 0) || percent > 100)
		return errorf(
			e,
			"'%.60s' is not a share; write percent above 0 and up to 100, such as 1%%",
			text);
	*share = percent / 100;
	return 0;
}

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
