/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how a client gets on with its agent: refusals, absence, garbage, rates, signals. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/client-bed.h"
#include "tests/tap.h"
#include "tree/data/clock.h"
#include "tree/data/names-comm.h"
#include "tree/data/op.h"

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

	CU_ASSERT_PTR_NULL(client_bed_open(&runs, options, &failure, why));
	CU_ASSERT_EQUAL(failure, EVSPACE_WRONG);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "several runs are live: a b"));
	fake_stop(client_bed_agent);
	CU_ASSERT_PTR_NULL(client_bed_open(&role, options, &failure, why));
	CU_ASSERT_EQUAL(failure, EVSPACE_NO_CONNECTION);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "mallory"));
	fake_stop(client_bed_agent);
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

/* Before anything is asked of an agent. */
static void wrong_options_are_told(void)
{
	static const char *const bad[] = {"p2p"}, *const open[] = {"/**/rank[0-"};
	const struct {
		struct evspace_options options;
		const char *why;
	} wrong[] = {
		{{.select = bad, .n_select = 1}, "p2p"},
		{{.select = open, .n_select = 1}, "rank[0-"},
		{{.rate_hz = -5}, "a rate of -5"},
		{{.rate_hz = NAN}, "a rate of"},
		{{.window = 65}, "65 waves under way"},
		{{.deadline_ms = 99999999}, "a deadline of 99999999 ms"},
		{{.urgency = (enum evspace_urgency)77}, "an urgency of 77"},
		{{.compress = (enum evspace_compress)77}, "77 says nothing of compressing"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct evspace_options options = wrong[i].options;
		enum evspace_failure failure;
		char why[1024] = "";

		options.connect = "unix:/nowhere/agent.sock";
		CU_ASSERT_PTR_NULL(evspace_open(&options, &failure, why, sizeof(why)));
		CU_ASSERT_EQUAL(failure, EVSPACE_WRONG);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, wrong[i].why));
	}
}

static void an_agent_that_stays_away_ends_it(void)
{
	static const struct fake_script script = {.seed = 1, .waves = 1000};
	struct evspace_options options = {.patience_ms = 200};
	int rc;

	client_bed_begin(&script, options);
	client_bed_next();
	fake_stop(client_bed_agent);
	while ((rc = evspace_next(client_bed, CLIENT_BED_TIMEOUT_MS)) == 1)
		;
	CU_ASSERT_EQUAL(rc, -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(evspace_why(client_bed), client_bed_address));
	evspace_close(client_bed);
}

static void an_agent_that_comes_back_goes_on(void)
{
	static const struct fake_script script = {.seed = 1, .waves = 1000};
	struct evspace_options options = {.patience_ms = CLIENT_BED_TIMEOUT_MS};
	struct evspace_counts n;
	uint64_t wave;

	client_bed_begin(&script, options);
	client_bed_next();
	fake_stop(client_bed_agent);
	while (evspace_next(client_bed, 100) == 1)
		;
	wave = evspace_wave(client_bed)->number;
	client_bed_agent = fake_start(&script, &client_bed_address);
	/* Another process without cursors: its elements begin anew, and these numbers were there.
	 */
	CU_ASSERT_EQUAL(evspace_next(client_bed, CLIENT_BED_TIMEOUT_MS), 1);
	CU_ASSERT_TRUE(evspace_wave(client_bed)->number > wave);
	evspace_counts(client_bed, &n);
	CU_ASSERT_EQUAL(n.reconnections, 1);
	client_bed_end();
}

static bool send_garbage(struct link *link, const Evspace__Ask *ask)
{
	static const struct run broken = {.element = 1, .count = 7, .kind = RUN_TUPLES};
	Evspace__Answer a = EVSPACE__ANSWER__INIT;
	struct batch body;

	batch_init(&body);
	*(struct run *)batch_add(&body, RUN_TUPLES, 0, 0, 1, 0) = broken;
	a.scope = 1;
	a.wave = ask->wave;
	link_send(link, &WIRE_FRAME(ANSWER, answer, &a), &body);
	batch_fini(&body);
	return true;
}

static void garbage_does_no_harm(void)
{
	static const struct fake_script script = {.ask = send_garbage};
	struct evspace_options options = {.patience_ms = 300};

	client_bed_begin(&script, options);
	CU_ASSERT_EQUAL(evspace_next(client_bed, CLIENT_BED_TIMEOUT_MS), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(evspace_why(client_bed), "batch"));
	CU_ASSERT_TRUE(fake_report()->connections > 1);
	evspace_close(client_bed);
	fake_stop(client_bed_agent);
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

	client_bed_begin(&script, options);
	while (last < script.waves) {
		CU_ASSERT_EQUAL_FATAL(evspace_next(client_bed, CLIENT_BED_TIMEOUT_MS), 1);
		CU_ASSERT_TRUE(evspace_wave(client_bed)->number > last);
		last = evspace_wave(client_bed)->number;
		CU_ASSERT_EQUAL(evspace_wave(client_bed)->n_missing +
					evspace_wave(client_bed)->answered,
				FAKE_LEAVES);
		while (evspace_event(client_bed, &ev))
			;
	}
	evspace_counts(client_bed, &n);
	CU_ASSERT_EQUAL(n.again, 0);
	CU_ASSERT_EQUAL(n.unaccounted, 0);
	client_bed_end();
}

static void a_rate_is_kept(void)
{
	static const struct fake_script script = {.seed = 1, .waves = 1000};
	struct evspace_options options = {.rate_hz = 100, .window = 4};
	uint64_t began, took;

	/* The first wave comes at once. What is held up may be made up for, but none comes before
	 * its time; slower is the machine's affair. */
	began = clock_mono_ns();
	client_bed_begin(&script, options);
	for (unsigned i = 0; i < 21; i++)
		client_bed_next();
	took = clock_mono_ns() - began;
	CU_ASSERT_TRUE(took > 195000000);
	client_bed_end();
}

/* A communicator that is larger each time. */
static bool grow(struct link *link, const Evspace__Ask *ask)
{
	static int32_t members[NAMES_MEMBER_MAX];
	Evspace__Answer a = EVSPACE__ANSWER__INIT;
	Evspace__Comm comm = EVSPACE__COMM__INIT, *comms[] = {&comm};

	comm.id = 1;
	comm.size = NAMES_MEMBER_MAX - 1000 + (uint32_t)ask->wave;
	comm.n_members = comm.size;
	comm.members = members;
	a.scope = 1;
	a.wave = ask->wave;
	a.leaves = 1;
	a.comms = comms;
	a.n_comms = 1;
	link_send(link, &WIRE_FRAME(ANSWER, answer, &a), NULL);
	return true;
}

/* What an agent says that names stand for is bounded, which is told once. */
static void names_are_bounded(void)
{
	static const struct fake_script script = {.ask = grow};
	struct evspace_options options = {.view = "events"};
	enum { WAVES = NAMES_BYTES_MAX / (4 * NAMES_MEMBER_MAX) + 5 };
	int was = dup(STDERR_FILENO), fd = memfd_create("stderr", 0);
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	char said[1024] = "";

	client_bed_begin(&script, options);
	dup2(fd, STDERR_FILENO);
	for (int i = 0; i < WAVES; i++)
		CU_ASSERT_EQUAL(evspace_next(client_bed, CLIENT_BED_TIMEOUT_MS), 1);
	dup2(was, STDERR_FILENO);
	CU_ASSERT(pread(fd, said, sizeof(said) - 1, 0) >= 0);
	tap_note("%s", said);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "are left out from now on"));
	CU_ASSERT_PTR_EQUAL(strchr(said, '\n'), strrchr(said, '\n'));
	CU_ASSERT(mallinfo2().uordblks + mallinfo2().hblkhd <
		  before + NAMES_BYTES_MAX + NAMES_BYTES_MAX / 16);
	client_bed_end();
	close(was);
	close(fd);
}

static void on_alarm(int number)
{
	(void)number;
	evspace_stop(client_bed);
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

	client_bed_begin(&script, options);
	CU_ASSERT_EQUAL(evspace_next(client_bed, 10), 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	CU_ASSERT_EQUAL(evspace_next(client_bed, -1), 0);
	CU_ASSERT_EQUAL(evspace_next(client_bed, -1), 0);
	client_bed_end();
	CU_ASSERT_EQUAL(fake_report()->opens, 1);
}

int main(void)
{
	static CU_TestInfo connections[] = {
		{"refusals are told", refusals_are_told},
		{"no agent is told", no_agent_is_told},
		{"wrong options are told", wrong_options_are_told},
		{"an agent that stays away ends it", an_agent_that_stays_away_ends_it},
		{"an agent that comes back goes on", an_agent_that_comes_back_goes_on},
		{"garbage does no harm", garbage_does_no_harm},
		CU_TEST_INFO_NULL,
	};
	static CU_TestInfo waves[] = {
		{"the newest needs no asking again", the_newest_needs_no_asking_again},
		{"a rate is kept", a_rate_is_kept},
		{"names are bounded", names_are_bounded},
		{"a signal can stop it", a_signal_can_stop_it},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "connections", .pTests = connections},
		{.pName = "waves", .pTests = waves, .pCleanupFunc = fake_clean},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
