/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a hop whose child refuses the scope at first: it opens it once the child is ready for it.
 */
#include "tree/hop.h"

#include <errno.h>
#include <string.h>

#include "pathmap/memory.h"
#include "tests/peers.h"

/* How often the child refuses. */
#define REFUSALS 3

static unsigned opens, closes, settled, changed;
static uint32_t speaks_for; /* the leaf that the child's answers are of */

static void child_answers(struct link *link, const Evspace__Ask *ask)
{
	Evspace__Frame reply = EVSPACE__FRAME__INIT;
	Evspace__Answer answer = EVSPACE__ANSWER__INIT;
	Evspace__Missing missing = EVSPACE__MISSING__INIT, *list = &missing;

	missing.leaf = speaks_for;
	missing.why = MISSING_LATE;
	answer.scope = ask->scope;
	answer.wave = ask->wave;
	answer.missing = &list;
	answer.n_missing = 1;
	reply.kind_case = EVSPACE__FRAME__KIND_ANSWER;
	reply.answer = &answer;
	link_send(link, &reply, NULL);
}

static void child_frame(struct watch *watch, struct link *link, const struct frame *frame)
{
	static char run[] = "", entry[] = "w0";
	const Evspace__Frame *f = frame->header;
	Evspace__Frame reply = EVSPACE__FRAME__INIT;
	Evspace__Opened opened = EVSPACE__OPENED__INIT;

	(void)watch;
	closes += f->kind_case == EVSPACE__FRAME__KIND_CLOSE;
	if (f->kind_case == EVSPACE__FRAME__KIND_ASK && opens > REFUSALS)
		child_answers(link, f->ask);
	else if (f->kind_case == EVSPACE__FRAME__KIND_ASK)
		link_send_error(link, f->ask->scope, EPROTO, "no such scope is open");
	if (f->kind_case != EVSPACE__FRAME__KIND_OPEN)
		return;
	if (++opens <= REFUSALS) {
		link_send_error(link, f->open->scope, EEXIST, "not yet");
		return;
	}
	opened.scope = f->open->scope;
	opened.run = run;
	opened.entry = entry;
	reply.kind_case = EVSPACE__FRAME__KIND_OPENED;
	reply.opened = &opened;
	link_send(link, &reply, NULL);
}

static void hop_settled(void *arg, struct hop *hop)
{
	(void)arg;
	(void)hop;
	settled++;
}

static void hop_changed(void *arg, struct hop *hop)
{
	(void)arg;
	(void)hop;
	changed++;
}

/* A hop in a world whose agent is the child. */
struct bed {
	struct world w;
	struct plan_place place;
	Evspace__Open open;
	struct hop_scope scope;
	struct hop *hop;
};

static void bed_open(struct bed *bed,
		     void (*on_frame)(struct watch *, struct link *, const struct frame *))
{
	static const struct hop_events events = {.settled = hop_settled, .changed = hop_changed};
	static const struct gather_events waves = {.late = NULL};
	static char node[] = "w0", none[] = "";
	static uint8_t id[16] = "a scope of tests";

	opens = closes = settled = changed = 0;
	world_open(&bed->w);
	bed->w.served.on_frame = on_frame;
	bed->place = (struct plan_place){
		.node = node, .cluster = none, .leaf = true, .address = bed->w.local_address};
	evspace__open__init(&bed->open);
	bed->open.id.data = id;
	bed->open.id.len = sizeof(id);
	bed->open.run = bed->open.view = bed->open.fetch = none;
	bed->scope = (struct hop_scope){
		.open = &bed->open,
		.base = bed->w.base,
		.children = child_set_new(bed->w.base, bed->w.consumer),
		.names = names_new(0),
		.gather = gather_new(bed->w.base, 1, &waves, NULL),
	};
	bed->hop = hop_new(&bed->scope, &bed->place, 0, 1, &events, NULL);
}

static void bed_close(struct bed *bed)
{
	hop_free(bed->hop, false);
	gather_free(bed->scope.gather);
	names_free(bed->scope.names);
	child_set_free(bed->scope.children);
	world_close(&bed->w);
}

static void refused_at_first(void)
{
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	const struct hop_unready *unready;
	struct bed bed;

	bed_open(&bed, child_frame);
	WAIT(&bed.w, hop_reachable(bed.hop));
	/* on its way when the child refuses: that one has not opened the scope is what counts */
	ask.wave = ask.count = 1;
	ask.deadline_ms = 1000;
	CU_ASSERT_EQUAL(hop_ask(bed.hop, &ask), 1);
	WAIT(&bed.w, settled == 1);
	CU_ASSERT_FALSE(hop_reachable(bed.hop));
	WAIT(&bed.w, opens == 2);
	CU_ASSERT_EQUAL_FATAL(hop_unready(bed.hop, &unready), 1);
	CU_ASSERT_STRING_EQUAL(unready->text, "not yet");
	CU_ASSERT_EQUAL(unready->code, EEXIST);
	WAIT(&bed.w, hop_ready(bed.hop));
	CU_ASSERT_EQUAL(opens, REFUSALS + 1);
	CU_ASSERT_EQUAL(closes, REFUSALS);
	CU_ASSERT_EQUAL(settled, 1);
	CU_ASSERT_EQUAL(hop_unready(bed.hop, &unready), 0);
	/* Nobody is made to believe what a child says of leaves that are not below it. */
	speaks_for = bed.place.index + 1;
	CU_ASSERT_EQUAL(hop_ask(bed.hop, &ask), 1);
	WAIT(&bed.w, !hop_ready(bed.hop));
	CU_ASSERT_EQUAL_FATAL(hop_unready(bed.hop, &unready), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(unready->text, "speaks for leaf 1, which is not below it"));
	speaks_for = bed.place.index;
	WAIT(&bed.w, hop_ready(bed.hop));
	CU_ASSERT_EQUAL(hop_ask(bed.hop, &ask), 1);
	bed_close(&bed);
}

/* ---- one that says what nobody has asked for ---- */

static struct link *babbling;

static void babbler_frame(struct watch *watch, struct link *link, const struct frame *frame)
{
	(void)watch;
	(void)frame;
	babbling = link;
}

static void babble(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	if (babbling)
		link_send_ping(babbling, false);
}

static void babbling_is_no_answer(void)
{
	static const struct timeval often = {0, 20000};
	struct event *timer;
	struct bed bed;

	bed_open(&bed, babbler_frame);
	timer = event_new(bed.w.base, -1, EV_PERSIST, babble, NULL);
	event_add(timer, &often);
	WAIT(&bed.w, hop_reachable(bed.hop));
	WAIT(&bed.w, !hop_reachable(bed.hop));
	event_free(timer);
	bed_close(&bed);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"who refuses a scope, or speaks for others, is asked again", refused_at_first},
		{"who babbles has not answered", babbling_is_no_answer},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "hops",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
