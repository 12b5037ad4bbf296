/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a hop whose child refuses the scope at first, or cannot be asked. */
#include "tree/scope/hop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tests/hop-bed.h"

static void refused_at_first(void)
{
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	const struct unready *unready;
	struct hop_bed bed;

	hop_bed_open(&bed, hop_bed_child_frame);
	WAIT(&bed.w, hop_reachable(bed.hop));
	/* on its way when the child refuses: that one has not opened the scope is what counts */
	ask.wave = ask.count = 1;
	ask.deadline_ms = 1000;
	CU_ASSERT_EQUAL(hop_ask(bed.hop, &ask), 1);
	WAIT(&bed.w, hop_bed_settled == 1);
	CU_ASSERT_FALSE(hop_reachable(bed.hop));
	WAIT(&bed.w, hop_bed_child.opens == 2);
	CU_ASSERT_EQUAL_FATAL(hop_unready(bed.hop, &unready), 1);
	CU_ASSERT_STRING_EQUAL(unready->text, "not yet");
	CU_ASSERT_EQUAL(unready->code, EEXIST);
	WAIT(&bed.w, hop_ready(bed.hop));
	CU_ASSERT_EQUAL(hop_bed_child.opens, HOP_BED_REFUSALS + 1);
	CU_ASSERT_EQUAL(hop_bed_child.closes, HOP_BED_REFUSALS);
	CU_ASSERT_EQUAL(hop_bed_settled, 1);
	CU_ASSERT_EQUAL(hop_unready(bed.hop, &unready), 0);
	/* Nobody is made to believe what a child says of leaves that are not below it. */
	hop_bed_child.speaks_for = bed.place.index + 1;
	CU_ASSERT_EQUAL(hop_ask(bed.hop, &ask), 1);
	WAIT(&bed.w, !hop_ready(bed.hop));
	CU_ASSERT_EQUAL_FATAL(hop_unready(bed.hop, &unready), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(unready->text, "speaks for leaf 1, which is not below it"));
	hop_bed_child.speaks_for = bed.place.index;
	/* Nor is more kept of who is not ready than there are. */
	hop_bed_child.speaks_of_all = true;
	WAIT(&bed.w, hop_ready(bed.hop));
	CU_ASSERT_EQUAL_FATAL(hop_unready(bed.hop, &unready), 1);
	CU_ASSERT_STRING_EQUAL(unready->node, "w0");
	hop_bed_child.speaks_of_all = false;
	CU_ASSERT_EQUAL(hop_ask(bed.hop, &ask), 1);
	hop_bed_close(&bed);
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
		link_send_ping(babbling, 0);
}

static void babbling_is_no_answer(void)
{
	static const struct timeval often = {0, 20000};
	struct event *timer;
	struct hop_bed bed;

	hop_bed_open(&bed, babbler_frame);
	timer = event_new(bed.w.base, -1, EV_PERSIST, babble, NULL);
	event_add(timer, &often);
	WAIT(&bed.w, hop_reachable(bed.hop));
	WAIT(&bed.w, !hop_reachable(bed.hop));
	event_free(timer);
	hop_bed_close(&bed);
}

/* An open that fits no frame is no open that was answered late. */
static void open_that_fits_no_frame(void)
{
	const struct unready *unready;
	struct hop_bed bed;

	hop_bed_prepare(&bed, hop_bed_child_frame, NULL);
	bed.place.holds = memory_new(WIRE_HEADER_MAX + 1, 1);
	memset(bed.place.holds, '1', WIRE_HEADER_MAX);
	hop_bed_begin(&bed);
	WAIT(&bed.w, hop_bed_settled == 1);
	CU_ASSERT_FALSE(hop_reachable(bed.hop));
	CU_ASSERT(hop_unready(bed.hop, &unready) == 1 && unready->code == EMSGSIZE &&
		  strstr(unready->text, "does not fit into a frame"));
	free(bed.place.holds);
	bed.place.holds = NULL;
	hop_bed_close(&bed);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"who refuses a scope, or speaks for others, is asked again", refused_at_first},
		{"who babbles has not answered", babbling_is_no_answer},
		{"what fits no frame is missing for that reason", open_that_fits_no_frame},
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
