/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs and unpacks messages of numbers by protobuf-c's tables; what is anything else is left to
 * protobuf-c. */
#include "tree/wire/flat.h"

#include <endian.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The number of a field, and of a kind of frame, is at most this, so that its tag is one byte. */
#define FIELDS 15u
/* Bytes of a number at most, and of tag and length before a message. */
#define VARINT 10u
#define FRONT  2u
/* Lengths of one byte are below. */
#define LENGTHS 0x80u

_Static_assert(FRONT + FIELDS * (1 + VARINT) <= FLAT_BYTES, "a flat header has room");

/* As protobuf calls how a field is packed. */
enum wire_type { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

/* What a field is in a message: a number, or what must not be there. */
enum form { FORM_NONE, FORM_NARROW, FORM_WIDE, FORM_SIGNED, FORM_TRUTH, FORM_LIST, FORM_MESSAGE };

/* All that is to be known of a field: protobuf-c's tables have a cache line or two for each. */
struct flat_field {
	uint16_t at; /* in the message; of a list, of its length */
	uint8_t form, tag;
};

/* By number. */
static struct flat_kind {
	const ProtobufCMessageDescriptor *type; /* NULL: it has other fields, and is never flat */
	size_t at;				/* in the frame */
	struct flat_field fields[FIELDS + 1];
} kinds[FIELDS + 1];

/* ---- tables ---- */

static const struct {
	uint8_t form, how;
} numbers[] = {
	[PROTOBUF_C_TYPE_UINT32] = {FORM_NARROW, WIRE_VARINT},
	[PROTOBUF_C_TYPE_SINT32] = {FORM_SIGNED, WIRE_VARINT},
	[PROTOBUF_C_TYPE_BOOL] = {FORM_TRUTH, WIRE_VARINT},
	[PROTOBUF_C_TYPE_UINT64] = {FORM_WIDE, WIRE_VARINT},
	[PROTOBUF_C_TYPE_FIXED32] = {FORM_NARROW, WIRE_32},
	[PROTOBUF_C_TYPE_FIXED64] = {FORM_WIDE, WIRE_64},
	[PROTOBUF_C_TYPE_MESSAGE] = {FORM_NONE, WIRE_BYTES},
};

/* Returns false for what cannot be in a flat message. */
static bool field_make(struct flat_field *to, const ProtobufCFieldDescriptor *from)
{
	*to = (struct flat_field){(uint16_t)from->offset, FORM_NONE, 0};
	if (from->label == PROTOBUF_C_LABEL_REPEATED) {
		to->at = (uint16_t)from->quantifier_offset;
		to->form = FORM_LIST;
	} else if (from->type == PROTOBUF_C_TYPE_MESSAGE) {
		to->form = FORM_MESSAGE;
	} else if (from->label == PROTOBUF_C_LABEL_NONE && !from->flags) {
		to->form = numbers[from->type].form;
		to->tag = (uint8_t)(from->id << 3 | numbers[from->type].how);
	}
	return to->form != FORM_NONE;
}

static void kinds_make(void)
{
	const ProtobufCMessageDescriptor *frame = &evspace__frame__descriptor;

	for (unsigned i = 0; i < frame->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &frame->fields[i];
		const ProtobufCMessageDescriptor *type = field->descriptor;
		struct flat_kind *kind = &kinds[field->id <= FIELDS ? field->id : 0];
		bool flat = field->id <= FIELDS && type->sizeof_message <= UINT16_MAX;

		for (unsigned k = 0; flat && k < type->n_fields; k++)
			flat = type->fields[k].id <= FIELDS &&
			       field_make(&kind->fields[type->fields[k].id], &type->fields[k]);
		kind->at = field->offset;
		kind->type = flat ? type : NULL;
	}
}

/* NULL: none of this number is flat. */
static const struct flat_kind *kind_find(unsigned number)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, kinds_make);
	return number <= FIELDS && kinds[number].type ? &kinds[number] : NULL;
}

/* ---- to bytes ---- */

/* Up to 56 bits are put as 8 bytes, of which those behind the number are written over. */
static unsigned char *varint_put(unsigned char *to, uint64_t value)
{
	unsigned more;

	if (value < 0x80) {
		*to = (unsigned char)value;
		return to + 1;
	}
	if (value >> 56) {
		for (; value > 0x7f; value >>= 7)
			*to++ = (unsigned char)(value | 0x80);
		*to++ = (unsigned char)value;
		return to;
	}
	more = (63 - (unsigned)__builtin_clzll(value)) / 7;
	value = (value & 0x0fffffff) | (value & 0x00fffffff0000000) << 4;
	value = (value & 0x00003fff00003fff) | (value & 0x0fffc0000fffc000) << 2;
	value = (value & 0x007f007f007f007f) | (value & 0x3f803f803f803f80) << 1;
	value = htole64(value | (0x8080808080808080 & ((UINT64_C(1) << 8 * more) - 1)));
	memcpy(to, &value, sizeof(value));
	return to + more + 1;
}

static unsigned char *number_put(unsigned char *to, const struct flat_field *field, const char *at)
{
	uint32_t narrow;
	uint64_t value;

	memcpy(&narrow, at, sizeof(narrow));
	value = narrow;
	if (field->form == FORM_WIDE)
		memcpy(&value, at, sizeof(value));
	if (value == 0)
		return to;
	if (field->form == FORM_SIGNED)
		value = narrow << 1 ^ -(narrow >> 31);
	else if (field->form == FORM_TRUTH)
		value = 1;
	*to++ = field->tag;
	if ((field->tag & 7) == WIRE_VARINT)
		return varint_put(to, value);
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
	return to + ((field->tag & 7) == WIRE_64 ? 8 : 4);
}

/* Is the list, or the message in the message, not there? */
static bool is_absent(const struct flat_field *field, const char *at)
{
	const void *in;
	size_t n;

	if (field->form == FORM_LIST) {
		memcpy(&n, at, sizeof(n));
		return n == 0;
	}
	memcpy(&in, at, sizeof(in));
	return !in;
}

/* Returns where the fields end, NULL if they are not numbers alone. */
static unsigned char *message_put(const struct flat_kind *kind, const ProtobufCMessage *message,
				  unsigned char *to)
{
	const char *base = (const char *)message;

	if (message->n_unknown_fields)
		return NULL;
	for (unsigned i = 1; i <= FIELDS; i++) {
		const struct flat_field *field = &kind->fields[i];

		if (field->form >= FORM_LIST && !is_absent(field, base + field->at))
			return NULL;
		if (field->form > FORM_NONE && field->form < FORM_LIST)
			to = number_put(to, field, base + field->at);
	}
	return to;
}

size_t flat_put(const Evspace__Frame *header, unsigned char *to)
{
	const ProtobufCMessage *message = (const ProtobufCMessage *)header->ask; /* or any other */
	const struct flat_kind *kind = kind_find(header->kind_case);
	unsigned char *end;

	if (!kind || header->base.n_unknown_fields || !message)
		return 0;
	end = message_put(kind, message, to + FRONT);
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

/* One of up to 8 bytes that is among the next 8, at once. */
static bool varint_get_short(struct unread *from, uint64_t *value)
{
	uint64_t got, last;

	if (from->end - from->at < (ptrdiff_t)sizeof(got))
		return false;
	memcpy(&got, from->at, sizeof(got));
	got = le64toh(got);
	last = ~got & 0x8080808080808080;
	if (!last)
		return false;
	from->at += __builtin_ctzll(last) / 8 + 1;
	got &= ((last & -last) - 1) & 0x7f7f7f7f7f7f7f7f;
	got = (got & 0x007f007f007f007f) | (got & 0x7f007f007f007f00) >> 1;
	got = (got & 0x00003fff00003fff) | (got & 0x3fff00003fff0000) >> 2;
	*value = (got & 0x000000000fffffff) | (got & 0x0fffffff00000000) >> 4;
	return true;
}

static bool varint_get(struct unread *from, uint64_t *value)
{
	const unsigned char *at = from->at;
	uint64_t got = 0;

	if (at < from->end && *at < 0x80) {
		*value = *at;
		from->at++;
		return true;
	}
	if (varint_get_short(from, value))
		return true;
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

static bool number_get(struct unread *from, const struct flat_field *field, char *at)
{
	const unsigned how = field->tag & 7;
	uint64_t value;
	uint32_t narrow;

	if (how == WIRE_VARINT ? !varint_get(from, &value)
			       : !fixed_get(from, how == WIRE_64 ? 8 : 4, &value))
		return false;
	if (field->form == FORM_WIDE) {
		memcpy(at, &value, sizeof(value));
		return true;
	}
	narrow = (uint32_t)value;
	if (field->form == FORM_SIGNED)
		narrow = narrow >> 1 ^ -(narrow & 1);
	else if (field->form == FORM_TRUTH)
		narrow = value != 0;
	memcpy(at, &narrow, sizeof(narrow));
	return true;
}

static bool message_get(const struct flat_kind *kind, struct unread from, char *message)
{
	while (from.at < from.end) {
		/* of a tag of two bytes, the number is too large */
		const unsigned tag = *from.at++;
		const struct flat_field *field = &kind->fields[tag >> 3 & FIELDS];

		/* that of no number is 0 */
		if (!tag || field->tag != tag || !number_get(&from, field, message + field->at))
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
				       const struct flat_kind *kind)
{
	ProtobufCMessage *message = piece_take(allocator, kind->type->sizeof_message);

	if (!message)
		return NULL;
	protobuf_c_message_init(kind->type, message);
	frame->kind_case = (Evspace__Frame__KindCase)(kind - kinds);
	memcpy((char *)frame + kind->at, &message, sizeof(message));
	return message;
}

Evspace__Frame *flat_get(ProtobufCAllocator *allocator, const unsigned char *data, size_t bytes)
{
	const struct flat_kind *kind;
	ProtobufCMessage *message;
	Evspace__Frame *frame;

	if (bytes < FRONT || bytes >= FRONT + LENGTHS || (data[0] & 7) != WIRE_BYTES ||
	    data[1] != bytes - FRONT)
		return NULL;
	kind = kind_find(data[0] >> 3);
	frame = kind ? piece_take(allocator, sizeof(*frame)) : NULL;
	if (!frame)
		return NULL;
	evspace__frame__init(frame);
	message = message_begin(allocator, frame, kind);
	if (message &&
	    message_get(kind, (struct unread){data + FRONT, data + bytes}, (char *)message))
		return frame;
	evspace__frame__free_unpacked(frame, allocator);
	return NULL;
}
