/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how much a client holds of waves that nobody takes: what peers send does not decide it. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client.h"
#include "consumers/client/evspace-loop.h"
#include "tests/fake.h"
#include "tests/tap.h"
#include "tree/data/clock.h"
#include "tree/data/columns-batch.h"
#include "tree/data/names.h"

#define WAVES	24u
#define WAIT_NS UINT64_C(60000000000)

/* Runs of a wave, and tuples of each. */
#define RUNS  24u
#define COUNT UINT16_MAX

/* ---- the agent: these run in its process ---- */

static void part_put(struct batch *body, uint64_t wave, uint64_t read)
{
	*(struct part *)batch_add(body, RUN_PART, 1, wave, 1, 0) =
		(struct part){.clock = CLOCK_LINE_NS, .read = read};
}

static void answer_send(struct link *link, uint64_t wave, struct batch *body)
{
	Evspace__Answer a = EVSPACE__ANSWER__INIT;

	a.scope = 1;
	a.wave = wave;
	a.leaves = 1;
	link_send(link, &WIRE_FRAME(ANSWER, answer, &a), body);
}

/* 60 MiB of tuples that are all alike: next to nothing on the wire. */
static bool answer_packed(struct link *link, const Evspace__Ask *ask)
{
	for (uint64_t wave = ask->wave; wave < ask->wave + ask->count; wave++) {
		struct batch body;

		batch_init(&body);
		part_put(&body, wave, RUNS * COUNT);
		for (uint64_t i = 0; i < RUNS; i++)
			memset(batch_add(&body, RUN_TUPLES, name_id(1, 0),
					 ((wave - 1) * RUNS + i) * COUNT, COUNT, 0),
			       0, COUNT * sizeof(struct tuple));
		columns_batch_pack(&body);
		answer_send(link, wave, &body);
		batch_fini(&body);
	}
	return true;
}

/* 7.5 MiB that are as many on the wire. */
static bool answer_plain(struct link *link, const Evspace__Ask *ask)
{
	for (uint64_t wave = ask->wave; wave < ask->wave + ask->count; wave++) {
		struct batch body;

		batch_init(&body);
		part_put(&body, wave, RUNS / 8 * COUNT);
		for (uint64_t i = 0; i < RUNS / 8; i++)
			memset(batch_add(&body, RUN_TUPLES, name_id(1, 0), 0, COUNT, 0), 1,
			       COUNT * sizeof(struct tuple));
		answer_send(link, wave, &body);
		batch_fini(&body);
	}
	return true;
}

/* ---- the consumer ---- */

static size_t memory(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void not_told(struct evspace_client *client, enum evspace_news news, void *arg)
{
	(void)client;
	(void)news;
	(void)arg;
}

/* Waves that have come and wait to be taken. */
static unsigned waiting(const struct evspace_client *client)
{
	unsigned n = 0;

	for (uint64_t w = client->next_take; w < client->next_ask; w++)
		n += client->slots[w % CLIENT_WINDOW_MAX].here;
	return n;
}

/* Let as many come as are asked for, and take none. */
static void let_come(struct evspace_connection *connection, struct evspace_client *client)
{
	const uint64_t until = clock_mono_ns() + WAIT_NS;

	while (waiting(client) < WAVES && clock_mono_ns() < until)
		(void)evspace_wait(connection, 20);
	CU_ASSERT_EQUAL(waiting(client), WAVES);
}

static struct evspace_client *begin(const struct fake_script *script, double rate_hz, pid_t *agent,
				    struct evspace_connection **connection)
{
	struct evspace_options options = {
		.view = "events", .window = WAVES, .backlog = 1, .rate_hz = rate_hz};
	struct evspace_client *client;

	*agent = fake_start(script, &options.connect);
	*connection = evspace_connect(&options);
	client = evspace_open_on(*connection, &options, not_told, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(client);
	return client;
}

static void end(struct evspace_connection *connection, pid_t agent)
{
	evspace_disconnect(connection);
	fake_stop(agent);
}

static void columns_are_opened_one_by_one(void)
{
	static const struct fake_script script = {.ask = answer_packed, .lone = true};
	struct evspace_connection *connection;
	struct evspace_event ev;
	struct evspace_counts n;
	size_t before = memory();
	pid_t agent;
	struct evspace_client *client = begin(&script, 0, &agent, &connection);
	uint64_t events = 0;

	let_come(connection, client);
	CU_ASSERT(memory() < before + (16u << 20));
	tap_note("%zu KiB for %u waves that wait", (memory() - before) >> 10, WAVES);
	for (unsigned i = 0; i < WAVES; i++) {
		CU_ASSERT_EQUAL_FATAL(evspace_next(client, 0), 1);
		CU_ASSERT_EQUAL(evspace_wave(client)->number, i + 1);
		while (evspace_event(client, &ev))
			events += ev.number == events;
		CU_ASSERT(memory() < before + 3 * (64u << 20));
	}
	CU_ASSERT_EQUAL(events, (uint64_t)WAVES * RUNS * COUNT);
	evspace_counts(client, &n);
	CU_ASSERT_EQUAL(n.unaccounted, 0);
	CU_ASSERT_EQUAL(n.delivered, events);
	end(connection, agent);
}

static void what_waits_is_bounded(void)
{
	static const struct fake_script script = {
		.ask = answer_plain, .latest = true, .lone = true};
	struct evspace_connection *connection;
	size_t before = memory();
	struct evspace_counts n;
	pid_t agent;
	/* one by one, as no agent holds all of them for a client */
	struct evspace_client *client = begin(&script, 20, &agent, &connection);
	unsigned whole = 0;

	let_come(connection, client);
	evspace_counts(client, &n);
	CU_ASSERT(memory() < before + CLIENT_HELD_MOST + (48u << 20));
	tap_note("%zu MiB of %zu MiB that came", (memory() - before) >> 20,
		 (size_t)n.received_bytes >> 20);
	CU_ASSERT(n.received_bytes > CLIENT_HELD_MOST);
	for (unsigned i = 0; i < WAVES; i++) {
		const struct evspace_wave *w;

		CU_ASSERT_EQUAL_FATAL(evspace_next(client, 0), 1);
		w = evspace_wave(client);
		CU_ASSERT_EQUAL(w->answered + w->n_missing, 1);
		CU_ASSERT_EQUAL(w->sure, w->n_missing == 0);
		whole += w->answered;
		if (w->n_missing == 0)
			continue;
		CU_ASSERT_STRING_EQUAL(w->missing[0].why, "refused");
		CU_ASSERT_PTR_NOT_NULL(
			strstr(w->missing[0].reason, "MiB of waves that came before wait here"));
	}
	CU_ASSERT_EQUAL(whole, CLIENT_HELD_MOST / ((RUNS / 8) * COUNT * sizeof(struct tuple)));
	/* there is room again */
	let_come(connection, client);
	CU_ASSERT_EQUAL_FATAL(evspace_next(client, 0), 1);
	CU_ASSERT_EQUAL(evspace_wave(client)->n_missing, 0);
	end(connection, agent);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"columns are opened when their wave is taken", columns_are_opened_one_by_one},
		{"what waits to be taken is bounded", what_waits_is_bounded},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "what clients hold", .pTests = cases, .pCleanupFunc = fake_clean},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
