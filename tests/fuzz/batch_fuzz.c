/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: batches off the wire, in either byte order, through all kinds of stages. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/stage.h"

/* Every kind, and after folds once more what folds do to folds. A bit of the first byte for each.
 */
static const struct {
	enum level level;
	const char *kind, *args;
} wanted[] = {
	{LEVEL_ELEMENT, "filter",
	 "bytes>=1 duration<1s channel!=env comm!=world peer=[0-7] tag!=3 rank<5 name=/**"},
	{LEVEL_ELEMENT, "reduce", "last"},
	{LEVEL_THREAD, "reduce", "variance by op"},
	{LEVEL_NODE, "sort", ""},
	{LEVEL_NODE, "convert", "time"},
	{LEVEL_CLUSTER, "reduce", "first"},
	{LEVEL_ALL, "reduce", "sum of bytes by comm"},
};

#define STAGES (sizeof(wanted) / sizeof(wanted[0]))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct names *names;
static struct stage *stages[STAGES];

static void must(bool true_always, const char *what)
{
	if (!true_always) {
		fprintf(stderr, "broken: %s\n", what);
		abort();
	}
}

static void prepare(void)
{
	char text[64];

	if (names)
		return;
	names = names_new(1);
	for (uint32_t i = 0; i < 24; i++) {
		snprintf(text, sizeof(text), "/c%u/w%u/rank%u/t%u/p2p", i / 12, i / 6, i / 2,
			 i % 2);
		names_learn(names, i, LEVEL_ELEMENT, (int32_t)i / 2, 0, text);
	}
	names_comm_learn(names, 1, 0, 8, 1, NULL);
	for (size_t i = 0; i < STAGES; i++)
		stages[i] = stage_new(stage_find(wanted[i].kind), wanted[i].level, names,
				      wanted[i].args, NULL);
}

/* Tuples that ought to be there by the parts' counts, less those that are (DESIGN rule 4). */
static uint64_t unaccounted(const struct batch *b)
{
	struct batch_cursor c = {0};
	struct run_view view;
	uint64_t n = 0;

	while (batch_next(b, &c, &view)) {
		if (view.run->kind == RUN_PART)
			n += view.part->read - view.part->filtered - view.part->reduced;
		else if (view.run->kind == RUN_TUPLES)
			n -= view.run->count;
	}
	return n;
}

static void check_extents(const struct batch *b)
{
	size_t bytes = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct extent *x = &b->extents[i];
		struct error e;

		bytes += x->bytes;
		/* An extent after the first need not begin with a part. */
		if (i == 0 && batch_check(x->buffer->data + x->at, x->bytes, &e) < 0)
			must(false, e.text);
	}
	must(bytes == b->bytes, "the size of the batch");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct ask ask = {.wave = 1};
	struct buffer *buffer;
	struct batch b;
	uint64_t balance;

	if (bytes < 8)
		return 0;
	prepare();
	bytes -= 8;
	buffer = buffer_new(bytes);
	memcpy(buffer->data, data + 8, bytes);
	batch_init(&b);
	if ((data[1] == 0 || convert_swap(buffer->data, bytes, NULL) == 0) &&
	    batch_check(buffer->data, bytes, NULL) == 0) {
		batch_append(&b, buffer, 0, bytes);
		balance = unaccounted(&b);
		for (size_t i = 0; i < STAGES; i++) {
			if (!(data[0] >> i & 1))
				continue;
			must(stages[i]->ops->apply(stages[i], &ask, &b) == 0, "a stage failed");
			must(unaccounted(&b) == balance, "the counts do not add up");
			check_extents(&b);
		}
	}
	batch_fini(&b);
	buffer_unref(buffer);
	return 0;
}
