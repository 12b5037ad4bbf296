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

/* Of each type of number how it is packed, and the bytes that it has in a message; else none. */
static const struct packing {
	uint8_t how, bytes;
} packings[] = {
	[PROTOBUF_C_TYPE_UINT32] = {WIRE_VARINT, 4}, [PROTOBUF_C_TYPE_SINT32] = {WIRE_VARINT, 4},
	[PROTOBUF_C_TYPE_BOOL] = {WIRE_VARINT, 4},   [PROTOBUF_C_TYPE_UINT64] = {WIRE_VARINT, 8},
	[PROTOBUF_C_TYPE_FIXED32] = {WIRE_32, 4},    [PROTOBUF_C_TYPE_FIXED64] = {WIRE_64, 8},
	[PROTOBUF_C_TYPE_MESSAGE] = {WIRE_BYTES, 0},
};

/* Is it one number? */
static inline bool is_number(const ProtobufCFieldDescriptor *field)
{
	return field->label == PROTOBUF_C_LABEL_NONE && !field->flags && field->id <= FIELDS &&
	       packings[field->type].bytes > 0;
}

/* ---- to bytes ---- */

static unsigned char *varint_put(unsigned char *to, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		*to++ = (unsigned char)(value | 0x80);
	*to++ = (unsigned char)value;
	return to;
}

static unsigned char *number_put(unsigned char *to, const ProtobufCFieldDescriptor *field,
				 const char *at)
{
	const struct packing p = packings[field->type];
	uint32_t narrow;
	uint64_t value;

	memcpy(&narrow, at, sizeof(narrow));
	value = narrow;
	if (p.bytes == sizeof(value))
		memcpy(&value, at, sizeof(value));
	if (value == 0)
		return to;
	if (field->type == PROTOBUF_C_TYPE_SINT32)
		value = narrow << 1 ^ -(narrow >> 31);
	else if (field->type == PROTOBUF_C_TYPE_BOOL)
		value = 1;
	*to++ = (unsigned char)(field->id << 3 | p.how);
	if (p.how == WIRE_VARINT)
		return varint_put(to, value);
	value = htole64(value);
	memcpy(to, &value, p.bytes);
	return to + p.bytes;
}

/* Is the list, or the message in the message, not there? */
static bool is_absent(const ProtobufCFieldDescriptor *field, const char *message)
{
	const void *in;
	size_t n;

	if (field->label == PROTOBUF_C_LABEL_REPEATED) {
		memcpy(&n, message + field->quantifier_offset, sizeof(n));
		return n == 0;
	}
	memcpy(&in, message + field->offset, sizeof(in));
	return field->type == PROTOBUF_C_TYPE_MESSAGE && !in;
}

/* Returns where the fields end, NULL if they are not numbers alone. */
static unsigned char *message_put(const ProtobufCMessage *message, unsigned char *to)
{
	const ProtobufCFieldDescriptor *field = message->descriptor->fields;
	const char *base = (const char *)message;

	if (message->n_unknown_fields)
		return NULL;
	for (unsigned i = message->descriptor->n_fields; i > 0; i--, field++) {
		if (is_number(field))
			to = number_put(to, field, base + field->offset);
		else if (!is_absent(field, base))
			return NULL;
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
struct unread {
	const unsigned char *at, *end;
};

static bool varint_get(struct unread *from, uint64_t *value)
{
	const unsigned char *at = from->at;
	uint64_t got = 0;

	for (unsigned shift = 0; shift < 64 && at < from->end; shift += 7) {
		const unsigned char c = *at++;

		got |= (uint64_t)(c & 0x7f) << shift;
		if (c & 0x80)
			continue;
		from->at = at;
		*value = got;
		/* the tenth byte has one bit */
		return shift < 63 || c < 2;
	}
	return false;
}

static bool fixed_get(struct unread *from, size_t bytes, uint64_t *value)
{
	uint64_t le = 0;

	if ((size_t)(from->end - from->at) < bytes)
		return false;
	memcpy(&le, from->at, bytes);
	from->at += bytes;
	*value = le64toh(le);
	return true;
}

static bool number_get(struct unread *from, const ProtobufCFieldDescriptor *field, char *at)
{
	const struct packing p = packings[field->type];
	uint64_t value;
	uint32_t narrow;

	if (p.how == WIRE_VARINT ? !varint_get(from, &value) : !fixed_get(from, p.bytes, &value))
		return false;
	narrow = (uint32_t)value;
	if (field->type == PROTOBUF_C_TYPE_SINT32)
		narrow = narrow >> 1 ^ -(narrow & 1);
	else if (field->type == PROTOBUF_C_TYPE_BOOL)
		narrow = value != 0;
	if (p.bytes == sizeof(value))
		memcpy(at, &value, sizeof(value));
	else
		memcpy(at, &narrow, sizeof(narrow));
	return true;
}

static bool message_get(struct unread from, ProtobufCMessage *message)
{
	const ProtobufCMessageDescriptor *type = message->descriptor;

	while (from.at < from.end) {
		/* of a tag of two bytes, the number is too large */
		const unsigned tag = *from.at++, at = (tag >> 3) - 1;
		const ProtobufCFieldDescriptor *field =
			at < type->n_fields ? &type->fields[at] : NULL;

		if (!field || field->id != tag >> 3 || !is_number(field) ||
		    packings[field->type].how != (tag & 7) ||
		    !number_get(&from, field, (char *)message + field->offset))
			return false;
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
	if (message && message_get((struct unread){data + FRONT, data + bytes}, message))
		return frame;
	evspace__frame__free_unpacked(frame, allocator);
	return NULL;
}
