/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of fields as text, and back. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/data/fields.h"

/* A number of any kind. */
union number {
	int32_t i32;
	uint32_t u32;
	int64_t i64;
	uint64_t u64;
	float f32;
	double f64;
};

static size_t bytes_of(const struct field *field)
{
	switch (field->kind) {
	case FIELD_I32:
	case FIELD_U32:
	case FIELD_F32:
		return 4;
	default:
		return 8;
	}
}

/* With as many digits as it needs to be the same again. */
static void real_text(double value, bool single, char *buf, size_t n)
{
	for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
		snprintf(buf, n, "%.*g", digits, value);
		if (single ? strtof(buf, NULL) == (float)value : strtod(buf, NULL) == value)
			return;
	}
}

const char *field_text(const struct field *field, const void *tuple, uint32_t i,
		       char buf[FIELD_VALUE])
{
	const char *at = (const char *)tuple + field->at;
	union number v = {.u64 = 0};

	if (field->kind == FIELD_TEXT) {
		snprintf(buf, FIELD_VALUE, "%.*s", (int)field->count, at);
		return buf;
	}
	memcpy(&v, at + i * bytes_of(field), bytes_of(field));
	switch (field->kind) {
	case FIELD_I32:
		snprintf(buf, FIELD_VALUE, "%" PRId32, v.i32);
		break;
	case FIELD_U32:
		snprintf(buf, FIELD_VALUE, "%" PRIu32, v.u32);
		break;
	case FIELD_I64:
		snprintf(buf, FIELD_VALUE, "%" PRId64, v.i64);
		break;
	case FIELD_U64:
		snprintf(buf, FIELD_VALUE, "%" PRIu64, v.u64);
		break;
	case FIELD_F32:
		real_text((double)v.f32, true, buf, FIELD_VALUE);
		break;
	default:
		real_text(v.f64, false, buf, FIELD_VALUE);
		break;
	}
	return buf;
}

double field_number(const struct field *field, const void *tuple, uint32_t i)
{
	union number v = {.u64 = 0};

	if (field->kind == FIELD_TEXT)
		return NAN;
	memcpy(&v, (const char *)tuple + field->at + i * bytes_of(field), bytes_of(field));
	switch (field->kind) {
	case FIELD_I32:
		return v.i32;
	case FIELD_U32:
		return v.u32;
	case FIELD_I64:
		return (double)v.i64;
	case FIELD_U64:
		return (double)v.u64;
	case FIELD_F32:
		return (double)v.f32;
	default:
		return v.f64;
	}
}

/* Reads a number at @text. Returns what is behind it, or NULL. */
static const char *number_read(const struct field *field, const char *text, union number *v)
{
	unsigned long long natural;
	long long whole;
	char *end = NULL;

	errno = 0;
	switch (field->kind) {
	case FIELD_I32:
	case FIELD_I64:
		whole = strtoll(text, &end, 10);
		if (field->kind == FIELD_I64)
			v->i64 = whole;
		else if (whole == (int32_t)whole)
			v->i32 = (int32_t)whole;
		else
			return NULL;
		break;
	case FIELD_U32:
	case FIELD_U64:
		natural = strtoull(text, &end, 10);
		if (strchr(text, '-') || (field->kind == FIELD_U32 && natural > UINT32_MAX))
			return NULL;
		if (field->kind == FIELD_U32)
			v->u32 = (uint32_t)natural;
		else
			v->u64 = natural;
		break;
	case FIELD_F32:
		v->f32 = strtof(text, &end);
		errno = 0;
		break;
	default:
		v->f64 = strtod(text, &end);
		errno = 0;
		break;
	}
	return end == text || errno ? NULL : end;
}

static int wrong(const struct field *field, const char *text, struct error *e)
{
	errno = EINVAL;
	if (field->kind == FIELD_TEXT)
		return errorf(e, "field %s has %u bytes: \"%.40s\" is longer", field->name,
			      field->count, text);
	return errorf(e, "\"%.40s\" is no value of field %s: a number%s that its kind can hold",
		      text, field->name, field->count > 1 ? ", or several with commas," : "");
}

int field_set(const struct field *field, void *tuple, const char *text, struct error *e)
{
	char value[FIELDS_BYTES] = "";
	const char *from = text;
	size_t n = strlen(text);

	if (field->kind == FIELD_TEXT) {
		if (n > field->count)
			return wrong(field, text, e);
		memcpy(value, text, n);
		memcpy((char *)tuple + field->at, value, field->count);
		return 0;
	}
	for (n = 0; n < field->count; n++) {
		union number v = {.u64 = 0};

		from = number_read(field, from, &v);
		if (!from || (*from && *from != ','))
			return wrong(field, text, e);
		memcpy(value + n * bytes_of(field), &v, bytes_of(field));
		if (!*from++)
			break;
	}
	if (n == field->count)
		return wrong(field, text, e);
	memcpy((char *)tuple + field->at, value, field->count * bytes_of(field));
	return 0;
}
