/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests messages: sides that come in any order and waves are matched, holes are not papered over,
 * and who waits is told within what clocks allow. */
#include "tests/random.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/analysis/message-flow.h"
#include "consumers/analysis/message-wait.h"
#include "consumers/analysis/overlap.h"

#define RANKS	 5
#define MESSAGES 2000u

struct seen {
	uint64_t n, wrong;
};

/* A message knows its number by its call sites. */
static void take(void *arg, const struct message_key *key, const struct message_side *sent,
		 const struct message_side *received)
{
	struct seen *s = arg;

	s->n++;
	s->wrong += sent->at.site != received->at.site || (int32_t)sent->at.process != key->from ||
		    (int32_t)received->at.process != key->to;
}

static struct message_side side_of(uint32_t number, int32_t rank, int64_t start_ns)
{
	return (struct message_side){.at = {.start_ns = start_ns,
					    .end_ns = start_ns + 10,
					    .bytes = 8,
					    .process = (uint32_t)rank,
					    .site = number},
				     .since_ns = start_ns};
}

struct plan {
	struct message_key key;
	struct message_side side;
	bool received;
	uint64_t wave, order; /* in which it comes, and where there */
};

static int compare_waves(const void *a, const void *b)
{
	const struct plan *x = a, *y = b;

	if (x->wave != y->wave)
		return x->wave < y->wave ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int32_t rank_any(uint64_t *seed)
{
	return (int32_t)random_below(seed, RANKS);
}

/* Both sides of each come within three waves of each other; those of a rank in order of waves. */
static void run(struct message_match *m, uint64_t seed, int32_t hole)
{
	struct plan *plans = calloc(2 * MESSAGES, sizeof(*plans));
	uint64_t delay[RANKS];

	for (unsigned i = 0; i < RANKS; i++)
		delay[i] = random_below(&seed, 3);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct plan *p = &plans[2 * i];
		const struct message_key key = {1, (uint32_t)random_below(&seed, 3),
						rank_any(&seed), rank_any(&seed)};

		p[0] = (struct plan){key, side_of(i, key.from, i * 100), false,
				     i / 20 + delay[key.from], random_below(&seed, 1000)};
		p[1] = (struct plan){key,
				     side_of(i, key.to, i * 100 + (int64_t)random_below(&seed, 50)),
				     true, i / 20 + delay[key.to], random_below(&seed, 1000)};
	}
	qsort(plans, 2 * MESSAGES, sizeof(*plans), compare_waves);
	for (uint32_t i = 0; i < 2 * MESSAGES; i++) {
		const struct plan *p = &plans[i];

		if (i > 0 && p->wave != p[-1].wave)
			message_match_turn(m);
		if (i == MESSAGES && hole >= 0)
			message_match_lost(m, hole);
		message_match_add(m, &p->key, p->received, &p->side);
	}
	message_match_end(m);
	free(plans);
}

static void sides_are_matched(void)
{
	for (uint64_t seed = 1; seed < 50; seed++) {
		struct seen seen = {0};
		struct message_match *m = message_match_new(100000, take, &seen);
		const struct message_counts *n = message_match_counts(m);

		run(m, seed, -1);
		CU_ASSERT_EQUAL(seen.n, MESSAGES);
		CU_ASSERT_EQUAL(seen.wrong, 0);
		CU_ASSERT_EQUAL(n->matched, MESSAGES);
		CU_ASSERT_EQUAL(n->open + n->lost + n->strange + n->crowded, 0);
		message_match_free(m);
	}
}

/* From a hole on, messages of that rank are not told, and no other is told wrong. */
static void holes_are_not_papered_over(void)
{
	struct seen seen = {0};
	struct message_match *m = message_match_new(100000, take, &seen);
	const struct message_counts *n = message_match_counts(m);

	run(m, 77, 2);
	CU_ASSERT_EQUAL(seen.wrong, 0);
	CU_ASSERT(seen.n > MESSAGES / 2 && seen.n < MESSAGES);
	CU_ASSERT_EQUAL(2 * n->matched + n->lost, 2 * MESSAGES);
	CU_ASSERT(n->lost > 0);
	message_match_free(m);
}

/* Sizes that differ, or a receive that ends before its send. */
static void what_cannot_be_is_given_up(void)
{
	struct seen seen = {0};
	struct message_match *m = message_match_new(100, take, &seen);
	const struct message_counts *n = message_match_counts(m);
	const struct message_key size = {1, 0, 0, 1}, time = {1, 1, 0, 1}, fine = {1, 2, 0, 1};
	struct message_side sent = side_of(1, 0, 100), received = side_of(1, 1, 100);

	received.at.bytes = 9;
	message_match_add(m, &size, false, &sent);
	message_match_add(m, &size, true, &received);
	received = side_of(1, 1, 80);
	message_match_add(m, &time, false, &sent);
	message_match_add(m, &time, true, &received);
	message_match_add(m, &fine, false, &sent);
	received = side_of(1, 1, 95);
	message_match_add(m, &fine, true, &received);
	message_match_end(m);
	CU_ASSERT_EQUAL(n->matched, 1);
	CU_ASSERT_EQUAL(n->strange, 4);
	message_match_add(m, &size, false, &sent);
	CU_ASSERT_EQUAL(n->strange, 5);
	CU_ASSERT_EQUAL(n->open, 0);
	message_match_free(m);
}

static void memory_is_bounded(void)
{
	struct seen seen = {0};
	struct message_match *m = message_match_new(50, take, &seen);
	const struct message_counts *n = message_match_counts(m);

	for (uint32_t i = 0; i < 1000; i++) {
		const struct message_key key = {1, i, (int32_t)i % 4, 9};
		const struct message_side side = side_of(i, key.from, i);

		message_match_add(m, &key, false, &side);
		message_match_turn(m);
	}
	CU_ASSERT_EQUAL(n->matched, 0);
	CU_ASSERT(n->open < 50);
	CU_ASSERT_EQUAL(n->open + n->crowded + n->lost, 1000);
	message_match_free(m);
}

/* ---- waits ---- */

static struct message_flow flow_of(struct message_side sent, struct message_side received)
{
	struct message_flows *flows = message_flows_new();
	const struct message_flow *const *all;
	struct message_flow flow;

	message_flows_add(flows, 1, &sent, &received);
	CU_ASSERT_EQUAL_FATAL(message_flows_all(flows, &all), 1);
	flow = *all[0];
	message_flows_free(flows);
	return flow;
}

/* One message to nobody knows whom makes all of its sender with that tag unsure, and no other. */
static void what_is_sent_to_several_is_not_told(void)
{
	struct seen seen = {0};
	struct message_match *m = message_match_new(100, take, &seen);
	const struct message_counts *n = message_match_counts(m);
	const struct message_key same = {1, 7, 0, 1}, tag = {1, 8, 0, 1}, from = {1, 7, 2, 1};
	const struct message_key *all[] = {&same, &tag, &from};

	for (uint32_t turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; i < 3; i++) {
			const struct message_side sent = side_of(i, all[i]->from, 100);
			const struct message_side received = side_of(i, all[i]->to, 100);

			message_match_add(m, all[i], true, &received);
			if (i == 0)
				message_match_untold(m, 1, 7, 0);
			message_match_add(m, all[i], false, &sent);
		}
		message_match_turn(m);
	}
	message_match_end(m);
	CU_ASSERT_EQUAL(seen.n, 4);
	CU_ASSERT_EQUAL(seen.wrong, 0);
	CU_ASSERT_EQUAL(n->strange, 4);
	CU_ASSERT_EQUAL(n->open, 0);
	message_match_free(m);
}

static void waits_are_those_of_scalasca(void)
{
	struct message_side sent = {.at.start_ns = 1000, .at.end_ns = 1010, .at.process = 0};
	struct message_side received = {.at.start_ns = 200,
					.at.end_ns = 1020,
					.since_ns = 300,
					.at.process = 1,
					.waits = true};
	struct message_flow f = flow_of(sent, received);

	CU_ASSERT_EQUAL(f.waits[FLOW_LATE_SENDER].times, 1);
	CU_ASSERT_EQUAL(f.waits[FLOW_LATE_SENDER].waited_ns, 700);
	CU_ASSERT_EQUAL(f.waits[FLOW_LATE_RECEIVER].times, 0);
	/* waited for only when it had come */
	received.since_ns = 1015;
	f = flow_of(sent, received);
	CU_ASSERT_EQUAL(f.waits[FLOW_LATE_SENDER].times, 0);
	/* a send that waits, and one that was buffered */
	sent = (struct message_side){.at.start_ns = 100, .at.end_ns = 950, .waits = true};
	received.at.start_ns = received.since_ns = 900;
	f = flow_of(sent, received);
	CU_ASSERT_EQUAL(f.waits[FLOW_LATE_RECEIVER].waited_ns, 800);
	CU_ASSERT_EQUAL(f.waits[FLOW_LATE_SENDER].times, 0);
	sent.at.end_ns = 150;
	f = flow_of(sent, received);
	CU_ASSERT_EQUAL(f.waits[FLOW_LATE_RECEIVER].times, 0);
}

static void clocks_bound_what_is_said(void)
{
	struct message_side sent = {.at.start_ns = 1000, .at.end_ns = 1010, .at.error_ns = 200};
	struct message_side received = {.at.start_ns = 700,
					.at.end_ns = 1020,
					.since_ns = 700,
					.at.error_ns = 200,
					.at.process = 1,
					.at.host = 1,
					.waits = true};
	struct message_flow f = flow_of(sent, received);

	CU_ASSERT_EQUAL(f.waits[FLOW_LATE_SENDER].times, 0);
	CU_ASSERT_EQUAL(f.untold, 1);
	received.since_ns = 500;
	f = flow_of(sent, received);
	CU_ASSERT_EQUAL(f.waits[FLOW_LATE_SENDER].waited_ns, 500);
	CU_ASSERT_EQUAL(f.waits[FLOW_LATE_SENDER].error_ns, 400);
	CU_ASSERT_EQUAL(f.untold, 0);
}

/* In whatever order its messages are matched. */
static void a_call_for_many_waits_once(void)
{
	static const int64_t starts[][3] = {{400, 600, 500}, {600, 500, 400}};
	const struct message_flow *const *all;

	for (unsigned i = 0; i < 2; i++) {
		struct message_flows *flows = message_flows_new();
		double waited = 0;

		for (unsigned k = 0; k < 3; k++) {
			const struct message_side sent = {.at.start_ns = starts[i][k],
							  .at.end_ns = starts[i][k] + 10,
							  .at.process = k + 1};
			const struct message_side received = {.at.start_ns = 100,
							      .at.end_ns = 620,
							      .since_ns = 300,
							      .waits = true};

			message_flows_add(flows, 1, &sent, &received);
		}
		CU_ASSERT_EQUAL_FATAL(message_flows_all(flows, &all), 3);
		for (unsigned k = 0; k < 3; k++)
			waited += all[k]->waits[FLOW_LATE_SENDER].waited_ns;
		CU_ASSERT_EQUAL(waited, 300);
		message_flows_free(flows);
	}
}

/* ---- calls of waits ---- */

#define THREADS 3u
#define CALLS	3000u

/* A message knows by its call site when it should have been waited for since. */
struct told {
	uint64_t n, waits, wrong;
};

static void take_waited(void *arg, uint32_t comm, const struct message_side *sent,
			const struct message_side *received)
{
	struct told *t = arg;

	(void)sent;
	t->n++;
	t->waits += received->waits;
	t->wrong += comm != 1 || (received->waits && received->since_ns != received->at.site);
}

/* Calls and what they complete, two each, come in whatever order, waves apart; of the first
 * @overwritten calls of each thread nothing comes. */
static struct told waits_run(uint64_t seed, size_t most_calls, size_t most, uint32_t overwritten)
{
	struct told told = {0};
	struct message_waits *w = message_waits_new(most_calls, most, take_waited, &told);
	uint32_t calls[THREADS] = {0}, ends[THREADS] = {0};
	uint64_t untold;

	for (uint32_t left = 2 * THREADS * CALLS, turn = 0; left > 0;) {
		uint32_t thread = (uint32_t)random_below(&seed, THREADS);
		bool call = random_below(&seed, 2);
		uint32_t k = call ? calls[thread] : ends[thread];
		int64_t start = 10000 * (int64_t)k + 1000, end = start + 5000;

		/* up to 1,000 calls apart */
		if (k == CALLS || k > 1000 + (call ? ends : calls)[thread])
			continue;
		left--;
		(call ? calls : ends)[thread]++;
		if (++turn % 500 == 0)
			message_waits_turn(w);
		if (call && k >= overwritten)
			message_waits_call(w, thread, start, end);
		for (unsigned i = 0; i < 2 && !call; i++) {
			const struct message_side sent = {.at.start_ns = end - 100};
			/* what is received later than the call began waits from then on */
			const struct message_side received = {
				.at = {.start_ns = start - 500 + 700 * i,
				       .end_ns = end,
				       .site = (uint32_t)(start + (i ? 200 : 0))},
				.since_ns = start - 500 + 700 * i,
				.later = true,
				.thread = thread};

			message_waits_add(w, 1, &sent, &received);
		}
	}
	message_waits_end(w);
	untold = message_waits_unknown(w);
	CU_ASSERT_EQUAL(told.n, 2 * THREADS * CALLS);
	CU_ASSERT_EQUAL(told.waits + untold, told.n);
	CU_ASSERT_EQUAL(told.wrong, 0);
	message_waits_free(w);
	return told;
}

static void calls_are_found_waves_apart(void)
{
	for (uint64_t seed = 1; seed < 10; seed++)
		CU_ASSERT_EQUAL(waits_run(seed, 100000, 10000, 0).waits, 2 * THREADS * CALLS);
}

static void receives_without_their_call_are_untold(void)
{
	struct told told = waits_run(20, 100000, 10000, CALLS / 3);

	CU_ASSERT_EQUAL(told.waits, 2 * THREADS * (CALLS - CALLS / 3));
	/* too many to remember: some are told, none wrong */
	told = waits_run(21, 300, 200, 0);
	CU_ASSERT(told.waits > 0 && told.waits < told.n);
}

/* In random order, against a bitmap. */
static void times_count_once(void)
{
	static bool counted[3][1000];
	struct overlaps *o = overlaps_new(1000);
	uint64_t seed = 5;

	for (unsigned i = 0; i < 2000; i++) {
		uint32_t process = (uint32_t)random_below(&seed, 3);
		int64_t from = (int64_t)random_below(&seed, 1000);
		int64_t to = from + (int64_t)random_below(&seed, 20), fresh = 0;

		to = to < 1000 ? to : 1000;
		for (int64_t k = from; k < to; k++) {
			fresh += !counted[process][k];
			counted[process][k] = true;
		}
		CU_ASSERT_EQUAL(overlaps_add(o, process, from, to), fresh);
	}
	CU_ASSERT_EQUAL(overlaps_add(o, 0, 50, 40), 0);
	overlaps_free(o);
}

static CU_TestInfo message_cases[] = {
	{"sides are matched, in whatever order they come", sides_are_matched},
	{"holes are not papered over", holes_are_not_papered_over},
	{"what cannot be is given up", what_cannot_be_is_given_up},
	{"what is sent to several is not told", what_is_sent_to_several_is_not_told},
	{"memory is bounded", memory_is_bounded},
	{"waits are those of Scalasca", waits_are_those_of_scalasca},
	{"clocks bound what is said", clocks_bound_what_is_said},
	{"a call that waits for many messages waits once", a_call_for_many_waits_once},
	{"calls that wait are found, waves apart", calls_are_found_waves_apart},
	{"receives whose call was overwritten are untold", receives_without_their_call_are_untold},
	{"times count once, in whatever order", times_count_once},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static CU_SuiteInfo suites[] = {
		{"message", NULL, NULL, NULL, NULL, message_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
