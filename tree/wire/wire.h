/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: length, protobuf header (tree/wire/wire.proto), raw body (docs/architecture.md). */
#ifndef EVSPACE_WIRE_H
#define EVSPACE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/wire/wire.pb-c.h"

/** 4 adds pieces; 5 definitions; 6 columns, trees, folds, foreign records; 7 samples; 8 meets. */
#define WIRE_VERSION	8u
#define WIRE_DEFINES	5u
#define WIRE_COLUMNS	6u
#define WIRE_CHOOSES	6u
#define WIRE_FOREIGN	6u
#define WIRE_SAMPLES	7u
#define WIRE_MEETS	8u
#define WIRE_OLDEST	3u
#define WIRE_HEADER_MAX (8u << 20)
#define WIRE_BODY_MAX	(64u << 20)
#define WIRE_HELLO_MAX	4096u	    /* before the hello */
#define WIRE_PASS_MAX	(32u << 10) /* of a pass (tree/link/pass.h); of its signer's certificate */
/** Bytes of a frame's front, and of the largest frame. */
#define WIRE_FRONT_BYTES 8u
#define WIRE_FRAME_MAX	 (WIRE_FRONT_BYTES + WIRE_HEADER_MAX + WIRE_BODY_MAX)
#define WIRE_KIND_BYTES	 2u /* of a header, which determine its kind */

/** What one side may send: bytes of a frame, and of a header of each kind (0: WIRE_HELLO_MAX). */
struct wire_limits {
	size_t frame;
	uint32_t header[EVSPACE__FRAME__KIND_MAP_APPLIED + 1];
};

/** A frame of the kind @KIND, whose message is at @pointer and goes into @member. */
#define WIRE_FRAME(KIND, member, pointer)                                               \
	((Evspace__Frame){.base = PROTOBUF_C_MESSAGE_INIT(&evspace__frame__descriptor), \
			  .kind_case = EVSPACE__FRAME__KIND_##KIND,                     \
			  .member = (pointer)})

/** For peers before the hello; consumers; parents, whose questions have plan parts; children, the
 * only ones that send bodies. */
extern const struct wire_limits wire_hello_limits, wire_consumer_limits, wire_parent_limits,
	wire_child_limits;
/**
 * A compressed piece of the stream of frames. Its front has WIRE_PIECE set in the first word; the
 * rest of that word is the number of bytes of zstd (RFC 8878) that follow, padded with zeros to a
 * multiple of 8; the second word is the number of bytes that they unpack to. The unpacked pieces
 * together are frames; a frame may go on in the next piece, and a plain frame may follow only a
 * piece that ends with a frame.
 */
#define WIRE_PIECE	  0x80000000u
#define WIRE_PIECE_PLAIN  (128u << 10)
#define WIRE_PIECE_PACKED (WIRE_PIECE_PLAIN + (4u << 10))
/** How deep messages of one type may be nested, whatever the type. */
#define WIRE_DEPTH 16u
/** Most fields in an answer, where one that needs memory counts as WIRE_WORK_TEXT, to bound the
 * time for unpacking. The most that dictionary_fill() adds, with all places missing, is less. */
#define WIRE_ANSWER_WORK (1u << 19)
#define WIRE_WORK_TEXT	 4u
/** Most stages of a received plan part. */
#define WIRE_PLACE_STAGES 64u

/** What a side says in its hello about receiving pieces. */
enum wire_unpacks {
	UNPACKS_NEVER, /* the default if it says nothing */
	UNPACKS_SLOW,  /* when the sender finds the connection slow */
	UNPACKS_ALWAYS,
};

/** Why a leaf is missing from an answer. */
enum missing_why {
	MISSING_UNREACHABLE = 1, /* no connection to it, or to a host on the way */
	MISSING_LATE,		 /* it did not answer before the deadline */
	MISSING_REFUSED,	 /* it answered with an error */
};

/** "unreachable", "late" or "refused"; "missing" for values that this release does not know. */
const char *wire_missing(uint32_t why);

/** The fixed front of a frame: two little-endian uint32, the lengths of header and body. The header
 * follows, padded with zeros to a multiple of 8; the body's length is a multiple of 8 as well. */
struct wire_front {
	uint32_t header_bytes;
	uint32_t body_bytes;
};

/** A header's length in a frame: the next multiple of 8. */
static inline size_t wire_pad(size_t header_bytes)
{
	return (header_bytes + 7) & ~(size_t)7;
}

/** Read the front at @data (8 bytes). */
struct wire_front wire_front_get(const unsigned char *data);

/** Write @front and @header, which takes front->header_bytes packed, to @to, where there is room
 * for the whole frame. Returns where the body belongs. */
unsigned char *wire_frame_put(const struct wire_front *front, const Evspace__Frame *header,
			      unsigned char *to);

/** Is this the front of a piece? */
static inline bool wire_front_is_piece(const struct wire_front *front)
{
	return (front->header_bytes & WIRE_PIECE) != 0;
}

/** Write @front to @to; that of a piece of @packed bytes, which unpack to @plain. */
void wire_front_put(const struct wire_front *front, unsigned char *to);
void wire_piece_put(size_t packed, size_t plain, unsigned char *to);

/** Bytes of the whole frame or piece with this front. */
size_t wire_frame_bytes(const struct wire_front *front);

/** Check a front against the general limits, and a whole frame against @limit bytes. Returns 0, or
 * -1 with EPROTO and @e. */
int wire_front_check(const struct wire_front *front, size_t limit, struct error *e);

/** Check the lengths in a front against the limits of its kind, from the first WIRE_KIND_BYTES of
 * @header. Returns 0, or -1 with EPROTO and @e. */
int wire_kind_check(const struct wire_front *front, const unsigned char *header,
		    const struct wire_limits *limits, struct error *e);

/**
 * Parse a header. Returns it (free with wire_header_free()), or NULL with EPROTO and @e. Checks
 * that only one kind is set, the one in its first bytes (protobuf takes the last, limits the
 * first), and the depth of nesting (WIRE_DEPTH) before protobuf-c recurses into it. Texts other
 * than maps are made printable (utf8_clean()). Unknown fields are dropped, however deep they are:
 * they would be passed on to every child.
 */
Evspace__Frame *wire_header_parse(const unsigned char *data, size_t bytes, struct error *e);
void wire_header_free(Evspace__Frame *frame);

/** The same with memory from @allocator, which also frees it. */
Evspace__Frame *wire_header_parse_in(ProtobufCAllocator *allocator, const unsigned char *data,
				     size_t bytes, struct error *e);

/** A copy of any message, since frames do not outlive their callbacks, for free_unpacked(). */
ProtobufCMessage *wire_copy(const ProtobufCMessage *message);

/** The same; @taken is how many bytes the copy takes, which may be far more than on the wire. */
ProtobufCMessage *wire_copy_counted(const ProtobufCMessage *message, size_t *taken);

/** A copy of @open without its place. Free it with evspace__open__free_unpacked(). */
Evspace__Open *wire_open_bare(const Evspace__Open *open);

#endif
