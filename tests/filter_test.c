/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests filters: what conditions mean, what is wrong with bad ones, and that nothing goes
 * uncounted. */
#include "tree/data/columns-batch.h"
#include "tree/data/names-comm.h"
#include "tree/stage/condition.h"
#include "tree/data/op.h"
#include "tree/stage/stage.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <string.h>

static const struct clock_line half = {.ns_per_tick = 0.5};

static struct tuple send_tuple(void)
{
	return (struct tuple){
		.start = 1000,
		.end = 5000, /* 2,000 ns on the line `half` */
		.bytes = 2048,
		.peer = 3,
		.seq_or_tag = 17,
		.comm = 0xabc,
		.op = op_find("MPI_Send"),
	};
}

/* Names: id 1 is a p2p element of rank 5, id 2 its thread, 3 its node; comm abc is a world, abd
 * made of it. */
static struct names *some_names(void)
{
	struct names *names = names_new(0);

	names_learn(names, 1, LEVEL_ELEMENT, 5, CHANNEL_P2P, "/4W/w0/rank5/t0/p2p");
	names_learn(names, 2, LEVEL_THREAD, 5, 0, "/4W/w0/rank5/t0");
	names_learn(names, 3, LEVEL_NODE, -1, 0, "/4W/w0");
	names_comm_learn(names, 0xabc, 0, 8, 1, NULL);
	names_comm_learn(names, 0xabd, 0xabc, 8, 1, NULL);
	names_label_learn(names, label_id("solve_x", 7), "solve_x");
	return names;
}

static int holds(const char *text, const struct tuple *tuple, uint32_t element)
{
	struct names *names = some_names();
	struct condition_subject subject = {names, names_find(names, element), &half, tuple};
	struct condition c;
	struct error e;
	int result;

	if (condition_parse(&c, &text, &e) < 0) {
		tap_note("%s", e.text);
		CU_FAIL("not understood");
	}
	CU_ASSERT_STRING_EQUAL(text, "");
	result = condition_holds(&c, &subject);
	names_free(names);
	return result;
}

static void expect_all(const char *const *texts, size_t n, const struct tuple *tuple,
		       uint32_t element, int wanted)
{
	for (size_t i = 0; i < n; i++) {
		int is = holds(texts[i], tuple, element);

		if (is != wanted)
			tap_note("%s: %d", texts[i], is);
		CU_ASSERT_EQUAL(is, wanted);
	}
}

#define EXPECT(tuple, element, wanted, ...)                                                  \
	do {                                                                                 \
		static const char *const texts[] = {__VA_ARGS__};                            \
                                                                                             \
		expect_all(texts, sizeof(texts) / sizeof(texts[0]), tuple, element, wanted); \
	} while (0)

static void of_a_send(void)
{
	struct tuple t = send_tuple();

	EXPECT(&t, 1, 1, "op=MPI_Send", "op=send", "op=MPI_Recv|MPI_Send", "op!=MPI_Recv",
	       "channel=p2p", "channel!=collective|wait", "comm=abc", "comm=ABC", "comm=world",
	       "comm=17|world", "comm!=17", "peer=3", "peer=[0-3,8]", "peer=1|3", "peer!=[0-2,4]",
	       "peer<4", "peer<=3", "peer>2", "peer>=3", "tag=17", "tag!=1", "bytes=2k",
	       "bytes>=2k", "bytes<=2048", "bytes<1M", "bytes>1k", "bytes!=1G", "duration>1us",
	       "duration=2us", "duration<0.1ms", "duration>=2000ns", "duration<1s", "rank=5",
	       "rank=[0-7]", "rank<6", "name=/4W/*/rank[0-7]/t0/p2p", "name!=/8W/**", "name=/**",
	       "bytes = 2k", "bytes\t>=  2k ");
	t.comm = 0xabd;
	EXPECT(&t, 1, 0, "comm=world", "comm=abc");
	EXPECT(&t, 1, 1, "comm!=world", "comm=abd");
	t.comm = 0xabc;
	EXPECT(&t, 1, 0, "op=MPI_Recv", "op!=MPI_Recv|MPI_Send", "channel=collective",
	       "channel!=p2p", "comm=17", "comm!=world", "peer=[0-2,4]", "peer!=3", "peer>3",
	       "peer<3", "tag<17", "bytes>2k", "bytes<2k", "duration>2us", "duration<2us",
	       "rank=[0-4]", "rank!=5", "name=/4W", "name!=/4W/**");
}

/* What a tuple does not have fits no condition, whatever the relation. */
static void of_what_is_not_there(void)
{
	struct tuple barrier = {.start = 5, .end = 6, .peer = TUPLE_NO_PEER, .seq_or_tag = 17};
	struct tuple running = send_tuple();

	barrier.op = op_find("MPI_Barrier");
	EXPECT(&barrier, 9, 0, "peer=3", "peer!=3", "peer<3", "peer>=0", "tag=17", "tag!=17",
	       "rank=5", "rank!=5", "rank<100", "name=/**", "name!=/8W", "comm=world");
	EXPECT(&barrier, 9, 1, "comm!=world", "comm!=abc", "bytes=0", "bytes<1");
	running.flags = TUPLE_RUNNING;
	running.end = 0;
	EXPECT(&running, 1, 0, "duration>1ns", "duration<1s", "duration!=1s");
	EXPECT(&running, 3, 0, "rank=5", "rank!=5");
	EXPECT(&running, 3, 1, "name=/4W/w0");
}

/* After a fold the element does not tell the channel any more. */
static void channels_above_elements(void)
{
	struct tuple t = send_tuple();

	EXPECT(&t, 2, 1, "channel=p2p", "rank=5");
	t.flags = TUPLE_COMPLETION;
	EXPECT(&t, 2, 1, "channel=completion");
	t.flags = TUPLE_RUNNING;
	EXPECT(&t, 2, 1, "channel=state");
	t.flags = 0;
	t.op = op_find("MPI_Barrier");
	EXPECT(&t, 2, 1, "channel=collective|wait");
	t.op = 65535;
	EXPECT(&t, 2, 0, "channel=p2p", "channel!=p2p");
}

/* Regions by their names; of all else the same number is something else. */
static void of_a_region(void)
{
	struct tuple t = send_tuple();

	t.seq_or_tag = label_id("solve_x", 7);
	EXPECT(&t, 1, 0, "label=solve_x", "label!=solve_x", "label=*");
	t.op = op_find("evspace_region");
	EXPECT(&t, 1, 1, "label=solve_x", "label=a,solve_?", "label=s*", "label!=solve");
	EXPECT(&t, 1, 0, "label!=solve_x", "label=solve");
	t.seq_or_tag++;
	EXPECT(&t, 1, 0, "label=solve_x", "label!=solve_x", "label=*");
}

static void bad_conditions(void)
{
	static const char *const bad[][2] = {
		{"", "not a key to filter by"},
		{"size>1k", "there are op, channel, comm"},
		{"bytes", "must be followed by =, !=, <, <=, >, >="},
		{"op", "must be followed by =, != and a value"},
		{"op>MPI_Send", "op can only be = or !="},
		{"name<x", "name can only be = or !="},
		{"label<x", "label can only be = or !="},
		{"label=", "must be compared with a value"},
		{"op=MPI_Sned", "`MPI_Sned` is not an operation"},
		{"op=MPI_Send|", "`` is not an operation"},
		{"op=", "must be compared with a value"},
		{"channel=p3p", "there are p2p, collective"},
		{"comm=xyz", "write `world` or its id"},
		{"comm=0", "is not a communicator"},
		{"comm=123456789", "is not a communicator"},
		{"comm=-1", "is not a communicator"},
		{"peer=x", "peer: `x` is not a number"},
		{"peer=-1", "is not a number"},
		{"peer=[0-3", "peer: "},
		{"peer=[3-0]", "backwards"},
		{"peer=[0-3]x", "must not follow the brackets"},
		{"peer<[0-3]", "only = and != go with several values"},
		{"peer<1|2", "only = and != go with several values"},
		{"bytes=1T", "write it like `1k`"},
		{"bytes=1KB", "write it like `1k`"},
		{"bytes=-1", "write it like `1k`"},
		{"bytes>99999999999999G", "write it like `1k`"},
		{"duration>1", "is not a time"},
		{"duration>1w", "is not a time"},
		{"duration>9999999999s", "longer than any program"},
		{"name=4W", "name: "},
		{"field n<1|2", "field n: only = and != go with text, or several values"},
		{"field", "field must be followed by the name of one"},
		{"rank=[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24]",
		 "more than 24 values"},
		{"op=Send bytes>1k wrong", "`wrong` is not a key to filter by"},
	};
	char longest[2000] = "op=", label[300] = "label=";
	struct error e;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CU_ASSERT_EQUAL(stage_check("filter", bad[i][0], NULL, NULL, &e), -1);
		if (!strstr(e.text, bad[i][1]))
			tap_note("%s: %s", bad[i][0], e.text);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, bad[i][1]));
	}
	memset(label + 6, 'x', 256);
	CU_ASSERT_EQUAL(stage_check("filter", label, NULL, NULL, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "label is longer than 255"));
	memset(longest + 3, 'x', sizeof(longest) - 4);
	CU_ASSERT_EQUAL(stage_check("filter", longest, NULL, NULL, &e), -1);
	CU_ASSERT_EQUAL(stage_check("filter", " op=Send  bytes>1k\trank=[0-7] ", NULL, NULL, &e),
			0);
}

struct state {
	int64_t n;
	float r[2];
	char host[8];
};

#define STATE "n i64, r f32[2], host text[8]"

/* What @text says of it: 1, 0, or -1 if it is no condition. */
static int typed_holds(const char *text, const struct state *state)
{
	struct condition c;
	struct fields fields;

	CU_ASSERT_EQUAL_FATAL(fields_parse(&fields, STATE, NULL), 0);
	return condition_parse(&c, &text, NULL) < 0 ? -1
						    : condition_holds_typed(&c, &fields, state);
}

static void of_fields(void)
{
	static const struct {
		const char *text;
		int wanted;
	} rows[] = {
		{"field n=-7", 1},    {"field n!=-7", 0},
		{"field n=1|-7", 1},  {"field n<-6.5", 1},
		{"field n >= -7", 1}, {"field n>-7", 0},
		{"field n=x", 0},     {"field n!=x", 1},
		{"field r>=2.5", 1}, /* one of them */
		{"field r>2.5", 0},   {"field r<1", 1},
		{"field r!=0.5", 0},  {"field r!=1", 1},
		{"field host=w1", 1}, {"field host=w|w1", 1},
		{"field host=w", 0},  {"field host!=w1|w2", 0},
		{"field host>1", 0},  {"field none=1", 0},
		{"field none!=1", 0}, {"op=MPI_Send", 1}, /* about others */
		{"rank>3", 1},	      {"field n<1|2", -1},
		{"field n<x", -1},    {"field n", -1},
		{"field =1", -1},     {"field", -1},
	};
	const struct state state = {-7, {0.5f, 2.5f}, "w1"};
	const struct tuple tuple = send_tuple();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int is = typed_holds(rows[i].text, &state);

		if (is != rows[i].wanted)
			tap_note("%s: %d", rows[i].text, is);
		CU_ASSERT_EQUAL(is, rows[i].wanted);
	}
	EXPECT(&tuple, 1, 1, "field n=3", "field n!=3");
}

/* Runs of a program's own element whose n is their number; what comes out has n < 5. */
static void typed_stay_counted(void)
{
	const uint32_t words = sizeof(struct state) / 8 + 1;
	struct names *names = names_new(0);
	struct stage *s = stage_new(&filter_ops, LEVEL_ELEMENT, names, "field n=0|1|3|6", NULL);
	struct ask ask = {.wave = 1};
	struct batch_cursor c = {0};
	struct typed_word *to;
	struct fields fields;
	struct typed_run run;
	struct run_view view;
	struct batch b;
	uint64_t n = 0, known = 0, lost = 0;

	fields_parse(&fields, STATE, NULL);
	batch_init(&b);
	*(struct part *)batch_add(&b, RUN_PART, 0, 1, 1, 0) =
		(struct part){.clock = CLOCK_LINE_NS, .read = 10};
	to = batch_add(&b, RUN_TYPED, 1, 0, typed_head_words(STATE) + 8 * words, 3);
	to = typed_head(to, &fields, STATE);
	for (int64_t i = 0; i < 8; i++)
		to = typed_put(to, 9, &(struct state){.n = i}, sizeof(struct state));
	to = batch_add(&b, RUN_TYPED, 1, 10, typed_head_words(STATE) + 2 * words, 2);
	to = typed_head(to, &fields, STATE);
	for (int64_t i = 10; i < 12; i++)
		to = typed_put(to, 9, &(struct state){.n = i}, sizeof(struct state));
	batch_add(&b, RUN_TUPLES, 2, 0, 0, 7);
	CU_ASSERT_EQUAL(s->ops->apply(s, &ask, &b), 0);
	while (batch_next(&b, &c, &view)) {
		lost += view.lost;
		if (view.run->kind == RUN_PART)
			CU_ASSERT_EQUAL(view.part->filtered, 6);
		if (view.run->kind != RUN_TYPED)
			continue;
		CU_ASSERT_TRUE_FATAL(typed_read(&run, view.typed_words, view.run->count));
		CU_ASSERT_STRING_EQUAL(run.text, STATE);
		for (uint32_t i = 0; i < run.n; i++, n++) {
			const struct state *is = typed_fields(run.tuples + i * run.words);

			CU_ASSERT_TRUE(is->n == 0 || is->n == 1 || is->n == 3 || is->n == 6);
			if (run_number(view.run, i) == RUN_UNKNOWN)
				continue;
			CU_ASSERT_EQUAL(run_number(view.run, i), (uint64_t)is->n);
			known++;
		}
	}
	CU_ASSERT_EQUAL(n, 4);
	CU_ASSERT_TRUE(known > 0);
	CU_ASSERT_EQUAL(lost, 12);
	batch_fini(&b);
	stage_free(s);
	names_free(names);
}

/* Tuples whose `bytes` are 10 times their number; those of odd `peer` go. */
static uint64_t fill(struct batch *b, uint64_t *seed)
{
	struct part *part = batch_add(b, RUN_PART, 0, 1, 1, 0);
	uint64_t odd = 0;

	*part = (struct part){.clock = CLOCK_LINE_NS};
	for (uint64_t first = 1; first < 1000;) {
		uint32_t count = (uint32_t)random_below(seed, 30);
		uint32_t rare = 1 + (uint32_t)random_below(seed, 8);
		struct tuple *out = batch_add(b, RUN_TUPLES, 1, first, count, first > 1 ? 1 : 0);

		for (uint32_t i = 0; i < count; i++) {
			out[i] =
				(struct tuple){.start = i, .end = i + 9, .bytes = 10 * (first + i)};
			out[i].peer = random_below(seed, rare) == 0;
			odd += (uint64_t)out[i].peer;
		}
		part->read += count;
		first += count + 1;
	}
	return odd;
}

/* Returns how many tuples came, each once, in order, with their numbers where these are told. */
static uint64_t expect_even(const struct batch *b, uint64_t *lost, uint64_t odd)
{
	struct batch_cursor c = {0};
	struct run_view view;
	uint64_t n = 0, last = 0;

	*lost = 0;
	CU_ASSERT_EQUAL_FATAL(batch_next(b, &c, &view), 1);
	CU_ASSERT_EQUAL_FATAL(view.run->kind, RUN_PART);
	CU_ASSERT_EQUAL(view.part->filtered, odd);
	while (batch_next(b, &c, &view)) {
		*lost += view.lost;
		for (unsigned i = 0; i < view.run->count; i++) {
			const struct tuple *t = &view.tuples[i];

			CU_ASSERT_EQUAL(t->peer, 0);
			CU_ASSERT(t->bytes > last);
			last = t->bytes;
			if (run_number(view.run, i) != RUN_UNKNOWN)
				CU_ASSERT_EQUAL(t->bytes, 10 * run_number(view.run, i));
			n++;
		}
	}
	return n;
}

static void nothing_goes_uncounted(void)
{
	struct names *names = names_new(0);
	struct stage *s = stage_new(&filter_ops, LEVEL_ELEMENT, names, "peer=0", NULL);
	struct ask ask = {.wave = 1};
	uint64_t seed = 1, lost;
	struct batch b;

	batch_init(&b);
	for (int i = 0; i < 200; i++) {
		uint64_t odd = fill(&b, &seed), runs = 0, read;
		struct batch_cursor c = {0};
		struct run_view view;

		while (batch_next(&b, &c, &view))
			runs += view.run->kind == RUN_TUPLES;
		c = (struct batch_cursor){0};
		batch_next(&b, &c, &view);
		read = view.part->read;
		CU_ASSERT_EQUAL(s->ops->apply(s, &ask, &b), 0);
		CU_ASSERT_EQUAL(expect_even(&b, &lost, odd), read - odd);
		CU_ASSERT_EQUAL(lost, runs - 1);
		batch_clear(&b);
	}
	batch_fini(&b);
	stage_free(s);
	names_free(names);
}

/* Where a condition on the element does not hold nothing comes, whatever is kept of others. */
static void of_other_elements(void)
{
	struct names *names = some_names();
	struct stage *s = stage_new(&filter_ops, LEVEL_ELEMENT, names, "rank=5 bytes=1", NULL);
	struct batch_cursor c = {0};
	struct run_view view;
	unsigned n = 0, runs = 0;
	struct batch b;

	batch_init(&b);
	for (uint32_t run = 0; run < 6; run++) {
		struct tuple *t = batch_add(&b, RUN_TUPLES, 1 + run % 2 * 2, 0, 100, 0);

		for (unsigned i = 0; i < 100; i++)
			t[i] = (struct tuple){.bytes = i % 10 == 0};
	}
	CU_ASSERT_EQUAL(s->ops->apply(s, &(struct ask){.wave = 1}, &b), 0);
	for (; batch_next(&b, &c, &view); runs++)
		n += view.run->element == 1 ? view.run->count : 1000;
	CU_ASSERT_EQUAL(n, 30);
	CU_ASSERT_EQUAL(runs, 3);
	batch_fini(&b);
	stage_free(s);
	names_free(names);
}

/* Returns how many numbers are told; all of them are right. */
static uint64_t expect_numbers(const struct batch *b)
{
	struct batch_cursor c = {0};
	struct run_view view;
	uint64_t told = 0;

	while (batch_next(b, &c, &view)) {
		for (unsigned i = 0; view.run->kind == RUN_TUPLES && i < view.run->count; i++) {
			if (run_number(view.run, i) == RUN_UNKNOWN)
				continue;
			CU_ASSERT_EQUAL(view.tuples[i].bytes, 10 * run_number(view.run, i));
			told++;
		}
	}
	return told;
}

static void numbers_are_right_after(const char *kind, const char *args)
{
	struct names *names = names_new(0);
	struct stage *filter = stage_new(&filter_ops, LEVEL_ELEMENT, names, "peer=0", NULL);
	struct stage *next = stage_new(stage_find(kind), LEVEL_ELEMENT, names, args, NULL);
	struct ask ask = {.wave = 1};
	uint64_t seed = 1, told = 0;
	struct batch b;

	batch_init(&b);
	for (int i = 0; i < 50; i++) {
		fill(&b, &seed);
		CU_ASSERT_EQUAL(filter->ops->apply(filter, &ask, &b), 0);
		CU_ASSERT_EQUAL(next->ops->apply(next, &ask, &b), 0);
		told += expect_numbers(&b);
		columns_batch_pack(&b);
		columns_batch_open(&b);
		CU_ASSERT_TRUE(expect_numbers(&b) > 0);
		batch_clear(&b);
	}
	CU_ASSERT_TRUE(told > 0);
	batch_fini(&b);
	stage_free(next);
	stage_free(filter);
	names_free(names);
}

static void numbers_are_right(void)
{
	numbers_are_right_after("filter", "bytes>=5");
	numbers_are_right_after("filter", "bytes>=2000");
	numbers_are_right_after("sort", "");
	numbers_are_right_after("slowest", "100 by bytes");
	numbers_are_right_after("slowest", "100");
}

static CU_TestInfo filter_cases[] = {
	{"of a send", of_a_send},
	{"of what is not there", of_what_is_not_there},
	{"channels above elements", channels_above_elements},
	{"conditions on a region", of_a_region},
	{"bad conditions are told what would be right", bad_conditions},
	{"of fields", of_fields},
	{"nothing goes uncounted", nothing_goes_uncounted},
	{"nor of programs' own elements", typed_stay_counted},
	{"nothing comes of elements that a condition leaves out", of_other_elements},
	{"numbers that are told are right", numbers_are_right},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "filter", .pTests = filter_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
