/* SPDX-License-Identifier: BSD-3-Clause */
/* The type of the tuples of a program's element: named fields, which lie as a struct of C has them.
 */
#ifndef EVSPACE_FIELDS_H
#define EVSPACE_FIELDS_H

#include <stdint.h>

#include "pathmap/base/error.h"

/** Most bytes of a tuple, fields of it, and bytes of a field's name and of a type's text, with
 * their final 0. */
#define FIELDS_BYTES 256u
#define FIELDS_MAX   32u
#define FIELDS_NAME  32u
#define FIELDS_TEXT  1408u /* FIELDS_MAX of "NAME text[256], " */

/** What a field holds. */
enum field_kind {
	FIELD_I32,
	FIELD_U32,
	FIELD_I64,
	FIELD_U64,
	FIELD_F32,
	FIELD_F64,
	FIELD_TEXT, /* bytes, up to the first 0 */
};

/** One field. */
struct field {
	char name[FIELDS_NAME]; /* letters, digits and _, no digit first */
	enum field_kind kind;
	uint32_t count; /* of an array, 1: it is none; of FIELD_TEXT bytes */
	uint32_t at;	/* bytes from the tuple's start */
};

/** The type of a tuple. Plain data. */
struct fields {
	uint32_t n;
	uint32_t bytes; /* of a tuple: sizeof of the struct */
	struct field field[FIELDS_MAX];
};

/**
 * Read a type: "iteration u64, residual f64[3], phase text[16]". Each field is aligned as C aligns
 * it, and the whole as its strictest field. Returns 0, or -1 with errno EINVAL and @e.
 */
int fields_parse(struct fields *fields, const char *text, struct error *e);

/** The field of that name, or NULL. */
const struct field *fields_find(const struct fields *fields, const char *name);

/** Room for any value as text. */
#define FIELD_VALUE (FIELDS_BYTES + 1)

/** Value @i of a field in @tuple as text, of FIELD_TEXT all of it: as field_set() reads it, so that
 * the same value comes out. Returns @buf. (field-value.c) */
const char *field_text(const struct field *field, const void *tuple, uint32_t i,
		       char buf[FIELD_VALUE]);

/** The same as a number, in a double; NaN of FIELD_TEXT. (field-value.c) */
double field_number(const struct field *field, const void *tuple, uint32_t i);

/** Set a field in @tuple: "3"; "0.5,1,nan", the first ones of an array; any text. Returns 0, or -1
 * with errno EINVAL and @e. (field-value.c) */
int field_set(const struct field *field, void *tuple, const char *text, struct error *e);

/** Change the byte order of all fields of @tuple, which comes from a host of the other one. */
void fields_swap(const struct fields *fields, void *tuple);

/** The type as text, the same for types that are the same; fields_parse() reads it. Returns @buf.
 */
const char *fields_text(const struct fields *fields, char buf[FIELDS_TEXT]);

#endif
