/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: a length, a protobuf header (tree/wire/wire.proto) and a raw body (docs/architecture.md).
 */
#ifndef EVSPACE_WIRE_H
#define EVSPACE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/wire/wire.pb-c.h"

/** Version 4 has pieces, which are sent only to those who say in their hello that they unpack. */
#define WIRE_VERSION	4u
#define WIRE_OLDEST	3u
#define WIRE_HEADER_MAX (8u << 20)
#define WIRE_BODY_MAX	(64u << 20)
/** A connection that has not said hello yet may send no more than this. */
#define WIRE_HELLO_MAX 4096u
/** A pass (tree/link/pass.h), or the certificate that it is checked by. */
#define WIRE_PASS_MAX (32u << 10)
/** Bytes of a frame's front, and of the largest frame. */
#define WIRE_FRONT_BYTES 8u
#define WIRE_FRAME_MAX	 (WIRE_FRONT_BYTES + WIRE_HEADER_MAX + WIRE_BODY_MAX)
/** Bytes of a header by which its kind is known. */
#define WIRE_KIND_BYTES 2u

/**
 * What one side may send: bytes of a whole frame, and of a header of each kind; of those that are 0
 * here no more than WIRE_HELLO_MAX.
 */
struct wire_limits {
	size_t frame;
	uint32_t header[EVSPACE__FRAME__KIND_MAP_APPLIED + 1];
};

/** A frame of the kind @KIND, which the message that @pointer points to is the @member of. */
#define WIRE_FRAME(KIND, member, pointer)                                               \
	((Evspace__Frame){.base = PROTOBUF_C_MESSAGE_INIT(&evspace__frame__descriptor), \
			  .kind_case = EVSPACE__FRAME__KIND_##KIND,                     \
			  .member = (pointer)})

/** Who has not said hello yet; consumers; parents, whose questions have plan parts; children, who
 * alone have bodies to send. */
extern const struct wire_limits wire_hello_limits, wire_consumer_limits, wire_parent_limits,
	wire_child_limits;
/**
 * A piece of the stream of frames, compressed: its front has WIRE_PIECE set in the first word, the
 * rest of which is how many bytes of zstd (RFC 8878) follow, padded with zeros to a multiple of 8;
 * the second word is how many they unpack to. Unpacked pieces, one behind the other, are frames; a
 * frame may go on in the next piece, and a plain frame comes only where none has begun in one.
 */
#define WIRE_PIECE	  0x80000000u
#define WIRE_PIECE_PLAIN  (128u << 10)
#define WIRE_PIECE_PACKED (WIRE_PIECE_PLAIN + (4u << 10))
/** How many messages of one type may be within each other, whatever the type. */
#define WIRE_DEPTH 16u
/** Fields in an answer, those that need memory counting as so many: what dictionary_fill() says at
 * most, and all places as missing, are less. More would take long to unpack. */
#define WIRE_ANSWER_WORK (1u << 19)
#define WIRE_WORK_TEXT	 4u
/** Stages of a plan part that is taken from the wire. */
#define WIRE_PLACE_STAGES 64u

/** What a side says in its hello about being sent pieces. */
enum wire_unpacks {
	UNPACKS_NEVER, /* what it does not say means this */
	UNPACKS_SLOW,  /* when the sender finds the connection slow */
	UNPACKS_ALWAYS,
};

/** Why a leaf is missing from an answer. */
enum missing_why {
	MISSING_UNREACHABLE = 1, /* no connection to it, or to a host on the way */
	MISSING_LATE,		 /* it did not answer before the deadline */
	MISSING_REFUSED,	 /* it answered with an error */
};

/** "unreachable", "late" or "refused"; "missing" for what this release does not know. */
const char *wire_missing(uint32_t why);

/**
 * The fixed front of a frame: two little-endian uint32, the lengths of header and body. The header
 * follows, padded with zeros to a multiple of 8; the body's length is a multiple of 8 as well.
 */
struct wire_front {
	uint32_t header_bytes;
	uint32_t body_bytes;
};

/** A header's length in a frame: the next multiple of 8. */
static inline size_t wire_pad(size_t header_bytes)
{
	return (header_bytes + 7) & ~(size_t)7;
}

/** The front at @data (8 bytes). */
struct wire_front wire_front_get(const unsigned char *data);

/**
 * Put @front and @header, which has front->header_bytes when packed, to @to, where there is room
 * for the whole frame. Returns where the body belongs.
 */
unsigned char *wire_frame_put(const struct wire_front *front, const Evspace__Frame *header,
			      unsigned char *to);

/** Is this the front of a piece? */
static inline bool wire_front_is_piece(const struct wire_front *front)
{
	return (front->header_bytes & WIRE_PIECE) != 0;
}

/** Put the front of a piece of @packed bytes, which unpack to @plain, to @to. */
void wire_piece_put(size_t packed, size_t plain, unsigned char *to);

/** Bytes of the whole frame or piece with this front. */
size_t wire_frame_bytes(const struct wire_front *front);

/** Check a front against the limits; a whole frame may have @limit bytes. Returns 0, or -1 with
 * EPROTO and @e. */
int wire_front_check(const struct wire_front *front, size_t limit, struct error *e);

/** Check the lengths in a front against what its kind needs, which the first WIRE_KIND_BYTES of
 * @header say. Returns 0, or -1 with EPROTO and @e. */
int wire_kind_check(const struct wire_front *front, const unsigned char *header,
		    const struct wire_limits *limits, struct error *e);

/**
 * Parse a header. Returns it (free with wire_header_free()), or NULL with EPROTO and @e. Checks
 * that one kind is set, which is the one that its first bytes say (protobuf goes by the last, and
 * limits go by the first), and the depth of nesting (WIRE_DEPTH) before protobuf-c recurses into
 * it; texts are such that they can be printed (utf8_clean()), but for those of maps.
 */
Evspace__Frame *wire_header_parse(const unsigned char *data, size_t bytes, struct error *e);
void wire_header_free(Evspace__Frame *frame);

/** The same with memory from @allocator, which also takes it back. */
Evspace__Frame *wire_header_parse_in(ProtobufCAllocator *allocator, const unsigned char *data,
				     size_t bytes, struct error *e);

/** A copy of a message, whatever it is, as frames do not outlive their callbacks. Free with its own
 * free_unpacked(). Aborts when memory is out. */
ProtobufCMessage *wire_copy(const ProtobufCMessage *message);

/** A copy of @open without its place. Free with evspace__open__free_unpacked(). */
Evspace__Open *wire_open_bare(const Evspace__Open *open);

#endif
