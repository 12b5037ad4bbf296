/* SPDX-License-Identifier: BSD-3-Clause */
/* Fronts and headers of frames, checked before memory is taken for them. */
#include "tree/wire/wire.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/grammar/mapfile.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"
#include "tree/wire/flat.h"

/* Bytes for names and patterns that people type. */
#define WORDS (256u << 10)
/* Bytes for each place as one that owes waves, and as one that is asked. */
#define ASKS (512u << 10)
/* Bytes for three map files. */
#define MAPS (3 * MAPFILE_MAX + WORDS)

const struct wire_limits wire_hello_limits = {.frame = WIRE_HELLO_MAX};

#define QUESTIONS                                                                   \
	[EVSPACE__FRAME__KIND_ASK] = ASKS, [EVSPACE__FRAME__KIND_MAP_APPLY] = MAPS, \
	[EVSPACE__FRAME__KIND_PING] = 2 * WIRE_PASS_MAX + 64

const struct wire_limits wire_consumer_limits = {
	.frame = WIRE_FRONT_BYTES + WIRE_HEADER_MAX,
	.header =
		{
			QUESTIONS,
			[EVSPACE__FRAME__KIND_OPEN] = WORDS,
			[EVSPACE__FRAME__KIND_STATUS_ASK] = WORDS,
			[EVSPACE__FRAME__KIND_SWITCH_ASK] = WORDS,
		},
};

const struct wire_limits wire_parent_limits = {
	.frame = WIRE_FRONT_BYTES + WIRE_HEADER_MAX,
	.header =
		{
			QUESTIONS,
			[EVSPACE__FRAME__KIND_OPEN] = WIRE_HEADER_MAX,
			[EVSPACE__FRAME__KIND_STATUS_ASK] = WIRE_HEADER_MAX,
			[EVSPACE__FRAME__KIND_SWITCH_ASK] = WIRE_HEADER_MAX,
		},
};

const struct wire_limits wire_child_limits = {
	.frame = WIRE_FRAME_MAX,
	.header =
		{
			[EVSPACE__FRAME__KIND_OPENED] = WIRE_HEADER_MAX,
			[EVSPACE__FRAME__KIND_ANSWER] = WIRE_HEADER_MAX,
			[EVSPACE__FRAME__KIND_STATUS] = WIRE_HEADER_MAX,
			[EVSPACE__FRAME__KIND_SWITCHED] = WIRE_HEADER_MAX,
			[EVSPACE__FRAME__KIND_MAP] = WIRE_HEADER_MAX,
			[EVSPACE__FRAME__KIND_MAP_APPLIED] = WIRE_HEADER_MAX,
		},
};

size_t wire_frame_bytes(const struct wire_front *front)
{
	if (wire_front_is_piece(front))
		return WIRE_FRONT_BYTES + wire_pad(front->header_bytes & ~WIRE_PIECE);
	return WIRE_FRONT_BYTES + wire_pad(front->header_bytes) + front->body_bytes;
}

static int piece_check(const struct wire_front *front, struct error *e)
{
	uint32_t packed = front->header_bytes & ~WIRE_PIECE;

	if (!packed || packed > WIRE_PIECE_PACKED || front->body_bytes > WIRE_PIECE_PLAIN)
		return errorf(e,
			      "a piece of %u bytes that unpack to %u (1 to %u, and up to %u, are "
			      "allowed)",
			      packed, front->body_bytes, WIRE_PIECE_PACKED, WIRE_PIECE_PLAIN);
	return 0;
}

int wire_front_check(const struct wire_front *front, size_t limit, struct error *e)
{
	errno = EPROTO;
	if (wire_front_is_piece(front))
		return piece_check(front, e);
	if (!front->header_bytes || front->header_bytes > WIRE_HEADER_MAX)
		return errorf(e, "a frame with a header of %u bytes (1 to %u are allowed)",
			      front->header_bytes, WIRE_HEADER_MAX);
	if (front->body_bytes > WIRE_BODY_MAX || front->body_bytes % 8)
		return errorf(e, "a frame with a body of %u bytes (a multiple of 8 up to %u)",
			      front->body_bytes, WIRE_BODY_MAX);
	if (wire_frame_bytes(front) > limit)
		return errorf(e, "a frame of %zu bytes where %zu are allowed",
			      wire_frame_bytes(front), limit);
	return 0;
}

/** The kind of a header, from its first WIRE_KIND_BYTES. */
static unsigned wire_kind(const unsigned char *header)
{
	unsigned tag =
		header[0] & 0x80 ? (header[0] & 0x7fu) | (unsigned)header[1] << 7 : header[0];

	return tag >> 3;
}

int wire_kind_check(const struct wire_front *front, const unsigned char *header,
		    const struct wire_limits *limits, struct error *e)
{
	unsigned kind = wire_kind(header);
	uint32_t most = kind < sizeof(limits->header) / sizeof(limits->header[0])
				? limits->header[kind]
				: 0;

	if (!most)
		most = WIRE_HELLO_MAX;
	errno = EPROTO;
	if (front->header_bytes > most)
		return errorf(e, "a frame of kind %u with a header of %u bytes (up to %u)", kind,
			      front->header_bytes, most);
	if (front->body_bytes && kind != EVSPACE__FRAME__KIND_ANSWER)
		return errorf(e, "a body in a frame of kind %u, which is not an answer", kind);
	return 0;
}

static uint32_t le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void le32_put(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
	p[2] = (unsigned char)(v >> 16);
	p[3] = (unsigned char)(v >> 24);
}

struct wire_front wire_front_get(const unsigned char *data)
{
	return (struct wire_front){le32(data), le32(data + 4)};
}

void wire_front_put(const struct wire_front *front, unsigned char *to)
{
	le32_put(to, front->header_bytes);
	le32_put(to + 4, front->body_bytes);
}

void wire_piece_put(size_t packed, size_t plain, unsigned char *to)
{
	wire_front_put(&(struct wire_front){WIRE_PIECE | (uint32_t)packed, (uint32_t)plain}, to);
}

/** Zeros up to where the body belongs, behind a header at @to. */
static unsigned char *wire_header_end(unsigned char *to, size_t bytes)
{
	memset(to + bytes, 0, wire_pad(bytes) - bytes);
	return to + wire_pad(bytes);
}

unsigned char *wire_frame_put(const struct wire_front *front, const Evspace__Frame *header,
			      unsigned char *to)
{
	wire_front_put(front, to);
	to += WIRE_FRONT_BYTES;
	evspace__frame__pack(header, to);
	return wire_header_end(to, front->header_bytes);
}

/** The rest of a protobuf message. */
struct wire_walk {
	const unsigned char *at, *end;
};

/** Read a varint of at most @most bytes. Returns 0, or -1 if it is malformed. */
static int walk_varint(struct wire_walk *w, unsigned most, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; i < most && w->at < w->end; i++) {
		*value |= (uint64_t)(*w->at & 0x7f) << 7 * i;
		if (!(*w->at++ & 0x80))
			return 0;
	}
	return -1;
}

/** Read one field. *@inner is its content if it is length-delimited, else NULL. Returns 0, or -1 if
 * it is malformed. */
static int walk_field(struct wire_walk *w, uint64_t *number, struct wire_walk *inner)
{
	uint64_t tag, skip = 0;

	if (walk_varint(w, 5, &tag) < 0)
		return -1;
	*number = tag >> 3;
	*inner = (struct wire_walk){NULL, NULL};
	switch (tag & 7) {
	case 0:
		return walk_varint(w, 10, &skip);
	case 1:
		skip = 8;
		break;
	case 2:
		if (walk_varint(w, 5, &skip) < 0 || skip > (size_t)(w->end - w->at))
			return -1;
		*inner = (struct wire_walk){w->at, w->at + skip};
		break;
	case 5:
		skip = 4;
		break;
	default:
		return -1;
	}
	if (skip > (size_t)(w->end - w->at))
		return -1;
	w->at += skip;
	return 0;
}

/** A message being checked, and those around it. */
struct nest {
	const ProtobufCMessageDescriptor *type;
	const struct nest *within;
	bool in_answer;
};

/* What is found out of a frame while it is checked. */
struct wire_found {
	unsigned work; /* left for answers */
	bool text;     /* there are words, or fields that this version does not know */
};

/** How many messages of the type of @n are nested. */
static unsigned nest_depth(const struct nest *n)
{
	const ProtobufCMessageDescriptor *type = n->type;
	unsigned depth = 0;

	for (; n; n = n->within)
		depth += n->type == type;
	return depth;
}

/** Is this a message of that type that is not nested too deep, sets only one member of each oneof,
 * and has answers that unpack fast? */
static int walk_message(struct wire_walk w, const ProtobufCMessageDescriptor *type,
			const struct nest *within, struct wire_found *found)
{
	struct nest here = {
		.type = type,
		.within = within,
		.in_answer = type == &evspace__answer__descriptor || (within && within->in_answer),
	};
	struct wire_walk inner;
	unsigned kinds = 0, costs;
	uint64_t number;

	if (nest_depth(&here) > WIRE_DEPTH)
		return -1;
	while (w.at < w.end) {
		const ProtobufCFieldDescriptor *field;

		if (walk_field(&w, &number, &inner) < 0)
			return -1;
		costs = !here.in_answer ? 0 : inner.at ? WIRE_WORK_TEXT : 1;
		if (costs > found->work)
			return -1;
		found->work -= costs;
		field = protobuf_c_message_descriptor_get_field(type, (unsigned)number);
		if (field && field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF && ++kinds > 1)
			return -1;
		found->text |= !field || field->type == PROTOBUF_C_TYPE_STRING;
		if (inner.at && field && field->type == PROTOBUF_C_TYPE_MESSAGE &&
		    walk_message(inner, field->descriptor, &here, found) < 0)
			return -1;
	}
	return 0;
}

static void piece_free(ProtobufCAllocator *allocator, void *piece)
{
	if (allocator)
		allocator->free(allocator->allocator_data, piece);
	else
		free(piece);
}

/** What this version does not know is neither kept nor passed on to all who are asked in turn. */
static void unknown_drop(ProtobufCMessage *m, ProtobufCAllocator *allocator)
{
	for (unsigned i = 0; i < m->n_unknown_fields; i++)
		piece_free(allocator, m->unknown_fields[i].data);
	if (m->unknown_fields)
		piece_free(allocator, m->unknown_fields);
	m->n_unknown_fields = 0;
	m->unknown_fields = NULL;
}

static void message_clean(ProtobufCMessage *m, ProtobufCAllocator *allocator);

static void value_clean(const ProtobufCFieldDescriptor *field, void *value,
			ProtobufCAllocator *allocator)
{
	if (value && field->type == PROTOBUF_C_TYPE_STRING)
		utf8_clean(value);
	else if (value && field->type == PROTOBUF_C_TYPE_MESSAGE)
		message_clean(value, allocator);
}

/** Makes all text from peers safe for logs and terminals: no line breaks, no control sequences.
 * Only maps keep their lines; their reader reports what is not text. */
static void message_clean(ProtobufCMessage *m, ProtobufCAllocator *allocator)
{
	char *base = (char *)m;

	unknown_drop(m, allocator);
	if (m->descriptor == &evspace__map_texts__descriptor)
		return;
	for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &m->descriptor->fields[i];
		const void *n = base + field->quantifier_offset;
		void *value;

		if (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_MESSAGE)
			continue;
		memcpy(&value, base + field->offset, sizeof(value));
		if (field->label == PROTOBUF_C_LABEL_REPEATED) {
			for (size_t k = 0; k < *(const size_t *)n; k++)
				value_clean(field, ((void **)value)[k], allocator);
		} else if (!(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) ||
			   *(const uint32_t *)n == field->id) {
			value_clean(field, value, allocator);
		}
	}
}

Evspace__Frame *wire_header_parse_in(ProtobufCAllocator *allocator, const unsigned char *data,
				     size_t bytes, struct error *e)
{
	struct wire_found found = {WIRE_ANSWER_WORK, false};
	Evspace__Frame *frame = flat_get(allocator, data, bytes);

	if (frame)
		return frame;
	/* protobuf-c recurses as deep as its input is nested, so check the depth before */
	if (bytes > WIRE_HEADER_MAX ||
	    walk_message((struct wire_walk){data, data + bytes}, &evspace__frame__descriptor, NULL,
			 &found) < 0) {
		errno = EPROTO;
		errorf(e, "a frame header that is malformed, too long or too deep");
		return NULL;
	}
	frame = evspace__frame__unpack(allocator, bytes, data);
	if (frame && frame->kind_case != EVSPACE__FRAME__KIND__NOT_SET &&
	    frame->kind_case == wire_kind(data)) {
		if (found.text)
			message_clean(&frame->base, allocator);
		return frame;
	}
	errorf(e, frame ? "a frame of a kind that this version does not know"
			: "a frame header that is malformed or too large");
	if (frame)
		evspace__frame__free_unpacked(frame, allocator);
	errno = EPROTO;
	return NULL;
}

Evspace__Frame *wire_header_parse(const unsigned char *data, size_t bytes, struct error *e)
{
	return wire_header_parse_in(NULL, data, bytes, e);
}

void wire_header_free(Evspace__Frame *frame)
{
	if (frame)
		evspace__frame__free_unpacked(frame, NULL);
}

static void *counted_alloc(void *taken, size_t bytes)
{
	void *piece = memory_new(bytes, 1);

	*(size_t *)taken += malloc_usable_size(piece) + sizeof(size_t);
	return piece;
}

static void counted_free(void *taken, void *piece)
{
	*(size_t *)taken -= piece ? malloc_usable_size(piece) + sizeof(size_t) : 0;
	free(piece);
}

ProtobufCMessage *wire_copy_counted(const ProtobufCMessage *message, size_t *taken)
{
	size_t bytes = protobuf_c_message_get_packed_size(message);
	uint8_t *packed = memory_new(bytes + 1, 1);
	ProtobufCAllocator counted = {counted_alloc, counted_free, taken};
	ProtobufCMessage *copy;

	*taken = 0;
	protobuf_c_message_pack(message, packed);
	copy = protobuf_c_message_unpack(message->descriptor, &counted, bytes, packed);
	free(packed);
	if (!copy)
		abort();
	return copy;
}

ProtobufCMessage *wire_copy(const ProtobufCMessage *message)
{
	size_t taken;

	return wire_copy_counted(message, &taken);
}

Evspace__Open *wire_open_bare(const Evspace__Open *open)
{
	Evspace__Open bare = *open;

	bare.place = NULL;
	return (Evspace__Open *)wire_copy(&bare.base);
}

const char *wire_missing(uint32_t why)
{
	static const char *const words[] = {
		[MISSING_UNREACHABLE] = "unreachable",
		[MISSING_LATE] = "late",
		[MISSING_REFUSED] = "refused",
	};

	return why < sizeof(words) / sizeof(words[0]) && words[why] ? words[why] : "missing";
}
