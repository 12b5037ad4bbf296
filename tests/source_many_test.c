/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a leaf's source makes of very many elements, communicators and labels: by turns, with
 * nothing left out. */
#include "node-agent/source/source.h"

#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "node-agent/control/survey.h"
#include "node-agent/control/switch.h"
#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment-table.h"
#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/source/accounting.h"
#include "node-agent/source/row-names.h"
#include "node-agent/source/row-thread.h"
#include "node-agent/source/row.h"
#include "node-agent/store/store-run.h"
#include "pathmap/base/memory.h"
#include "tests/fixture.h"
#include "tests/source-bed.h"
#include "tests/tap.h"
#include "tree/data/names-comm.h"
#include "tree/data/op-table.h"
#include "tree/data/op.h"
#include "tree/data/turn.h"
#include "tree/link/rate-limit.h"

/* ---- accounts ---- */

/* ---- very many elements ---- */

#define CROWD 20000u

/* A tuple more in each element of @s, from number @from on, which is made if it is not there. */
static void crowd_write(struct segment *s, struct element_writer *writers, uint32_t from,
			uint32_t n)
{
	const struct tuple tuple = {.start = 1, .end = 2, .peer = 1, .op = op_find("MPI_Send")};

	for (uint32_t i = from; i < n; i++) {
		const struct segment_element like = {
			.channel = CHANNEL_P2P, .capacity = 4, .split = SPLIT_OP, .key = 1000 + i};
		const struct segment_element *made;

		if (!writers[i].ring) {
			made = segment_element_add(s, &like);
			CU_ASSERT_PTR_NOT_NULL_FATAL(made);
			element_writer_init(&writers[i],
					    (void *)((char *)s->header + made->ring_at), 4);
		}
		element_write(&writers[i], &tuple);
	}
}

/* A segment of @plan in the run's folder. */
static struct segment run_segment(struct segment_plan *plan)
{
	char dir[sizeof(fixture.base) + 8];
	struct segment s;

	mkdir(fixture.base, 0700);
	snprintf(dir, sizeof(dir), "%s/run", fixture.base);
	mkdir(dir, 0700);
	plan->dir = dir;
	CU_ASSERT_EQUAL_FATAL(segment_create(&s, plan, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(segment_thread_add(&s, 1));
	return s;
}

static struct segment crowd_segment(void)
{
	struct segment_plan plan = {
		.run = "run", .world = 1, .world_size = 1, .threads = 1, .elements = CROWD};

	plan.split[CHANNEL_P2P] = SPLIT_OP;
	plan.capacity[CHANNEL_P2P] = 4;
	return run_segment(&plan);
}

/* Take in all that there is, by turns. By this process's own time, as others may use the machine:
 * no turn is longer than three should be, or, where the machine is slow, than a third of all. */
static bool takes_turns(struct stage *source)
{
	double longest = 0, all = 0, most = 3e-9 * TURN_NS;
	unsigned turns = 0;
	bool done;

	do {
		clock_t begun = clock();
		double took;

		done = source->ops->take(source);
		took = (double)(clock() - begun) / CLOCKS_PER_SEC;
		longest = took > longest ? took : longest;
		all += took;
		turns++;
	} while (!done);
	tap_note("%u turns of %.4f s, the longest of %.4f s", turns, all, longest);
	return longest < most || longest < all / 3;
}

/* Very many elements hold nobody up: a few at a time are taken in, and then none is left out, nor
 * read twice, nor from before the opening. */
static void very_many_elements(void)
{
	struct element_writer *writers = memory_new(CROWD, sizeof(*writers));
	struct segment s = crowd_segment();
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct ask ask = {.wave = 1};
	struct stage *source;
	struct part part;

	crowd_write(&s, writers, 0, CROWD - 10);
	source_bed_look();
	open.backlog = false;
	source = source_bed_open(&open);
	CU_ASSERT_FALSE(source->ops->ready(source));
	crowd_write(&s, writers, 0, CROWD);
	CU_ASSERT(takes_turns(source));
	CU_ASSERT_TRUE(source->ops->ready(source));
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), CROWD);
	CU_ASSERT_EQUAL(part.lost, 0);
	crowd_write(&s, writers, 0, CROWD);
	CU_ASSERT_TRUE(source->ops->ready(source));
	ask = (struct ask){.wave = 2, .have = 1};
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), CROWD);
	CU_ASSERT_EQUAL(part.lost, 0);
	source_free(source, false);
	segment_close(&s);
	free(writers);
}

/* What a log line says, of a reader that says it to stderr. */
static const char *said_of(int fd)
{
	static char text[1024];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* More than a scope can have rows: that is said once, and none is added up. */
static void more_elements_than_rows(void)
{
	const uint32_t most = SEGMENT_ELEMENTS_READ;
	struct segment_plan plan = {
		.run = "run", .world = 1, .world_size = 1, .threads = 1, .elements = most + 10};
	Evspace__Open open = source_bed_asked(READ_LATEST);
	struct accounting sum = {0};
	struct rate_limit limit = {0};
	struct ask ask = {.wave = 1};
	struct segment_element *table;
	struct stage *source;
	struct segment s;
	int was = dup(STDERR_FILENO), fd = memfd_create("stderr", 0);

	plan.quota = UINT64_MAX;
	plan.split[CHANNEL_P2P] = SPLIT_OP;
	plan.capacity[CHANNEL_P2P] = 1;
	s = run_segment(&plan);
	table = (void *)((char *)s.header + s.layout.elements_at);
	/* all are the overflow's */
	for (uint32_t i = 1; i < most + 10; i++)
		table[i] = table[0];
	segment_overflow_write(&s);
	atomic_store(&s.header->elements, most + 10);
	source_bed_look();
	source_bed_host.said = &limit;
	dup2(fd, STDERR_FILENO);
	source = source_bed_open(&open);
	for (; ask.wave <= 3; ask.wave++)
		(void)source_bed_read(source, &ask, NULL);
	dup2(was, STDERR_FILENO);
	tap_note("%s", said_of(fd));
	CU_ASSERT_PTR_NOT_NULL(strstr(said_of(fd), "evspace: run run has too many elements"));
	CU_ASSERT_PTR_EQUAL(strchr(said_of(fd), '\n'), strrchr(said_of(fd), '\n'));
	CU_ASSERT_EQUAL(accounting_read(&s, ACCOUNTING_ALL, &sum), 0);
	CU_ASSERT_EQUAL(sum.written, most);
	source_free(source, false);
	segment_close(&s);
	close(was);
	close(fd);
}

/* More than have names: that is said once, and how many. */
static void more_counts_than_names(void)
{
	enum { THREADS = 4000, TIMES = (NAME_LOCAL_MAX + 1) / THREADS + 1 };
	static char clusters[2][2] = {"d", "e"};
	struct plan_place places[2] = {source_bed_place, source_bed_place};
	struct segment_plan plan = {
		.run = "run", .world = 1, .world_size = 1, .threads = THREADS, .classes = 16};
	Evspace__Open open = source_bed_asked(READ_COUNTS);
	struct rate_limit limit = {0};
	struct ask ask = {.wave = 1};
	struct segment s = run_segment(&plan);
	struct stage *source;
	int was = dup(STDERR_FILENO), fd = memfd_create("stderr", 0);

	for (uint32_t i = 0; i < THREADS; i++) {
		CU_ASSERT_FATAL(i == 0 || segment_thread_add(&s, 1 + i));
		atomic_store(&segment_counts_of(&s, i)[CHANNEL_P2P].calls, 1);
	}
	source_bed_look();
	source_bed_host.said = &limit;
	dup2(fd, STDERR_FILENO);
	source = source_bed_open(&open);
	/* In another cluster all have other names. */
	for (; ask.wave <= TIMES + 1; ask.wave++) {
		places[ask.wave % 2].cluster = clusters[ask.wave % 2];
		source_replace(source, &places[ask.wave % 2]);
		CU_ASSERT_EQUAL(source_bed_read(source, &ask, NULL), 0);
	}
	dup2(was, STDERR_FILENO);
	tap_note("%s", said_of(fd));
	CU_ASSERT_PTR_NOT_NULL(strstr(said_of(fd), "evspace: run run has counts of "));
	CU_ASSERT_PTR_EQUAL(strchr(said_of(fd), '\n'), strrchr(said_of(fd), '\n'));
	CU_ASSERT_EQUAL(names_use(source_bed_names).names, NAME_LOCAL_MAX + 1);
	source_free(source, false);
	segment_close(&s);
	close(was);
	close(fd);
}

/* An open scope learns communicators that take the place of those that are freed. */
static void communicators_are_made_again(void)
{
	enum { COMMS = 8 };
	struct segment_plan plan = {
		.run = "run", .world = 1, .world_size = 4, .threads = 1, .comms = COMMS};
	struct segment s = run_segment(&plan);
	Evspace__Open open = source_bed_asked(READ_LATEST);
	struct ask ask = {.wave = 1};
	struct stage *source;
	struct part part;

	for (uint32_t i = 0; i < COMMS; i++)
		segment_comm_add(&s, 100 + i, 1, 2, SEGMENT_MEMBERS_UNKNOWN);
	source_bed_look();
	source = source_bed_open(&open);
	(void)source_bed_wave(source, &ask, &part, NULL);
	CU_ASSERT_EQUAL(names_comm_count(source_bed_names), COMMS);
	for (uint32_t i = 0; i < COMMS; i++) {
		segment_comm_leave(&s, 100 + i);
		segment_comm_add(&s, 200 + i, 1, 2, SEGMENT_MEMBERS_UNKNOWN);
	}
	ask.wave = 2;
	(void)source_bed_wave(source, &ask, &part, NULL);
	CU_ASSERT_EQUAL(names_comm_count(source_bed_names), 2 * COMMS);
	for (uint32_t i = 0; i < COMMS; i++)
		CU_ASSERT_PTR_NOT_NULL(names_comm_find(source_bed_names, 200 + i));
	source_free(source, false);
	segment_close(&s);
}

/* What goes before all of it was taken in is lost all the same, what was discarded apart. */
static void crowd_goes(bool backlog, uint64_t lost, uint64_t discarded)
{
	struct element_writer *writers = memory_new(CROWD, sizeof(*writers));
	struct segment s = crowd_segment();
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct ask ask = {.wave = 1};
	struct rows_list streams;
	struct stage *source;
	struct part part;

	crowd_write(&s, writers, 0, CROWD - 10);
	/* the overflow element is number 0 */
	source_bed_discard(&s, CROWD - 20, 1);
	source_bed_look_and_tell(&streams);
	open.backlog = backlog;
	source = source_bed_open(&open);
	(void)source->ops->take(source);
	crowd_write(&s, writers, 0, CROWD);
	CU_ASSERT_EQUAL(unlink(s.path), 0);
	store_refresh(&fixture.store);
	for (unsigned again = 0; again < 2; again++) {
		ask.again = again;
		CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 0);
		CU_ASSERT_EQUAL(part.lost, lost);
		CU_ASSERT_EQUAL(part.discarded, discarded);
	}
	ask = (struct ask){.wave = 2, .have = 1};
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.lost, 0);
	source_free(source, false);
	segment_close(&s);
	free(writers);
}

static void what_goes_unseen_is_lost(void)
{
	crowd_goes(true, 2 * CROWD - 10 - 1, 1);
}

static void what_goes_unseen_from_now_on_is_lost(void)
{
	crowd_goes(false, CROWD, 0);
}

enum { LISTS = 40, MEMBERS = 100000, TELLERS = 4 };

/* A process that is in communicators of very many. */
static void crowd_lists(int32_t rank)
{
	struct segment_plan plan = {.run = "run",
				    .world = 1,
				    .world_size = MEMBERS,
				    .rank = rank,
				    .threads = 1,
				    .members = LISTS * MEMBERS};
	struct segment s = run_segment(&plan);

	for (int32_t i = 0; i < LISTS; i++) {
		int32_t *room = segment_members_take(&s, MEMBERS);

		CU_ASSERT_PTR_NOT_NULL_FATAL(room);
		for (int32_t k = 0; k < MEMBERS; k++)
			room[k] = (k + i) % MEMBERS;
		segment_comm_add(&s, (uint32_t)(100 + i), 1, MEMBERS,
				 segment_members_keep(&s, room, MEMBERS));
	}
	segment_close(&s);
}

/* Neither do those hold anybody up. */
static void very_many_members(void)
{
	Evspace__Open open = source_bed_asked(READ_LATEST);
	struct stage *source;

	for (int32_t i = 0; i < TELLERS; i++)
		crowd_lists(i);
	source_bed_look();
	source = source_bed_open(&open);
	CU_ASSERT(takes_turns(source));
	for (uint32_t i = 0; i < LISTS; i++) {
		const struct name_comm *comm = names_comm_find(source_bed_names, 100 + i);

		CU_ASSERT_PTR_NOT_NULL_FATAL(comm);
		CU_ASSERT_EQUAL(comm->size, MEMBERS);
	}
	source_free(source, false);
}

static uint32_t label_make(struct segment *s, const char *text)
{
	return segment_label_make(s, text, strlen(text));
}

/* Some labels are taken in at a time; those that come meanwhile are not left out. */
static void labels_come_in_parts(void)
{
	struct segment_plan plan = {.run = "run", .world = 1, .world_size = 1};
	struct segment s = run_segment(&plan), wide = s;
	struct row_labels taken = {0};
	uint32_t first = label_make(&s, "first"), then;

	/* what lies behind the table are elements without a tuple */
	wide.layout.labels_max = 4 * s.layout.labels_max;
	CU_ASSERT_EQUAL(row_labels_take(&wide, source_bed_names, &taken), 1);
	CU_ASSERT_TRUE(row_labels_changed(&wide, &taken));
	then = label_make(&s, "then");
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(row_labels_take(&wide, source_bed_names, &taken), 1);
	CU_ASSERT_EQUAL(row_labels_take(&wide, source_bed_names, &taken), 0);
	CU_ASSERT_PTR_NOT_NULL(names_label_find(source_bed_names, first));
	CU_ASSERT_PTR_NULL(names_label_find(source_bed_names, then));
	CU_ASSERT_TRUE(row_labels_changed(&wide, &taken));
	while (row_labels_take(&wide, source_bed_names, &taken) > 0)
		;
	CU_ASSERT_PTR_NOT_NULL(names_label_find(source_bed_names, then));
	CU_ASSERT_FALSE(row_labels_changed(&wide, &taken));
	segment_close(&s);
}

/* The thread of @s waits, since long, in a call from @site. */
static void wait_at(struct segment_thread *thread, uint64_t site)
{
	atomic_store(&thread->state.since, 1);
	atomic_store(&thread->state.site, site);
	atomic_store(&thread->state.what, 1);
}

/* A process that says ever new call sites: names of others find room. */
static void ever_new_sites(void)
{
	struct segment_plan plan = {
		.run = "run", .world = 1, .world_size = 1, .threads = 2, .elements = 4};
	const struct segment_module module = {.from = 1, .end = UINT64_MAX, .path = "/none"};
	static char users[] = "/**/user";
	char *only[] = {users};
	Evspace__Open open = source_bed_asked(READ_LATEST);
	struct segment s = run_segment(&plan);
	struct segment_thread *thread = segment_thread_add(&s, 2);
	struct ask ask = {.wave = 1};
	struct stage *source;
	size_t comms;

	CU_ASSERT_PTR_NOT_NULL_FATAL(thread);
	segment_module_add(&s, &module);
	open.select = only;
	source_bed_look();
	source = source_bed_open(&open);
	for (; ask.wave < ROW_SITE_LABELS / 2; ask.wave++) {
		wait_at(thread, ask.wave);
		CU_ASSERT_EQUAL_FATAL(source_bed_read(source, &ask, NULL), 0);
	}
	comms = names_use(source_bed_names).comms;
	CU_ASSERT(comms >= ROW_SITE_LABELS / 2 - 2);
	for (; ask.wave < 2 * ROW_SITE_LABELS; ask.wave++) {
		wait_at(thread, ask.wave);
		CU_ASSERT_EQUAL_FATAL(source_bed_read(source, &ask, NULL), 0);
	}
	comms = names_use(source_bed_names).comms;
	tap_note("%zu labels of %u sites", comms, 2 * ROW_SITE_LABELS);
	CU_ASSERT(comms <= ROW_SITE_LABELS);
	source_free(source, false);
	segment_close(&s);
}

int main(void)
{
	static CU_TestInfo waves[] = {
		{"very many elements", very_many_elements},
		{"more elements than can be rows", more_elements_than_rows},
		{"communicators that are made again", communicators_are_made_again},
		{"labels come in parts", labels_come_in_parts},
		{"communicators of very many processes", very_many_members},
		{"more counts than names", more_counts_than_names},
		{"what goes unseen is lost, too, exactly", what_goes_unseen_is_lost},
		{"... from now on", what_goes_unseen_from_now_on_is_lost},
		{"call sites without end leave room for other names", ever_new_sites},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "waves",
		 .pTests = waves,
		 .pSetUpFunc = source_bed_begin,
		 .pTearDownFunc = source_bed_end},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
