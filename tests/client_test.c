/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the client library against a fake agent: whatever goes wrong, each tuple comes once. */
#include <string.h>

#include "tests/client-bed.h"
#include "tests/tap.h"

#define SEEDS 6

static uint64_t written(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < FAKE_LEAVES; i++)
		for (unsigned e = 0; e < FAKE_ELEMENTS; e++)
			sum += fake_report()->written[i][e];
	return sum;
}

/* Until nothing goes wrong any more, and nobody owes anything. */
static void follow(uint64_t waves)
{
	struct evspace_counts n;
	uint64_t quiet = 0, events;

	memset(&client_bed_seen, 0, sizeof(client_bed_seen));
	do {
		events = client_bed_seen.events;
		if (!client_bed_next())
			return;
		evspace_counts(client_bed, &n);
		quiet = events == client_bed_seen.events && n.owing == 0 ? quiet + 1 : 0;
	} while (evspace_wave(client_bed)->number < waves + 100 || quiet < 10);
	CU_ASSERT_EQUAL(client_bed_seen.wrong, 0);
	CU_ASSERT_EQUAL(client_bed_seen.twice, 0);
	CU_ASSERT_EQUAL(client_bed_seen.events, n.delivered);
	CU_ASSERT_EQUAL(n.delivered, n.read);
	CU_ASSERT_EQUAL(n.delivered + n.lost, written());
	CU_ASSERT_EQUAL(n.unaccounted, 0);
	CU_ASSERT_EQUAL(n.repeated, 0);
	CU_ASSERT_EQUAL(n.reconnections + 1, fake_report()->connections);
	CU_ASSERT_TRUE(fake_report()->same_id);
}

static void all_goes_well(void)
{
	static const struct fake_script script = {.seed = 1, .waves = 50};
	struct evspace_options options = {.view = "some", .backlog = 1};
	struct evspace_counts n;
	struct evspace_leaf leaf;
	int32_t members[8] = {0};

	client_bed_begin(&script, options);
	CU_ASSERT_STRING_EQUAL(evspace_run(client_bed), "the-run");
	CU_ASSERT_PTR_NULL(evspace_wave(client_bed));
	follow(script.waves);
	evspace_counts(client_bed, &n);
	CU_ASSERT_EQUAL(client_bed_seen.out_of_order, 0);
	CU_ASSERT_EQUAL(n.lost, 0);
	CU_ASSERT_EQUAL(n.again, 0);
	CU_ASSERT_EQUAL(n.leaves, FAKE_LEAVES);
	CU_ASSERT_EQUAL(n.cpu_us, 5 * n.waves);
	CU_ASSERT_TRUE(n.received_bytes > n.delivered * 40);
	CU_ASSERT_EQUAL(evspace_wave(client_bed)->number, n.waves);
	CU_ASSERT_EQUAL(evspace_wave(client_bed)->answered, FAKE_LEAVES);
	CU_ASSERT_EQUAL(evspace_wave(client_bed)->processes, FAKE_LEAVES);
	CU_ASSERT_EQUAL(fake_report()->under_way_most, 1);
	CU_ASSERT_EQUAL(evspace_leaf(client_bed, FAKE_LEAVES, &leaf), 0);
	CU_ASSERT_EQUAL(evspace_leaf(client_bed, 2, &leaf), 1);
	CU_ASSERT_STRING_EQUAL(leaf.name, "/c/n3");
	CU_ASSERT_EQUAL(leaf.read, fake_report()->written[2][0] + fake_report()->written[2][1]);
	CU_ASSERT_EQUAL(evspace_members(client_bed, 7, members, 8), 3);
	CU_ASSERT_EQUAL(members[2], 4);
	CU_ASSERT_EQUAL(evspace_members(client_bed, 8, members, 8), 0);
	CU_ASSERT_FALSE(evspace_is_world(client_bed, 7));
	client_bed_end();
}

static void what_is_late_comes_in_order(void)
{
	struct fake_script script = {.waves = 300, .odds = {.late = 10, .cut = 2, .held = 10}};
	struct evspace_options options = {.window = 8, .backlog = 1};

	for (script.seed = 1; script.seed <= SEEDS; script.seed++) {
		client_bed_begin(&script, options);
		follow(script.waves);
		CU_ASSERT_EQUAL(client_bed_seen.out_of_order, 0);
		client_bed_end();
	}
}

/* @allowed: by the map; 0: any. */
static void much_goes_wrong(unsigned window, unsigned allowed)
{
	struct fake_script script = {
		.waves = 300,
		.window = allowed,
		.odds = {.late = 10,
			 .late_again = 10,
			 .down = 2,
			 .cut = 3,
			 .twice = 5,
			 .held = window > 1 ? 10 : 0},
	};
	struct evspace_options options = {.window = window, .backlog = 1};

	for (script.seed = 1; script.seed <= SEEDS; script.seed++) {
		client_bed_begin(&script, options);
		follow(script.waves);
		CU_ASSERT_TRUE(fake_report()->under_way_most <= (allowed ? allowed : window));
		client_bed_end();
	}
}

static void much_goes_wrong_one_by_one(void)
{
	much_goes_wrong(1, 0);
}

static void much_goes_wrong_under_way(void)
{
	much_goes_wrong(32, 0);
}

static void much_goes_wrong_in_a_window_of_the_map(void)
{
	much_goes_wrong(32, 3);
}

static void what_is_overwritten_meanwhile_is_counted(void)
{
	struct fake_script script = {
		.waves = 200,
		.odds = {.late = 15, .cut = 2, .overwritten = 50},
	};
	struct evspace_options options = {.window = 4, .backlog = 1};
	struct evspace_counts n;

	for (script.seed = 1; script.seed <= SEEDS; script.seed++) {
		client_bed_begin(&script, options);
		follow(script.waves);
		evspace_counts(client_bed, &n);
		CU_ASSERT_TRUE(n.lost > 0 && n.again > 0);
		client_bed_end();
	}
}

/* A leaf that comes late in every other wave, for longer than it can remember. */
static void a_leaf_may_be_late_for_long(void)
{
	static const struct fake_script script = {
		.seed = 5, .waves = 400, .odds = {.late = 70, .late_again = 50}};
	struct evspace_options options = {.window = 8, .backlog = 1};

	client_bed_begin(&script, options);
	follow(script.waves);
	client_bed_end();
}

/* Where the way has become slow, what was read before that takes longer than waves have. */
static void what_is_asked_for_again_has_longer(void)
{
	static const struct fake_script script = {
		.seed = 7, .waves = 100, .odds = {.late = 10}, .again_ms = 5000};
	struct evspace_options options = {.window = 4, .backlog = 1};

	client_bed_begin(&script, options);
	follow(script.waves);
	client_bed_end();
}

/* Answers that nobody asked for, and numbers that were there already. */
static bool send_more(struct link *link, const Evspace__Ask *ask)
{
	fake_answer(link, ask->wave + 100, 0, 5);
	fake_answer(link, ask->wave, 0, (uint32_t)ask->wave * 10);
	fake_answer(link, ask->wave, 0, 5);
	return true;
}

static void repeats_are_taken_out(void)
{
	static const struct fake_script script = {.ask = send_more};
	struct evspace_options options = {.backlog = 1};
	struct evspace_counts n;
	struct evspace_event ev;

	client_bed_begin(&script, options);
	for (uint64_t wave = 1; wave <= 3; wave++) {
		CU_ASSERT_EQUAL_FATAL(evspace_next(client_bed, CLIENT_BED_TIMEOUT_MS), 1);
		for (uint64_t number = wave * 10 - 10; number < wave * 10; number++) {
			CU_ASSERT_EQUAL(evspace_event(client_bed, &ev), 1);
			CU_ASSERT_EQUAL(ev.number, number);
			CU_ASSERT_EQUAL(ev.bytes, number * 100 + 10);
		}
		CU_ASSERT_EQUAL(evspace_event(client_bed, &ev), 0);
	}
	evspace_counts(client_bed, &n);
	CU_ASSERT_EQUAL(n.delivered, 30);
	CU_ASSERT_EQUAL(n.read, 30);
	CU_ASSERT_EQUAL(n.repeated, 10 + 20);
	client_bed_end();
}

static bool send_gap(struct link *link, const Evspace__Ask *ask)
{
	fake_answer(link, ask->wave, ask->wave * 10, 8);
	return true;
}

static void gaps_are_told(void)
{
	static const struct fake_script script = {.ask = send_gap};
	struct evspace_options options = {.backlog = 0};
	struct evspace_counts n;

	client_bed_begin(&script, options);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL_FATAL(evspace_next(client_bed, CLIENT_BED_TIMEOUT_MS), 1);
	evspace_counts(client_bed, &n);
	CU_ASSERT_EQUAL(n.unaccounted, 4);
	/* but hosts 2 and 3 were in none of them, and may have them still */
	CU_ASSERT_EQUAL(n.owing, 2);
	client_bed_end();
}

int main(void)
{
	static CU_TestInfo streams[] = {
		{"all goes well", all_goes_well},
		{"what is late comes in order", what_is_late_comes_in_order},
		{"much goes wrong, one wave at a time", much_goes_wrong_one_by_one},
		{"much goes wrong, 32 waves under way", much_goes_wrong_under_way},
		{"much goes wrong in a window of the map", much_goes_wrong_in_a_window_of_the_map},
		{"what is overwritten meanwhile is counted",
		 what_is_overwritten_meanwhile_is_counted},
		{"a leaf may be late for long", a_leaf_may_be_late_for_long},
		{"what is asked for again has longer", what_is_asked_for_again_has_longer},
		{"repeats are taken out", repeats_are_taken_out},
		{"gaps are told", gaps_are_told},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "streams", .pTests = streams, .pCleanupFunc = fake_clean},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
