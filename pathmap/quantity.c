/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and numbers with units, as people write them in maps: "200", "100Mbit", "70us". */
#include "pathmap/quantity.h"

#include <stddef.h>
#include <string.h>

struct unit {
	const char *name;
	double factor;
};

static const struct unit bandwidths[] = {
	{"bit", 1},   {"kbit", 1e3},   {"Mbit", 1e6},	{"Gbit", 1e9},	 {"Tbit", 1e12},
	{"bit/s", 1}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}, {"Tbit/s", 1e12},
};

static const struct unit times[] = {
	{"ns", 1e-9}, {"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"ms", 1e-3}, {"s", 1},
};

/* Digits with at most one point; strtod() would depend on the locale and take much more. */
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

static int quantity_read(const char *text, const struct unit *units, size_t n, double *value)
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

int quantity_bandwidth(const char *text, double *bits_per_s, struct error *e)
{
	if (quantity_read(text, bandwidths, sizeof(bandwidths) / sizeof(*bandwidths), bits_per_s) <
	    0)
		return errorf(e,
			      "`%.60s` is no bandwidth; write it like `100Mbit` (bit, kbit, Mbit, "
			      "Gbit, Tbit a second)",
			      text);
	return 0;
}

int quantity_time(const char *text, double *seconds, struct error *e)
{
	if (quantity_read(text, times, sizeof(times) / sizeof(*times), seconds) < 0)
		return errorf(e, "`%.60s` is no time; write it like `70us` (ns, us, ms, s)", text);
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
		return errorf(e, "`%.60s` is no number from %u to %u", text, least, most);
	*count = (unsigned)value;
	return 0;
}
