/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the client library against a fake agent: whatever goes wrong, each tuple comes once. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "consumers/client/evspace-client.h"
#include "tests/fake.h"
#include "tests/tap.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"

#define SEEDS	   6
#define TIMEOUT_MS 20000

static struct evspace_client *client;
static pid_t agent;
static const char *address;

static struct evspace_client *open_with(const struct fake_script *script,
					struct evspace_options options,
					enum evspace_failure *failure, char why[1024])
{
	agent = fake_start(script, &address);
	options.connect = address;
	return evspace_open(&options, failure, why, 1024);
}

static void begin(const struct fake_script *script, struct evspace_options options)
{
	enum evspace_failure failure;
	char why[1024] = "";

	client = open_with(script, options, &failure, why);
	if (!client)
		tap_note("%s", why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(client);
}

static void end(void)
{
	evspace_close(client);
	client = NULL;
	fake_stop(agent);
	if (fake_report()->violations)
		tap_note("%u violations: %s", fake_report()->violations, fake_report()->violation);
	CU_ASSERT_EQUAL(fake_report()->violations, 0);
}

/* ---- what comes ---- */

/* Numbers that an element may reach. */
#define NUMBERS 8192

/* Which tuples have come. */
static struct {
	bool came[FAKE_LEAVES][FAKE_ELEMENTS][NUMBERS];
	uint64_t next[FAKE_LEAVES][FAKE_ELEMENTS];
	uint64_t events, wrong, twice, out_of_order;
} seen;

static void see(const struct evspace_event *ev)
{
	unsigned leaf, rank;
	char channel[16];
	int element = -1;

	if (sscanf(ev->name, "/c/n%u/rank%u/t0/%15s", &leaf, &rank, channel) == 3)
		element = channel_find(channel);
	CU_ASSERT_FATAL(element >= 0 && element < FAKE_ELEMENTS && leaf <= FAKE_LEAVES &&
			ev->number < NUMBERS);
	seen.wrong += ev->rank != (int32_t)rank || ev->start_ns != (int64_t)ev->number ||
		      ev->bytes != ev->number * 100 + leaf * 10 + (unsigned)element ||
		      strcmp(ev->op, "MPI_Send") != 0;
	seen.twice += seen.came[leaf - 1][element][ev->number];
	seen.came[leaf - 1][element][ev->number] = true;
	seen.out_of_order += ev->number < seen.next[leaf - 1][element];
	seen.next[leaf - 1][element] = ev->number + 1;
	seen.events++;
}

static bool next(void)
{
	struct evspace_event ev;
	int rc = evspace_next(client, TIMEOUT_MS);

	if (rc < 0)
		tap_note("%s", evspace_why(client));
	CU_ASSERT_EQUAL(rc, 1);
	if (rc != 1)
		return false;
	while (evspace_event(client, &ev))
		see(&ev);
	return true;
}

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

	memset(&seen, 0, sizeof(seen));
	do {
		events = seen.events;
		if (!next())
			return;
		evspace_counts(client, &n);
		quiet = events == seen.events && n.owing == 0 ? quiet + 1 : 0;
	} while (evspace_wave(client)->number < waves + 100 || quiet < 10);
	CU_ASSERT_EQUAL(seen.wrong, 0);
	CU_ASSERT_EQUAL(seen.twice, 0);
	CU_ASSERT_EQUAL(seen.events, n.delivered);
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

	begin(&script, options);
	CU_ASSERT_STRING_EQUAL(evspace_run(client), "the-run");
	CU_ASSERT_PTR_NULL(evspace_wave(client));
	follow(script.waves);
	evspace_counts(client, &n);
	CU_ASSERT_EQUAL(seen.out_of_order, 0);
	CU_ASSERT_EQUAL(n.lost, 0);
	CU_ASSERT_EQUAL(n.again, 0);
	CU_ASSERT_EQUAL(n.leaves, FAKE_LEAVES);
	CU_ASSERT_EQUAL(n.cpu_us, 5 * n.waves);
	CU_ASSERT_TRUE(n.received_bytes > n.delivered * 40);
	CU_ASSERT_EQUAL(evspace_wave(client)->number, n.waves);
	CU_ASSERT_EQUAL(evspace_wave(client)->answered, FAKE_LEAVES);
	CU_ASSERT_EQUAL(evspace_wave(client)->processes, FAKE_LEAVES);
	CU_ASSERT_EQUAL(fake_report()->under_way_most, 1);
	CU_ASSERT_EQUAL(evspace_leaf(client, FAKE_LEAVES, &leaf), 0);
	CU_ASSERT_EQUAL(evspace_leaf(client, 2, &leaf), 1);
	CU_ASSERT_STRING_EQUAL(leaf.name, "/c/n3");
	CU_ASSERT_EQUAL(leaf.read, fake_report()->written[2][0] + fake_report()->written[2][1]);
	CU_ASSERT_EQUAL(evspace_members(client, 7, members, 8), 3);
	CU_ASSERT_EQUAL(members[2], 4);
	CU_ASSERT_EQUAL(evspace_members(client, 8, members, 8), 0);
	CU_ASSERT_FALSE(evspace_is_world(client, 7));
	end();
}

static void what_is_late_comes_in_order(void)
{
	struct fake_script script = {.waves = 300, .odds = {.late = 10, .cut = 2, .held = 10}};
	struct evspace_options options = {.window = 8, .backlog = 1};

	for (script.seed = 1; script.seed <= SEEDS; script.seed++) {
		begin(&script, options);
		follow(script.waves);
		CU_ASSERT_EQUAL(seen.out_of_order, 0);
		end();
	}
}

static void much_goes_wrong(unsigned window)
{
	struct fake_script script = {
		.waves = 300,
		.odds = {.late = 10,
			 .late_again = 10,
			 .down = 2,
			 .cut = 3,
			 .twice = 5,
			 .held = window > 1 ? 10 : 0},
	};
	struct evspace_options options = {.window = window, .backlog = 1};

	for (script.seed = 1; script.seed <= SEEDS; script.seed++) {
		begin(&script, options);
		follow(script.waves);
		CU_ASSERT_TRUE(fake_report()->under_way_most <= window);
		end();
	}
}

static void much_goes_wrong_one_by_one(void)
{
	much_goes_wrong(1);
}

static void much_goes_wrong_under_way(void)
{
	much_goes_wrong(32);
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
		begin(&script, options);
		follow(script.waves);
		evspace_counts(client, &n);
		CU_ASSERT_TRUE(n.lost > 0 && n.again > 0);
		end();
	}
}

/* A leaf that comes late in every other wave, for longer than it can remember. */
static void a_leaf_may_be_late_for_long(void)
{
	static const struct fake_script script = {
		.seed = 5, .waves = 400, .odds = {.late = 70, .late_again = 50}};
	struct evspace_options options = {.window = 8, .backlog = 1};

	begin(&script, options);
	follow(script.waves);
	end();
}

/* Where the way has become slow, what was read before that takes longer than waves have. */
static void what_is_asked_for_again_has_longer(void)
{
	static const struct fake_script script = {
		.seed = 7, .waves = 100, .odds = {.late = 10}, .again_ms = 5000};
	struct evspace_options options = {.window = 4, .backlog = 1};

	begin(&script, options);
	follow(script.waves);
	end();
}

/* ---- one thing that goes wrong ---- */

static bool refuse_runs(struct link *link, const Evspace__Open *open)
{
	link_send_error(link, open->scope, ENOTUNIQ, "several runs are live: a b");
	return true;
}

static bool refuse_role(struct link *link, const Evspace__Open *open)
{
	link_send_error(link, open->scope, EACCES, "mallory may not observe");
	return true;
}

static void refusals_are_told(void)
{
	static const struct fake_script runs = {.open = refuse_runs}, role = {.open = refuse_role};
	struct evspace_options options = {.view = "events"};
	enum evspace_failure failure;
	char why[1024];

	CU_ASSERT_PTR_NULL(open_with(&runs, options, &failure, why));
	CU_ASSERT_EQUAL(failure, EVSPACE_WRONG);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "several runs are live: a b"));
	fake_stop(agent);
	CU_ASSERT_PTR_NULL(open_with(&role, options, &failure, why));
	CU_ASSERT_EQUAL(failure, EVSPACE_NO_CONNECTION);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "mallory"));
	fake_stop(agent);
}

static void no_agent_is_told(void)
{
	struct evspace_options options = {.connect = "unix:/nowhere/agent.sock"};
	enum evspace_failure failure;
	char why[1024];

	CU_ASSERT_PTR_NULL(evspace_open(&options, &failure, why, sizeof(why)));
	CU_ASSERT_EQUAL(failure, EVSPACE_NO_CONNECTION);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "/nowhere/agent.sock"));
}

static void an_agent_that_stays_away_ends_it(void)
{
	static const struct fake_script script = {.seed = 1, .waves = 1000};
	struct evspace_options options = {.patience_ms = 200};
	int rc;

	begin(&script, options);
	next();
	fake_stop(agent);
	while ((rc = evspace_next(client, TIMEOUT_MS)) == 1)
		;
	CU_ASSERT_EQUAL(rc, -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(evspace_why(client), address));
	evspace_close(client);
}

static void an_agent_that_comes_back_goes_on(void)
{
	static const struct fake_script script = {.seed = 1, .waves = 1000};
	struct evspace_options options = {.patience_ms = TIMEOUT_MS};
	struct evspace_counts n;
	uint64_t wave;

	begin(&script, options);
	next();
	fake_stop(agent);
	while (evspace_next(client, 100) == 1)
		;
	wave = evspace_wave(client)->number;
	agent = fake_start(&script, &address);
	/* Another process without cursors: its elements begin anew, and these numbers were there.
	 */
	CU_ASSERT_EQUAL(evspace_next(client, TIMEOUT_MS), 1);
	CU_ASSERT_TRUE(evspace_wave(client)->number > wave);
	evspace_counts(client, &n);
	CU_ASSERT_EQUAL(n.reconnections, 1);
	end();
}

static bool send_garbage(struct link *link, const Evspace__Ask *ask)
{
	static const struct run broken = {.element = 1, .count = 7, .kind = RUN_TUPLES};
	Evspace__Answer a = EVSPACE__ANSWER__INIT;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	struct batch body;

	batch_init(&body);
	*(struct run *)batch_add(&body, RUN_TUPLES, 0, 0, 1, 0) = broken;
	a.scope = 1;
	a.wave = ask->wave;
	frame.kind_case = EVSPACE__FRAME__KIND_ANSWER;
	frame.answer = &a;
	link_send(link, &frame, &body);
	batch_fini(&body);
	return true;
}

static void garbage_does_no_harm(void)
{
	static const struct fake_script script = {.ask = send_garbage};
	struct evspace_options options = {.patience_ms = 300};

	begin(&script, options);
	CU_ASSERT_EQUAL(evspace_next(client, TIMEOUT_MS), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(evspace_why(client), "batch"));
	CU_ASSERT_TRUE(fake_report()->connections > 1);
	evspace_close(client);
	fake_stop(agent);
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

	begin(&script, options);
	for (uint64_t wave = 1; wave <= 3; wave++) {
		CU_ASSERT_EQUAL_FATAL(evspace_next(client, TIMEOUT_MS), 1);
		for (uint64_t number = wave * 10 - 10; number < wave * 10; number++) {
			CU_ASSERT_EQUAL(evspace_event(client, &ev), 1);
			CU_ASSERT_EQUAL(ev.number, number);
			CU_ASSERT_EQUAL(ev.bytes, number * 100 + 10);
		}
		CU_ASSERT_EQUAL(evspace_event(client, &ev), 0);
	}
	evspace_counts(client, &n);
	CU_ASSERT_EQUAL(n.delivered, 30);
	CU_ASSERT_EQUAL(n.read, 30);
	CU_ASSERT_EQUAL(n.repeated, 10 + 20);
	end();
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

	begin(&script, options);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL_FATAL(evspace_next(client, TIMEOUT_MS), 1);
	evspace_counts(client, &n);
	CU_ASSERT_EQUAL(n.unaccounted, 4);
	/* but hosts 2 and 3 were in none of them, and may have them still */
	CU_ASSERT_EQUAL(n.owing, 2);
	end();
}

/* ---- how waves are asked for ---- */

static void the_newest_needs_no_asking_again(void)
{
	static const struct fake_script script = {
		.seed = 3,
		.waves = 200,
		.latest = true,
		.odds = {.late = 20, .down = 2, .cut = 2, .twice = 5, .held = 10},
	};
	struct evspace_options options = {.window = 4};
	struct evspace_counts n;
	struct evspace_event ev;
	uint64_t last = 0;

	begin(&script, options);
	while (last < script.waves) {
		CU_ASSERT_EQUAL_FATAL(evspace_next(client, TIMEOUT_MS), 1);
		CU_ASSERT_TRUE(evspace_wave(client)->number > last);
		last = evspace_wave(client)->number;
		CU_ASSERT_EQUAL(evspace_wave(client)->n_missing + evspace_wave(client)->answered,
				FAKE_LEAVES);
		while (evspace_event(client, &ev))
			;
	}
	evspace_counts(client, &n);
	CU_ASSERT_EQUAL(n.again, 0);
	CU_ASSERT_EQUAL(n.unaccounted, 0);
	end();
}

static void a_rate_is_kept(void)
{
	static const struct fake_script script = {.seed = 1, .waves = 1000};
	struct evspace_options options = {.rate_hz = 100, .window = 4};
	uint64_t began, took;

	/* The first wave comes at once. What is held up may be made up for, but none comes before
	 * its time; slower is the machine's affair. */
	began = clock_mono_ns();
	begin(&script, options);
	for (unsigned i = 0; i < 21; i++)
		next();
	took = clock_mono_ns() - began;
	CU_ASSERT_TRUE(took > 195000000);
	end();
}

static void on_alarm(int number)
{
	(void)number;
	evspace_stop(client);
}

static bool never(struct link *link, const Evspace__Ask *ask)
{
	(void)link;
	(void)ask;
	return true;
}

static void a_signal_can_stop_it(void)
{
	static const struct fake_script script = {.ask = never};
	struct evspace_options options = {.view = "events"};
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval soon = {.it_value = {0, 50000}};

	begin(&script, options);
	CU_ASSERT_EQUAL(evspace_next(client, 10), 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	CU_ASSERT_EQUAL(evspace_next(client, -1), 0);
	CU_ASSERT_EQUAL(evspace_next(client, -1), 0);
	end();
	CU_ASSERT_EQUAL(fake_report()->opens, 1);
}

int main(void)
{
	static CU_TestInfo streams[] = {
		{"all goes well", all_goes_well},
		{"what is late comes in order", what_is_late_comes_in_order},
		{"much goes wrong, one wave at a time", much_goes_wrong_one_by_one},
		{"much goes wrong, 32 waves under way", much_goes_wrong_under_way},
		{"what is overwritten meanwhile is counted",
		 what_is_overwritten_meanwhile_is_counted},
		{"a leaf may be late for long", a_leaf_may_be_late_for_long},
		{"what is asked for again has longer", what_is_asked_for_again_has_longer},
		{"repeats are taken out", repeats_are_taken_out},
		{"gaps are told", gaps_are_told},
		CU_TEST_INFO_NULL,
	};
	static CU_TestInfo connections[] = {
		{"refusals are told", refusals_are_told},
		{"no agent is told", no_agent_is_told},
		{"an agent that stays away ends it", an_agent_that_stays_away_ends_it},
		{"an agent that comes back goes on", an_agent_that_comes_back_goes_on},
		{"garbage does no harm", garbage_does_no_harm},
		CU_TEST_INFO_NULL,
	};
	static CU_TestInfo waves[] = {
		{"the newest needs no asking again", the_newest_needs_no_asking_again},
		{"a rate is kept", a_rate_is_kept},
		{"a signal can stop it", a_signal_can_stop_it},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "streams", .pTests = streams},
		{.pName = "connections", .pTests = connections},
		{.pName = "waves", .pTests = waves, .pCleanupFunc = fake_clean},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
