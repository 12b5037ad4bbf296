/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests waves of very much: stages go through them in turns of the loop, and make of them what they
 * make at once. */
#include "tree/scope/joining.h"

#include <event2/event.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/random-trees.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

/* Far more than a turn's work. */
#define MANY 400000u

/* So many times what came a stage holds beside it at most. */
#define HELD_TIMES 9u

/* Stages, and what each of them is told. */
static const struct {
	const char *kind, *args;
	enum level level;
	enum run_kind records;
	uint32_t at_once;
} stages[] = {
	{"histogram", "by comm", LEVEL_THREAD, RUN_BINS, 5000},
	{"median", "by comm", LEVEL_THREAD, RUN_MEDIANS, 5000},
	{"matrix", "by rank", LEVEL_THREAD, RUN_CELLS, 5000},
	{"counts", "by comm", LEVEL_THREAD, RUN_COUNTS, 5000},
	{"meet", "", LEVEL_THREAD, RUN_MEETS, 5000},
	{"reduce", "count by comm", LEVEL_THREAD, RUN_TOTALS, 5000},
	{"reduce", "max of field x", LEVEL_THREAD, RUN_FIGURES, 50000},
	{"reduce", "last", LEVEL_ELEMENT, RUN_TUPLES, 4},
	{"slowest", "10", LEVEL_ELEMENT, RUN_TUPLES, 1},
	{"sort", "", LEVEL_ALL, RUN_TUPLES, 4},
	{"filter", "bytes>=1", LEVEL_ALL, RUN_TUPLES, 4},
};

#define STAGES (sizeof(stages) / sizeof(stages[0]))

/* Record number @i of what one child brings: each of a key of its own, in no order. */
static void record_write(enum run_kind kind, uint32_t i, void *out)
{
	uint32_t key = i * UINT32_C(2654435761);

	switch (kind) {
	case RUN_BINS:
		*(struct bin *)out = (struct bin){.count = 1, .comm = key};
		break;
	case RUN_MEDIANS:
		*(struct median *)out = (struct median){.bin = {.count = 1, .comm = key}};
		break;
	case RUN_CELLS:
		*(struct cell *)out = (struct cell){.calls = 1, .from = key, .to = i};
		break;
	case RUN_COUNTS:
		*(struct count *)out = (struct count){.calls = 1, .comm = key};
		break;
	case RUN_MEETS:
		*(struct meet *)out = (struct meet){.count = 1, .comm = key};
		break;
	case RUN_TOTALS:
		*(struct total *)out = (struct total){.count = 1, .comm = key};
		break;
	case RUN_FIGURES:
		*(struct field_figure *)out = (struct field_figure){.count = 1};
		snprintf(((struct field_figure *)out)->field, FIELDS_NAME, "f%u", key);
		break;
	default:
		*(struct tuple *)out = (struct tuple){
			.start = key, .end = key + UINT64_C(5), .bytes = i % 5, .op = OP_MPI_SEND};
	}
}

static void place_bring(struct place *p, enum run_kind kind, uint32_t at_once, uint32_t many)
{
	struct part part = {.clock = CLOCK_LINE_NS, .read = many};

	memcpy(batch_add(&p->batch, RUN_PART, 1, 1, 1, 0), &part, sizeof(part));
	for (uint32_t i = 0; i < many; i += at_once) {
		unsigned char *out =
			batch_add(&p->batch, kind, name_id(1, i / at_once), 1, at_once, 0);

		for (uint32_t k = 0; k < at_once; k++)
			record_write(kind, i + k, out + k * run_record_bytes(kind));
	}
}

/* Are all bytes the same? However they are cut into extents. */
static bool batch_same(const struct batch *a, const struct batch *b)
{
	struct batch_cursor x = {0}, y = {0};
	struct run_view is, should;

	while (batch_next_packed(a, &x, &is)) {
		if (!batch_next_packed(b, &y, &should) || is.bytes != should.bytes ||
		    memcmp(is.run, should.run, is.bytes) != 0)
			return false;
	}
	return !batch_next_packed(b, &y, &should);
}

/* A chain of the stage number @i. */
static void chain_begin(struct chain *chain, size_t i, struct names *names)
{
	const struct plan_stage stage = {
		.kind = (char *)(uintptr_t)stages[i].kind,
		.args = (char *)(uintptr_t)stages[i].args,
		.level = stages[i].level,
	};
	struct error e;

	CU_ASSERT_EQUAL_FATAL(chain_init(chain, &stage, 1, names, &e), 0);
}

/* ---- one stage ---- */

/* The time that two waves of a hundredth take behind one of very much. */
static double small_waves(struct chain *chain, size_t i)
{
	clock_t begun, took = 0;

	for (uint64_t wave = 2; wave <= 3; wave++) {
		const struct ask ask = {.wave = wave};
		struct place p;

		place_init(&p, 0);
		place_bring(&p, stages[i].records, stages[i].at_once, MANY / 100);
		begun = clock();
		CU_ASSERT_EQUAL(chain_apply(chain, &ask, &p.batch, 0), 0);
		took += clock() - begun;
		place_fini(&p);
	}
	return (double)took / CLOCKS_PER_SEC;
}

/* Bytes in use; 0 with a sanitizer. */
static size_t held(void)
{
	struct mallinfo2 all = mallinfo2();

	return all.uordblks + all.hblkhd;
}

/* The most of these after a turn. */
static size_t held_most;

/* A turn is far shorter than all, by this process's own time, as others may use the machine. */
static double turns_take(struct chain *chain, struct batch *b, const char *what)
{
	const struct ask ask = {.wave = 1};
	double longest = 0, all = 0;
	unsigned turns = 0;
	int rc = 1;

	for (held_most = 0; rc > 0; turns++) {
		clock_t begun = clock();
		double took;

		rc = chain_apply(chain, &ask, b, clock_mono_ns() + TURN_NS);
		took = (double)(clock() - begun) / CLOCKS_PER_SEC;
		longest = took > longest ? took : longest;
		all += took;
		held_most = held() > held_most ? held() : held_most;
	}
	tap_note("%s: %u turns of %.4f s, the longest of %.4f s", what, turns, all, longest);
	CU_ASSERT_EQUAL(rc, 0);
	CU_ASSERT(longest < 4e-9 * TURN_NS || longest < all / 3);
	return all;
}

static void by_turns(void)
{
	for (size_t i = 0; i < STAGES; i++) {
		struct place once, turned;
		struct chain chain;
		double all;
		size_t before, brought;

		place_init(&once, 0);
		place_init(&turned, 0);
		place_bring(&once, stages[i].records, stages[i].at_once, MANY);
		place_bring(&turned, stages[i].records, stages[i].at_once, MANY);
		place_apply(&once, stage_find(stages[i].kind), stages[i].level, stages[i].args);
		chain_begin(&chain, i, turned.names);
		before = held();
		brought = turned.batch.bytes;
		all = turns_take(&chain, &turned.batch, stages[i].kind);
		CU_ASSERT(held_most < before + HELD_TIMES * brought);
		CU_ASSERT(batch_same(&once.batch, &turned.batch));
		CU_ASSERT(small_waves(&chain, i) < all);
		chain_fini(&chain);
		place_fini(&once);
		place_fini(&turned);
	}
}

/* Runs of one tuple each whose type has as many fields as can be. */
static void typed_bring(struct place *p)
{
	const char tuple[FIELDS_BYTES] = "";
	struct part part = {.clock = {.ns_per_tick = 2}};
	char type[FIELDS_TEXT];
	struct fields fields;
	size_t n = 0;

	for (unsigned i = 0; i < FIELDS_MAX; i++)
		n += (size_t)snprintf(type + n, sizeof(type) - n, "%sf%u i32", i ? "," : "", i);
	CU_ASSERT_EQUAL_FATAL(fields_parse(&fields, type, NULL), 0);
	memcpy(batch_add(&p->batch, RUN_PART, 1, 1, 1, 0), &part, sizeof(part));
	for (unsigned i = 0; i < MANY / 10; i++) {
		uint32_t words = typed_head_words(type) + typed_tuple_words(&fields);

		typed_put(typed_head(batch_add(&p->batch, RUN_TYPED, name_id(1, i), 1, words, 0),
				     &fields, type),
			  5, tuple, fields.bytes);
	}
}

/* Reading a type takes as long as many tuples. */
static void typed_by_turns(void)
{
	static const char *const with[][2] = {{"convert", "time"}, {"reduce", "max of field f3"}};

	for (size_t i = 0; i < 2; i++) {
		const struct plan_stage stage = {
			.kind = (char *)(uintptr_t)with[i][0],
			.args = (char *)(uintptr_t)with[i][1],
			.level = LEVEL_ALL,
		};
		struct chain chain;
		struct place p;
		struct error e;

		place_init(&p, 0);
		typed_bring(&p);
		CU_ASSERT_EQUAL_FATAL(chain_init(&chain, &stage, 1, p.names, &e), 0);
		turns_take(&chain, &p.batch, with[i][0]);
		chain_fini(&chain);
		place_fini(&p);
	}
}

/* Columns are made, and opened, as they are at once; who gives up has what there was before. */
static void columns_by_turns(void)
{
	struct chain packs = {.packs = true}, opens = {.opens = true};
	const struct ask ask = {.wave = 1};
	struct place plain, turned;

	place_init(&plain, 0);
	place_init(&turned, 0);
	place_bring(&plain, RUN_TUPLES, 8, MANY);
	place_bring(&turned, RUN_TUPLES, 8, MANY);
	CU_ASSERT_EQUAL(chain_apply(&packs, &ask, &turned.batch, 1), 1);
	chain_drop(&packs);
	CU_ASSERT(batch_same(&turned.batch, &plain.batch));
	turns_take(&packs, &turned.batch, "columns made");
	CU_ASSERT(turned.batch.bytes * 1.5 < turned.batch.plain);
	columns_batch_pack(&plain.batch);
	CU_ASSERT(batch_same(&turned.batch, &plain.batch));
	CU_ASSERT_EQUAL(chain_apply(&opens, &ask, &turned.batch, 1), 1);
	chain_drop(&opens);
	CU_ASSERT(batch_same(&turned.batch, &plain.batch));
	turns_take(&opens, &turned.batch, "columns opened");
	CU_ASSERT_EQUAL(turned.batch.bytes, turned.batch.plain);
	columns_batch_open(&plain.batch);
	CU_ASSERT(batch_same(&turned.batch, &plain.batch));
	chain_fini(&packs);
	chain_fini(&opens);
	place_fini(&plain);
	place_fini(&turned);
}

/* ---- waves ---- */

static struct joining joining;
static struct event *other;
static unsigned others, joined, whole;
static uint64_t order[3];
static size_t bytes;

static void other_runs(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval now = {0, 0};

	(void)fd;
	(void)what;
	(void)arg;
	others++;
	evtimer_add(other, &now);
}

static void on_joined(void *arg, struct wave *w, bool is_whole)
{
	(void)arg;
	if (joined < 3)
		order[joined] = w->number;
	joined++;
	whole += is_whole;
	bytes += w->batch.bytes;
}

static void on_done(void *arg, struct wave *w)
{
	(void)arg;
	joining_take(&joining, w);
}

static void on_late(void *arg, struct wave *w, size_t input)
{
	(void)arg;
	(void)w;
	(void)input;
}

static const struct gather_events events = {.late = on_late, .done = on_done};
static const struct brought one = {.leaves = 1};

static void wave_begin(struct place *p, uint64_t number)
{
	struct wave *w = gather_begin(joining.gather, number, false, 0, 10000);
	struct error e;

	place_bring(p, RUN_MEDIANS, 5000, MANY);
	CU_ASSERT_EQUAL(gather_bring(joining.gather, w, &one, &p->batch, &e), 0);
	gather_seal(joining.gather, w);
}

/* What takes the slot of a wave waits for its own input: of a wave that is being folded, and of one
 * whose input has not answered, which has much. Nothing of those is left. */
static void slots_are_needed(struct event_base *base, struct place *p)
{
	struct wave *w;
	struct error e;

	wave_begin(p, 100);
	w = gather_begin(joining.gather, 100 + GATHER_WINDOW, false, 0, 10000);
	gather_expect(joining.gather, w, 0, 1);
	CU_ASSERT(w->busy && !w->ending);
	CU_ASSERT_EQUAL(w->batch.bytes, 0);
	event_base_loop(base, EVLOOP_NONBLOCK);
	place_bring(p, RUN_MEDIANS, 5000, MANY);
	CU_ASSERT_EQUAL(gather_bring(joining.gather, w, &one, &p->batch, &e), 0);
	w = gather_begin(joining.gather, 100 + 2 * GATHER_WINDOW, false, 0, 10000);
	CU_ASSERT(w->busy && !w->ending);
	CU_ASSERT_EQUAL(w->batch.bytes, 0);
	gather_expect(joining.gather, w, 0, 1);
	event_base_loop(base, EVLOOP_NONBLOCK);
	CU_ASSERT_EQUAL(gather_busy(joining.gather), 1);
	gather_answered(joining.gather, w, 0);
	while (gather_busy(joining.gather))
		event_base_loop(base, EVLOOP_ONCE);
	CU_ASSERT(TAILQ_EMPTY(&joining.waves));
}

/* Others have their turns while a wave is folded, whose answer is whole; later ones wait behind it,
 * and who takes its slot takes it at once. */
static void others_have_turns(void)
{
	struct event_base *base = event_base_new();
	struct turns *turns = turns_new(base);
	struct place p;

	place_init(&p, 0);
	joining = (struct joining){.turns = turns,
				   .gather = gather_new(base, 1, &events, NULL),
				   .names = p.names,
				   .joined = on_joined};
	chain_begin(&joining.chain, 1, p.names);
	joining_begin(&joining);
	other = evtimer_new(base, other_runs, NULL);
	wave_begin(&p, 1);
	wave_begin(&p, 2);
	CU_ASSERT_EQUAL(joined, 0);
	CU_ASSERT_EQUAL(gather_busy(joining.gather), 2);
	other_runs(-1, 0, NULL);
	while (joined < 2)
		event_base_loop(base, EVLOOP_ONCE);
	tap_note("others had %u turns", others);
	CU_ASSERT(others > 4);
	CU_ASSERT_EQUAL(whole, 2);
	CU_ASSERT(order[0] == 1 && order[1] == 2);
	CU_ASSERT(bytes > 2 * MANY * sizeof(struct median));
	CU_ASSERT_EQUAL(gather_busy(joining.gather), 0);
	wave_begin(&p, 3);
	CU_ASSERT_EQUAL(joined, 2);
	wave_begin(&p, 3 + GATHER_WINDOW);
	CU_ASSERT_EQUAL(joined, 3);
	CU_ASSERT_EQUAL(whole, 2);
	while (joined < 4)
		event_base_loop(base, EVLOOP_ONCE);
	CU_ASSERT_EQUAL(whole, 3);
	event_free(other);
	slots_are_needed(base, &p);
	gather_free(joining.gather);
	joining_fini(&joining);
	turns_free(turns);
	event_base_free(base);
	place_fini(&p);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"a stage makes the same of it in turns", by_turns},
		{"... of tuples of programs' own", typed_by_turns},
		{"columns are made and opened in turns", columns_by_turns},
		{"others have turns meanwhile", others_have_turns},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "joining", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
