/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests histogram, median, slowest, matrix and counts: any tree gives what the flat fold gives, and
 * all is accounted for. */
#include "tree/stage/fold.h"
#include "tests/random-trees.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/stage/message.h"
#include "tree/data/op-table.h"

#define LINES 4096
#define LINE  160

/* An answer as text, a line for each record, in order. */
struct answer {
	char lines[LINES][LINE];
	size_t n;
	uint64_t read, filtered, reduced, delivered;
};

static struct answer flat_answer, tree_answer;

static const char *text_of(const struct place *p, uint32_t id)
{
	const struct name *name = names_find(p->names, id);

	CU_ASSERT_PTR_NOT_NULL_FATAL(name);
	return name->text;
}

static void end_text(const struct place *p, char *out, size_t room, uint32_t end, uint32_t named)
{
	if (named)
		snprintf(out, room, "%s", text_of(p, end));
	else
		snprintf(out, room, "%d", (int32_t)end);
}

static void record_text(const struct place *p, const struct run_view *view, unsigned i,
			const struct clock_line *line, char out[LINE])
{
	char from[48], to[48];
	struct tuple t;

	switch (view->run->kind) {
	case RUN_TUPLES:
		t = view->tuples[i];
		tuple_to_ns(&t, line);
		snprintf(out, LINE, "tuple %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u",
			 view->run->first + i, t.start, t.end, t.bytes, t.op);
		break;
	case RUN_BINS:
		snprintf(out, LINE, "bin %u %u %x: %" PRIu64 " %" PRIu64 " %" PRIu64,
			 view->bins[i].slot, view->bins[i].op, view->bins[i].comm,
			 view->bins[i].count, view->bins[i].sum, view->bins[i].most);
		break;
	case RUN_MEDIANS:
		snprintf(out, LINE, "median %u %u %x: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
			 view->medians[i].bin.slot, view->medians[i].bin.op,
			 view->medians[i].bin.comm, view->medians[i].bin.count,
			 view->medians[i].bin.sum, view->medians[i].bin.most, view->medians[i].all);
		break;
	case RUN_TOTALS:
		snprintf(out, LINE, "total %" PRIu64, view->totals[i].max);
		break;
	case RUN_CELLS:
		end_text(p, from, sizeof(from), view->cells[i].from,
			 view->cells[i].named & CELL_FROM_NAMED);
		end_text(p, to, sizeof(to), view->cells[i].to,
			 view->cells[i].named & CELL_TO_NAMED);
		snprintf(out, LINE, "cell %s %s: %" PRIu64 " %" PRIu64, from, to,
			 view->cells[i].calls, view->cells[i].bytes);
		break;
	default:
		CU_ASSERT_EQUAL_FATAL(view->run->kind, RUN_COUNTS);
		snprintf(out, LINE, "count %u %x: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
			 view->counts[i].channel, view->counts[i].comm, view->counts[i].calls,
			 view->counts[i].bytes, view->counts[i].time_ns, view->counts[i].skipped);
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void answer_take(struct answer *a, const struct place *p)
{
	struct clock_line line = CLOCK_LINE_NS;
	struct batch_cursor c = {0};
	struct run_view view;

	memset(a, 0, sizeof(*a));
	while (batch_next(&p->batch, &c, &view)) {
		if (view.run->kind == RUN_PART) {
			a->read += view.part->read;
			a->filtered += view.part->filtered;
			a->reduced += view.part->reduced;
			line = view.part->clock;
			continue;
		}
		if (view.run->kind == RUN_LEAVES || view.run->kind == RUN_WORST)
			continue;
		if (view.run->kind == RUN_TUPLES)
			a->delivered += view.run->count;
		for (unsigned i = 0; i < view.run->count; i++) {
			char record[LINE];

			CU_ASSERT_FATAL(a->n < LINES);
			record_text(p, &view, i, &line, record);
			snprintf(a->lines[a->n++], LINE, "%.60s %.90s",
				 text_of(p, view.run->element), record);
		}
	}
	qsort(a->lines, a->n, LINE, compare);
	CU_ASSERT_EQUAL(a->read, a->delivered + a->filtered + a->reduced);
}

/* What classes have counted, besides the tuples. */
static void add_counts(struct place *p, uint32_t index)
{
	for (uint32_t i = 0; i < RANDOM_TREES_ELEMENTS; i++) {
		uint32_t n = (uint32_t)random_below(&grove_seed, 4);
		struct count *out = batch_add(&p->batch, RUN_COUNTS, name_id(index, i), 0, n, 0);

		for (uint32_t k = 0; k < n; k++)
			out[k] = (struct count){
				.calls = random_below(&grove_seed, 1000),
				.bytes = random_below(&grove_seed, 100000),
				.time_ns = random_below(&grove_seed, 1000),
				.skipped = random_below(&grove_seed, 10),
				.comm = (uint32_t)random_below(&grove_seed, 3),
				.channel = (uint16_t)random_below(&grove_seed, 3),
			};
	}
}

/* What a reduce below has made, besides the tuples. */
static void add_totals(struct place *p, uint32_t index)
{
	for (uint32_t i = 0; i < RANDOM_TREES_ELEMENTS; i++)
		*(struct total *)batch_add(&p->batch, RUN_TOTALS, name_id(index, i), 0, 1, 0) =
			(struct total){.count = 1,
				       .max = random_below(&grove_seed, 1000),
				       .op = OP_MPI_SEND,
				       .fold = FOLD_MAX};
}

static void folds_alike(const struct stage_ops *ops, enum level level, const char *args,
			int same_clock)
{
	size_t most = 0;

	for (uint64_t tree = 1; tree <= RANDOM_TREES_TREES; tree++) {
		struct place leaves[RANDOM_TREES_LEAVES], flat;

		grove_seed = tree * UINT64_C(1000003);
		random_trees_folds = tree % 2;
		place_init(&flat, RANDOM_TREES_LEAVES);
		for (uint32_t i = 0; i < RANDOM_TREES_LEAVES; i++) {
			place_init(&leaves[i], i);
			place_fill(&leaves[i], i, same_clock);
			if (ops == &counts_ops)
				add_counts(&leaves[i], i);
			if (ops == &slowest_ops)
				add_totals(&leaves[i], i);
			place_copy(&flat, &leaves[i]);
		}
		place_apply(&flat, ops, level, args);
		random_trees_grow(leaves, RANDOM_TREES_LEAVES, ops, level, args);
		answer_take(&flat_answer, &flat);
		answer_take(&tree_answer, &leaves[0]);
		CU_ASSERT_EQUAL(flat_answer.n, tree_answer.n);
		CU_ASSERT_EQUAL(flat_answer.read, tree_answer.read);
		CU_ASSERT_EQUAL(flat_answer.filtered, tree_answer.filtered);
		CU_ASSERT_EQUAL(flat_answer.reduced, tree_answer.reduced);
		for (size_t i = 0; i < flat_answer.n && i < tree_answer.n; i++)
			CU_ASSERT_STRING_EQUAL(flat_answer.lines[i], tree_answer.lines[i]);
		most = flat_answer.n > most ? flat_answer.n : most;
		place_fini(&flat);
		place_fini(&leaves[0]);
	}
	CU_ASSERT(most > 0);
}

static void histograms_in_any_tree(void)
{
	folds_alike(&histogram_ops, LEVEL_ALL, "", 0);
	folds_alike(&histogram_ops, LEVEL_CLUSTER, "of bytes by op", 1);
	folds_alike(&histogram_ops, LEVEL_NODE, "of duration by op by comm", 0);
	folds_alike(&histogram_ops, LEVEL_THREAD, "by comm", 1);
}

static void medians_in_any_tree(void)
{
	folds_alike(&median_ops, LEVEL_ALL, "", 0);
	folds_alike(&median_ops, LEVEL_CLUSTER, "of bytes by op", 1);
	folds_alike(&median_ops, LEVEL_NODE, "of duration by op by comm", 0);
	folds_alike(&median_ops, LEVEL_THREAD, "by comm", 1);
}

static void slowest_in_any_tree(void)
{
	folds_alike(&slowest_ops, LEVEL_ALL, "7", 0);
	folds_alike(&slowest_ops, LEVEL_CLUSTER, "3 by bytes", 0);
	folds_alike(&slowest_ops, LEVEL_NODE, "1 by duration", 1);
	folds_alike(&slowest_ops, LEVEL_THREAD, "2", 0);
}

static void matrices_in_any_tree(void)
{
	folds_alike(&matrix_ops, LEVEL_ALL, "", 0);
	folds_alike(&matrix_ops, LEVEL_CLUSTER, "of receives", 0);
	folds_alike(&matrix_ops, LEVEL_ALL, "by rank", 1);
	folds_alike(&matrix_ops, LEVEL_THREAD, "of sends", 1);
}

static void counts_in_any_tree(void)
{
	folds_alike(&counts_ops, LEVEL_ALL, "", 0);
	folds_alike(&counts_ops, LEVEL_NODE, "by channel by comm", 0);
	folds_alike(&counts_ops, LEVEL_THREAD, "by comm", 1);
}

static void arguments(void)
{
	static const char *const good[][2] = {
		{"histogram", ""},
		{"histogram", "of bytes by op by comm"},
		{"median", "of bytes by comm"},
		{"slowest", "10"},
		{"slowest", "1000 by bytes"},
		{"matrix", ""},
		{"matrix", "of receives by rank"},
		{"matrix", "by node of sends"},
		{"counts", "by comm by channel"},
		{"meet", ""},
	};
	static const char *const bad[][2] = {
		{"histogram", "of"},
		{"histogram", "of rank"},
		{"histogram", "by channel"},
		{"median", "of"},
		{"median", "by channel"},
		{"slowest", ""},
		{"slowest", "0"},
		{"slowest", "1001"},
		{"slowest", "5 by rank"},
		{"slowest", "5 by bytes by bytes"},
		{"matrix", "of bytes"},
		{"matrix", "by"},
		{"matrix", "by node by rank"},
		{"counts", "by op"},
		{"counts", "of bytes"},
		{"counts", "by channel and a word that is far too long"},
		{"meet", "by comm"},
	};
	struct error e;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_EQUAL(stage_check(good[i][0], good[i][1], NULL, NULL, &e), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CU_ASSERT_EQUAL(stage_check(bad[i][0], bad[i][1], NULL, NULL, &e), -1);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "is not understood; write `"));
	}
}

/* ---- bins ---- */

static void bins_have_no_gaps(void)
{
	CU_ASSERT_EQUAL(bin_low(0), 0);
	CU_ASSERT_EQUAL(bin_high(BIN_COUNT - 1), UINT64_MAX);
	for (unsigned i = 0; i < BIN_COUNT; i++) {
		uint64_t low = bin_low(i), high = bin_high(i);

		CU_ASSERT_EQUAL(bin_number(low), i);
		CU_ASSERT_EQUAL(bin_number(high), i);
		CU_ASSERT(high - low <= low / BIN_STEPS);
		if (i > 0)
			CU_ASSERT_EQUAL(bin_high(i - 1) + 1, low);
	}
}

/* ---- messages ---- */

static enum message message(uint16_t op, int32_t peer, uint16_t flags)
{
	struct tuple t = {.op = op, .peer = peer, .flags = flags, .start = 1, .end = 2};

	return message_of(&t);
}

static void each_message_counts_once(void)
{
	CU_ASSERT_EQUAL(message(OP_MPI_SEND, 1, 0), MESSAGE_SENT);
	CU_ASSERT_EQUAL(message(OP_MPI_ISEND, 1, 0), MESSAGE_SENT);
	CU_ASSERT_EQUAL(message(OP_MPI_ISEND, 1, TUPLE_COMPLETION), MESSAGE_NONE);
	CU_ASSERT_EQUAL(message(OP_MPI_IRECV, 1, 0), MESSAGE_NONE);
	CU_ASSERT_EQUAL(message(OP_MPI_IRECV, 1, TUPLE_COMPLETION), MESSAGE_RECEIVED);
	CU_ASSERT_EQUAL(message(OP_MPI_SENDRECV, 1, 0), MESSAGE_SENT);
	CU_ASSERT_EQUAL(message(OP_MPI_SENDRECV, 1, TUPLE_COMPLETION), MESSAGE_RECEIVED);
	CU_ASSERT_EQUAL(message(OP_MPI_SEND_INIT, 1, 0), MESSAGE_NONE);
	CU_ASSERT_EQUAL(message(OP_MPI_SEND_INIT, 1, TUPLE_COMPLETION), MESSAGE_SENT);
	CU_ASSERT_EQUAL(message(OP_MPI_GET, 1, 0), MESSAGE_FETCHED);
	CU_ASSERT_EQUAL(message(OP_MPI_BCAST, -1, 0), MESSAGE_NONE);
	CU_ASSERT_EQUAL(message(OP_MPI_SEND, TUPLE_NO_PEER, 0), MESSAGE_NONE);
	CU_ASSERT_EQUAL(message(OP_MPI_RECV, TUPLE_ANY_PEER, TUPLE_RUNNING), MESSAGE_NONE);
	CU_ASSERT_EQUAL(message(OP_MPI_IRECV, 1, TUPLE_COMPLETION | TUPLE_CANCELLED), MESSAGE_NONE);
	CU_ASSERT_EQUAL(message(65535, 1, 0), MESSAGE_NONE);
}

/* ---- matrices ---- */

/* Rank 20 is on a node that the leaf does not know, and that the place above does. */
static void peers_are_folded_where_they_are_known(void)
{
	struct place leaf, above;
	struct part *part;

	place_init(&leaf, 1);
	place_init(&above, 0);
	names_learn(leaf.names, name_id(1, 0), LEVEL_ELEMENT, 3, 0, "/a/w1/rank3/t0/p2p");
	part = batch_add(&leaf.batch, RUN_PART, 1, RANDOM_TREES_WAVE, 1, 0);
	*part = (struct part){.clock = CLOCK_LINE_NS, .read = 1};
	*(struct tuple *)batch_add(&leaf.batch, RUN_TUPLES, name_id(1, 0), 0, 1, 0) =
		(struct tuple){.op = OP_MPI_SEND, .start = 1, .end = 2, .peer = 20, .bytes = 8};
	place_apply(&leaf, &matrix_ops, LEVEL_NODE, "");
	answer_take(&flat_answer, &leaf);
	CU_ASSERT_EQUAL_FATAL(flat_answer.n, 1);
	CU_ASSERT_STRING_EQUAL(flat_answer.lines[0], "/a/w1 cell /a/w1 20: 1 8");
	place_join(&above, &leaf);
	names_learn(above.names, name_id(2, 0), LEVEL_ELEMENT, 20, 0, "/b/w2/rank20/t0/p2p");
	place_apply(&above, &matrix_ops, LEVEL_ALL, "");
	answer_take(&flat_answer, &above);
	CU_ASSERT_EQUAL_FATAL(flat_answer.n, 1);
	CU_ASSERT_STRING_EQUAL(flat_answer.lines[0], "/ cell /a/w1 /b/w2: 1 8");
	place_fini(&leaf);
	place_fini(&above);
}

/* ---- all of them ---- */

static const struct {
	const struct stage_ops *ops;
	const char *args;
} all[] = {
	{&histogram_ops, "by op"}, {&median_ops, "by op"}, {&slowest_ops, "3"},
	{&matrix_ops, ""},	   {&counts_ops, ""},	   {&meet_ops, ""},
};

#define ALL (sizeof(all) / sizeof(all[0]))

static void a_run_without_a_part(void)
{
	struct ask ask = {.wave = RANDOM_TREES_WAVE};

	for (size_t i = 0; i < ALL; i++) {
		struct place p;
		struct stage *s;

		place_init(&p, 0);
		memset(batch_add(&p.batch, RUN_TUPLES, 1, 1, 1, 0), 0, sizeof(struct tuple));
		s = stage_new(all[i].ops, LEVEL_ALL, p.names, all[i].args, NULL);
		CU_ASSERT_EQUAL(s->ops->apply(s, &ask, &p.batch), -1);
		CU_ASSERT_EQUAL(errno, EPROTO);
		stage_free(s);
		place_fini(&p);
	}
}

static void a_wave_allocates_nothing(void)
{
	struct ask ask = {.wave = RANDOM_TREES_WAVE};

	for (size_t i = 0; i < ALL; i++) {
		struct place p;
		struct stage *s;
		size_t before = 0;

		place_init(&p, 0);
		s = stage_new(all[i].ops, LEVEL_NODE, p.names, all[i].args, NULL);
		for (int wave = 0; wave < 50; wave++) {
			grove_seed = 5;
			place_fill(&p, 0, 0);
			s->ops->apply(s, &ask, &p.batch);
			batch_clear(&p.batch);
			if (wave == 9)
				before = mallinfo2().uordblks;
		}
		CU_ASSERT_EQUAL(mallinfo2().uordblks, before);
		stage_free(s);
		place_fini(&p);
	}
}

/* Every field that could be wrong, in a batch that is right otherwise. */
static void garbage_from_the_wire(void)
{
	static const struct bin bins[] = {
		{.count = 0, .most = 3, .slot = 3}, {.count = UINT64_MAX, .most = 3, .slot = 3},
		{.count = 1, .most = 4, .slot = 3}, {.count = 1, .most = 3, .slot = 2 * BIN_COUNT},
		{.count = 1, .most = 3, .slot = 3}, /* the right one */
	};
	static const struct median medians[] = {
		{.bin = {.slot = 3, .most = 3}},
		{.bin = {.count = 2, .slot = 3, .most = 3}, .all = 1},
		{.bin = {.count = 1, .slot = 3, .most = 3}, .all = 1}, /* the right one */
	};
	static const struct cell cells[] = {{.named = 4}, {.pad = 1}, {.named = 3}};
	static const struct count counts[] = {
		{.channel = CHANNEL_MAX}, {.pad = 1}, {.channel = COUNT_ALL_CHANNELS}};
	static const struct {
		enum run_kind kind;
		const void *records;
		size_t n;
	} kinds[] = {
		{RUN_BINS, bins, sizeof(bins) / sizeof(bins[0])},
		{RUN_MEDIANS, medians, sizeof(medians) / sizeof(medians[0])},
		{RUN_CELLS, cells, sizeof(cells) / sizeof(cells[0])},
		{RUN_COUNTS, counts, sizeof(counts) / sizeof(counts[0])},
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		size_t bytes = run_record_bytes(kinds[k].kind);

		for (size_t i = 0; i < kinds[k].n; i++) {
			struct part part = {.clock = CLOCK_LINE_NS};
			struct batch b;
			struct error e;
			int wanted = i + 1 < kinds[k].n ? -1 : 0;

			batch_init(&b);
			memcpy(batch_add(&b, RUN_PART, 0, 1, 1, 0), &part, sizeof(part));
			memcpy(batch_add(&b, kinds[k].kind, 1, 0, 1, 0),
			       (const char *)kinds[k].records + i * bytes, bytes);
			CU_ASSERT_EQUAL(batch_check(b.own->data, b.bytes, NULL, &e), wanted);
			batch_fini(&b);
		}
	}
}

/* The table of kinds of records against the structs. */
static void kinds_are_whole(void)
{
	for (unsigned kind = 0; kind < RUN_KINDS; kind++) {
		const struct run_record *record = &run_records[kind];
		struct group group;
		size_t bytes = 0;

		for (const char *width = record->fields; *width; width++)
			bytes += (size_t)(*width - '0');
		CU_ASSERT_EQUAL(bytes, record->bytes);
		CU_ASSERT_EQUAL(bytes % sizeof(uint64_t), 0);
		CU_ASSERT(!record->merge || bytes <= sizeof(group.record));
		CU_ASSERT(!record->merge || record->sound);
	}
	CU_ASSERT_EQUAL(run_record_bytes(RUN_KINDS), 0);
}

static CU_TestInfo fold_cases[] = {
	{"kinds of records are whole", kinds_are_whole},
	{"histograms are the same in any tree", histograms_in_any_tree},
	{"medians are the same in any tree", medians_in_any_tree},
	{"the slowest are the same in any tree", slowest_in_any_tree},
	{"matrices are the same in any tree", matrices_in_any_tree},
	{"counts are the same in any tree", counts_in_any_tree},
	{"arguments are checked", arguments},
	{"bins have no gaps, and are as narrow as they should be", bins_have_no_gaps},
	{"each message counts once", each_message_counts_once},
	{"peers are folded to nodes where they are known", peers_are_folded_where_they_are_known},
	{"a run without a part is refused", a_run_without_a_part},
	{"a wave like the last allocates nothing", a_wave_allocates_nothing},
	{"garbage from the wire is refused", garbage_from_the_wire},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "folds", .pTests = fold_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
