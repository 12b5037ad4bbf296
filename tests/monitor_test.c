/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a monitor records of scopes, and that it leaves nothing. */
#include "node-agent/store/monitor.h"

#include <event2/event.h>
#include <string.h>

#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment-read.h"
#include "tests/tap.h"
#include "tests/fixture.h"
#include "tree/data/process.h"

static char node[] = "n";
static struct event_base *loop;
static struct monitor *monitor;

static void begin(bool keep)
{
	fixture_begin();
	loop = event_base_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(loop);
	monitor = monitor_new(&(struct monitor_plan){
		.base = fixture.base,
		.process = PROCESS_AGENT,
		.host = node,
		.loop = loop,
		.keep = keep,
	});
}

static void end(void)
{
	event_base_free(loop);
	fixture_end();
}

static void write(struct span *span, uint64_t bytes)
{
	span_write(span, &(struct trace){.op = OP_EVSPACE_ASK,
					 .since_ns = span_since(span),
					 .bytes = bytes,
					 .peer = 7,
					 .wave = 3});
}

/* The only segment there is; the store is opened for it. */
static const struct store_segment *look(void)
{
	const struct store_segment *s;

	fixture_start(false);
	s = fixture_find("agent");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_STRING_EQUAL(s->run, SPAN_RUN);
	CU_ASSERT_STRING_EQUAL(s->host, node);
	CU_ASSERT_TRUE(s->alive);
	return s;
}

static uint64_t calls(const struct store_segment *s, uint32_t thread)
{
	struct segment_sum sum = {0};

	segment_channel_sum(&s->segment, thread, CHANNEL_HOP, &sum);
	return sum.calls;
}

static void records_while_wanted(void)
{
	struct span span, own;
	const struct store_segment *s;
	const struct segment_element *e;
	struct tuple t;
	uint64_t number;
	struct error error;

	begin(false);
	span_init(&span, monitor_tracer(monitor), "rates", "prog");
	span_init(&own, monitor_tracer(monitor), "rates", SPAN_RUN);
	write(&span, 1);
	CU_ASSERT_FALSE(fixture_exists("%s", SPAN_RUN));
	CU_ASSERT_EQUAL_FATAL(monitor_want(monitor, &error), 0);
	CU_ASSERT_TRUE(span_is_on(&span));
	CU_ASSERT_FALSE(span_is_on(&own));
	write(&span, 10);
	write(&span, 20);
	write(&own, 40);
	s = look();
	CU_ASSERT_EQUAL(segment_threads(&s->segment), 1);
	CU_ASSERT_EQUAL(calls(s, 0), 2);
	/* the overflow element, and that of hops */
	CU_ASSERT_EQUAL_FATAL(segment_elements(&s->segment), 2);
	e = segment_element(&s->segment, 1);
	CU_ASSERT_EQUAL(e->channel, CHANNEL_HOP);
	CU_ASSERT_EQUAL(element_latest(segment_ring(&s->segment, e), e->capacity,
				       element_inverse(e->capacity), &t, &number),
			1);
	CU_ASSERT_EQUAL(number, 1);
	CU_ASSERT_EQUAL(t.bytes, 20);
	CU_ASSERT_EQUAL(t.peer, 7);
	CU_ASSERT_EQUAL(t.seq_or_tag, 3);
	CU_ASSERT_TRUE(t.start <= t.end && t.comm != 0);
	span_fini(&span);
	span_fini(&own);
	monitor_unwant(monitor, false);
	event_base_dispatch(loop);
	CU_ASSERT_FALSE(fixture_exists("%s", SPAN_RUN));
	monitor_free(monitor);
	end();
}

/* Scopes that come after others have their threads; what has no room is counted. */
static void threads_are_shared(void)
{
	struct span spans[MONITOR_SCOPES + 1], later;
	const struct store_segment *s;
	struct error error;

	begin(true);
	CU_ASSERT_EQUAL_FATAL(monitor_want(monitor, &error), 0);
	for (unsigned i = 0; i <= MONITOR_SCOPES; i++) {
		span_init(&spans[i], monitor_tracer(monitor), "rates", "prog");
		write(&spans[i], i);
	}
	span_fini(&spans[2]);
	span_init(&later, monitor_tracer(monitor), "slowest", "prog");
	write(&later, 1);
	s = look();
	CU_ASSERT_EQUAL(segment_threads(&s->segment), MONITOR_SCOPES);
	CU_ASSERT_EQUAL(calls(s, 0), 1);
	CU_ASSERT_EQUAL(calls(s, 2), 2);
	CU_ASSERT_EQUAL(calls(s, MONITOR_SCOPES), 1);
	/* Kept, as a program's: and what comes is not recorded any more. */
	monitor_free(monitor);
	CU_ASSERT_EQUAL(atomic_load(&s->segment.header->finished), 1);
	CU_ASSERT_EQUAL(store_refresh(&fixture.store), 0);
	CU_ASSERT_EQUAL(fixture_count(), 1);
	end();
}

/* Who looked comes back, or looks another time: what was before is not mixed up with what is. */
static void begins_again(void)
{
	struct span span;
	const struct store_segment *s;
	struct error error;

	begin(false);
	span_init(&span, monitor_tracer(monitor), "rates", "prog");
	CU_ASSERT_EQUAL_FATAL(monitor_want(monitor, &error), 0);
	write(&span, 1);
	monitor_unwant(monitor, false);
	CU_ASSERT_EQUAL_FATAL(monitor_want(monitor, &error), 0);
	event_base_dispatch(loop);
	write(&span, 1);
	CU_ASSERT_TRUE(span_is_on(&span));
	monitor_unwant(monitor, false);
	event_base_dispatch(loop);
	CU_ASSERT_FALSE(span_is_on(&span));
	CU_ASSERT_EQUAL_FATAL(monitor_want(monitor, &error), 0);
	write(&span, 1);
	s = look();
	CU_ASSERT_EQUAL(calls(s, 0), 1);
	span_fini(&span);
	monitor_free(monitor);
	CU_ASSERT_FALSE(fixture_exists("%s", SPAN_RUN));
	end();
}

static void says_why_not(void)
{
	struct error error = {""};

	fixture_begin();
	monitor = monitor_new(
		&(struct monitor_plan){.base = "/proc/none", .process = PROCESS_CONSUMER});
	CU_ASSERT_EQUAL(monitor_want(monitor, &error), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "/proc/none"));
	CU_ASSERT_FALSE(monitor_tracer(monitor)->on);
	monitor_free(monitor);
	fixture_end();
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"it records while it is wanted", records_while_wanted},
		{"scopes share threads", threads_are_shared},
		{"recording begins again", begins_again},
		{"a folder that cannot be made", says_why_not},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "monitor", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
