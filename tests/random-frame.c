/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the descriptors of frames and writes what they allow, from the inside out. */
#include "tests/random-frame.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "tests/random.h"
#include "tree/data/batch.h"
#include "tree/data/columns-batch.h"
#include "tree/data/part.h"
#include "tree/data/tuple.h"
#include "tree/wire/wire.h"

#define DEPTH_MOST 12
/* Messages in a frame at most, so that it has an end. */
#define MESSAGES_MOST 3000

/* Bytes are put before those that are there. */
struct writer {
	unsigned char *begin, *at;
	unsigned messages;
};

static const char *const words[] = {
	"",
	"events",
	"heartbeat",
	"rates",
	"one",
	"two",
	"w0",
	"w1",
	"local",
	"/**/p2p",
	"/**",
	"127.0.0.1:9",
	"unix:/nowhere",
	"reduce",
	"last",
	"filter",
	"op=MPI_Send bytes>=1",
	"0-7",
	"0-3@w1",
	"x\nevspace agent: audit: mallory (127.0.0.1:1): switch all to off in run one: done",
	"\033[2J\302\2331m\377",
	"/local/w1/rank0/t0/p2p",
	"/local/w1",
};

#define WORDS (sizeof(words) / sizeof(words[0]))

static uint64_t below(struct random_frame *r, uint64_t n)
{
	return random_below(&r->dice, n);
}

static bool bytes_put(struct writer *w, const void *data, size_t n)
{
	if ((size_t)(w->at - w->begin) < n)
		return false;
	w->at -= n;
	memcpy(w->at, data, n);
	return true;
}

static void varint_put(struct writer *w, uint64_t value)
{
	unsigned char bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
	bytes_put(w, bytes, n);
}

/* What is from @w->at to @end is the field's now. */
static void field_close(struct writer *w, const unsigned char *end, unsigned number)
{
	varint_put(w, (uint64_t)(end - w->at));
	varint_put(w, number << 3 | 2);
}

static uint64_t number(struct random_frame *r, const ProtobufCFieldDescriptor *field)
{
	if (strcmp(field->name, "scope") == 0 && below(r, 8))
		return r->scope;
	if (strcmp(field->name, "wave") == 0 && below(r, 8))
		return r->wave;
	switch (below(r, 6)) {
	case 0:
		return UINT64_MAX >> below(r, 64);
	case 1:
		return UINT64_C(1) << below(r, 64);
	case 2:
		return below(r, 100000);
	default:
		return below(r, 9);
	}
}

static void text_put(struct random_frame *r, struct writer *w)
{
	const char *word = words[below(r, WORDS)];
	size_t times = below(r, 200) ? 1 : below(r, 2000);

	while (times-- > 0)
		bytes_put(w, word, strlen(word));
}

static void message_put(struct random_frame *r, struct writer *w,
			const ProtobufCMessageDescriptor *type, unsigned depth);

static void value_put(struct random_frame *r, struct writer *w,
		      const ProtobufCFieldDescriptor *field, unsigned depth)
{
	const unsigned char *end = w->at;
	uint64_t value = number(r, field), le = htole64(value);

	switch (field->type) {
	case PROTOBUF_C_TYPE_MESSAGE:
		message_put(r, w, field->descriptor, depth);
		field_close(w, end, field->id);
		return;
	case PROTOBUF_C_TYPE_STRING:
		text_put(r, w);
		field_close(w, end, field->id);
		return;
	case PROTOBUF_C_TYPE_BYTES:
		value = below(r, 3);
		for (size_t i = below(r, 9) ? 16 : below(r, 40); i > 0; i--)
			bytes_put(w, &value, 1);
		field_close(w, end, field->id);
		return;
	case PROTOBUF_C_TYPE_FIXED32:
		bytes_put(w, &le, 4);
		varint_put(w, field->id << 3 | 5);
		return;
	default:
		varint_put(w, value);
		varint_put(w, field->id << 3);
	}
}

/* Most fields are there, lists are short but for some. */
static size_t times(struct random_frame *r, const ProtobufCFieldDescriptor *field)
{
	if (below(r, 4) == 0)
		return 0;
	if (field->label != PROTOBUF_C_LABEL_REPEATED)
		return 1;
	return below(r, 40) ? below(r, 4) : below(r, 3000);
}

static void message_put(struct random_frame *r, struct writer *w,
			const ProtobufCMessageDescriptor *type, unsigned depth)
{
	for (unsigned i = type->n_fields; i > 0; i--) {
		const ProtobufCFieldDescriptor *field = &type->fields[i - 1];

		if (field->type == PROTOBUF_C_TYPE_MESSAGE && depth >= DEPTH_MOST)
			continue;
		for (size_t n = times(r, field); n > 0 && w->messages < MESSAGES_MOST; n--) {
			w->messages += field->type == PROTOBUF_C_TYPE_MESSAGE;
			/* Room for what is around it. */
			if (w->at - w->begin > 200000)
				value_put(r, w, field, depth + 1);
		}
	}
}

/* The bytes of @w from its position to @end become a frame's header. */
static size_t header_close(const struct writer *w, const unsigned char *end, size_t body,
			   unsigned char *to)
{
	size_t n = (size_t)(end - w->at);
	const uint32_t front[2] = {htole32((uint32_t)n), htole32((uint32_t)body)};

	memmove(to + sizeof(front), w->at, n);
	memcpy(to, front, sizeof(front));
	memset(to + sizeof(front) + n, 0, wire_pad(n) - n);
	return sizeof(front) + wire_pad(n);
}

static const ProtobufCFieldDescriptor *kind_field(unsigned kind)
{
	return protobuf_c_message_descriptor_get_field(&evspace__frame__descriptor, kind);
}

static size_t header(struct random_frame *r, unsigned kind, size_t body, unsigned char *to)
{
	unsigned char *end = to + RANDOM_FRAME_BYTES - 64;
	struct writer w = {.begin = to, .at = end};

	value_put(r, &w, kind_field(kind), 0);
	return header_close(&w, end, body, to);
}

size_t random_frame(struct random_frame *r, unsigned kind, unsigned char *to)
{
	return header(r, kind, 0, to);
}

size_t random_answer(struct random_frame *r, unsigned char *to)
{
	static const enum run_kind kinds[] = {RUN_TUPLES, RUN_TUPLES, RUN_PART};
	struct batch body;
	size_t n, bytes;

	batch_init(&body);
	memset(batch_add(&body, RUN_PART, (uint32_t)below(r, 4), r->wave, 1, 0), 0,
	       sizeof(struct part));
	for (size_t runs = below(r, 20); runs > 0; runs--) {
		enum run_kind kind = kinds[below(r, 3)];
		uint32_t count = kind == RUN_PART ? 1 : (uint32_t)below(r, 30);
		size_t one = kind == RUN_PART ? sizeof(struct part) : sizeof(struct tuple);
		uint64_t element = UINT64_MAX >> below(r, 64);
		bool alike = below(r, 2);
		unsigned char *records = batch_add(&body, kind, (uint32_t)element, below(r, 1000),
						   count, below(r, 3));

		for (size_t i = 0; i < count * one; i++)
			records[i] =
				kind == RUN_PART ? 0 : (unsigned char)(alike ? i : below(r, 256));
	}
	if (below(r, 2))
		columns_batch_pack(&body);
	bytes = body.bytes;
	n = header(r, EVSPACE__FRAME__KIND_ANSWER, bytes, to);
	for (size_t i = 0; i < body.n; i++) {
		memcpy(to + n, body.extents[i].buffer->data + body.extents[i].at,
		       body.extents[i].bytes);
		n += body.extents[i].bytes;
	}
	batch_fini(&body);
	return n;
}

/* ---- rounds ---- */

/* Fields from a frame to a message, the last of which leads to a message of its own type. */
struct round {
	const ProtobufCFieldDescriptor *way[3];
	unsigned n;
};

static unsigned rounds_find(struct round *found)
{
	const ProtobufCMessageDescriptor *frame = &evspace__frame__descriptor, *kind, *part;
	unsigned n = 0;

	for (unsigned i = 0; i < frame->n_fields; i++) {
		kind = frame->fields[i].descriptor;
		for (unsigned k = 0; k < kind->n_fields; k++) {
			part = kind->fields[k].descriptor;
			if (kind->fields[k].type != PROTOBUF_C_TYPE_MESSAGE)
				continue;
			if (part == kind)
				found[n++] =
					(struct round){{&frame->fields[i], &kind->fields[k]}, 2};
			for (unsigned m = 0; part != kind && m < part->n_fields; m++) {
				if (part->fields[m].type == PROTOBUF_C_TYPE_MESSAGE &&
				    part->fields[m].descriptor == part)
					found[n++] =
						(struct round){{&frame->fields[i], &kind->fields[k],
								&part->fields[m]},
							       3};
			}
		}
	}
	return n;
}

unsigned random_rounds(void)
{
	struct round found[16];

	return rounds_find(found);
}

unsigned random_round_kind(unsigned round)
{
	struct round found[16];

	rounds_find(found);
	return found[round].way[0]->id;
}

size_t random_round(unsigned round, unsigned depth, unsigned char *to)
{
	unsigned char *end = to + RANDOM_FRAME_BYTES - 64;
	struct writer w = {.begin = to, .at = end};
	struct round found[16], *r = &found[round];

	rounds_find(found);
	while (--depth > 0)
		field_close(&w, end, r->way[r->n - 1]->id);
	for (unsigned i = r->n - 1; i > 0; i--)
		field_close(&w, end, r->way[i - 1]->id);
	return header_close(&w, end, 0, to);
}
