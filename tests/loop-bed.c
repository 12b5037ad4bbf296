/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake agent that serves many scopes and questions, and views that note what they are told. */
#include "tests/loop-bed.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/fake-words.h"
#include "tests/fake.h"
#include "tests/tap.h"
#include "tree/data/clock.h"

#define WITHIN_NS UINT64_C(20000000000)

struct loop_bed_agent *loop_bed_agent;
static const char *address;
static pid_t agent;

/* ---- the agent ---- */

static void serve_open(struct link *link, const Evspace__Open *open)
{
	Evspace__Leaf leaf = EVSPACE__LEAF__INIT, *leaves[] = {&leaf};
	Evspace__Opened o = EVSPACE__OPENED__INIT;

	leaf.index = 1;
	leaf.name = (char *)(uintptr_t) "/c/n1";
	o.scope = open->scope;
	o.run = (char *)(uintptr_t) "the-run";
	o.leaves = leaves;
	o.n_leaves = 1;
	o.reading = READ_STREAM;
	o.entry = (char *)(uintptr_t) "fake";
	if (strcmp(open->view, "wrong") == 0)
		link_send_error(link, open->scope, EINVAL, "no such view");
	else
		link_send(link, &WIRE_FRAME(OPENED, opened, &o), NULL);
}

static void serve_wave(struct link *link, uint32_t scope, uint64_t wave)
{
	Evspace__Answer a = EVSPACE__ANSWER__INIT;
	struct part *part, sum = {.clock = CLOCK_LINE_NS};
	struct batch body, runs;

	batch_init(&body);
	batch_init(&runs);
	a.scope = scope;
	a.wave = wave;
	a.leaves = 1;
	if (wave == 1)
		fake_words_names(&a);
	fake_words_run(&runs, &sum, 1, 0, (wave - 1) * LOOP_BED_TUPLES, wave * LOOP_BED_TUPLES, 0);
	sum.elements = 1;
	part = batch_add(&body, RUN_PART, 1, wave, 1, 0);
	*part = sum;
	batch_link(&body, &runs);
	link_send(link, &WIRE_FRAME(ANSWER, answer, &a), &body);
	batch_fini(&body);
	batch_fini(&runs);
}

static void serve_status(struct link *link)
{
	Evspace__Status status = EVSPACE__STATUS__INIT;

	status.node = (char *)(uintptr_t) "fake";
	status.pid = 42;
	link_send(link, &WIRE_FRAME(STATUS, status, &status), NULL);
}

static bool serve(struct link *link, const Evspace__Frame *f)
{
	switch (f->kind_case) {
	case EVSPACE__FRAME__KIND_OPEN:
		serve_open(link, f->open);
		return true;
	case EVSPACE__FRAME__KIND_ASK:
		loop_bed_agent->asks[f->ask->scope % LOOP_BED_SCOPES] += f->ask->count;
		for (uint64_t i = 0; i < f->ask->count; i++)
			serve_wave(link, f->ask->scope, f->ask->wave + i);
		return true;
	case EVSPACE__FRAME__KIND_CLOSE:
		loop_bed_agent->closes++;
		return true;
	case EVSPACE__FRAME__KIND_STATUS_ASK:
		if (!loop_bed_agent->mute)
			serve_status(link);
		return true;
	case EVSPACE__FRAME__KIND_SWITCH_ASK:
		link_send_error(link, f->switch_ask->scope, EACCES, "watcher may not switch");
		return true;
	default:
		return false;
	}
}

void loop_bed_begin(void)
{
	static const struct fake_script script = {.frame = serve};

	if (!loop_bed_agent)
		loop_bed_agent = mmap(NULL, sizeof(*loop_bed_agent), PROT_READ | PROT_WRITE,
				      /* cppcheck-suppress invalidFunctionArg ; anonymous memory */
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(loop_bed_agent != MAP_FAILED);
	memset(loop_bed_agent, 0, sizeof(*loop_bed_agent));
	agent = fake_start(&script, &address);
}

void loop_bed_kill(void)
{
	fake_stop(agent);
}

/* ---- its consumers ---- */

static void quiet(void *arg, const char *line)
{
	(void)arg;
	(void)line;
}

struct evspace_options loop_bed_options(unsigned patience_ms)
{
	return (struct evspace_options){
		.connect = address, .patience_ms = patience_ms, .backlog = 1, .log = quiet};
}

struct evspace_connection *loop_bed_connect(unsigned patience_ms)
{
	const struct evspace_options options = loop_bed_options(patience_ms);

	return evspace_connect(&options);
}

static void view_read(struct loop_bed_view *view)
{
	struct evspace_event event;

	while (evspace_next(view->client, 0) == 1) {
		view->taken++;
		while (evspace_event(view->client, &event))
			view->events++;
	}
}

static void told(struct evspace_client *client, enum evspace_news news, void *arg)
{
	struct loop_bed_view *view = arg;

	view->client = client;
	view->opened += news == EVSPACE_OPENED;
	view->waves += news == EVSPACE_WAVE;
	view->ended += news == EVSPACE_ENDED;
	if (news == EVSPACE_ENDED) {
		view->failure = evspace_failed(client);
		snprintf(view->why, sizeof(view->why), "%s", evspace_why(client));
	}
	if (view->instead)
		view->instead(view, news);
	else if (news == EVSPACE_WAVE && view->reads)
		view_read(view);
}

void loop_bed_open(struct evspace_connection *connection, struct loop_bed_view *view, bool reads)
{
	const struct evspace_options options = {.view = "some", .backlog = 1};

	view->reads = reads;
	view->client = evspace_open_on(connection, &options, told, view);
}

void loop_bed_answered(const struct evspace_reply *reply, void *arg)
{
	struct loop_bed_question *q = arg;

	q->answered++;
	q->failure = reply->failure;
	q->pid = reply->status ? reply->status->pid : 0;
	snprintf(q->why, sizeof(q->why), "%s", reply->why);
}

int loop_bed_turn(struct evspace_connection *connection, bool (*is)(void *arg), void *arg)
{
	uint64_t end = clock_mono_ns() + WITHIN_NS;
	int rc = 0;

	while (rc == 0 && !is(arg) && clock_mono_ns() < end) {
		struct pollfd p = {evspace_fd(connection), POLLIN, 0};

		poll(&p, 1, evspace_timeout(connection));
		rc = evspace_dispatch(connection);
	}
	return rc;
}
