/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what consumers make of a connection that broke and was made again: of silence, and of
 * waves that they ask for once more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/evspace-client.h"
#include "tests/fake.h"
#include "tests/tap.h"
#include "tree/data/clock.h"

/* More than silence takes to be noticed. */
#define TIMEOUT_MS 20000

/* ---- the agent: these run in its process ---- */

static unsigned connections;

/* Connected and secured, it says no more: stopped, or its machine is. */
static bool open_in_silence(struct link *link, const Evspace__Open *open)
{
	(void)link;
	(void)open;
	return ++connections == 2;
}

static bool answer_once(struct link *link, const Evspace__Ask *ask)
{
	if (connections > 2)
		return false;
	fake_answer(link, ask->wave, 0, 5);
	fake_cut();
	return true;
}

static bool open_again(struct link *link, const Evspace__Open *open)
{
	(void)link;
	(void)open;
	connections++;
	return false;
}

/*
 * The program has ended. Waves 1 to 4 are asked for; the connection breaks behind the first one.
 * Asked for one by one, 2 and 3 are empty: an ask for the fourth has overtaken theirs, by another
 * way. What is left to read is in that.
 */
static bool answer_overtaken(struct link *link, const Evspace__Ask *ask)
{
	if (connections == 1) {
		fake_answer(link, 1, 0, 5);
		fake_cut();
		return true;
	}
	for (uint64_t wave = ask->wave; wave < ask->wave + ask->count; wave++) {
		if (wave == 4)
			fake_answer(link, wave, 5, 5);
		else
			fake_answer(link, wave, wave < 4 ? 5 : 10, 0);
	}
	return true;
}

/* ---- the consumer ---- */

static struct evspace_client *client;

static void begin(const struct fake_script *script, struct evspace_options options, pid_t *agent)
{
	enum evspace_failure failure;
	char why[1024] = "";

	*agent = fake_start(script, &options.connect);
	client = evspace_open(&options, &failure, why, sizeof(why));
	if (!client)
		tap_note("%s", why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(client);
}

static void end(pid_t agent)
{
	evspace_close(client);
	fake_stop(agent);
	CU_ASSERT_EQUAL(fake_report()->violations, 0);
}

static void silence_before_it_is_open_is_noticed(void)
{
	static const struct fake_script script = {.open = open_in_silence, .ask = answer_once};
	struct evspace_options options = {.backlog = 1};
	struct evspace_counts n;
	pid_t agent;

	begin(&script, options, &agent);
	CU_ASSERT_EQUAL_FATAL(evspace_next(client, TIMEOUT_MS), 1);
	CU_ASSERT_EQUAL(evspace_next(client, TIMEOUT_MS), 1);
	evspace_counts(client, &n);
	CU_ASSERT_EQUAL(n.reconnections, 1);
	CU_ASSERT_EQUAL(fake_report()->connections, 3);
	end(agent);
}

static void silence_ends_with_patience(void)
{
	static const struct fake_script script = {.open = open_in_silence, .ask = answer_once};
	struct evspace_options options = {.backlog = 1, .patience_ms = 1000};
	pid_t agent;

	begin(&script, options, &agent);
	CU_ASSERT_EQUAL_FATAL(evspace_next(client, TIMEOUT_MS), 1);
	CU_ASSERT_EQUAL(evspace_next(client, TIMEOUT_MS), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(evspace_why(client), "nothing has come for 5 s"));
	end(agent);
}

static void what_is_asked_for_once_more_is_not_sure(void)
{
	static const struct fake_script script = {
		.open = open_again, .ask = answer_overtaken, .lone = true};
	struct evspace_options options = {.backlog = 1, .window = 4};
	pid_t agent;

	begin(&script, options, &agent);
	for (uint64_t wave = 1; wave <= 6; wave++) {
		CU_ASSERT_EQUAL_FATAL(evspace_next(client, TIMEOUT_MS), 1);
		CU_ASSERT_EQUAL(evspace_wave(client)->number, wave);
		CU_ASSERT_EQUAL(evspace_wave(client)->sure, wave < 2 || wave > 4);
	}
	end(agent);
}

/* Run a command with the fake's address. Returns what it prints. */
static const char *command(const char *words, const char *address)
{
	static char text[16384];
	char line[512];
	FILE *from;
	size_t n;

	snprintf(line, sizeof(line), "timeout 60 evspace %s --connect %s 2>&1", words, address);
	from = popen(line, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(from);
	n = fread(text, 1, sizeof(text) - 1, from);
	text[n] = '\0';
	CU_ASSERT_EQUAL(pclose(from), 0);
	return text;
}

static void no_wave_but_a_sure_one_is_the_end(void)
{
	static const struct fake_script script = {
		.open = open_again, .ask = answer_overtaken, .lone = true};
	const char *said, *address;
	pid_t agent;

	agent = fake_start(&script, &address);
	said = command("events --backlog --until-end --rate max --window 4 --csv", address);
	if (!strstr(said, "\n10 tuples delivered"))
		tap_note("%s", said);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "\n10 tuples delivered"));
	fake_stop(agent);
	agent = fake_start(&script, &address);
	said = command("view events --until-end --rate max --window 4 --json", address);
	if (!strstr(said, "10 tuples read"))
		tap_note("%s", said);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "10 tuples read"));
	fake_stop(agent);
}

/* Without hosts, "as fast as they come" is no busy loop of the consumer and of the agent. */
static void where_nobody_is_waves_take_their_time(void)
{
	static const struct fake_script script = {
		.seed = 1, .waves = 1000000, .odds = {.down = 100}, .lone = true};
	struct evspace_options options = {.backlog = 1, .window = 1};
	uint64_t begun = clock_mono_ns(), empty = 0;
	pid_t agent;

	begin(&script, options, &agent);
	for (unsigned i = 0; i < 20; i++) {
		CU_ASSERT_EQUAL_FATAL(evspace_next(client, TIMEOUT_MS), 1);
		empty += evspace_wave(client)->answered == 0;
	}
	CU_ASSERT_TRUE(empty > 10);
	CU_ASSERT_TRUE(clock_mono_ns() - begun >= (empty - 1) * 100000000);
	end(agent);
}

int main(void)
{
	static CU_TestInfo silence[] = {
		{"silence before it is open is noticed", silence_before_it_is_open_is_noticed},
		{"silence ends with patience", silence_ends_with_patience},
		{"where nobody is waves take their time", where_nobody_is_waves_take_their_time},
		CU_TEST_INFO_NULL,
	};
	static CU_TestInfo ends[] = {
		{"what is asked for once more is not sure",
		 what_is_asked_for_once_more_is_not_sure},
		{"no wave but a sure one is the end", no_wave_but_a_sure_one_is_the_end},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "silence", .pTests = silence},
		{.pName = "ends", .pTests = ends, .pCleanupFunc = fake_clean},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
