/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: batches off the wire, in either byte order, through all kinds of stages. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/data/columns.h"
#include "tree/data/columns-batch.h"
#include "tree/data/foreign.h"
#include "tree/data/names-comm.h"
#include "tree/stage/foreign-stage.h"
#include "tree/stage/stage.h"

/* Every kind, and after folds once more what folds do to folds. A bit of the first, third and fifth
 * byte for each. */
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
	{LEVEL_THREAD, "slowest", "2"},
	{LEVEL_THREAD, "matrix", "of receives"},
	{LEVEL_NODE, "matrix", ""},
	{LEVEL_THREAD, "histogram", "by op"},
	{LEVEL_ALL, "histogram", "of bytes by comm"},
	{LEVEL_NODE, "counts", "by channel by comm"},
	{LEVEL_ALL, "counts", ""},
	{LEVEL_ELEMENT, "filter", "entropy window 3"},
	{LEVEL_THREAD, "median", "by op"},
	{LEVEL_ALL, "median", "of bytes"},
	{LEVEL_NODE, "meet", ""},
	{LEVEL_ALL, "meet", ""},
	{LEVEL_THREAD, "keyed.so", ""},
	{LEVEL_ALL, "keyed.so", ""},
	{LEVEL_NODE, "single.so", ""},
	{LEVEL_ALL, "single.so", ""},
	{LEVEL_NODE, "reduce", "max of field x"},
};

#define STAGES (sizeof(wanted) / sizeof(wanted[0]))

/* Which stages, the byte order, whether runs become columns before, parts are folded and stages
 * pause as often as they can, and room to keep the batch aligned. */
#define FRONT 8
/* A body is opened to no more than this. */
#define PLAIN_MOST (64u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t room); /* libFuzzer's */

static struct names *names;
static struct stage *stages[STAGES];
static struct chain chains[STAGES];

/* ---- stages of others ---- */

static size_t take(struct evspace_stage *stage, const struct evspace_stage_run *run)
{
	size_t taken = 0;

	for (size_t i = 0; i < run->count; i++) {
		uint64_t *record = stage->host->record(stage, run->tuples[i].bytes);

		if (run->tuples[i].flags & EVSPACE_STAGE_RUNNING)
			continue;
		record[1] += run->tuples[i].bytes;
		record[stage->words - 1]++;
		taken++;
	}
	return taken;
}

static int sound_record(const struct evspace_stage *stage, const uint64_t *record)
{
	return record[stage->words - 1] < UINT32_MAX;
}

static void merge(struct evspace_stage *stage, uint64_t *to, const uint64_t *from)
{
	for (unsigned i = 1; i < stage->words; i++)
		to[i] += from[i];
}

static const struct evspace_stage_table keyed = {
	EVSPACE_STAGE_HEAD,    .kind = "keyed", .words = 3,	.keyed = 1,
	.sound = sound_record, .take = take,	.merge = merge,
};
static const struct evspace_stage_table single = {
	EVSPACE_STAGE_HEAD,    .kind = "single", .words = 5,	 .own_bytes = 16,
	.sound = sound_record, .take = take,	 .merge = merge,
};
static struct foreign_stage_kind foreigns[2];

static const struct stage_ops *find(const char *kind)
{
	for (size_t i = 0; i < 2; i++)
		if (strcmp(kind, foreigns[i].ops.name) == 0)
			return &foreigns[i].ops;
	return stage_find(kind);
}

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
	must(foreign_stage_init(&foreigns[0], "keyed.so", &keyed, NULL) == 0 &&
		     foreign_stage_init(&foreigns[1], "single.so", &single, NULL) == 0,
	     "a table of others");
	for (size_t i = 0; i < STAGES; i++) {
		stages[i] = stage_new(find(wanted[i].kind), wanted[i].level, names, wanted[i].args,
				      NULL);
		must(stages[i] != NULL, wanted[i].kind);
		chains[i] = (struct chain){.stages = &stages[i], .n = 1};
	}
}

/* Tuples that ought to be there by the parts' counts, less those that are (docs/guarantees.md). */
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
		else if (view.run->kind == RUN_COLUMNS)
			n -= columns_head(view.records).count;
		else if (view.run->kind == RUN_TYPED)
			n -= typed_count(view.typed_words, view.run->count);
	}
	return n;
}

/* As if it was sent. */
static void check_extents(const struct batch *b)
{
	struct buffer *whole = buffer_new(b->bytes);
	struct error e;

	for (size_t i = 0; i < b->n; i++) {
		const struct extent *x = &b->extents[i];

		must(whole->used + x->bytes <= b->bytes, "the size of the batch");
		memcpy(whole->data + whole->used, x->buffer->data + x->at, x->bytes);
		whole->used += x->bytes;
	}
	must(whole->used == b->bytes, "the size of the batch");
	if (batch_check(whole->data, whole->used, NULL, &e) < 0)
		must(false, e.text);
	buffer_unref(whole);
}

/* Nothing of what is in it changes by columns; @packs: first into them. */
static void through_columns(struct batch *b, bool packs)
{
	uint64_t balance = unaccounted(b);
	size_t plain = b->plain;

	must(b->plain >= b->bytes, "columns are larger than what they stand for");
	if (packs)
		columns_batch_pack(b);
	/* A lost count that is 0 is left out. */
	must(b->plain <= plain && unaccounted(b) == balance, "packing changes what is there");
	check_extents(b);
	columns_batch_open(b);
	must(b->plain <= plain && b->bytes == b->plain, "columns that are left");
	check_extents(b);
	must(unaccounted(b) == balance, "opening changes what is there");
}

/* Turns that a stage has at most, the first of few records; then one without an end, as some steps
 * are larger than any turn. */
#define TURNS 64u

/* Through the stage @i. @pauses: in turns; if it is to be @dropped, in none after the first: then
 * the wave is lost. Returns whether it came out. */
static bool through_stage(size_t i, const struct ask *ask, struct batch *b, bool pauses,
			  bool dropped)
{
	unsigned turn = pauses ? 0 : TURNS;
	int rc;

	do {
		stages[i]->steps = turn < TURNS ? STAGE_STEPS - 3 - turn : 0;
		rc = chain_apply(&chains[i], ask, b, turn < TURNS ? 1 : 0);
		turn++;
	} while (rc > 0 && !dropped);
	if (rc > 0)
		chain_drop(&chains[i]);
	must(rc >= 0, "a stage failed");
	return rc == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct ask ask = {.wave = 7};
	size_t plain;
	struct buffer *buffer;
	struct batch b;
	uint64_t balance;
	unsigned wished;

	if (bytes < FRONT)
		return 0;
	prepare();
	bytes -= FRONT;
	buffer = buffer_new(bytes);
	memcpy(buffer->data, data + FRONT, bytes);
	batch_init(&b);
	wished = (unsigned)data[0] | (unsigned)data[2] << 8 | (unsigned)data[4] << 16;
	if ((data[1] == 0 || convert_swap(buffer->data, bytes, NULL) == 0) &&
	    batch_check(buffer->data, bytes, &plain, NULL) == 0 && plain <= PLAIN_MOST) {
		batch_append_columns(&b, buffer, 0, bytes, plain);
		balance = unaccounted(&b);
		ask.folds = data[3] & 2;
		ask.sampled = data[3] & 8;
		ask.bare = data[3] & 4;
		through_columns(&b, data[3] & 1);
		for (size_t i = 0; i < STAGES; i++) {
			if (!(wished >> i & 1))
				continue;
			if (!through_stage(i, &ask, &b, data[3] & 16, data[3] & 32))
				break;
			must(unaccounted(&b) == balance, "the counts do not add up");
			check_extents(&b);
		}
	}
	batch_fini(&b);
	buffer_unref(buffer);
	return 0;
}

/* Records of a stage of others. */
static void sound_foreign(struct batch *b, uint32_t element, unsigned seed)
{
	const struct foreign_kind kind = {"keyed", 3, true};
	struct foreign *words = batch_add(b, RUN_FOREIGN, element, 0, FOREIGN_HEAD + 6, 0);

	foreign_head(words, &kind);
	for (unsigned i = 0; i < 6; i++)
		words[FOREIGN_HEAD + i].word = 8 * (i % 3) + seed % 3;
}

/* Two tuples of a program's own element, and a figure of such. */
static void sound_typed(struct batch *b, uint32_t element, unsigned seed)
{
	static const char type[] = "n i32, x f64[2]";
	const double values[] = {1, seed, 3};
	struct typed_word *to;
	struct fields fields;

	must(fields_parse(&fields, type, NULL) == 0, "a type");
	to = batch_add(b, RUN_TYPED, element, 7,
		       typed_head_words(type) + 2 * typed_tuple_words(&fields), seed % 2);
	to = typed_head(to, &fields, type);
	to = typed_put(to, seed, values, fields.bytes);
	(void)typed_put(to, 5, values, fields.bytes);
	*(struct field_figure *)batch_add(b, RUN_FIGURES, element, 0, 1, 0) = (struct field_figure){
		.count = 3, .min = 1, .max = seed, .mean = 2, .m2 = 1, .field = "x"};
}

/* A folded part of three leaves. */
static void sound_folded(struct batch *b, unsigned seed)
{
	struct leaf_range *leaves;
	struct leaf_worst *worst;

	*(struct part *)batch_add(b, RUN_PART, 3, 7, 1, 0) =
		(struct part){.clock = {seed % 3, seed % 3, 1, 0},
			      .read = 9,
			      .reduced = 8,
			      .lost = 7,
			      .unreadable = 3};
	b->last->flags |= RUN_MANY;
	leaves = batch_add(b, RUN_LEAVES, 3, 7, 2, 0);
	leaves[0] = (struct leaf_range){4 + seed % 2, 1};
	leaves[1] = (struct leaf_range){7, 2};
	worst = batch_add(b, RUN_WORST, 3, 7, 2, 0);
	worst[0] = (struct leaf_worst){3, 7, LEAF_UNREADABLE};
	worst[1] = (struct leaf_worst){5, 8, LEAF_LOST};
}

/* A sound batch of two leaves and a mark, and of a folded part, so that mutations start from one of
 * today's layout. */
static size_t sound(uint8_t *data, size_t room, unsigned seed)
{
	struct batch b;
	size_t bytes;

	batch_init(&b);
	for (uint32_t i = 0; i < 3; i++) {
		struct part *part = batch_add(&b, RUN_PART, i, 7, 1, 0);
		struct tuple *tuple;
		struct newest *newest;
		struct total *total;
		unsigned char columns[1024];
		size_t n;

		*part = (struct part){.clock = {100 * i, 5, i < 2 ? 1 + i : 1, 3}};
		if (i == 2)
			b.last->flags |= RUN_FOLD;
		if (i == 1)
			sound_folded(&b, seed);
		tuple = batch_add(&b, RUN_TUPLES, 5 * i, 40, 2, i);
		tuple[0] = (struct tuple){1 + seed % 5, 9, 64, 3, 1, 1, 1, 0};
		tuple[1] = (struct tuple){4 + seed % 3, 0, 8, -1, 2, 1, 2, TUPLE_RUNNING};
		newest = batch_add(&b, RUN_NEWEST, 6 * i, 0, 2, 0);
		newest[0] = (struct newest){41, tuple[0]};
		newest[1] = (struct newest){9, tuple[1]};
		total = batch_add(&b, RUN_TOTALS, 3 * i, 0, 1, 0);
		*total = (struct total){2, 30, 15, 50, 10, 20, 1, 1, seed % 2, FOLD_MEAN};
		*(struct bin *)batch_add(&b, RUN_BINS, 2 * i, 0, 1, 0) =
			(struct bin){3, 60, 21, 1, 1, (uint16_t)bin_number(21)};
		*(struct median *)batch_add(&b, RUN_MEDIANS, 2 * i, 0, 1, 0) =
			(struct median){{3, 60, 21, 1, 1, (uint16_t)bin_number(21)}, seed % 5};
		*(struct cell *)batch_add(&b, RUN_CELLS, 4 * i, 0, 1, 0) =
			(struct cell){3, 60, seed % 7, 5 * i, seed % 4, 0};
		*(struct meet *)batch_add(&b, RUN_MEETS, 4 * i, 0, 1, 0) = (struct meet){
			1, 2, 3, 4, 5, 6, 60, 1, seed % 7, 2, 4 * i, 8, 200, 6, seed % 4};
		n = columns_put(RUN_TUPLES, tuple, 2, columns);
		memcpy(batch_add(&b, RUN_COLUMNS, 5 * i, 90, (uint32_t)n / 8, seed % 3), columns,
		       n);
		sound_foreign(&b, 4 * i, seed);
		sound_typed(&b, 4 * i, seed);
		*(struct count *)batch_add(&b, RUN_COUNTS, 4 * i, 0, 1, 0) =
			(struct count){3, 60, 21, 1, seed % 3, CHANNEL_P2P, 0};
	}
	bytes = b.bytes + FRONT <= room ? b.bytes + FRONT : 0;
	if (bytes) {
		memset(data, 0, FRONT);
		data[0] = (uint8_t)seed;
		data[2] = (uint8_t)(seed >> 8);
		data[3] = (uint8_t)(seed >> 16);
		data[4] = (uint8_t)(seed >> 12);
		memcpy(data + FRONT, b.own->data, b.bytes);
	}
	batch_fini(&b);
	return bytes;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned seed)
{
	if (seed % 32 == 0)
		bytes = sound(data, room, seed / 32);
	return LLVMFuzzerMutate(data, bytes, room);
}
