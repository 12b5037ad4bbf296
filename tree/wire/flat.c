/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs and unpacks messages of numbers by protobuf-c's tables; what is anything else is left to
 * protobuf-c. */
#include "tree/wire/flat.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The number of a field is at most this, so that its tag is one byte. */
#define FIELDS 15u
/* Bytes of a number at most, and of tag and length before a message. */
#define VARINT 10u
#define FRONT  2u
/* Lengths of one byte are below. */
#define LENGTHS 0x80u

_Static_assert(FRONT + FIELDS * (1 + VARINT) <= FLAT_BYTES, "a flat header has room");

/* As protobuf calls how a field is packed. */
enum wire_type { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

/* How a field with one number is packed, or WIRE_BYTES for any other field. */
static enum wire_type field_type(const ProtobufCFieldDescriptor *field)
{
	if (field->label != PROTOBUF_C_LABEL_NONE || field->flags || field->id > FIELDS)
		return WIRE_BYTES;
	switch (field->type) {
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_BOOL:
		return WIRE_VARINT;
	case PROTOBUF_C_TYPE_FIXED32:
		return WIRE_32;
	case PROTOBUF_C_TYPE_FIXED64:
		return WIRE_64;
	default:
		return WIRE_BYTES;
	}
}

static bool field_is_wide(const ProtobufCFieldDescriptor *field)
{
	return field->type == PROTOBUF_C_TYPE_UINT64 || field->type == PROTOBUF_C_TYPE_FIXED64;
}

/* ---- to bytes ---- */

static unsigned char *varint_put(unsigned char *to, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		*to++ = (unsigned char)(value | 0x80);
	*to++ = (unsigned char)value;
	return to;
}

static uint64_t field_value(const ProtobufCFieldDescriptor *field, const void *message)
{
	const char *at = (const char *)message + field->offset;
	uint64_t wide;
	uint32_t value;

	if (field_is_wide(field)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&value, at, sizeof(value));
	if (field->type == PROTOBUF_C_TYPE_SINT32)
		return value << 1 ^ -(value >> 31);
	return field->type == PROTOBUF_C_TYPE_BOOL ? value != 0 : value;
}

static unsigned char *field_put(unsigned char *to, const ProtobufCFieldDescriptor *field,
				enum wire_type type, uint64_t value)
{
	const uint64_t le = htole64(value);

	*to++ = (unsigned char)(field->id << 3 | type);
	if (type == WIRE_VARINT)
		return varint_put(to, value);
	memcpy(to, &le, type == WIRE_64 ? 8 : 4);
	return to + (type == WIRE_64 ? 8 : 4);
}

/* Does the list have nothing in it? */
static bool field_is_empty(const ProtobufCFieldDescriptor *field, const void *message)
{
	size_t n;

	if (field->label != PROTOBUF_C_LABEL_REPEATED)
		return false;
	memcpy(&n, (const char *)message + field->quantifier_offset, sizeof(n));
	return n == 0;
}

/* Returns where the fields end, NULL if they are not numbers alone. */
static unsigned char *message_put(const ProtobufCMessage *message, unsigned char *to)
{
	const ProtobufCMessageDescriptor *type = message->descriptor;

	if (message->n_unknown_fields)
		return NULL;
	for (unsigned i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &type->fields[i];
		const enum wire_type how = field_type(field);
		uint64_t value;

		if (how == WIRE_BYTES) {
			if (!field_is_empty(field, message))
				return NULL;
			continue;
		}
		value = field_value(field, message);
		if (value)
			to = field_put(to, field, how, value);
	}
	return to;
}

size_t flat_put(const Evspace__Frame *header, unsigned char *to)
{
	const ProtobufCMessage *message = (const ProtobufCMessage *)header->ask; /* or any other */
	unsigned char *end;

	if (header->kind_case == EVSPACE__FRAME__KIND__NOT_SET || header->kind_case > FIELDS ||
	    header->base.n_unknown_fields || !message)
		return 0;
	end = message_put(message, to + FRONT);
	if (!end || (size_t)(end - to) >= FRONT + LENGTHS)
		return 0;
	to[0] = (unsigned char)(header->kind_case << 3 | WIRE_BYTES);
	to[1] = (unsigned char)((size_t)(end - to) - FRONT);
	return (size_t)(end - to);
}

/* ---- and back ---- */

/* What is left to be read. */
struct left {
	const unsigned char *at, *end;
};

static bool varint_get(struct left *left, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; left->at < left->end; shift += 7) {
		const unsigned char c = *left->at++;

		/* the tenth byte has one bit */
		if (shift == 63 && c > 1)
			return false;
		*value |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return false;
}

static bool fixed_get(struct left *left, size_t bytes, uint64_t *value)
{
	uint64_t le = 0;

	if ((size_t)(left->end - left->at) < bytes)
		return false;
	memcpy(&le, left->at, bytes);
	left->at += bytes;
	*value = le64toh(le);
	return true;
}

static bool value_get(struct left *left, enum wire_type how, uint64_t *value)
{
	return how == WIRE_VARINT ? varint_get(left, value)
				  : fixed_get(left, how == WIRE_64 ? 8 : 4, value);
}

static void field_set(const ProtobufCFieldDescriptor *field, void *message, uint64_t value)
{
	char *at = (char *)message + field->offset;
	uint32_t narrow = (uint32_t)value;

	if (field->type == PROTOBUF_C_TYPE_SINT32)
		narrow = narrow >> 1 ^ -(narrow & 1);
	else if (field->type == PROTOBUF_C_TYPE_BOOL)
		narrow = value != 0;
	if (field_is_wide(field))
		memcpy(at, &value, sizeof(value));
	else
		memcpy(at, &narrow, sizeof(narrow));
}

static bool message_get(struct left left, ProtobufCMessage *message)
{
	const ProtobufCMessageDescriptor *type = message->descriptor;

	while (left.at < left.end) {
		const unsigned tag = *left.at++, at = (tag >> 3) - 1;
		const ProtobufCFieldDescriptor *field = &type->fields[at];
		uint64_t value;

		/* a tag of two bytes, too, is none of these */
		if (at >= type->n_fields || field->id != tag >> 3 ||
		    field_type(field) != (tag & 7) || (tag & 7) == WIRE_BYTES ||
		    !value_get(&left, tag & 7, &value))
			return false;
		field_set(field, message, value);
	}
	return true;
}

static void *piece_take(ProtobufCAllocator *allocator, size_t bytes)
{
	return allocator ? allocator->alloc(allocator->allocator_data, bytes) : malloc(bytes);
}

/* An empty message of @kind in @frame. Returns NULL without memory. */
static ProtobufCMessage *message_begin(ProtobufCAllocator *allocator, Evspace__Frame *frame,
				       const ProtobufCFieldDescriptor *kind)
{
	const ProtobufCMessageDescriptor *type = kind->descriptor;
	ProtobufCMessage *message = piece_take(allocator, type->sizeof_message);

	if (!message)
		return NULL;
	protobuf_c_message_init(type, message);
	frame->kind_case = (Evspace__Frame__KindCase)kind->id;
	memcpy((char *)frame + kind->offset, &message, sizeof(message));
	return message;
}

Evspace__Frame *flat_get(ProtobufCAllocator *allocator, const unsigned char *data, size_t bytes)
{
	const ProtobufCFieldDescriptor *kind;
	ProtobufCMessage *message;
	Evspace__Frame *frame;

	if (bytes < FRONT || bytes >= FRONT + LENGTHS || data[0] >> 3 > FIELDS ||
	    (data[0] & 7) != WIRE_BYTES || data[1] != bytes - FRONT)
		return NULL;
	kind = protobuf_c_message_descriptor_get_field(&evspace__frame__descriptor, data[0] >> 3);
	frame = kind ? piece_take(allocator, sizeof(*frame)) : NULL;
	if (!frame)
		return NULL;
	evspace__frame__init(frame);
	message = message_begin(allocator, frame, kind);
	if (message && message_get((struct left){data + FRONT, data + bytes}, message))
		return frame;
	evspace__frame__free_unpacked(frame, allocator);
	return NULL;
}
