/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests experiments in a process: blocks, modes of each arm, and that all is as before afterwards.
 */
#include "node-agent/collect/core/collect.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/segment/segment-trial.h"
#include "tests/collector-bed.h"
#include "tests/segments.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

#define COMM   0x1234u
#define LENGTH 10u
#define WASH   3u
#define ARMS   3u

static const uint8_t arm_modes[ARMS] = {MODE_OFF, MODE_COUNT, MODE_TRACE};

static struct collect_classes world;

static struct segment_control *control(void)
{
	return (void *)((char *)collect.segment->header + collect.segment->layout.control_at);
}

/* A collective as its wrapper makes it. Returns the mode that it was collected in. */
static __attribute__((noinline)) unsigned collective(void)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t = {.op = OP_MPI_BARRIER, .peer = TUPLE_NO_PEER, .comm = COMM};
	unsigned mode;

	if (collect_enter(caller, &world, CHANNEL_COLLECTIVE) != COLLECT_RECORD)
		return MODE_OFF;
	mode = collect_mode_inside();
	t.seq_or_tag = atomic_load(&world.next);
	atomic_store(&world.next, t.seq_or_tag + 1);
	collect_begin(&t);
	collect_stamp(&t);
	collect_end(caller, &t, &world, CHANNEL_COLLECTIVE);
	return mode;
}

static void start(void)
{
	collector_bed_start(2);
	/* an agent has read this of the file */
	collect.segment->said = *collect.segment->header;
	collect_classes_init(&world, COMM);
	collective();
}

static struct segment_trial_plan plan_of(uint64_t lease_ns)
{
	struct segment_trial_plan plan = {
		.comm = COMM,
		.length = LENGTH,
		.wash = WASH,
		.lease = {99, clock_mono_ns() + lease_ns, "a test"},
		.arms = ARMS,
	};

	memcpy(plan.mode, arm_modes, sizeof(arm_modes));
	return plan;
}

static int begin(uint64_t lease_ns, struct error *e)
{
	struct segment_trial_plan plan = plan_of(lease_ns);

	return segment_trial_begin(control(), collect.segment, &plan, e);
}

/* Collectives up to the one with this number. */
static void collectives_to(uint32_t n)
{
	while (atomic_load(&world.next) < n)
		collective();
}

static void each_block_has_its_arm(void)
{
	struct error e;

	start();
	CU_ASSERT_EQUAL_FATAL(begin(UINT64_C(60000000000), &e), 0);
	collectives_to(LENGTH);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_USER), 0);
	for (uint32_t block = 1; block < 40; block++) {
		unsigned mode = arm_modes[trial_arm(99, block, ARMS)];
		uint64_t before = collector_bed_events(0, CHANNEL_P2P);
		uint64_t tuples = collector_bed_head(0, CHANNEL_P2P);

		CU_ASSERT_EQUAL(collective(), mode == MODE_TRACE ? MODE_TRACE : MODE_COUNT);
		CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_USER), block - 1);
		collector_bed_operate(CHANNEL_P2P, 1, NULL);
		CU_ASSERT_EQUAL(collector_bed_events(0, CHANNEL_P2P) - before, mode != MODE_OFF);
		CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P) - tuples, mode == MODE_TRACE);
		/* a communicator that is made now */
		CU_ASSERT_EQUAL(atomic_load(&control()->fresh[CHANNEL_P2P]), mode);
		CU_ASSERT_EQUAL(atomic_load(&control()->fresh[CHANNEL_COLLECTIVE]),
				mode == MODE_OFF ? MODE_COUNT : mode);
		collectives_to((block + 1) * LENGTH);
	}
	CU_ASSERT_EQUAL(segment_trial_end(control(), collect.segment), 1);
	CU_ASSERT_EQUAL(segment_trial_end(control(), collect.segment), 0);
	CU_ASSERT_EQUAL(collective(), MODE_TRACE);
	CU_ASSERT_EQUAL(atomic_load(&control()->fresh[CHANNEL_P2P]), MODE_TRACE);
	collect_stop();
}

/* An arm of one class leaves all others as they were before, also after one that was of all. */
static void an_arm_may_be_of_one_class(void)
{
	struct segment_trial_plan plan = plan_of(UINT64_C(60000000000));
	struct error e;

	start();
	segment_class_switch(control(), collect.segment, CHANNEL_WAIT, NULL, MODE_TIME);
	segment_class_quiet(control(), collect.segment);
	plan.mode[1] = MODE_ONE_IN + 3;
	plan.mode[2] = MODE_OFF;
	plan.channels[1] = 1u << CHANNEL_P2P;
	plan.channels[2] = 1u << CHANNEL_COLLECTIVE;
	CU_ASSERT_EQUAL_FATAL(segment_trial_begin(control(), collect.segment, &plan, &e), 0);
	collectives_to(LENGTH);
	for (uint32_t block = 1; block < 40; block++) {
		unsigned arm = trial_arm(99, block, ARMS);

		CU_ASSERT_EQUAL(collective(), arm == 1 ? MODE_TRACE : MODE_COUNT);
		CU_ASSERT_EQUAL(atomic_load(&control()->fresh[CHANNEL_P2P]),
				arm == 0   ? MODE_OFF
				: arm == 1 ? MODE_ONE_IN + 3
					   : MODE_TRACE);
		CU_ASSERT_EQUAL(atomic_load(&control()->mode[CHANNEL_WAIT]),
				arm == 0 ? MODE_OFF : MODE_TIME);
		CU_ASSERT_EQUAL(atomic_load(&control()->quiet[CHANNEL_P2P]), arm == 0);
		CU_ASSERT_EQUAL(atomic_load(&control()->quiet[CHANNEL_COLLECTIVE]), 0);
		collectives_to((block + 1) * LENGTH);
	}
	CU_ASSERT_EQUAL(segment_trial_end(control(), collect.segment), 1);
	CU_ASSERT_EQUAL(collective(), MODE_TRACE);
	CU_ASSERT_EQUAL(atomic_load(&control()->fresh[CHANNEL_P2P]), MODE_TRACE);
	CU_ASSERT_EQUAL(atomic_load(&control()->mode[CHANNEL_WAIT]), MODE_TIME);
	collect_stop();
}

/* Tuples of whole blocks: their number, arm, and how many collectives they are about. */
static void blocks_are_events(void)
{
	const struct element_ring *ring = NULL;
	struct tuple tuples[16];
	struct error e;
	uint32_t n = 0;

	start();
	CU_ASSERT_EQUAL_FATAL(begin(UINT64_C(60000000000), &e), 0);
	collectives_to(6 * LENGTH + 1);
	for (uint32_t i = 0; i < segment_elements(collect.segment); i++) {
		const struct segment_element *element = segment_element(collect.segment, i);

		if (element->channel == CHANNEL_USER && element->thread == 0)
			ring = segment_ring(collect.segment, element);
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(ring);
	CU_ASSERT_EQUAL(element_head(ring), 5);
	for (; n < 5; n++) {
		const struct tuple *t = &tuples[n];

		memcpy(&tuples[n], (const char *)ring + sizeof(*ring) + n * sizeof(*t), sizeof(*t));
		CU_ASSERT_EQUAL(t->op, OP_EVSPACE_BLOCK);
		CU_ASSERT_EQUAL(t->seq_or_tag, n + 1);
		CU_ASSERT_EQUAL(t->bytes, LENGTH - WASH);
		CU_ASSERT_EQUAL((unsigned)t->peer, trial_arm(99, n + 1, ARMS));
		CU_ASSERT(t->comm == COMM && t->end >= t->start);
		CU_ASSERT(n == 0 || t->start >= tuples[n - 1].end);
	}
	collect_stop();
}

/* Modes that were set by hand before are there again; classes made meanwhile are as later ones. */
static void all_is_as_before(void)
{
	struct collect_classes other;
	struct error e;
	unsigned class;

	start();
	segment_class_switch(control(), collect.segment, CHANNEL_P2P, NULL, MODE_TIME);
	segment_class_quiet(control(), collect.segment);
	CU_ASSERT_EQUAL_FATAL(begin(0, &e), 0);
	collect_classes_init(&other, COMM + 1);
	class = collect_class_ready(&other, CHANNEL_P2P);
	/* its lease is over: the program itself ends it */
	collectives_to(3 * LENGTH);
	CU_ASSERT_FALSE(segment_trial_active(control()));
	CU_ASSERT_EQUAL(collect_mode(CHANNEL_P2P), MODE_TIME);
	CU_ASSERT_EQUAL(collect_mode(class), MODE_TIME);
	CU_ASSERT_EQUAL(collect_mode(collect_class_ready(&world, CHANNEL_COLLECTIVE)), MODE_TRACE);
	CU_ASSERT_EQUAL(atomic_load(&control()->fresh[CHANNEL_P2P]), MODE_TIME);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_USER), 0);
	collect_stop();
}

/* Who only looks, and does not, in turn, leaves the modes alone. */
static void an_arm_may_leave_all_as_it_is(void)
{
	struct segment_trial_plan plan = plan_of(UINT64_C(60000000000));
	struct error e;

	start();
	segment_class_switch(control(), collect.segment, CHANNEL_P2P, NULL, MODE_TIME);
	segment_class_quiet(control(), collect.segment);
	memset(plan.mode, MODE_FRESH, sizeof(plan.mode));
	CU_ASSERT_EQUAL_FATAL(segment_trial_begin(control(), collect.segment, &plan, &e), 0);
	collectives_to(LENGTH);
	for (uint32_t block = 1; block < 10; block++) {
		CU_ASSERT_EQUAL(collective(), MODE_TRACE);
		CU_ASSERT_EQUAL(collect_mode(CHANNEL_P2P), MODE_TIME);
		collectives_to((block + 1) * LENGTH);
	}
	CU_ASSERT_EQUAL(segment_trial_end(control(), collect.segment), 1);
	CU_ASSERT_EQUAL(collect_mode(CHANNEL_P2P), MODE_TIME);
	collect_stop();
}

static void wrong_ones_are_refused(void)
{
	struct segment_trial_plan plan = plan_of(1000000000);
	struct error e;

	start();
	plan.comm = COMM + 7;
	CU_ASSERT(segment_trial_begin(control(), collect.segment, &plan, &e) && errno == ENOENT);
	plan = plan_of(1000000000);
	plan.wash = LENGTH;
	CU_ASSERT(segment_trial_begin(control(), collect.segment, &plan, &e) && errno == EINVAL);
	plan = plan_of(1000000000);
	plan.mode[1] = MODE_MISSED;
	CU_ASSERT(segment_trial_begin(control(), collect.segment, &plan, &e) && errno == EINVAL);
	plan.arms = 0;
	CU_ASSERT(segment_trial_begin(control(), collect.segment, &plan, &e) && errno == EINVAL);
	/* of a channel that there is not, which is not all of them */
	plan = plan_of(1000000000);
	plan.channels[1] = 1u << CHANNEL_MAX;
	CU_ASSERT(segment_trial_begin(control(), collect.segment, &plan, &e) && errno == EINVAL);
	CU_ASSERT_EQUAL(begin(1000000000, &e), 0);
	CU_ASSERT(begin(1000000000, &e) && errno == EBUSY);
	collect_stop();
}

static uint8_t mode_now(unsigned channel)
{
	return atomic_load(&control()->mode[channel]);
}

/* Modes that a planner holds: others are told who it is; when it ends they are as before, those of
 * all kinds, unless they are to stay. */
static void modes_are_held(void)
{
	const struct segment_lease one = {7, clock_mono_ns() + 60000000000, "planner one"};
	const struct segment_lease other = {8, one.until_mono_ns, "planner other"};
	struct segment_lease longer = one;
	struct error e;

	start();
	segment_class_switch(control(), collect.segment, CHANNEL_P2P, NULL,
			     (enum segment_mode)(MODE_ONE_IN + ONE_IN_MOST));
	segment_class_switch(control(), collect.segment, CHANNEL_WAIT, NULL, MODE_OFF);
	CU_ASSERT_EQUAL(segment_lease_check(control(), 0, &e), 0);
	CU_ASSERT_EQUAL_FATAL(segment_lease_take(control(), collect.segment, &one, &e), 0);
	segment_class_switch(control(), collect.segment, -1, NULL, MODE_SAMPLE);
	CU_ASSERT(segment_lease_take(control(), collect.segment, &other, &e) && errno == EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "modes are held by planner one for up to 60 s"));
	CU_ASSERT(segment_lease_check(control(), 0, &e) && errno == EBUSY);
	CU_ASSERT(begin(1000000000, &e) && errno == EBUSY);
	longer.until_mono_ns += 60000000000;
	CU_ASSERT_EQUAL(segment_lease_take(control(), collect.segment, &longer, &e), 0);
	CU_ASSERT_FALSE(segment_trial_late(control(), one.until_mono_ns + 1));
	CU_ASSERT_TRUE(segment_trial_late(control(), longer.until_mono_ns));
	CU_ASSERT_EQUAL(mode_now(CHANNEL_P2P), MODE_SAMPLE);
	CU_ASSERT_EQUAL(segment_trial_end(control(), collect.segment), 1);
	CU_ASSERT_EQUAL(mode_now(CHANNEL_P2P), MODE_ONE_IN + ONE_IN_MOST);
	CU_ASSERT_EQUAL(mode_now(CHANNEL_WAIT), MODE_OFF);
	CU_ASSERT_EQUAL(mode_now(CHANNEL_COMPLETION), MODE_TRACE);
	CU_ASSERT_EQUAL(mode_now(SEGMENT_CLASS_FRESH), MODE_FRESH);
	CU_ASSERT_EQUAL(segment_lease_take(control(), collect.segment, &other, &e), 0);
	segment_class_switch(control(), collect.segment, -1, NULL, MODE_SAMPLE);
	CU_ASSERT_EQUAL(segment_lease_keep(control(), one.id), 0);
	CU_ASSERT_EQUAL(segment_lease_keep(control(), other.id), 1);
	CU_ASSERT_EQUAL(segment_trial_end(control(), collect.segment), 0);
	CU_ASSERT_EQUAL(mode_now(CHANNEL_P2P), MODE_SAMPLE);
	collect_stop();
}

/* Who has an experiment whose arms change nothing moves modes while it runs; others cannot. It may
 * begin where the same one holds the modes already, and its end puts back what was before that. */
static void modes_move_during_ones_own(void)
{
	struct segment_trial_plan plan = plan_of(UINT64_C(60000000000));
	const struct segment_lease other = {98, plan.lease.until_mono_ns, "another"};
	uint32_t comm = COMM, traced = 0;
	struct error e;

	start();
	memset(plan.mode, MODE_FRESH, sizeof(plan.mode));
	CU_ASSERT_EQUAL_FATAL(segment_lease_take(control(), collect.segment, &plan.lease, &e), 0);
	segment_class_switch(control(), collect.segment, CHANNEL_P2P, NULL, MODE_COUNT);
	CU_ASSERT_EQUAL_FATAL(segment_trial_begin(control(), collect.segment, &plan, &e), 0);
	CU_ASSERT(segment_trial_begin(control(), collect.segment, &plan, &e) && errno == EBUSY);
	CU_ASSERT(segment_lease_take(control(), collect.segment, &other, &e) && errno == EBUSY);
	CU_ASSERT_EQUAL(segment_lease_check(control(), plan.lease.id, &e), 0);
	collectives_to(3 * LENGTH);
	CU_ASSERT_EQUAL(mode_now(CHANNEL_P2P), MODE_COUNT);
	CU_ASSERT_EQUAL(collective(), MODE_TRACE);
	segment_class_switch(control(), collect.segment, CHANNEL_COLLECTIVE, &comm,
			     (enum segment_mode)(MODE_ONE_IN + 2));
	while (atomic_load(&world.next) < 103 * LENGTH)
		traced += collective() == MODE_TRACE;
	CU_ASSERT(traced > 150 && traced < 350);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_USER), 101);
	CU_ASSERT_EQUAL(segment_lease_take(control(), collect.segment, &plan.lease, &e), 0);
	collectives_to(105 * LENGTH);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_USER), 103);
	CU_ASSERT_EQUAL(segment_trial_end(control(), collect.segment), 1);
	CU_ASSERT_EQUAL(mode_now(CHANNEL_P2P), MODE_TRACE);
	CU_ASSERT_EQUAL(collective(), MODE_TRACE);
	collect_stop();
}

/* What of modes and lease somebody sees who looks again and again, in another thread. */
struct watching {
	_Atomic bool stops;
	unsigned neither; /* times: nobody holds the modes, and they are not as before */
};

static void *watch(void *arg)
{
	struct watching *w = arg;

	while (!atomic_load(&w->stops)) {
		uint64_t id = atomic_load(&control()->trial.seed);
		bool during = mode_now(CHANNEL_PACK) == MODE_SAMPLE;
		bool over = during && !segment_trial_active(control());

		w->neither += over && mode_now(CHANNEL_PACK) == MODE_SAMPLE &&
			      atomic_load(&control()->trial.seed) == id;
	}
	return NULL;
}

/* When nobody holds the modes any more, they are as before: there is no time between. */
static void the_end_comes_after_the_modes(void)
{
	struct segment_lease lease = {7, clock_mono_ns() + 60000000000, "one"};
	struct watching w = {.neither = 0};
	pthread_t thread;
	struct error e;

	start();
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, watch, &w), 0);
	for (int i = 0; i < 50000; i++) {
		lease.id++;
		CU_ASSERT_EQUAL(segment_lease_take(control(), collect.segment, &lease, &e), 0);
		atomic_store(&control()->mode[CHANNEL_PACK], MODE_SAMPLE);
		segment_trial_end(control(), collect.segment);
	}
	atomic_store(&w.stops, true);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(w.neither, 0);
	collect_stop();
}

/* Who ends a lease and dies over it: somebody else completes that at once. Nor does an end that no
 * agent gives stay. */
static void what_nobody_ends_is_ended(void)
{
	const struct segment_lease lease = {7, clock_mono_ns() + 60000000000, "one"};
	uint64_t now = clock_mono_ns();
	struct error e;

	start();
	CU_ASSERT_EQUAL_FATAL(segment_lease_take(control(), collect.segment, &lease, &e), 0);
	CU_ASSERT_FALSE(segment_trial_late(control(), now));
	atomic_store(&control()->mode[CHANNEL_PACK], MODE_SAMPLE);
	atomic_store(&control()->trial.class, SEGMENT_TRIAL_ENDING);
	CU_ASSERT(segment_lease_take(control(), collect.segment, &lease, &e) && errno == EBUSY);
	CU_ASSERT_TRUE(segment_trial_late(control(), now));
	/* a block that begins now leaves the modes alone */
	segment_trial_arm(collect.segment, 0);
	CU_ASSERT_EQUAL(segment_trial_end(control(), collect.segment), 1);
	CU_ASSERT_EQUAL(mode_now(CHANNEL_PACK), MODE_TRACE);
	segment_trial_arm(collect.segment, 0);
	CU_ASSERT_EQUAL(mode_now(CHANNEL_PACK), MODE_TRACE);
	CU_ASSERT_EQUAL_FATAL(segment_lease_take(control(), collect.segment, &lease, &e), 0);
	atomic_store(&control()->trial.until_mono_ns, UINT64_MAX);
	CU_ASSERT_TRUE(segment_trial_late(control(), now));
	collect_stop();
}

/* Whatever is on the control page, the program goes on. */
static void rubbish_is_survived(void)
{
	struct segment_trial *t;
	struct error e;

	start();
	CU_ASSERT_EQUAL_FATAL(begin(UINT64_C(60000000000), &e), 0);
	t = &control()->trial;
	for (unsigned i = 0; i < 2000; i++) {
		atomic_store(&t->length, i % 7 ? i % 5 : UINT32_MAX);
		atomic_store(&t->wash, i % 3 ? i % 6 : UINT32_MAX);
		atomic_store(&t->arms, (uint8_t)(i * 37));
		atomic_store(&t->mode[i % TRIAL_ARMS_MAX], (uint8_t)(i * 11));
		atomic_store(&t->class, i * 2654435761u);
		atomic_store(&t->classes, i * 40503u);
		atomic_fetch_add(&t->serial, i % 4 == 0);
		collective();
		collector_bed_operate(CHANNEL_P2P, 1, NULL);
	}
	CU_PASS("it goes on");
	collect_stop();
}

static CU_TestInfo cases[] = {
	{"each block has the modes of its arm", each_block_has_its_arm},
	{"an arm of one class", an_arm_may_be_of_one_class},
	{"blocks are events", blocks_are_events},
	{"afterwards all is as before, also when the lease is over", all_is_as_before},
	{"an arm may leave all as it is", an_arm_may_leave_all_as_it_is},
	{"wrong experiments are refused", wrong_ones_are_refused},
	{"modes are held by a lease, and are as before after it", modes_are_held},
	{"who has an experiment may move modes during it", modes_move_during_ones_own},
	{"a lease ends when the modes are as before, and not sooner",
	 the_end_comes_after_the_modes},
	{"an end that was begun is completed, one that never comes is over",
	 what_nobody_ends_is_ended},
	{"rubbish on the control page is survived", rubbish_is_survived},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "trial",
		 .pInitFunc = segments_folder_make,
		 .pCleanupFunc = segments_folder_remove,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
