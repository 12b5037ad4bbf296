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

static void child_frame(struct watch *watch, struct link *link, const struct frame *frame)
{
	static char run[] = "", entry[] = "w0";
	const Evspace__Frame *f = frame->header;
	Evspace__Frame reply = EVSPACE__FRAME__INIT;
	Evspace__Opened opened = EVSPACE__OPENED__INIT;

	(void)watch;
	closes += f->kind_case == EVSPACE__FRAME__KIND_CLOSE;
	if (f->kind_case == EVSPACE__FRAME__KIND_ASK)
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

static void refused_at_first(void)
{
	static const struct hop_events events = {.settled = hop_settled, .changed = hop_changed};
	static const struct gather_events waves = {.late = NULL};
	static char node[] = "w0", none[] = "";
	static uint8_t id[16] = "a scope of tests";
	struct world w;
	struct plan_place place = {.node = node, .cluster = none, .leaf = true};
	Evspace__Open open = EVSPACE__OPEN__INIT;
	struct hop_scope scope = {.open = &open};
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	const struct hop_unready *unready;
	struct hop *hop;

	world_open(&w);
	w.served.on_frame = child_frame;
	place.address = w.local_address;
	open.id.data = id;
	open.id.len = sizeof(id);
	open.run = open.view = open.fetch = none;
	scope.base = w.base;
	scope.children = child_set_new(w.base, w.consumer);
	scope.names = names_new(0);
	scope.gather = gather_new(w.base, 1, &waves, NULL);
	hop = hop_new(&scope, &place, 0, 1, &events, NULL);
	WAIT(&w, hop_reachable(hop));
	/* on its way when the child refuses: that one has not opened the scope is what counts */
	ask.wave = ask.count = 1;
	ask.deadline_ms = 1000;
	CU_ASSERT_EQUAL(hop_ask(hop, &ask), 1);
	WAIT(&w, settled == 1);
	CU_ASSERT_FALSE(hop_reachable(hop));
	WAIT(&w, opens == 2);
	CU_ASSERT_EQUAL_FATAL(hop_unready(hop, &unready), 1);
	CU_ASSERT_STRING_EQUAL(unready->text, "not yet");
	CU_ASSERT_EQUAL(unready->code, EEXIST);
	WAIT(&w, hop_ready(hop));
	CU_ASSERT_EQUAL(opens, REFUSALS + 1);
	CU_ASSERT_EQUAL(closes, REFUSALS);
	CU_ASSERT_EQUAL(settled, 1);
	CU_ASSERT_EQUAL(hop_unready(hop, &unready), 0);
	hop_free(hop, false);
	gather_free(scope.gather);
	names_free(scope.names);
	child_set_free(scope.children);
	world_close(&w);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"who refuses a scope is asked again", refused_at_first},
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
