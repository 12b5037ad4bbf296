/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests status gathers, orders and opens of which a child says what is not true: it speaks for who
 * is below it, once, and holds up nobody else. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/folder-base.h"
#include "pathmap/base/memory.h"
#include "tests/peers.h"
#include "tree/scope/ask.h"
#include "tree/scope/failover.h"
#include "tree/scope/fanout.h"
#include "tree/scope/gather-status.h"
#include "tree/scope/fanout-command.h"
#include "tree/wire/wire-place.h"
#include "tree/scope/quota.h"
#include "tree/scope/seats.h"

/* What the liar w0, which has x and y below it, says of whom; c is a sibling of it. */
static const char *const tales[] = {"c", "c", "c", "c", "x", "x", "c"};
#define TALES (sizeof(tales) / sizeof(tales[0]))

static size_t boast; /* bytes that it says of itself */

static void tell_status(struct link *link, const Evspace__StatusAsk *ask)
{
	Evspace__Status status = EVSPACE__STATUS__INIT, below[TALES], *list[TALES];
	char *version = memory_new(boast + 1, 1);
	Evspace__Related absurd = EVSPACE__RELATED__INIT;
	static char self[] = "w0", text[] = "it is well";

	memset(version, 'x', boast);
	for (size_t i = 0; i < TALES; i++) {
		evspace__status__init(&below[i]);
		below[i].node = (char *)(uintptr_t)tales[i];
		below[i].text = text;
		below[i].related = boast ? NULL : &absurd;
		list[i] = &below[i];
	}
	absurd.same = true;
	absurd.ahead_ns = INT64_MIN;
	absurd.drift = NAN;
	absurd.error_ns = -INFINITY;
	status.scope = ask->scope;
	status.node = self;
	status.text = text;
	status.version = version;
	if (boast == 0) {
		/* no clocks are so far apart */
		status.asked_ns = INT64_MIN;
		status.sent_ns = status.clock_ns = INT64_MAX;
	}
	status.below = list;
	status.n_below = TALES;
	CU_ASSERT_EQUAL(link_send(link, &WIRE_FRAME(STATUS, status, &status), NULL), 0);
	free(version);
}

static void tell_switched(struct link *link, const Evspace__SwitchAsk *ask)
{
	Evspace__Switched switched = EVSPACE__SWITCHED__INIT;
	Evspace__Host hosts[TALES], *list[TALES];
	char names[TALES][16];

	for (size_t i = 0; i < TALES; i++) {
		evspace__host__init(&hosts[i]);
		snprintf(names[i], sizeof(names[i]), "/-/%s", tales[i]);
		hosts[i].name = names[i];
		hosts[i].processes = 7;
		list[i] = &hosts[i];
	}
	switched.scope = ask->scope;
	switched.run = (char *)(uintptr_t) "../no/run";
	switched.hosts = list;
	switched.n_hosts = TALES;
	CU_ASSERT_EQUAL(link_send(link, &WIRE_FRAME(SWITCHED, switched, &switched), NULL), 0);
}

/* The same host over and over, with more text than anybody reads, and one that is not below. */
static void tell_opened(struct link *link, const Evspace__Open *open)
{
	Evspace__Opened opened = EVSPACE__OPENED__INIT;
	Evspace__Unready unready[TALES], *list[TALES];
	char text[4000] = "";

	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0; i < TALES; i++) {
		evspace__unready__init(&unready[i]);
		unready[i].node = (char *)(uintptr_t)tales[i];
		unready[i].text = text;
		list[i] = &unready[i];
	}
	opened.scope = open->scope;
	opened.unready = list;
	opened.n_unready = TALES;
	CU_ASSERT_EQUAL(link_send(link, &WIRE_FRAME(OPENED, opened, &opened), NULL), 0);
}

/* What came back for the order. */
static Evspace__Switched *came;

static void liar_frame(struct watch *watch, struct link *link, const struct frame *frame)
{
	const Evspace__Frame *f = frame->header;

	(void)watch;
	if (f->kind_case == EVSPACE__FRAME__KIND_STATUS_ASK)
		tell_status(link, f->status_ask);
	else if (f->kind_case == EVSPACE__FRAME__KIND_SWITCH_ASK)
		tell_switched(link, f->switch_ask);
	else if (f->kind_case == EVSPACE__FRAME__KIND_OPEN)
		tell_opened(link, f->open);
	else if (f->kind_case == EVSPACE__FRAME__KIND_SWITCHED)
		came = (Evspace__Switched *)wire_copy(&f->switched->base);
}

/* Here is "here"; below it are the liar, in a world whose agent that is, and c, which is not there.
 */
struct bed {
	struct world w;
	struct watch up;
	struct child_set *children;
	struct plan_place places[5], *below_here[2], *below_liar[2];
	Evspace__Place *place;
	Evspace__Status *status; /* that the gather has brought */
	bool done;
};

static void bed_open(struct bed *bed)
{
	static char names[5][8] = {"here", "w0", "c", "x", "y"}, none[] = "", nowhere[64];

	*bed = (struct bed){.done = false};
	came = NULL;
	boast = 0;
	world_open(&bed->w);
	bed->w.served.on_frame = liar_frame;
	snprintf(nowhere, sizeof(nowhere), "unix:%.50s", peers_path("nobody"));
	for (unsigned i = 0; i < 5; i++) {
		bed->places[i] = (struct plan_place){
			.index = i, .node = names[i], .cluster = none, .leaf = i > 1};
		bed->places[i].address = i == 1 ? bed->w.local_address : nowhere;
	}
	bed->below_here[0] = &bed->places[1];
	bed->below_here[1] = &bed->places[2];
	bed->below_liar[0] = &bed->places[3];
	bed->below_liar[1] = &bed->places[4];
	bed->places[0].children = bed->below_here;
	bed->places[1].children = bed->below_liar;
	bed->places[0].n_children = bed->places[1].n_children = 2;
	bed->place = wire_place_new(&bed->places[0]);
	bed->children = child_set_new(bed->w.base, bed->w.consumer);
	world_dial(&bed->w, true, &bed->up);
	WAIT(&bed->w, bed->up.ready == 1);
}

static void bed_close(struct bed *bed)
{
	if (bed->status)
		evspace__status__free_unpacked(bed->status, NULL);
	if (came)
		evspace__switched__free_unpacked(came, NULL);
	wire_place_free(bed->place);
	child_set_free(bed->children);
	world_close(&bed->w);
}

/* ---- status gathers ---- */

static void status_answered(void *arg, struct link *up, Evspace__Frame *frame)
{
	struct bed *bed = arg;

	(void)up;
	gather_status_fit(frame);
	CU_ASSERT(evspace__frame__get_packed_size(frame) <= WIRE_HEADER_MAX);
	bed->status = (Evspace__Status *)wire_copy(&frame->status->base);
}

static void status_done(void *arg, struct gather_status *gather)
{
	(void)gather;
	((struct bed *)arg)->done = true;
}

static void bed_gather(struct bed *bed)
{
	const struct gather_status_host host = {.base = bed->w.base,
						.children = bed->children,
						.answer = status_answered,
						.done = status_done,
						.arg = bed};
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;
	struct error e = {""};
	struct gather_status *m;

	ask.place = bed->place;
	m = gather_status_new(&host, bed->up.link, &ask, &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	WAIT(&bed->w, bed->done);
	gather_status_free(m);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bed->status);
}

/* The only status of that node. */
static const Evspace__Status *status_of(const struct bed *bed, const char *node)
{
	const Evspace__Status *found = NULL;

	for (size_t i = 0; i < bed->status->n_below; i++) {
		if (strcmp(bed->status->below[i]->node, node) != 0)
			continue;
		CU_ASSERT_PTR_NULL(found);
		found = bed->status->below[i];
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	return found;
}

static void statuses_of_others(void)
{
	const Evspace__Related *related;
	struct bed bed;

	bed_open(&bed);
	bed_gather(&bed);
	CU_ASSERT_EQUAL(bed.status->n_below, 4);
	CU_ASSERT_EQUAL(status_of(&bed, "w0")->why, 0);
	CU_ASSERT_EQUAL(status_of(&bed, "x")->why, 0);
	CU_ASSERT_EQUAL(status_of(&bed, "y")->why, MISSING_REFUSED);
	CU_ASSERT_STRING_EQUAL(status_of(&bed, "y")->text, SEAT_UNSAID);
	CU_ASSERT(status_of(&bed, "w0")->clock_ns > 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(status_of(&bed, "w0")->related);
	CU_ASSERT(status_of(&bed, "w0")->related->same);
	related = status_of(&bed, "x")->related;
	CU_ASSERT_PTR_NOT_NULL_FATAL(related);
	CU_ASSERT(isfinite(related->drift + related->error_ns) && related->ahead_ns > INT64_MIN);
	CU_ASSERT_EQUAL(status_of(&bed, "c")->why, MISSING_UNREACHABLE);
	bed_close(&bed);
}

static void status_too_large(void)
{
	struct bed bed;

	bed_open(&bed);
	boast = WIRE_HEADER_MAX - 170;
	bed_gather(&bed);
	CU_ASSERT_EQUAL(bed.status->n_below, 4);
	CU_ASSERT_EQUAL(status_of(&bed, "w0")->why, MISSING_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(status_of(&bed, "w0")->text, "does not fit"));
	CU_ASSERT_EQUAL(status_of(&bed, "x")->why, 0);
	bed_close(&bed);
}

/* ---- orders ---- */

static void order_carry(void *arg, const Evspace__SwitchAsk *ask, const struct plan_place *place,
			struct classes *classes, Evspace__Host *host,
			struct fanout_command_said *said)
{
	(void)arg;
	(void)ask;
	(void)place;
	(void)classes;
	(void)host;
	(void)said;
}

static void order_done(void *arg, struct fanout_command *command)
{
	char text[200];

	CU_ASSERT_STRING_EQUAL(fanout_command_outcome(command, text, sizeof(text)),
			       "7 processes on 1 of 3 hosts; \"the agent above it does not report "
			       "it\"");
	((struct bed *)arg)->done = true;
}

static const Evspace__Host *host_of(const char *name)
{
	const Evspace__Host *found = NULL;

	for (size_t i = 0; i < came->n_hosts; i++) {
		if (strcmp(came->hosts[i]->name, name) != 0)
			continue;
		CU_ASSERT_PTR_NULL(found);
		found = came->hosts[i];
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	return found;
}

static void orders_of_others(void)
{
	struct bed bed;
	const struct fanout_command_host host = {
		.carry = order_carry, .is_run = folder_is_run, .done = order_done, .arg = &bed};
	struct fanout_command_host hosts = host;
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	struct error e = {""};
	struct fanout_command *o;

	bed_open(&bed);
	hosts.base = bed.w.base;
	hosts.children = bed.children;
	ask.place = bed.place;
	o = fanout_command_new(&hosts, bed.up.link, &ask, &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	WAIT(&bed.w, bed.done);
	fanout_command_free(o);
	WAIT(&bed.w, came != NULL);
	CU_ASSERT_EQUAL(came->n_hosts, 3);
	/* It may be a path in consumers' words, or fill their screen. */
	CU_ASSERT_STRING_EQUAL(came->run, "");
	CU_ASSERT_EQUAL(host_of("/-/x")->processes, 7);
	CU_ASSERT_EQUAL(host_of("/-/y")->why, MISSING_REFUSED);
	CU_ASSERT_EQUAL(host_of("/-/c")->why, MISSING_UNREACHABLE);
	bed_close(&bed);
}

/* Bytes of a text in each question. */
#define LONG (4u << 20)

/* Ask as @peer until that is too much: returns how many there are, in @questions. */
static size_t ask_much(struct bed *bed, struct fanout_command_host *host, const char *peer,
		       struct fanout_command **questions, size_t most)
{
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	struct error e = {""};
	size_t n = 0;

	ask.place = bed->place;
	ask.deadline_ms = UINT32_MAX;
	ask.peer = (char *)(uintptr_t)peer;
	ask.who = memory_new(LONG + 1, 1);
	memset(ask.who, 'x', LONG);
	while (n < most && (questions[n] = fanout_command_new(host, bed->up.link, &ask, &e)))
		n++;
	CU_ASSERT(n == most || errno == ENOBUFS);
	CU_ASSERT(n == most || strstr(e.text, "ask for less at once, or with a shorter deadline"));
	free(ask.who);
	return n;
}

static void questions_are_bounded(void)
{
	enum { MOST = 200 };
	struct fanout_command *alice[MOST], *bob[MOST];
	struct fanout_command_host host = {.carry = order_carry, .is_run = folder_is_run};
	struct bed bed;
	size_t n, k;

	bed_open(&bed);
	host.base = bed.w.base;
	host.children = bed.children;
	n = ask_much(&bed, &host, "alice", alice, MOST);
	CU_ASSERT(n > 4 && n * LONG <= QUOTA_KIND / 2);
	/* Who asked on another connection has no more, and others have something yet. */
	CU_ASSERT_EQUAL(ask_much(&bed, &host, "alice", bob, MOST), 0);
	k = ask_much(&bed, &host, "bob", bob, MOST);
	CU_ASSERT(k > 4 && (n + k) * LONG <= QUOTA_KIND);
	CU_ASSERT(((const struct fanout *)alice[0])->deadline_ms <= ASK_DEADLINE_MOST_MS);
	while (n > 0)
		fanout_command_free(alice[--n]);
	while (k > 0)
		fanout_command_free(bob[--k]);
	n = ask_much(&bed, &host, "alice", alice, 5);
	CU_ASSERT_EQUAL(n, 5);
	while (n > 0)
		fanout_command_free(alice[--n]);
	bed_close(&bed);
}

/* Whose waves hold all that they may can still end collecting and discard. */
static void waves_leave_room_for_commands(void)
{
	struct fanout_command_host host = {.carry = order_carry, .is_run = folder_is_run};
	struct quota *alice = quota_join("alice");
	struct fanout_command *command;
	struct error e = {""};
	size_t taken = 0;
	struct bed bed;

	bed_open(&bed);
	host.base = bed.w.base;
	host.children = bed.children;
	while (quota_take(alice, 64 << 10, &e) == 0)
		taken += 64 << 10;
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "waves that wait for slow hosts"));
	if (ask_much(&bed, &host, "alice", &command, 1) == 1)
		fanout_command_free(command);
	else
		CU_FAIL("there is room for no command");
	quota_give(alice, QUOTA_WAVES, taken);
	quota_leave(alice);
	bed_close(&bed);
}

/* What a child answers is held until all have answered. */
static void answers_are_bounded(void)
{
	struct gather_status_host hosts = {.answer = status_answered, .done = status_done};
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;
	struct quota_held little = {NULL, 0}, alice = {NULL, 0};
	struct error e = {""};
	struct gather_status *m;
	struct bed bed;

	bed_open(&bed);
	boast = 1 << 20;
	hosts.base = bed.w.base;
	hosts.children = bed.children;
	hosts.arg = &bed;
	CU_ASSERT_EQUAL(quota_hold(&little, "alice", 256 << 10, &e), 0);
	while (quota_hold(&alice, "alice", 64 << 10, &e) == 0) {
	}
	quota_release(&little);
	ask.place = bed.place;
	ask.peer = (char *)(uintptr_t) "alice";
	m = gather_status_new(&hosts, bed.up.link, &ask, &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	WAIT(&bed.w, bed.done);
	gather_status_free(m);
	CU_ASSERT_EQUAL(status_of(&bed, "w0")->why, MISSING_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(status_of(&bed, "w0")->text, "ask for less at once"));
	quota_release(&alice);
	bed_close(&bed);
}

/* ---- opens ---- */

static void opens_settled(void *arg)
{
	((struct bed *)arg)->done = true;
}

static void unready_noted(void *arg, const struct unready *who)
{
	++*(unsigned *)arg;
	CU_ASSERT_STRING_EQUAL(who->node, "x");
	CU_ASSERT(strlen(who->text) > 400 && strlen(who->text) < 1000);
}

static void opens_of_others(void)
{
	static const struct gather_events waves = {.late = NULL};
	static char none[] = "";
	static uint8_t id[16] = "a scope of tests";
	Evspace__Open open = EVSPACE__OPEN__INIT;
	struct hop_scope scope = {.open = &open, .self = none, .self_address = none};
	struct failover *b;
	unsigned n = 0;
	struct bed bed;

	bed_open(&bed);
	open.id.data = id;
	open.id.len = sizeof(id);
	open.run = open.view = open.fetch = none;
	scope.base = bed.w.base;
	scope.children = bed.children;
	scope.names = names_new(0);
	scope.gather = gather_new(bed.w.base, 1, &waves, NULL);
	scope.settled = opens_settled;
	scope.arg = &bed;
	b = failover_new(&scope, &bed.places[1], 0);
	WAIT(&bed.w, bed.done);
	failover_unready(b, unready_noted, &n);
	CU_ASSERT_EQUAL(n, 1);
	failover_free(b, false);
	gather_free(scope.gather);
	names_free(scope.names);
	bed_close(&bed);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"a child's status is of those below it, once each", statuses_of_others},
		{"one that is too large holds up no other", status_too_large},
		{"who is not ready is told once, and in short", opens_of_others},
		{"questions that wait hold a share for each consumer, a minute at most",
		 questions_are_bounded},
		{"... beside waves", waves_leave_room_for_commands},
		{"... and so do answers to them", answers_are_bounded},
		{"what an order has done is said by those who have done it", orders_of_others},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "fan-outs",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
