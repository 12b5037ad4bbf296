/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds frames in received bytes: headers are unpacked into an arena, bodies stay in place. */
#include "tree/wire/deframer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/batch.h"
#include "tree/stage/stage.h"

/* With less room than this, a TLS record's, a new buffer is begun. */
#define DEFRAMER_SPARE (16u << 10)

void deframer_init(struct deframer *d, struct arena *arena, const struct wire_limits *limits)
{
	*d = (struct deframer){.arena = arena, .limits = limits};
}

void deframer_limits_set(struct deframer *d, const struct wire_limits *limits)
{
	d->limits = limits;
	if (d->inner)
		d->inner->limits = limits;
}

static void buffer_drop(struct deframer *d)
{
	buffer_unref(d->buffer);
	d->buffer = NULL;
	d->at = 0;
}

void deframer_fini(struct deframer *d)
{
	buffer_drop(d);
	unpacker_free(d->unpacker);
	d->unpacker = NULL;
	if (d->inner)
		buffer_drop(d->inner);
	free(d->inner);
	d->inner = NULL;
}

static size_t deframer_held(const struct deframer *d)
{
	return d->buffer ? d->buffer->used - d->at : 0;
}

/** Bytes from the start of the next frame that must fit: all of it once its front is known. */
static size_t deframer_need(const struct deframer *d)
{
	struct wire_front front;

	if (deframer_held(d) < WIRE_FRONT_BYTES + WIRE_KIND_BYTES)
		return DEFRAMER_SPARE;
	front = wire_front_get(d->buffer->data + d->at);
	return wire_frame_bytes(&front);
}

unsigned char *deframer_room(struct deframer *d, size_t *room)
{
	size_t held = deframer_held(d), need = deframer_need(d);
	struct buffer *old = d->buffer, *new;

	if (old && old->refs == 1 && !held)
		d->at = old->used = 0;
	if (!old || old->size - d->at < need ||
	    (old->size - old->used < DEFRAMER_SPARE && held < DEFRAMER_SPARE)) {
		new = buffer_new(need > BUFFER_COMMON ? need : BUFFER_COMMON);
		if (held)
			memcpy(new->data, old->data + d->at, held);
		new->used = held;
		d->buffer = new;
		d->at = 0;
		buffer_unref(old);
	}
	*room = d->buffer->size - d->buffer->used;
	return d->buffer->data + d->buffer->used;
}

void deframer_filled(struct deframer *d, size_t bytes)
{
	d->buffer->used += bytes;
}

bool deframer_partial(const struct deframer *d)
{
	return deframer_held(d) > 0 || (d->inner && deframer_held(d->inner) > 0);
}

static size_t unfinished(const struct deframer *d)
{
	return deframer_held(d) ? deframer_need(d) : 0;
}

size_t deframer_unfinished(const struct deframer *d)
{
	return unfinished(d) + (d->inner ? unfinished(d->inner) : 0) + unpacker_bytes(d->unpacker);
}

uint64_t deframer_frames(const struct deframer *d)
{
	return d->frames + (d->inner ? d->inner->frames : 0);
}

void deframer_rest(struct deframer *d)
{
	if (!deframer_held(d))
		buffer_drop(d);
	if (d->inner)
		deframer_rest(d->inner);
}

/** Only answers have a body, and it must be a batch. */
static int body_check(const struct deframer *d, struct frame *frame, struct error *e)
{
	unsigned char *body = frame->buffer->data + frame->at;

	errno = EPROTO;
	if (frame->header->kind_case != EVSPACE__FRAME__KIND_ANSWER)
		return errorf(e, "a body in a frame that is not an answer");
	if (d->swap && convert_swap(body, frame->bytes, e) < 0)
		return -1;
	if (batch_check(body, frame->bytes, &frame->plain, e) < 0)
		return -1;
	/* What is small must not become large where it is opened. */
	if (frame->plain > WIRE_BODY_MAX)
		return errorf(e, "columns of %zu bytes; a body stands for at most %u", frame->plain,
			      WIRE_BODY_MAX);
	return 0;
}

/** The frame at @data, which is complete. */
static int frame_take(struct deframer *d, const struct wire_front *front, struct frame *frame,
		      struct error *e)
{
	size_t bytes = wire_frame_bytes(front);

	arena_reset(d->arena);
	*frame = (struct frame){
		.header = wire_header_parse_in(&d->arena->allocator,
					       d->buffer->data + d->at + WIRE_FRONT_BYTES,
					       front->header_bytes, e),
		.buffer = front->body_bytes ? d->buffer : NULL,
		.at = d->at + bytes - front->body_bytes,
		.bytes = front->body_bytes,
	};
	if (!frame->header)
		return -1;
	if (frame->buffer && body_check(d, frame, e) < 0) {
		errno = EPROTO;
		return -1;
	}
	d->at += bytes;
	d->bytes += bytes;
	d->frames++;
	return 1;
}

/** Begin with the next piece, which is complete. Its bytes stay in place until it is used up. */
static void piece_begin(struct deframer *d, const struct wire_front *front)
{
	if (!d->unpacker)
		d->unpacker = unpacker_new();
	if (!d->inner) {
		d->inner = memory_new(1, sizeof(*d->inner));
		deframer_init(d->inner, d->arena, d->limits);
		d->inner->swap = d->swap;
	}
	unpacker_begin(d->unpacker, d->buffer->data + d->at + WIRE_FRONT_BYTES,
		       front->header_bytes & ~WIRE_PIECE, front->body_bytes);
	d->at += wire_frame_bytes(front);
	d->bytes += front->body_bytes;
}

/** The next frame of the piece being unpacked; 0 when it is used up. */
static int piece_next(struct deframer *d, struct frame *frame, struct error *e)
{
	size_t room, got;
	int result;

	while ((result = deframer_next(d->inner, frame, e)) == 0 && unpacker_busy(d->unpacker)) {
		unsigned char *to = deframer_room(d->inner, &room);

		if (unpacker_more(d->unpacker, to, room, &got, e) < 0)
			return -1;
		deframer_filled(d->inner, got);
	}
	return result;
}

int deframer_next(struct deframer *d, struct frame *frame, struct error *e)
{
	struct wire_front front;
	int result;

	for (;;) {
		if (d->inner && (result = piece_next(d, frame, e)) != 0)
			return result;
		if (deframer_held(d) < WIRE_FRONT_BYTES)
			return 0;
		front = wire_front_get(d->buffer->data + d->at);
		errno = EPROTO;
		if (wire_front_is_piece(&front) && !d->unpacks)
			return errorf(e, "a compressed piece where none was asked for");
		if (wire_front_check(&front, d->limits->frame, e) < 0)
			return -1;
		if (!wire_front_is_piece(&front) && d->inner && deframer_held(d->inner))
			return errorf(e, "a frame where another one has begun in a piece");
		if (deframer_held(d) < WIRE_FRONT_BYTES + WIRE_KIND_BYTES)
			return 0;
		if (!wire_front_is_piece(&front) &&
		    wire_kind_check(&front, d->buffer->data + d->at + WIRE_FRONT_BYTES, d->limits,
				    e) < 0)
			return -1;
		if (deframer_held(d) < wire_frame_bytes(&front))
			return 0;
		if (!wire_front_is_piece(&front))
			return frame_take(d, &front, frame, e);
		piece_begin(d, &front);
	}
}
