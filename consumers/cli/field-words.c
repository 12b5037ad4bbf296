/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the fields of tuples. */
#include "consumers/cli/field-words.h"

#include <stdlib.h>

#include "consumers/cli/json.h"
#include "pathmap/base/utf8.h"

void field_words_print(const struct fields *fields, const void *tuple, FILE *out)
{
	char text[FIELD_VALUE];

	for (uint32_t i = 0; i < fields->n; i++) {
		const struct field *field = &fields->field[i];
		uint32_t n = field->kind == FIELD_TEXT ? 1 : field->count;

		fprintf(out, " %s=", field->name);
		for (uint32_t k = 0; k < n; k++) {
			field_text(field, tuple, k, text);
			utf8_clean(text);
			fprintf(out, "%s%s", k ? "," : "", text);
		}
	}
}

static json_t *value_json(const struct field *field, const void *tuple, uint32_t i)
{
	char text[FIELD_VALUE];
	json_t *value;

	field_text(field, tuple, i, text);
	switch (field->kind) {
	case FIELD_TEXT:
		return json_text(text);
	case FIELD_U64:
		return json_count(strtoull(text, NULL, 10));
	case FIELD_F32:
	case FIELD_F64:
		/* there is no other number for JSON */
		value = json_real(strtod(text, NULL));
		return value ? value : json_null();
	default:
		return json_integer(strtoll(text, NULL, 10));
	}
}

static json_t *field_json(const struct field *field, const void *tuple)
{
	json_t *array;

	if (field->count == 1 || field->kind == FIELD_TEXT)
		return value_json(field, tuple, 0);
	array = json_array();
	for (uint32_t i = 0; i < field->count; i++)
		json_array_append_new(array, value_json(field, tuple, i));
	return array;
}

json_t *field_words_json(const struct fields *fields, const void *tuple)
{
	json_t *values = json_object();

	for (uint32_t i = 0; i < fields->n; i++)
		json_object_set_new(values, fields->field[i].name,
				    field_json(&fields->field[i], tuple));
	return values;
}
