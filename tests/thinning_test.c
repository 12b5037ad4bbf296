/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests `filter entropy`: what it keeps, that a wave that comes again is answered as before, and
 * that it says what it has sampled out. */
#include "tests/random.h"
#include "tests/tap.h"

#include <malloc.h>
#include <string.h>

#include "pathmap/model/sampling.h"
#include "tree/data/op.h"
#include "tree/data/part.h"
#include "tree/stage/stage.h"
#include "tree/stage/thinning.h"

#define ELEMENT 1u

static struct stage *filter_new(const char *args)
{
	static struct names *names;
	struct error e = {""};
	struct stage *s;

	if (!names) {
		names = names_new(0);
		names_learn(names, ELEMENT, LEVEL_ELEMENT, 0, CHANNEL_P2P, "/c/n/rank0/t0/p2p");
	}
	s = stage_new(&filter_ops, LEVEL_ELEMENT, names, args, &e);
	if (!s)
		tap_note("%s", e.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	return s;
}

/* Tuples of @text, a letter for each operation, from number @first on; what is kept goes to
 * @kept, the others are '.'. Returns what the part says was sampled out. */
static uint64_t filter_text(struct stage *s, uint64_t first, const char *text, char *kept)
{
	const struct ask ask = {.wave = 1, .sampled = true};
	uint32_t n = (uint32_t)strlen(text);
	uint64_t sampled = 0, filtered = 0;
	struct batch_cursor c = {0};
	struct run_view view;
	struct tuple *out;
	struct batch b;

	batch_init(&b);
	*(struct part *)batch_add(&b, RUN_PART, 0, 1, 1, 0) =
		(struct part){.clock = CLOCK_LINE_NS, .read = n};
	out = batch_add(&b, RUN_TUPLES, ELEMENT, first, n, 0);
	for (uint32_t i = 0; i < n; i++)
		out[i] = (struct tuple){.start = i, .end = i + 1, .op = (uint16_t)(text[i] - '@')};
	CU_ASSERT_EQUAL(s->ops->apply(s, &ask, &b), 0);
	memset(kept, '.', n);
	kept[n] = '\0';
	n = 0;
	while (batch_next(&b, &c, &view)) {
		if (view.run->kind == RUN_PART) {
			sampled += view.lost;
			filtered += view.part->filtered;
			continue;
		}
		for (unsigned i = 0; i < view.run->count; i++)
			kept[view.tuples[i].start] = (char)('@' + view.tuples[i].op);
		n += view.run->count;
	}
	CU_ASSERT_EQUAL(sampled, filtered);
	CU_ASSERT_EQUAL(n + filtered, strlen(text));
	batch_fini(&b);
	return sampled;
}

static void expect(struct stage *s, uint64_t first, const char *text, const char *wanted)
{
	char kept[256];

	filter_text(s, first, text, kept);
	if (strcmp(kept, wanted) != 0)
		tap_note("%s: %s, not %s", text, kept, wanted);
	CU_ASSERT_STRING_EQUAL(kept, wanted);
}

/* Of a window of w, repetitions 1 to w - 1 tell more than a change after many, which is kept. */
static void ends_of_segments_are_kept(void)
{
	struct stage *s = filter_new("entropy window 2");

	expect(s, 0, "AAAAAAABBBBBBBA", "AA....ABB....BA");
	stage_free(s);
	s = filter_new("entropy");
	expect(s, 0, "AAAAAAAAAABABAAAAAA", "AAAA.....ABABAAAA..");
	stage_free(s);
	s = filter_new("entropy window 4 threshold 0.01 events 4");
	expect(s, 0, "AAAAAB", "AA..A.");
	stage_free(s);
}

static void windows_reach_from_wave_to_wave(void)
{
	struct stage *s = filter_new("entropy window 3");

	expect(s, 0, "AAAA", "AAA.");
	expect(s, 4, "AAAA", "....");
	expect(s, 8, "AAB", ".AB");
	expect(s, 11, "B", "B");
	stage_free(s);
}

/* Any wave of the last ones may be asked for again, in any order, and goes on after it. */
static void the_same_again(void)
{
	enum { WAVES = 300, BACK = 60, MOST = 12 };
	static char texts[WAVES][MOST + 1], kept[WAVES][MOST + 1];
	struct stage *s = filter_new("entropy");
	uint64_t seed = 7, first[WAVES], next = 0;
	char again[MOST + 1];

	for (unsigned w = 0; w < WAVES; w++) {
		unsigned n = 1 + (unsigned)random_below(&seed, MOST), back;

		for (unsigned i = 0; i < n; i++)
			texts[w][i] = random_below(&seed, 5) ? 'A' : 'B';
		first[w] = next;
		next += n;
		filter_text(s, first[w], texts[w], kept[w]);
		back = (unsigned)random_below(&seed, BACK < w ? BACK : w + 1);
		filter_text(s, first[w - back], texts[w - back], again);
		CU_ASSERT_STRING_EQUAL(again, kept[w - back]);
	}
	/* one that is forgotten begins anew, and changes nothing for those after it */
	filter_text(s, first[0], texts[0], again);
	filter_text(s, first[WAVES - 1], texts[WAVES - 1], again);
	CU_ASSERT_STRING_EQUAL(again, kept[WAVES - 1]);
	stage_free(s);
}

/* However many elements and waves there are, what is remembered of them has a bound. */
static void memory_is_bounded(void)
{
	enum { ELEMENTS = 50000, RUNS = THINNING_WAVES };
	struct names *names = names_new(0);
	struct tuple tuple = {.op = 1};
	struct run run = {.kind = RUN_TUPLES, .count = 1};
	const struct run_view view = {.run = &run, .tuples = &tuple};
	struct error e;
	struct thinning *t = thinning_new("window 2", &e);
	size_t before = mallinfo2().uordblks, after;
	bool keep;

	for (unsigned r = 0; r < RUNS; r++)
		for (run.element = 1; run.element <= ELEMENTS; run.element++) {
			run.first = r;
			thinning_choose(t, names, &view, &keep);
		}
	after = mallinfo2().uordblks;
	tap_note("%zu kB", (after - before) / 1024);
	/* 64 windows of 16 bytes for each would be 51 MB */
	CU_ASSERT(after - before < 20u << 20);
	/* the newest wave is known of all of them */
	run.element = ELEMENTS;
	run.first = RUNS - 1;
	CU_ASSERT_EQUAL(thinning_choose(t, names, &view, &keep), 0);
	thinning_free(t);
	names_free(names);
}

static void who_does_not_ask_is_not_told(void)
{
	struct stage *s = filter_new("entropy");
	const struct ask ask = {.wave = 1};
	struct batch_cursor c = {0};
	struct run_view view;
	struct tuple *out;
	struct batch b;

	batch_init(&b);
	*(struct part *)batch_add(&b, RUN_PART, 0, 1, 1, 0) =
		(struct part){.clock = CLOCK_LINE_NS, .read = 20};
	out = batch_add(&b, RUN_TUPLES, ELEMENT, 0, 20, 0);
	for (int i = 0; i < 20; i++)
		out[i] = (struct tuple){.end = 1, .op = 1};
	CU_ASSERT_EQUAL(s->ops->apply(s, &ask, &b), 0);
	CU_ASSERT_EQUAL(batch_next(&b, &c, &view), 1);
	CU_ASSERT_EQUAL(view.run->flags, 0);
	CU_ASSERT_EQUAL(view.part->filtered, 16);
	batch_fini(&b);
	stage_free(s);
}

static void put_part(struct batch *b, uint32_t leaf, uint64_t filtered, uint64_t sampled)
{
	*(struct part *)batch_add(b, RUN_PART, leaf, 1, 1, sampled) =
		(struct part){.clock = CLOCK_LINE_NS, .read = 100, .filtered = filtered};
}

/* Parts that become one, or get a mark, keep the counts. */
static void parts_add_them_up(void)
{
	for (int folds = 0; folds < 2; folds++) {
		const struct parts_place place = {
			.index = 9, .wave = 1, .folds = folds, .bare = true};
		struct batch_cursor c = {0};
		struct parts parts = {0};
		struct run_view view;
		uint64_t sampled = 0;
		struct batch b, out;
		struct error e;

		batch_init(&b);
		batch_init(&out);
		put_part(&b, 1, 50, 40);
		put_part(&b, 2, 30, 0);
		put_part(&b, 3, 7, 7);
		while (batch_next(&b, &c, &view))
			parts_add(&parts, &view);
		parts_emit(&parts, &place, &out);
		c = (struct batch_cursor){0};
		while (batch_next_part(&out, &c, &view))
			sampled += view.lost;
		CU_ASSERT_EQUAL(sampled, 47);
		for (size_t i = 0; i < out.n; i++)
			CU_ASSERT_EQUAL(batch_check(out.extents[i].buffer->data + out.extents[i].at,
						    out.extents[i].bytes, NULL, &e),
					0);
		batch_clear(&b);
		put_part(&b, 1, 5, 6);
		CU_ASSERT_EQUAL(batch_check(b.extents[0].buffer->data + b.extents[0].at,
					    b.extents[0].bytes, NULL, &e),
				-1);
		batch_fini(&b);
		batch_fini(&out);
		parts_fini(&parts);
	}
}

static void what_is_said_is_understood(void)
{
	static const char *const bad[] = {
		"window",	"window 1",	   "window 17",	      "threshold 0",
		"threshold x",	"events 1",	   "every 1ms",	      "every 1ms to",
		"every 1ms 2s", "every 1us to 1s", "every 1s to 1ms", "every 1ms to 1h",
		"often",	"threshold -1",	   "threshold nan",
	};
	struct sampling s, same;
	struct error e;

	CU_ASSERT_EQUAL(sampling_parse(&s, "", true, &e), 0);
	CU_ASSERT_EQUAL(s.window, SAMPLING_WINDOW);
	CU_ASSERT_EQUAL(s.fastest_ns, SAMPLING_FASTEST_NS);
	CU_ASSERT_EQUAL(sampling_parse(&same, " every 100us to 10ms\twindow 4 ", true, &e), 0);
	CU_ASSERT(sampling_same(&s, &same));
	CU_ASSERT_EQUAL(sampling_parse(&same, "threshold 5e-4 events 8", false, &e), 0);
	CU_ASSERT(!sampling_same(&s, &same));
	CU_ASSERT_EQUAL(same.events, 8);
	CU_ASSERT_EQUAL(sampling_parse(&same, "every 1ms to 2ms", false, &e), -1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		e.text[0] = '\0';
		CU_ASSERT_EQUAL(sampling_parse(&s, bad[i], true, &e), -1);
		CU_ASSERT_NOT_EQUAL(e.text[0], '\0');
	}
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"ends of segments are kept", ends_of_segments_are_kept},
		{"windows reach from wave to wave", windows_reach_from_wave_to_wave},
		{"a wave that comes again is answered as before", the_same_again},
		{"memory is bounded", memory_is_bounded},
		{"who does not ask is not told", who_does_not_ask_is_not_told},
		{"parts add up what was sampled out", parts_add_them_up},
		{"arguments are understood, or refused", what_is_said_is_understood},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {{.pName = "thinning", .pTests = cases}, CU_SUITE_INFO_NULL};

	return tap_run(suites);
}
