/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests connections in event loops: many views and questions on one, whatever their users do. */
#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake.h"
#include "tests/loop-bed.h"
#include "tests/tap.h"

#define VIEWS	20
#define THREADS 4
#define WAVES	50

static struct loop_bed_view views[VIEWS];
static struct loop_bed_question questions[VIEWS];

static void begin(void)
{
	memset(views, 0, sizeof(views));
	memset(questions, 0, sizeof(questions));
	loop_bed_begin();
}

/* Have all that read got so many waves? */
static bool all_have(void *arg)
{
	for (unsigned i = 0; i < VIEWS; i++) {
		if (views[i].client && views[i].reads && views[i].taken < *(uint64_t *)arg)
			return false;
	}
	return true;
}

static bool is_answered(void *arg)
{
	return ((struct loop_bed_question *)arg)->answered > 0;
}

static bool is_ended(void *arg)
{
	return ((struct loop_bed_view *)arg)->ended > 0;
}

static void views_are_whole(void)
{
	for (unsigned i = 0; i < VIEWS; i++) {
		CU_ASSERT_EQUAL(views[i].opened, 1);
		CU_ASSERT_EQUAL(views[i].ended, 0);
		CU_ASSERT_EQUAL(views[i].events, views[i].taken * LOOP_BED_TUPLES);
	}
}

/* ---- loops ---- */

static void many_share_a_connection(void)
{
	struct evspace_connection *connection;
	uint64_t waves = WAVES;

	begin();
	connection = loop_bed_connect(0);
	for (unsigned i = 0; i < VIEWS; i++) {
		loop_bed_open(connection, &views[i], true);
		evspace_status(connection, loop_bed_answered, &questions[i]);
	}
	CU_ASSERT_EQUAL(loop_bed_turn(connection, all_have, &waves), 0);
	CU_ASSERT(all_have(&waves));
	views_are_whole();
	for (unsigned i = 0; i < VIEWS; i++) {
		CU_ASSERT_EQUAL(questions[i].answered, 1);
		CU_ASSERT_EQUAL(questions[i].failure, EVSPACE_FINE);
		CU_ASSERT_EQUAL(questions[i].pid, 42);
	}
	CU_ASSERT_EQUAL(fake_report()->connections, 1);
	evspace_close(views[3].client);
	views[3].client = NULL;
	waves += 10;
	CU_ASSERT_EQUAL(loop_bed_turn(connection, all_have, &waves), 0);
	evspace_disconnect(connection);
	loop_bed_kill();
}

static void a_base_of_libevent_will_do(void)
{
	struct event_base *base = event_base_new();
	struct evspace_connection *connection;
	struct evspace_options options;
	uint64_t waves = WAVES;

	begin();
	options = loop_bed_options(0);
	connection = evspace_connect_on(base, &options);
	CU_ASSERT_EQUAL(evspace_fd(connection), -1);
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_EQUAL(evspace_wait(connection, -1), -1);
	for (unsigned i = 0; i < VIEWS; i++)
		loop_bed_open(connection, &views[i], true);
	while (!all_have(&waves) && event_base_loop(base, EVLOOP_ONCE) == 0)
		;
	views_are_whole();
	evspace_disconnect(connection);
	CU_ASSERT_EQUAL(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0);
	event_base_free(base);
	loop_bed_kill();
}

static void waiting_is_a_loop_too(void)
{
	struct evspace_connection *connection;

	begin();
	connection = loop_bed_connect(0);
	CU_ASSERT_EQUAL(evspace_wait(connection, 1), 0);
	evspace_status(connection, loop_bed_answered, &questions[0]);
	CU_ASSERT_EQUAL(evspace_wait(connection, -1), 1);
	CU_ASSERT_EQUAL(questions[0].answered, 1);
	evspace_disconnect(connection);
	loop_bed_kill();
}

/* Whatever waits is bounded, and nobody else waits for it. */
static void who_does_not_read_holds_up_nobody(void)
{
	struct evspace_connection *connection;
	uint64_t waves = 20 * WAVES;

	begin();
	connection = loop_bed_connect(0);
	loop_bed_open(connection, &views[0], false); /* scope 1 */
	loop_bed_open(connection, &views[1], true);
	loop_bed_open(connection, &views[2], true);
	CU_ASSERT_EQUAL(loop_bed_turn(connection, all_have, &waves), 0);
	CU_ASSERT(all_have(&waves));
	CU_ASSERT_EQUAL(views[0].waves, 1);
	CU_ASSERT_EQUAL(loop_bed_agent->asks[1], 1);
	/* it goes on when it reads */
	CU_ASSERT_EQUAL(evspace_next(views[0].client, -1), 1);
	views[0].taken = 1;
	views[0].reads = true;
	waves += WAVES;
	views[0].taken = 20 * WAVES;
	CU_ASSERT_EQUAL(loop_bed_turn(connection, all_have, &waves), 0);
	CU_ASSERT(loop_bed_agent->asks[1] > WAVES);
	evspace_disconnect(connection);
	loop_bed_kill();
}

/* ---- ends ---- */

static void an_end_is_told_once(void)
{
	struct evspace_connection *connection;
	uint64_t waves = 1;

	begin();
	connection = loop_bed_connect(100);
	for (unsigned i = 0; i < VIEWS; i++)
		loop_bed_open(connection, &views[i], i % 2 == 0);
	CU_ASSERT_EQUAL(loop_bed_turn(connection, all_have, &waves), 0);
	loop_bed_agent->mute = true;
	for (unsigned i = 0; i < VIEWS; i++)
		evspace_status(connection, loop_bed_answered, &questions[i]);
	CU_ASSERT_EQUAL(evspace_wait(connection, 50) >= 0, 1);
	loop_bed_kill();
	CU_ASSERT_EQUAL(loop_bed_turn(connection, is_ended, &views[0]), -1);
	for (unsigned i = 0; i < VIEWS; i++) {
		CU_ASSERT_EQUAL(views[i].ended, 1);
		CU_ASSERT_EQUAL(views[i].failure, EVSPACE_NO_CONNECTION);
		CU_ASSERT_PTR_NOT_NULL(strstr(views[i].why, "agent.sock"));
		CU_ASSERT_EQUAL(questions[i].answered, 1);
		CU_ASSERT_EQUAL(questions[i].failure, EVSPACE_NO_CONNECTION);
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(evspace_trouble(connection), "agent.sock"));
	CU_ASSERT_EQUAL(evspace_dispatch(connection), -1);
	/* what comes after that is told, too */
	evspace_status(connection, loop_bed_answered, &questions[0]);
	evspace_close(views[0].client);
	loop_bed_open(connection, &views[0], true);
	(void)loop_bed_turn(connection, is_answered, &questions[1]);
	while (evspace_dispatch(connection) == 0)
		;
	CU_ASSERT_EQUAL(questions[0].answered, 2);
	CU_ASSERT_EQUAL(views[0].ended, 2);
	evspace_disconnect(connection);
}

static void a_break_is_mended(void)
{
	const struct evspace_options wrong = {.view = "wrong"};
	struct evspace_connection *connection;
	struct evspace_client *before;
	uint64_t waves = WAVES;

	begin();
	connection = loop_bed_connect(20000);
	before = evspace_open_on(connection, &wrong, NULL, NULL);
	for (unsigned i = 0; i < 3; i++)
		loop_bed_open(connection, &views[i], true);
	CU_ASSERT_EQUAL(loop_bed_turn(connection, all_have, &waves), 0);
	loop_bed_agent->mute = true;
	evspace_status(connection, loop_bed_answered, &questions[0]);
	loop_bed_kill();
	CU_ASSERT_EQUAL(loop_bed_turn(connection, is_answered, &questions[0]), 0);
	CU_ASSERT_EQUAL(questions[0].failure, EVSPACE_NO_CONNECTION);
	/* asked while nobody is there */
	evspace_status(connection, loop_bed_answered, &questions[1]);
	loop_bed_begin();
	CU_ASSERT_EQUAL(loop_bed_turn(connection, is_answered, &questions[1]), 0);
	CU_ASSERT_EQUAL(questions[1].pid, 42);
	waves += WAVES;
	CU_ASSERT_EQUAL(loop_bed_turn(connection, all_have, &waves), 0);
	CU_ASSERT(all_have(&waves));
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT(views[i].opened == 1 && views[i].ended == 0);
	/* what had ended before has not ended by it */
	CU_ASSERT_STRING_EQUAL(evspace_why(before), "no such view");
	evspace_disconnect(connection);
	loop_bed_kill();
}

static void nobody_there_is_told(void)
{
	struct evspace_options options = {.connect = "unix:/nowhere/agent.sock"};
	struct evspace_connection *connection = evspace_connect(&options);

	memset(views, 0, sizeof(views));
	memset(questions, 0, sizeof(questions));
	loop_bed_open(connection, &views[0], true);
	evspace_status(connection, loop_bed_answered, &questions[0]);
	CU_ASSERT_EQUAL(loop_bed_turn(connection, is_ended, &views[0]), -1);
	CU_ASSERT_EQUAL(views[0].failure, EVSPACE_NO_CONNECTION);
	CU_ASSERT_EQUAL(questions[0].answered, 1);
	CU_ASSERT_EQUAL(questions[0].failure, EVSPACE_NO_CONNECTION);
	evspace_disconnect(connection);
	evspace_disconnect(NULL);
	evspace_cancel(NULL);
}

static void what_is_wrong_is_told(void)
{
	static const char *const classes[] = {"nonsense"};
	const struct evspace_among all = {.run = "some"};
	const struct evspace_options wrong = {.define = "all reduce nonsense"};
	struct evspace_connection *connection;

	begin();
	connection = loop_bed_connect(0);
	loop_bed_open(connection, &views[0], true);
	evspace_close(views[0].client);
	views[0].client = evspace_open_on(connection, &wrong, NULL, NULL);
	CU_ASSERT_EQUAL(evspace_failed(views[0].client), EVSPACE_WRONG);
	CU_ASSERT_PTR_NOT_NULL(strstr(evspace_why(views[0].client), "nonsense"));
	evspace_switch(connection, &all, classes, 1, EVSPACE_OFF, loop_bed_answered, &questions[0]);
	evspace_switch(connection, &all, NULL, 0, EVSPACE_OFF, loop_bed_answered, &questions[1]);
	CU_ASSERT_EQUAL(loop_bed_turn(connection, is_answered, &questions[1]), 0);
	CU_ASSERT_EQUAL(questions[0].failure, EVSPACE_WRONG);
	CU_ASSERT_PTR_NOT_NULL(strstr(questions[0].why, "'nonsense' is not a class"));
	CU_ASSERT_EQUAL(questions[1].failure, EVSPACE_NO_CONNECTION);
	CU_ASSERT_STRING_EQUAL(questions[1].why, "watcher may not switch");
	evspace_cancel(evspace_status(connection, loop_bed_answered, &questions[2]));
	evspace_status(connection, loop_bed_answered, &questions[3]);
	CU_ASSERT_EQUAL(loop_bed_turn(connection, is_answered, &questions[3]), 0);
	CU_ASSERT_EQUAL(questions[2].answered, 0);
	evspace_disconnect(connection);
	loop_bed_kill();
}

static bool are_closed(void *arg)
{
	return loop_bed_agent->closes >= *(unsigned *)arg;
}

/* The agent would keep them open as long as the connection. */
static void who_closes_at_once_is_closed_there(void)
{
	struct evspace_connection *connection;
	uint64_t waves = 1;
	unsigned closes = 2;

	begin();
	connection = loop_bed_connect(0);
	loop_bed_open(connection, &views[0], true);
	CU_ASSERT_EQUAL(loop_bed_turn(connection, all_have, &waves), 0);
	for (unsigned i = 1; i <= closes; i++) {
		loop_bed_open(connection, &views[i], true);
		evspace_close(views[i].client);
		views[i].client = NULL;
	}
	CU_ASSERT_EQUAL(loop_bed_turn(connection, are_closed, &closes), 0);
	CU_ASSERT_EQUAL(loop_bed_agent->closes, 2);
	evspace_disconnect(connection);
	loop_bed_kill();
}

/* ---- from within ---- */

static void close_itself(struct loop_bed_view *view, enum evspace_news news)
{
	if (news != EVSPACE_WAVE)
		return;
	evspace_close(view->client);
	view->client = NULL;
}

static void close_next(struct loop_bed_view *view, enum evspace_news news)
{
	struct loop_bed_view *next = view + 1;

	if (news != EVSPACE_WAVE || !next->client)
		return;
	evspace_close(next->client);
	next->client = NULL;
}

static void end_connection(struct loop_bed_view *view, enum evspace_news news)
{
	if (news == EVSPACE_WAVE)
		evspace_disconnect(view->of);
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static void views_close_from_within(void)
{
	struct evspace_connection *connection;
	uint64_t waves = WAVES;

	begin();
	connection = loop_bed_connect(0);
	for (unsigned i = 0; i < VIEWS; i++) {
		loop_bed_open(connection, &views[i], true);
		views[i].instead = i % 5 == 0 ? close_itself : i % 5 == 1 ? close_next : NULL;
	}
	CU_ASSERT_EQUAL(loop_bed_turn(connection, all_have, &waves), 0);
	for (unsigned i = 0; i < VIEWS; i++) {
		CU_ASSERT_EQUAL(views[i].client == NULL, i % 5 == 0 || i % 5 == 2);
		CU_ASSERT_EQUAL(views[i].ended, 0);
		views[i].instead = NULL;
	}
	/* and with one in the middle the connection itself */
	views[8].instead = end_connection;
	views[8].of = connection;
	CU_ASSERT_EQUAL(loop_bed_turn(connection, never, NULL), -1);
	loop_bed_kill();
}

static bool answered_and_ended;

static void end_by_answer(const struct evspace_reply *reply, void *connection)
{
	CU_ASSERT_PTR_NOT_NULL(reply->status);
	answered_and_ended = true;
	evspace_disconnect(connection);
	CU_ASSERT_EQUAL(reply->status->pid, 42);
}

static void an_answer_ends_the_connection(bool of_libevent)
{
	struct event_base *base = of_libevent ? event_base_new() : NULL;
	struct evspace_connection *connection;
	struct evspace_options options;

	begin();
	answered_and_ended = false;
	options = loop_bed_options(0);
	connection = base ? evspace_connect_on(base, &options) : evspace_connect(&options);
	for (unsigned i = 0; i < VIEWS; i++)
		loop_bed_open(connection, &views[i], true);
	evspace_status(connection, end_by_answer, connection);
	if (base)
		event_base_dispatch(base); /* ends as nothing is left in it */
	else
		CU_ASSERT_EQUAL(loop_bed_turn(connection, never, NULL), -1);
	CU_ASSERT(answered_and_ended);
	if (base)
		event_base_free(base);
	loop_bed_kill();
}

static void answers_end_connections(void)
{
	an_answer_ends_the_connection(false);
	an_answer_ends_the_connection(true);
}

/* ---- threads ---- */

struct own {
	pthread_t thread;
	struct loop_bed_view views[3];
	struct loop_bed_question question;
	uint64_t waves;
};

static bool own_is_done(void *arg)
{
	const struct own *own = arg;

	for (unsigned i = 0; i < 3; i++) {
		if (own->views[i].taken < WAVES)
			return false;
	}
	return own->question.answered > 0;
}

/* A connection in a loop, made again and again, and one that waits. */
static void *thread_run(void *arg)
{
	struct own *own = arg;
	struct evspace_options options = loop_bed_options(0);
	enum evspace_failure failure;
	struct evspace_client *client;
	char why[300];

	for (unsigned again = 0; again < 3; again++) {
		struct evspace_connection *connection = loop_bed_connect(0);

		memset(own->views, 0, sizeof(own->views));
		for (unsigned i = 0; i < 3; i++)
			loop_bed_open(connection, &own->views[i], true);
		evspace_status(connection, loop_bed_answered, &own->question);
		(void)loop_bed_turn(connection, own_is_done, own);
		evspace_disconnect(connection);
	}
	options.view = "some";
	client = evspace_open(&options, &failure, why, sizeof(why));
	while (client && own->waves < WAVES && evspace_next(client, 20000) == 1)
		own->waves++;
	evspace_close(client);
	return NULL;
}

static void threads_have_their_own(void)
{
	static struct own own[THREADS];

	begin();
	for (unsigned i = 0; i < THREADS; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&own[i].thread, NULL, thread_run, &own[i]), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(own[i].thread, NULL);
		CU_ASSERT(own_is_done(&own[i]));
		CU_ASSERT_EQUAL(own[i].question.answered, 3);
		CU_ASSERT_EQUAL(own[i].waves, WAVES);
	}
	CU_ASSERT_EQUAL(fake_report()->connections, 4 * THREADS);
	loop_bed_kill();
}

int main(void)
{
	static CU_TestInfo loops[] = {
		{"many share a connection", many_share_a_connection},
		{"a base of libevent will do", a_base_of_libevent_will_do},
		{"waiting is a loop, too", waiting_is_a_loop_too},
		{"who does not read holds up nobody", who_does_not_read_holds_up_nobody},
		CU_TEST_INFO_NULL,
	};
	static CU_TestInfo ends[] = {
		{"an end is told once", an_end_is_told_once},
		{"a break is mended", a_break_is_mended},
		{"nobody there is told", nobody_there_is_told},
		{"what is wrong is told", what_is_wrong_is_told},
		{"who closes at once is closed there, too", who_closes_at_once_is_closed_there},
		{"views close from within", views_close_from_within},
		{"answers end connections", answers_end_connections},
		CU_TEST_INFO_NULL,
	};
	static CU_TestInfo threads[] = {
		{"threads have their own", threads_have_their_own},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "loops", .pTests = loops},
		{.pName = "ends", .pTests = ends},
		{.pName = "threads", .pTests = threads, .pCleanupFunc = fake_clean},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
