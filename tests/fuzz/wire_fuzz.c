/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: a stream of bytes as a link receives it, through frames, headers, plans and batches.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/data/batch.h"
#include "tree/wire/deframer.h"
#include "tree/wire/wire-place.h"

#define FLAG_SWAP   1
#define FLAG_HELLO  2
#define FLAG_PIECES 4
#define FLAG_ASKS   8
#define FLAG_PARENT 16
#define FLAG_SMALL  32

/* So that inputs as short as a fuzzer's are too long for some kinds. */
static const struct wire_limits small_limits = {
	.frame = WIRE_FRAME_MAX,
	.header = {0, 64, 48, 40, 32, 28, 24, 20, 16, 14, 12, 10, 8, 6, 5, 4, 2},
};

/** What came of a stream. */
struct outcome {
	unsigned frames;
	bool broken;
	uint64_t sum; /* over what was seen, so that a difference shows */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool true_always, const char *what)
{
	if (!true_always) {
		fprintf(stderr, "broken: %s\n", what);
		abort();
	}
}

/* What was accepted once must be accepted again when it is passed on to a child. */
static void try_place(const Evspace__Place *place)
{
	struct error e = {""};
	struct plan_place *plan = place ? wire_plan_place(place, &e) : NULL, *again;
	Evspace__Place *message;

	if (!place)
		return;
	must(plan || e.text[0], "a plan that is refused with a reason");
	if (!plan)
		return;
	message = wire_place_new(plan);
	again = wire_plan_place(message, &e);
	must(again && again->index == plan->index && !strcmp(again->node, plan->node),
	     "a plan that comes back the same");
	wire_place_free(message);
	wire_plan_place_free(again);
	wire_plan_place_free(plan);
}

static void try_body(const struct frame *frame, struct outcome *outcome)
{
	struct batch_cursor cursor = {0};
	struct run_view view;
	struct batch batch;

	must(frame->at % 8 == 0 && frame->at + frame->bytes <= frame->buffer->used,
	     "a body that is aligned and in its buffer");
	batch_init(&batch);
	batch_append_columns(&batch, frame->buffer, frame->at, frame->bytes, frame->plain);
	while (batch_next(&batch, &cursor, &view))
		outcome->sum = outcome->sum * 31 + view.run->count + view.run->first + view.lost;
	batch_fini(&batch);
}

static void try_frame(const struct frame *frame, const struct wire_limits *limits,
		      struct outcome *outcome)
{
	const Evspace__Frame *header = frame->header;
	uint32_t most = limits->header[header->kind_case];

	must(evspace__frame__get_packed_size(header) <= (most ? most : WIRE_HELLO_MAX),
	     "a header that is no larger than its kind may be");

	outcome->frames++;
	outcome->sum = outcome->sum * 31 + header->kind_case;
	if (header->kind_case == EVSPACE__FRAME__KIND_OPEN)
		try_place(header->open->place);
	if (header->kind_case == EVSPACE__FRAME__KIND_STATUS_ASK)
		try_place(header->status_ask->place);
	if (header->kind_case == EVSPACE__FRAME__KIND_SWITCH_ASK)
		try_place(header->switch_ask->place);
	if (frame->buffer)
		try_body(frame, outcome);
}

static struct outcome try_stream(const uint8_t *data, size_t bytes, unsigned flags, size_t chunk)
{
	struct outcome outcome = {0};
	struct arena arena;
	struct deframer d;
	struct frame frame;
	struct error e;
	int result = 0;

	const struct wire_limits *limits = flags & FLAG_HELLO	 ? &wire_hello_limits
					   : flags & FLAG_ASKS	 ? &wire_consumer_limits
					   : flags & FLAG_PARENT ? &wire_parent_limits
					   : flags & FLAG_SMALL	 ? &small_limits
								 : &wire_child_limits;

	arena_init(&arena, 1 << 20);
	deframer_init(&d, &arena, limits);
	d.swap = flags & FLAG_SWAP;
	d.unpacks = flags & FLAG_PIECES;
	while (bytes && result >= 0) {
		size_t room, n = bytes < chunk ? bytes : chunk;
		unsigned char *to = deframer_room(&d, &room);

		must(room > 0, "room for more");
		n = n < room ? n : room;
		memcpy(to, data, n);
		deframer_filled(&d, n);
		data += n;
		bytes -= n;
		while ((result = deframer_next(&d, &frame, &e)) > 0)
			try_frame(&frame, limits, &outcome);
	}
	outcome.broken = result < 0;
	deframer_rest(&d);
	deframer_fini(&d);
	arena_fini(&arena);
	return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct outcome whole, pieces;

	if (bytes < 2)
		return 0;
	whole = try_stream(data + 2, bytes - 2, data[0], SIZE_MAX);
	pieces = try_stream(data + 2, bytes - 2, data[0], data[1] + 1u);
	must(whole.frames == pieces.frames && whole.broken == pieces.broken &&
		     whole.sum == pieces.sum,
	     "a stream that means the same however it is cut");
	return 0;
}
