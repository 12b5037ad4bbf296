/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the types of tuples of programs' elements, and lays their fields out. */
#include "tree/data/fields.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t bytes;
} kinds[] = {
	[FIELD_I32] = {"i32", 4},   [FIELD_U32] = {"u32", 4}, [FIELD_I64] = {"i64", 8},
	[FIELD_U64] = {"u64", 8},   [FIELD_F32] = {"f32", 4}, [FIELD_F64] = {"f64", 8},
	[FIELD_TEXT] = {"text", 1},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *blanks_skip(const char *text)
{
	return text + strspn(text, " \t\n");
}

/* Copies the word at *@text, which moves past it. False: there is none, or it does not fit. */
static bool word_take(const char **text, char *word, size_t n)
{
	size_t length = 0;

	*text = blanks_skip(*text);
	while (isalnum((unsigned char)(*text)[length]) || (*text)[length] == '_')
		length++;
	if (length == 0 || length >= n || isdigit((unsigned char)**text))
		return false;
	memcpy(word, *text, length);
	word[length] = '\0';
	*text += length;
	return true;
}

/* Reads "[N]" at *@text, which moves past it, if it is there. */
static bool count_take(const char **text, uint32_t *count)
{
	unsigned long n;
	char *end;

	*count = 1;
	if (**text != '[')
		return true;
	if (!isdigit((unsigned char)(*text)[1]))
		return false;
	n = strtoul(*text + 1, &end, 10);
	if (n < 1 || n > FIELDS_BYTES || *end != ']')
		return false;
	*count = (uint32_t)n;
	*text = end + 1;
	return true;
}

static bool field_take(const char **text, struct field *field)
{
	char kind[8];
	size_t i;

	if (!word_take(text, field->name, sizeof(field->name)) ||
	    !word_take(text, kind, sizeof(kind)))
		return false;
	for (i = 0; i < KINDS && strcmp(kinds[i].name, kind) != 0;)
		i++;
	field->kind = (enum field_kind)i;
	return i < KINDS && count_take(text, &field->count);
}

static uint32_t round_up(uint32_t n, uint32_t to)
{
	return (n + to - 1) / to * to;
}

const struct field *fields_find(const struct fields *fields, const char *name)
{
	for (uint32_t i = 0; i < fields->n; i++)
		if (strcmp(fields->field[i].name, name) == 0)
			return &fields->field[i];
	return NULL;
}

/* Puts @field behind the others. */
static int field_add(struct fields *fields, struct field *field, struct error *e)
{
	uint32_t bytes = kinds[field->kind].bytes;

	if (fields->n == FIELDS_MAX)
		return errorf(e, "a tuple has %u fields at most", FIELDS_MAX);
	if (fields_find(fields, field->name))
		return errorf(e, "two fields are called %s", field->name);
	field->at = round_up(fields->bytes, bytes);
	fields->bytes = field->at + field->count * bytes;
	if (fields->bytes > FIELDS_BYTES)
		return errorf(e, "a tuple has %u bytes at most; up to field %s these are %u",
			      FIELDS_BYTES, field->name, fields->bytes);
	fields->field[fields->n++] = *field;
	return 0;
}

int fields_parse(struct fields *fields, const char *text, struct error *e)
{
	struct fields new = {.n = 0};
	uint32_t strictest = 1;

	do {
		struct field field = {.count = 1};
		const char *from = blanks_skip(text);
		bool taken = field_take(&text, &field);

		errno = EINVAL;
		if (!taken)
			return errorf(
				e,
				"\"%.40s\" is no field: say NAME KIND or NAME KIND[N], with a "
				"kind of i32, u32, i64, u64, f32, f64 and text, and a comma "
				"before the next",
				from);
		if (field_add(&new, &field, e) < 0)
			return -1;
		if (kinds[field.kind].bytes > strictest)
			strictest = kinds[field.kind].bytes;
		text = blanks_skip(text);
	} while (*text++ == ',');
	if (text[-1])
		return errorf(e, "\"%.40s\" stands where a comma should, before the next field",
			      text - 1);
	new.bytes = round_up(new.bytes, strictest);
	*fields = new;
	return 0;
}

const char *fields_text(const struct fields *fields, char buf[FIELDS_TEXT])
{
	size_t used = 0;

	buf[0] = '\0';
	_Static_assert(FIELDS_TEXT >= FIELDS_MAX * (FIELDS_NAME + sizeof("text[256], ")),
		       "all types fit");
	for (uint32_t i = 0; i < fields->n; i++) {
		const struct field *f = &fields->field[i];

		used += (size_t)snprintf(buf + used, FIELDS_TEXT - used, "%s%s %s", i ? ", " : "",
					 f->name, kinds[f->kind].name);
		if (f->count > 1)
			used += (size_t)snprintf(buf + used, FIELDS_TEXT - used, "[%u]", f->count);
	}
	return buf;
}

void fields_swap(const struct fields *fields, void *tuple)
{
	for (uint32_t i = 0; i < fields->n; i++) {
		const struct field *field = &fields->field[i];
		const uint32_t bytes = kinds[field->kind].bytes;

		for (uint32_t k = 0; k < field->count; k++) {
			unsigned char *value = (unsigned char *)tuple + field->at + k * bytes;

			for (uint32_t a = 0, b = bytes - 1; a < b; a++, b--) {
				unsigned char c = value[a];

				value[a] = value[b];
				value[b] = c;
			}
		}
	}
}
