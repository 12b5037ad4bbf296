/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests meets: any tree joins what the flat one joins, consumers join the pieces and say what
 * lacks, and what they find is what all events say. */
#include "tests/random-trees.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/analysis/lateness.h"
#include "tree/data/op-table.h"
#include "tree/stage/fold.h"

#define NUMBERS 12u
#define COMMS	2u
#define LINES	2048u
#define LINE	192u

/* ---- in trees ---- */

struct told {
	char lines[LINES][LINE];
	bool hosts[LINES]; /* not sorted */
	size_t n, n_hosts;
	uint64_t read, filtered, reduced;
};

static struct told flat_told, tree_told;

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void told_take(struct told *t, const struct place *p)
{
	struct clock_line line = CLOCK_LINE_NS;
	struct batch_cursor c = {0};
	struct run_view view;

	memset(t, 0, sizeof(*t));
	while (batch_next(&p->batch, &c, &view)) {
		if (view.run->kind == RUN_PART) {
			t->read += view.part->read;
			t->filtered += view.part->filtered;
			t->reduced += view.part->reduced;
			line = view.part->clock;
			continue;
		}
		if (view.run->kind == RUN_LEAVES || view.run->kind == RUN_WORST)
			continue;
		CU_ASSERT_EQUAL_FATAL(view.run->kind, RUN_MEETS);
		for (unsigned i = 0; i < view.run->count; i++) {
			struct meet m = view.meets[i];

			CU_ASSERT_FATAL(t->n < LINES);
			CU_ASSERT(meet_sound(&m));
			meet_to_ns(&m, &line);
			t->n_hosts += m.flags & MEET_HOSTS ? 1 : 0;
			snprintf(t->lines[t->n++], LINE,
				 "%.40s %u %u: %u, %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
				 " %" PRIu64 " %" PRIu64 " %" PRIu64 ", %x %d %u %u %u",
				 names_find(p->names, view.run->element)->text, m.comm, m.number,
				 m.count, m.start, m.before, m.last, m.end, m.last_end, m.waited,
				 m.bytes, m.who, m.signature, m.op, m.magnitude,
				 m.flags & MEET_MIXED);
		}
	}
	qsort(t->lines, t->n, LINE, compare);
	CU_ASSERT_EQUAL(t->read, t->filtered + t->reduced);
}

/* Most are of collectives; clocks tick each 1 to 3 ns, so that all times are whole. */
static void leaf_fill(struct place *p, uint32_t index, bool same_clock)
{
	static const uint16_t none[] = {0, TUPLE_FAILED, TUPLE_UNNUMBERED, TUPLE_COMPLETION};
	struct part *part;

	place_fill(p, index, same_clock);
	batch_clear(&p->batch);
	part = batch_add(&p->batch, RUN_PART, index, RANDOM_TREES_WAVE, 1, 0);
	*part = (struct part){.clock = CLOCK_LINE_NS, .elements = RANDOM_TREES_ELEMENTS};
	if (!same_clock) {
		part->clock.base_ns = (int64_t)random_below(&grove_seed, 1000);
		part->clock.ns_per_tick = 1 + (double)random_below(&grove_seed, 3);
	}
	for (uint32_t i = 0; i < RANDOM_TREES_ELEMENTS; i++) {
		uint32_t count = (uint32_t)random_below(&grove_seed, NUMBERS);
		struct tuple *out =
			batch_add(&p->batch, RUN_TUPLES, name_id(index, i), 0, count, 0);

		for (uint32_t k = 0; k < count; k++) {
			uint64_t start = 1000 + random_below(&grove_seed, 50);

			out[k] = (struct tuple){
				.start = start,
				.end = start + random_below(&grove_seed, 50),
				.bytes = random_below(&grove_seed, 100),
				.peer = (int32_t)random_below(&grove_seed, 2) - 1,
				.seq_or_tag = k,
				.comm = 1 + i % COMMS,
				.op = random_below(&grove_seed, 9) ? OP_MPI_BARRIER : OP_MPI_BCAST,
				.flags = random_below(&grove_seed, 5)
						 ? 0
						 : none[random_below(&grove_seed, 4)],
			};
			if (random_below(&grove_seed, 20) == 0)
				out[k].op = OP_MPI_SEND;
		}
		part->read += count;
	}
}

static void trees_alike(enum level level, bool same_clock)
{
	size_t most = 0, hosts = 0;

	for (uint64_t tree = 1; tree <= RANDOM_TREES_TREES; tree++) {
		struct place leaves[RANDOM_TREES_LEAVES], flat;

		grove_seed = tree * UINT64_C(1000003);
		random_trees_folds = tree % 2;
		place_init(&flat, RANDOM_TREES_LEAVES);
		for (uint32_t i = 0; i < RANDOM_TREES_LEAVES; i++) {
			place_init(&leaves[i], i);
			leaf_fill(&leaves[i], i, same_clock);
			place_copy(&flat, &leaves[i]);
		}
		place_apply(&flat, &meet_ops, level, "");
		random_trees_grow(leaves, RANDOM_TREES_LEAVES, &meet_ops, level, "");
		told_take(&flat_told, &flat);
		told_take(&tree_told, &leaves[0]);
		CU_ASSERT_EQUAL(flat_told.n, tree_told.n);
		CU_ASSERT_EQUAL(flat_told.read, tree_told.read);
		CU_ASSERT_EQUAL(flat_told.filtered, tree_told.filtered);
		for (size_t i = 0; i < flat_told.n && i < tree_told.n; i++)
			CU_ASSERT_STRING_EQUAL(flat_told.lines[i], tree_told.lines[i]);
		/* a place that does not know better takes them to be on several hosts */
		CU_ASSERT(tree_told.n_hosts >= flat_told.n_hosts);
		CU_ASSERT(level > LEVEL_NODE || flat_told.n_hosts == 0);
		most = flat_told.n > most ? flat_told.n : most;
		hosts += flat_told.n_hosts;
		place_fini(&flat);
		place_fini(&leaves[0]);
	}
	CU_ASSERT(most > NUMBERS);
	CU_ASSERT(level <= LEVEL_NODE || hosts > 0);
}

static void meets_in_any_tree(void)
{
	trees_alike(LEVEL_ALL, false);
	trees_alike(LEVEL_CLUSTER, false);
	trees_alike(LEVEL_NODE, true);
	trees_alike(LEVEL_ALL, true);
}

static void garbage_is_refused(void)
{
	static const struct meet meets[] = {
		{.count = 0},
		{.count = 1, .start = 1},
		{.count = 1, .before = 1},
		{.count = 1, .end = 1},
		{.count = 1, .last = 2, .before = 2, .last_end = 1},
		{.count = 1, .magnitude = 65},
		{.count = 1, .flags = 4},
		{.count = 1, .last = 2, .before = 2, .last_end = 2}, /* the right one */
	};
	const size_t n = sizeof(meets) / sizeof(meets[0]);

	for (size_t i = 0; i < n; i++) {
		struct batch b;
		struct error e;

		batch_init(&b);
		*(struct part *)batch_add(&b, RUN_PART, 0, 1, 1, 0) =
			(struct part){.clock = CLOCK_LINE_NS};
		*(struct meet *)batch_add(&b, RUN_MEETS, 1, 0, 1, 0) = meets[i];
		CU_ASSERT_EQUAL(batch_check(b.own->data, b.bytes, NULL, &e), i + 1 < n ? -1 : 0);
		batch_fini(&b);
	}
}

/* ---- at the consumer ---- */

#define MEMBERS	 7u
#define MEETINGS 300u

/* Members that come with some noise, on two hosts; what is found of their events, and of pieces. */
struct both {
	uint64_t seed;
	double error_ns;
	struct lateness *events, *pieces;
	unsigned whole, lost, other;
};

static void ignore(void *arg, const struct late_once *late)
{
	(void)arg;
	(void)late;
}

static void take_piece(void *arg, const struct meeting_sum *sum, enum meeting_gap gap)
{
	struct both *b = arg;

	if (gap == MEETING_WHOLE) {
		b->whole++;
		lateness_add_sum(b->pieces, sum);
	} else if (gap == MEETING_LOST) {
		b->lost++;
	} else {
		b->other++;
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static struct meeting_sum piece_of(const struct meeting_key *key, const struct arrival *a)
{
	struct arrival copy = *a;
	const struct meeting one = {.key = *key, .op = a->op, .n = 1, .arrivals = &copy};

	return meeting_sum_of(&one);
}

/* The last member is late, by some µs, in every other one. */
static void arrivals_make(struct both *b, uint16_t op, uint32_t number, struct arrival *arrivals)
{
	int64_t now = INT64_C(1700000000000000000) + number * INT64_C(1000000), last = 0;

	for (unsigned i = 0; i < MEMBERS; i++) {
		int64_t late = i == MEMBERS - 1 && number % 2 ? 50000 : 0;

		arrivals[i] = (struct arrival){
			.start_ns = now + late + (int64_t)random_below(&b->seed, 9000),
			.bytes = 8,
			.process = i,
			.host = i % 2,
			.site = 1,
			.place = (int32_t)i,
			.op = op,
			.error_ns = b->error_ns,
		};
		last = arrivals[i].start_ns > last ? arrivals[i].start_ns : last;
	}
	for (unsigned i = 0; i < MEMBERS; i++)
		arrivals[i].end_ns = last + 100 + (int64_t)random_below(&b->seed, 100);
}

static int32_t root_of(uint16_t op)
{
	return op == OP_MPI_BCAST ? (int32_t)MEMBERS - 1 : -1;
}

/* Every event is a piece, and all pieces of three operations come in any order. */
static void both_run(struct both *b, uint16_t op, unsigned lost_each)
{
	struct meeting_sums *sums = meeting_sums_new(100, take_piece, b);
	struct arrival all[3][MEMBERS];

	b->events = lateness_new(0.99, ignore, b);
	b->pieces = lateness_new(0.99, ignore, b);
	for (uint32_t k = 0; k < MEETINGS; k += 3) {
		for (uint32_t i = 0; i < 3; i++)
			arrivals_make(b, op, k + i, all[i]);
		for (uint32_t i = 0; i < 3 * MEMBERS; i++) {
			const uint32_t at = (i * 5 + k) % (3 * MEMBERS);
			const struct meeting_key key = {3, k + at / MEMBERS, MEMBERS, root_of(op),
							false};
			const struct meeting_sum piece =
				piece_of(&key, &all[at / MEMBERS][at % MEMBERS]);

			if (!lost_each || key.number % lost_each || at % MEMBERS)
				meeting_sums_add(sums, &piece);
		}
		meeting_sums_turn(sums);
		for (uint32_t i = 0; i < 3; i++) {
			struct meeting m = {.key = {3, k + i, MEMBERS, root_of(op), false},
					    .op = op,
					    .n = MEMBERS,
					    .arrivals = all[i]};

			if (lost_each && (k + i) % lost_each == 0)
				continue;
			qsort(all[i], MEMBERS, sizeof(all[i][0]), compare_starts);
			lateness_add(b->events, &m);
		}
	}
	meeting_sums_end(sums);
	meeting_sums_free(sums);
}

static void both_free(struct both *b)
{
	lateness_free(b->events);
	lateness_free(b->pieces);
}

static void expect_classes_alike(const struct both *b)
{
	const struct lateness_class *const *x, *const *y;

	CU_ASSERT_EQUAL_FATAL(lateness_classes(b->events, &x), 1);
	CU_ASSERT_EQUAL_FATAL(lateness_classes(b->pieces, &y), 1);
	CU_ASSERT_EQUAL(x[0]->meetings, y[0]->meetings);
	CU_ASSERT_EQUAL(x[0]->members, y[0]->members);
	CU_ASSERT_EQUAL(x[0]->bytes, y[0]->bytes);
	CU_ASSERT_EQUAL(x[0]->spread_ns, y[0]->spread_ns);
	CU_ASSERT_EQUAL(x[0]->most_number, y[0]->most_number);
	CU_ASSERT_EQUAL(x[0]->most_process, y[0]->most_process);
	CU_ASSERT_EQUAL(x[0]->inside_ns, y[0]->inside_ns);
	CU_ASSERT_EQUAL(x[0]->kind, y[0]->kind);
}

static void pieces_say_what_events_say(void)
{
	struct both b = {.seed = 1};
	const struct lateness_class *const *x, *const *y;
	struct late_often often[2][MEMBERS];

	both_run(&b, OP_MPI_ALLREDUCE, 0);
	CU_ASSERT_EQUAL(b.whole, MEETINGS);
	CU_ASSERT_EQUAL(b.lost + b.other, 0);
	expect_classes_alike(&b);
	lateness_classes(b.events, &x);
	lateness_classes(b.pieces, &y);
	CU_ASSERT_EQUAL(x[0]->waited_ns, y[0]->waited_ns);
	CU_ASSERT_EQUAL(lateness_often(b.events, 0, often[0], MEMBERS), 1);
	CU_ASSERT_EQUAL(lateness_often(b.pieces, 0, often[1], MEMBERS), 1);
	CU_ASSERT_EQUAL(often[0][0].member->process, often[1][0].member->process);
	CU_ASSERT_EQUAL(often[0][0].member->times, often[1][0].member->times);
	CU_ASSERT_EQUAL(often[0][0].member->caused_ns, often[1][0].member->caused_ns);
	both_free(&b);
}

/* A root that comes last is waited for by all; when it does not, a sum does not tell by whom. */
static void broadcasts_wait_for_a_late_root(void)
{
	struct both b = {.seed = 2};
	const struct lateness_class *const *x, *const *y;

	both_run(&b, OP_MPI_BCAST, 0);
	expect_classes_alike(&b);
	lateness_classes(b.events, &x);
	lateness_classes(b.pieces, &y);
	CU_ASSERT(y[0]->waited_ns <= x[0]->waited_ns);
	CU_ASSERT(y[0]->waited_ns > 0.5 * x[0]->waited_ns);
	both_free(&b);
}

/* Clocks that are off by more than anybody is late say nothing; by less, who is late is found. */
static void clocks_bound_what_is_said(void)
{
	struct both far = {.seed = 3, .error_ns = 40000}, near = {.seed = 3, .error_ns = 10000};
	struct late_often often[MEMBERS];
	const struct lateness_class *const *c;

	both_run(&far, OP_MPI_BARRIER, 0);
	CU_ASSERT_EQUAL(lateness_classes(far.pieces, &c), 1);
	CU_ASSERT_EQUAL(c[0]->waited_ns, 0);
	CU_ASSERT_EQUAL(c[0]->untold, MEETINGS * (MEMBERS - 1));
	CU_ASSERT_EQUAL(lateness_often(far.pieces, 0, often, MEMBERS), 0);
	both_run(&near, OP_MPI_BARRIER, 0);
	CU_ASSERT_EQUAL(lateness_often(near.pieces, 0, often, MEMBERS), 1);
	CU_ASSERT_EQUAL(often[0].member->process, MEMBERS - 1);
	CU_ASSERT_EQUAL(often[0].member->times, MEETINGS / 2);
	CU_ASSERT_EQUAL(often[0].error_ns, 20000);
	both_free(&far);
	both_free(&near);
}

static void what_lacks_members_is_counted(void)
{
	struct both b = {.seed = 4};

	both_run(&b, OP_MPI_BARRIER, 10);
	CU_ASSERT_EQUAL(b.whole, MEETINGS - MEETINGS / 10);
	/* number 0 is before all that were whole */
	CU_ASSERT_EQUAL(b.lost, MEETINGS / 10 - 1);
	CU_ASSERT_EQUAL(b.other, 1);
	expect_classes_alike(&b);
	both_free(&b);
}

/* A member that never comes costs no more than what may be open. */
static void memory_is_bounded(void)
{
	struct both b = {.seed = 5};
	struct meeting_sums *sums = meeting_sums_new(50, take_piece, &b);
	const struct meetings_counts *n = meeting_sums_counts(sums);

	for (uint32_t k = 0; k < 1000; k++) {
		const struct arrival a = {.start_ns = k * 10, .end_ns = k * 10 + 5, .op = 200};
		const struct meeting_sum piece =
			piece_of(&(struct meeting_key){1 + k % 3, k, 2, -1, false}, &a);

		meeting_sums_add(sums, &piece);
		meeting_sums_turn(sums);
	}
	CU_ASSERT_EQUAL(n->n[MEETING_CROWDED], 950);
	meeting_sums_end(sums);
	CU_ASSERT_EQUAL(n->n[MEETING_ABSENT], 50);
	meeting_sums_free(sums);
	/* and communicators come and go */
	sums = meeting_sums_new(50, take_piece, &b);
	n = meeting_sums_counts(sums);
	b.pieces = lateness_new(0.99, ignore, &b);
	for (uint32_t k = 0; k < 1000; k++) {
		const struct arrival a = {.start_ns = k * 10, .end_ns = k * 10 + 5, .op = 200};
		const struct meeting_sum piece =
			piece_of(&(struct meeting_key){k, 7, 1, -1, false}, &a);

		meeting_sums_add(sums, &piece);
	}
	CU_ASSERT_EQUAL(n->n[MEETING_WHOLE], 1000);
	CU_ASSERT_EQUAL(n->refused, 0);
	meeting_sums_free(sums);
	lateness_free(b.pieces);
}

/* What comes after a meeting was given up, what cannot be, and more members than there are. */
static void strays_are_counted(void)
{
	struct both b = {.seed = 6, .pieces = lateness_new(0.99, ignore, NULL)};
	struct meeting_sums *sums = meeting_sums_new(2, take_piece, &b);
	const struct meetings_counts *n = meeting_sums_counts(sums);
	struct arrival a = {.start_ns = 10, .end_ns = 15, .op = 200};
	struct meeting_sum piece;

	for (uint32_t k = 0; k < 3; k++) {
		piece = piece_of(&(struct meeting_key){1, k, 2, -1, false}, &a);
		meeting_sums_add(sums, &piece);
	}
	piece = piece_of(&(struct meeting_key){1, 0, 2, -1, false}, &a);
	meeting_sums_add(sums, &piece);
	CU_ASSERT_EQUAL(n->strays, 1);
	piece = piece_of(&(struct meeting_key){1, 2, 2, -1, false}, &a);
	piece.meet.count = 2;
	meeting_sums_add(sums, &piece);
	CU_ASSERT_EQUAL(n->n[MEETING_ABSENT], 1);
	CU_ASSERT_EQUAL(n->n[MEETING_WHOLE], 1);
	piece.meet.last = piece.meet.start - 1;
	meeting_sums_add(sums, &piece);
	CU_ASSERT_EQUAL(n->refused, 1);
	meeting_sums_free(sums);
	lateness_free(b.pieces);
}

static CU_TestInfo meet_cases[] = {
	{"meets are the same in any tree", meets_in_any_tree},
	{"garbage from the wire is refused", garbage_is_refused},
	{"pieces say what events say", pieces_say_what_events_say},
	{"broadcasts wait for a late root", broadcasts_wait_for_a_late_root},
	{"clocks bound what is said", clocks_bound_what_is_said},
	{"what lacks members is counted", what_lacks_members_is_counted},
	{"memory is bounded", memory_is_bounded},
	{"strays are counted", strays_are_counted},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static CU_SuiteInfo suites[] = {
		{"meet", NULL, NULL, NULL, NULL, meet_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
