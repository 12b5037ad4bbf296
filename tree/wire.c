/* SPDX-License-Identifier: BSD-3-Clause */
/* Fronts and headers of frames, checked before memory is taken for what they announce. */
#include "tree/wire.h"

#include <errno.h>
#include <string.h>

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

static void wire_front_put(const struct wire_front *front, unsigned char *data)
{
	le32_put(data, front->header_bytes);
	le32_put(data + 4, front->body_bytes);
}

void wire_piece_put(size_t packed, size_t plain, unsigned char *to)
{
	struct wire_front front = {WIRE_PIECE | (uint32_t)packed, (uint32_t)plain};

	wire_front_put(&front, to);
}

unsigned char *wire_frame_put(const struct wire_front *front, const Evspace__Frame *header,
			      unsigned char *to)
{
	wire_front_put(front, to);
	to += WIRE_FRONT_BYTES;
	evspace__frame__pack(header, to);
	memset(to + front->header_bytes, 0, wire_pad(front->header_bytes) - front->header_bytes);
	return to + wire_pad(front->header_bytes);
}

/** Bytes of protobuf that are being walked over. */
struct walk {
	const unsigned char *at, *end;
};

/** Take a varint of at most @most bytes. Returns 0, or -1 when it is malformed. */
static int walk_varint(struct walk *w, unsigned most, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; i < most && w->at < w->end; i++) {
		*value |= (uint64_t)(*w->at & 0x7f) << 7 * i;
		if (!(*w->at++ & 0x80))
			return 0;
	}
	return -1;
}

/** Take one field. *@inner is what is inside if it is length-delimited, else NULL. */
static int walk_field(struct walk *w, uint64_t *number, struct walk *inner)
{
	uint64_t tag, skip = 0;

	if (walk_varint(w, 5, &tag) < 0)
		return -1;
	*number = tag >> 3;
	*inner = (struct walk){NULL, NULL};
	switch (tag & 7) {
	case 0:
		return walk_varint(w, 10, &skip);
	case 1:
		skip = 8;
		break;
	case 2:
		if (walk_varint(w, 5, &skip) < 0 || skip > (size_t)(w->end - w->at))
			return -1;
		*inner = (struct walk){w->at, w->at + skip};
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

#define FIELD_FRAME_OPEN       2
#define FIELD_FRAME_SWITCH_ASK 10
#define FIELD_OPEN_PLACE       8
#define FIELD_SWITCH_ASK_PLACE 6
#define FIELD_PLACE_CHILDREN   8

/** How deep the messages in fields @nested go, and those of places in them: at most @left. */
static int walk_places(struct walk w, uint64_t nested, unsigned left)
{
	struct walk inner;
	uint64_t number;

	if (left == 0)
		return -1;
	while (w.at < w.end) {
		if (walk_field(&w, &number, &inner) < 0)
			return -1;
		if (number == nested && inner.at &&
		    walk_places(inner, FIELD_PLACE_CHILDREN, left - 1) < 0)
			return -1;
	}
	return 0;
}

/** How deep Frame.open.place.children… and Frame.switch_ask.place.children… go. */
static int walk_frame(struct walk w)
{
	struct walk inner;
	uint64_t number;

	while (w.at < w.end) {
		if (walk_field(&w, &number, &inner) < 0)
			return -1;
		if (number == FIELD_FRAME_OPEN && inner.at &&
		    walk_places(inner, FIELD_OPEN_PLACE, 1 + WIRE_PLACE_DEPTH) < 0)
			return -1;
		if (number == FIELD_FRAME_SWITCH_ASK && inner.at &&
		    walk_places(inner, FIELD_SWITCH_ASK_PLACE, 1 + WIRE_PLACE_DEPTH) < 0)
			return -1;
	}
	return 0;
}

Evspace__Frame *wire_header_parse_in(ProtobufCAllocator *allocator, const unsigned char *data,
				     size_t bytes, struct error *e)
{
	Evspace__Frame *frame;

	/* protobuf-c recurses as deep as its input is nested, so the depth is checked before. */
	if (bytes > WIRE_HEADER_MAX || walk_frame((struct walk){data, data + bytes}) < 0) {
		errno = EPROTO;
		errorf(e, "a frame header that is malformed, too long or too deep");
		return NULL;
	}
	frame = evspace__frame__unpack(allocator, bytes, data);
	if (frame && frame->kind_case != EVSPACE__FRAME__KIND__NOT_SET)
		return frame;
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
