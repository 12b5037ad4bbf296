/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes JSON objects, one a line. */
#include "consumers/cli/json.h"

#include <math.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"
#include "tree/data/tuple.h"

#define JSON_SCHEMA 1

/* Digits of a figure, so that 0.1 stays 0.1. */
#define JSON_DIGITS 15

void json_print(json_t *object, FILE *out)
{
	json_t *line = json_pack("{s:i}", "schema", JSON_SCHEMA);

	if (!object || json_object_update(line, object) < 0)
		abort();
	json_dumpf(line, out, JSON_COMPACT | JSON_REAL_PRECISION(JSON_DIGITS));
	putc('\n', out);
	json_decref(object);
	json_decref(line);
}

json_t *json_text(const char *text)
{
	json_t *said = text && *text ? json_string(text) : json_null();
	char *copy;

	if (said)
		return said;
	copy = memory_copy(text);
	utf8_clean(copy);
	said = json_string(copy);
	free(copy);
	return said;
}

json_t *json_count(uint64_t n)
{
	return json_integer(n <= INT64_MAX ? (json_int_t)n : INT64_MAX);
}

json_t *json_figure(double value)
{
	return isfinite(value) && value >= 0 ? json_real(value) : json_null();
}

json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_process(int32_t number)
{
	return number == TUPLE_NO_PEER || number == TUPLE_ANY_PEER ? json_null()
								   : json_integer(number);
}

json_t *json_time(int64_t ns)
{
	return ns ? json_integer(ns) : json_null();
}

json_t *json_comm(uint32_t id)
{
	return id ? json_sprintf("%08x", id) : json_null();
}

json_t *json_missing(const struct evspace_wave *w)
{
	json_t *missing = json_array();

	for (size_t i = 0; i < w->n_missing; i++)
		json_array_append_new(
			missing,
			json_pack("{s:o,s:s,s:o,s:o}", "host", json_text(w->missing[i].leaf), "why",
				  w->missing[i].why, "since_s", json_figure(w->missing[i].since_s),
				  "reason", json_text(w->missing[i].reason)));
	return missing;
}
