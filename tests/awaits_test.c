/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests commands that await hosts: they end with their deadline on all agents that have them. */
#include "pathmap/base/folder-base.h"
#include "tests/peers.h"
#include "tree/scope/child.h"
#include "tree/scope/fanout-command.h"
#include "tree/wire/wire-place.h"

/* What the child was ordered, which does not answer, and told to drop. */
static uint32_t ordered, dropped;

static bool is_done;

static void on_frame(struct watch *watch, struct link *link, const struct frame *frame)
{
	const Evspace__Frame *f = frame->header;

	(void)watch;
	(void)link;
	if (f->kind_case == EVSPACE__FRAME__KIND_SWITCH_ASK)
		ordered = f->switch_ask->scope;
	if (f->kind_case == EVSPACE__FRAME__KIND_CLOSE)
		dropped = f->close->scope;
}

static void on_done(void *arg, struct fanout_command *command)
{
	(void)arg;
	(void)command;
	is_done = true;
}

/* "here", which holds nothing, and the child w0 below it. */
static Evspace__Place *place_new(const struct world *w)
{
	static char here[] = "here", below[] = "w0", none[] = "";
	struct plan_place child = {.index = 1,
				   .node = below,
				   .cluster = none,
				   .address = (char *)(uintptr_t)w->local_address,
				   .leaf = true};
	struct plan_place *children[] = {&child};
	const struct plan_place root = {.node = here,
					.cluster = none,
					.address = none,
					.children = children,
					.n_children = 1};

	return wire_place_new(&root);
}

/* It may be about to wait for hosts below it, and would order them when another order has come. */
static void child_is_told(void)
{
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	struct fanout_command_host host = {.is_run = folder_is_run, .done = on_done};
	struct child_set *children;
	struct fanout_command *o;
	struct world w;
	struct error e;

	world_open(&w);
	w.served.on_frame = on_frame;
	host.base = w.base;
	host.children = children = child_set_new(w.base, w.consumer);
	ask.place = place_new(&w);
	ask.deadline_ms = 300;
	ask.awaits = true;
	o = fanout_command_new(&host, NULL, &ask, &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	WAIT(&w, ordered > 0);
	CU_ASSERT_EQUAL(dropped, 0);
	WAIT(&w, is_done);
	WAIT(&w, dropped > 0);
	CU_ASSERT_EQUAL(dropped, ordered);
	fanout_command_free(o);
	wire_place_free(ask.place);
	child_set_free(children);
	world_close(&w);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"a child that has not answered by the deadline drops it", child_is_told},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "awaits",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
