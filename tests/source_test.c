/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a leaf's source makes of segments: how much, for whom, of the dead. */
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
#include <unistd.h>

#include "node-agent/control/survey.h"
#include "node-agent/control/switch.h"
#include "node-agent/pastset/pastset.h"
#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-table.h"
#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/source/accounting.h"
#include "node-agent/source/row-names.h"
#include "node-agent/source/row.h"
#include "node-agent/store/store-run.h"
#include "pathmap/base/memory.h"
#include "tests/fixture.h"
#include "tests/source-bed.h"
#include "tests/tap.h"
#include "tree/data/names-comm.h"
#include "tree/data/op-table.h"
#include "tree/data/op.h"
#include "tree/link/rate-limit.h"

static void no_more_than_there_is_room_for(void)
{
	pid_t maker = maker_start("run", 0, 40);
	struct stage *source;
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct part part;
	struct ask ask = {.wave = 1, .room = 6};

	source_bed_look();
	source = source_bed_open(&open);
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 6);
	CU_ASSERT_EQUAL(part.lost, 40 - SOURCE_BED_HELD);
	/* what was given once is given whole again, however little room there is by then */
	ask.again = 1;
	ask.room = 1;
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 6);
	ask = (struct ask){.wave = 2, .room = 6};
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 6);
	CU_ASSERT_EQUAL(part.lost, 0);
	ask = (struct ask){.wave = 3, .have = 2};
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), SOURCE_BED_HELD - 12);
	ask = (struct ask){.wave = 4, .have = 3};
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 0);
	source_free(source, false);
	maker_end(maker);
}

/* Of two scopes with one id only one counts; the other one has its turn when that is gone. */
static void one_scope_alone_counts(void)
{
	pid_t maker = maker_start("run", 0, 10);
	struct stage *first, *second;
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct part part;
	struct ask ask = {.wave = 1};

	source_bed_look();
	first = source_bed_open(&open);
	second = source_bed_open(&open);
	CU_ASSERT_EQUAL(source_bed_wave(second, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(source_bed_wave(first, &ask, &part, NULL), 10);
	source_free(first, true);
	ask.again = 1;
	CU_ASSERT_EQUAL(source_bed_wave(second, &ask, &part, NULL), 10);
	ask = (struct ask){.wave = 2, .have = 1};
	CU_ASSERT_EQUAL(source_bed_wave(second, &ask, &part, NULL), 0);
	source_free(second, false);
	maker_end(maker);
}

/* A map leaves rank 0 out, and another one has it again. */
static void a_rank_leaves_the_map(void)
{
	static char rank[] = "0", none[] = "";
	pid_t maker = maker_start("run", 0, 14);
	struct plan_place had = source_bed_place, without = source_bed_place;
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct stage *source;
	struct ask ask = {.wave = 1, .room = 4};
	struct part part;

	source_bed_look();
	had.placed = without.placed = true;
	had.holds = rank;
	without.holds = none;
	source = source_new(&source_bed_host, &open, &had, source_bed_names, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(source);
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 4);
	CU_ASSERT_EQUAL(part.processes, 1);
	source_replace(source, &without);
	ask.wave = 2;
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.processes, 0);
	/* what was read before is told again */
	ask = (struct ask){.wave = 1, .again = true};
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 4);
	/* and it goes on where it stopped */
	source_replace(source, &had);
	ask = (struct ask){.wave = 3};
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 10);
	CU_ASSERT_EQUAL(part.processes, 1);
	source_free(source, false);
	maker_end(maker);
}

static bool may_be_moved(const struct plan_place *by, const char *why)
{
	Evspace__Open open = source_bed_asked(READ_LATEST);
	static char none[] = "";
	struct error e = {""};
	struct stage *source;

	open.run = none;
	source = source_new(&source_bed_host, &open, by, source_bed_names, &e);
	CU_ASSERT(source || errno == SOURCE_ELSEWHERE);
	CU_ASSERT(source || strncmp(e.text, why, strlen(why)) == 0);
	CU_ASSERT(source || strstr(e.text, " to m: leave "));
	source_free(source, false);
	return source != NULL;
}

/* Another map has ranks on node m, whose agent has the same event space: as long as they run, or
 * are read as a stream, it is refused. */
static void ranks_stay_where_they_are(void)
{
	static char ranks[] = "0-2", elsewhere[] = "0-0@m;2-9@m", none[] = "";
	static const char both[] = "ranks 0,2 of run run are here, ";
	pid_t first = maker_start("run", 2, 4), second = maker_start("run", 0, 4);
	pid_t third = maker_start("run", 1, 4);
	struct rows_list streams = LIST_HEAD_INITIALIZER(streams);
	struct plan_place by = source_bed_place, without = source_bed_place;
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct stage *source;
	struct ask ask = {.wave = 1};
	struct part part;

	source_bed_look();
	fixture_file(".", "agent-m.sock", "");
	source_bed_host.streams = &streams;
	by.placed = without.placed = true;
	by.holds = without.holds = ranks;
	by.elsewhere = elsewhere;
	without.elsewhere = none;
	CU_ASSERT_FALSE(may_be_moved(&by, both));
	source = source_new(&source_bed_host, &open, &without, source_bed_names, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(source);
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 12);
	maker_end(first);
	CU_ASSERT_FALSE(store_check_alive(fixture_find_pid(first)));
	CU_ASSERT_FALSE(may_be_moved(&by, both));
	source_free(source, false);
	CU_ASSERT_FALSE(may_be_moved(&by, "rank 0 of run run is here, "));
	maker_end(second);
	maker_end(third);
}

static void who_was_killed_is_marked(void)
{
	pid_t maker = maker_start("run", 0, 10);
	struct stage *source;
	Evspace__Open open = source_bed_asked(READ_LATEST);
	struct part part;
	struct ask ask = {.wave = 1};
	struct tuple last = {0};

	source_bed_look();
	source = source_bed_open(&open);
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, &last), 2);
	CU_ASSERT_EQUAL(last.flags & TUPLE_GONE, 0);
	CU_ASSERT_EQUAL(part.processes, 1);
	maker_end(maker);
	CU_ASSERT_FALSE(store_check_alive(fixture_find("rank0")));
	ask.wave = 2;
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, &last), 2);
	CU_ASSERT_EQUAL(last.flags & (TUPLE_GONE | TUPLE_RUNNING), TUPLE_GONE);
	CU_ASSERT_EQUAL(part.processes, 0);
	source_free(source, false);
}

/* The region that a thread is in comes beside what it does. */
static void regions_are_read(void)
{
	pid_t maker = maker_start("run", 0, 3);
	struct stage *source;
	Evspace__Open open = source_bed_asked(READ_LATEST);
	struct part part;
	struct ask ask = {.wave = 1};
	static char users[] = "/**/user";
	char *only[] = {users};
	struct batch_cursor cursor = {0};
	struct run_view view;

	open.select = only;
	source_bed_look();
	source = source_bed_open(&open);
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 1);
	while (batch_next(&source_bed_batch, &cursor, &view) && view.run->kind != RUN_TUPLES)
		;
	CU_ASSERT_EQUAL_FATAL(view.run->kind, RUN_TUPLES);
	CU_ASSERT_EQUAL(view.tuples[0].flags, TUPLE_REGION | TUPLE_RUNNING);
	CU_ASSERT_EQUAL(view.tuples[0].op, OP_EVSPACE_REGION);
	CU_ASSERT_EQUAL(view.tuples[0].start, 1);
	CU_ASSERT_STRING_EQUAL(names_label_find(source_bed_names, view.tuples[0].seq_or_tag),
			       "region");
	CU_ASSERT_STRING_EQUAL(names_find(source_bed_names, view.run->element)->text,
			       "/c/n/rank0/t0/user");
	source_free(source, false);
	maker_end(maker);
}

/* Whatever is read of a run, no program removes it meanwhile for want of room. */
static void readers_hold(void)
{
	static const enum reading readings[] = {READ_STREAM, READ_LATEST, READ_COUNTS};
	pid_t maker = maker_start("run", 0, 10);
	const struct store_segment *s;
	struct ask ask = {.wave = 1};

	maker_end(maker);
	source_bed_look();
	s = TAILQ_FIRST(&fixture.store.segments);
	for (unsigned i = 0; i < 3; i++) {
		Evspace__Open open = source_bed_asked(readings[i]);
		struct stage *source = source_bed_open(&open);

		CU_ASSERT_EQUAL(source_bed_read(source, &ask, NULL), 0);
		CU_ASSERT_EQUAL(s->holds, 1);
		source_free(source, false);
		CU_ASSERT_EQUAL(s->holds, 0);
	}
}

/* Where no cursors can be kept, the leaf says so until they can. */
static void no_room_for_cursors(void)
{
	const struct rlimit none = {0, RLIM_INFINITY};
	pid_t maker = maker_start("run", 0, 10);
	struct error e = {""};
	struct stage *source;
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct part part;
	struct ask ask = {.wave = 1, .room = 4};
	struct rlimit was;

	getrlimit(RLIMIT_FSIZE, &was);
	signal(SIGXFSZ, SIG_IGN);
	source_bed_look();
	setrlimit(RLIMIT_FSIZE, &none);
	source = source_bed_open(&open);
	CU_ASSERT_EQUAL(source_bed_read(source, &ask, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "cannot keep cursors in"));
	setrlimit(RLIMIT_FSIZE, &was);
	ask.wave = 2;
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 4);
	/* nor is a wave that cannot be noted one: what was read comes with a later one */
	setrlimit(RLIMIT_FSIZE, &none);
	ask.wave = 3;
	CU_ASSERT_EQUAL(source_bed_read(source, &ask, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "free some space"));
	setrlimit(RLIMIT_FSIZE, &was);
	ask = (struct ask){.wave = 4, .have = 2};
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 6);
	CU_ASSERT_EQUAL(part.lost, 0);
	source_free(source, false);
	maker_end(maker);
}

static void fates_add_up(void)
{
	pid_t maker = maker_start("run", 0, 40);
	const struct segment *s;
	struct accounting h = {0}, nothing = {0}, damaged = {0};

	fixture_start(false);
	CU_ASSERT_EQUAL_FATAL(fixture_count(), 1);
	s = &fixture_find("rank0")->segment;
	CU_ASSERT_EQUAL(accounting_read(s, ACCOUNTING_ALL, &h), 0);
	CU_ASSERT_EQUAL(h.written, 40);
	CU_ASSERT_EQUAL(h.held, SOURCE_BED_HELD);
	CU_ASSERT_EQUAL(accounting_overwritten(&h), 40 - SOURCE_BED_HELD);
	CU_ASSERT_EQUAL(accounting_read(s, 1u << CHANNEL_WAIT, &nothing), 0);
	CU_ASSERT_EQUAL(nothing.written, 0);
	/* element 0 is the overflow's */
	source_bed_discard(s, 1, 30);
	h = (struct accounting){0};
	CU_ASSERT_EQUAL(accounting_read(s, 1u << CHANNEL_P2P, &h), 0);
	CU_ASSERT_EQUAL(h.held, 10);
	CU_ASSERT_EQUAL(h.discarded, SOURCE_BED_HELD - 10);
	CU_ASSERT_EQUAL(accounting_overwritten(&h), 40 - SOURCE_BED_HELD);
	source_bed_discard(s, 1, UINT64_MAX);
	CU_ASSERT_EQUAL(accounting_read(s, ACCOUNTING_ALL, &damaged), 0);
	CU_ASSERT_EQUAL(damaged.held, 0);
	CU_ASSERT_EQUAL(damaged.discarded, SOURCE_BED_HELD);
	maker_end(maker);
}

/* ---- elements of programs ---- */

/* An element of the run "run" that says it has had @head tuples. */
static struct pastset element_made(const char *name, const char *type, uint32_t capacity,
				   uint64_t head)
{
	struct fields fields;
	const struct pastset_plan plan = {
		.name = name, .run = "run", .fields = &fields, .capacity = capacity};
	struct pastset p = {.map = NULL};
	char path[200];
	int dir;

	snprintf(path, sizeof(path), "%s/run", fixture.base);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL_FATAL(fields_parse(&fields, type, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(pastset_make(dir, path, &plan, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(pastset_open(&p, dir, path, name, true, NULL), 0);
	close(dir);
	atomic_store(&p.live->head, head);
	return p;
}

static struct part typed_wave(struct stage *source, const struct ask *ask)
{
	struct batch_cursor cursor = {0};
	struct run_view view;
	struct part part = {.read = 0};

	CU_ASSERT_EQUAL_FATAL(source_bed_read(source, ask, NULL), 0);
	while (batch_next(&source_bed_batch, &cursor, &view))
		if (view.run->kind == RUN_PART)
			part = *view.part;
	return part;
}

static struct stage *typed_open(Evspace__Open *open)
{
	static char all[] = "/**", own[] = "/**/element";
	static char *both[] = {all, own};

	open->select = both;
	open->n_select = 2;
	return source_bed_open(open);
}

/* However much was overwritten, what is there comes in the next wave; and what had not come when
 * the file goes is lost. */
static void whats_there_comes(void)
{
	pid_t maker = maker_start("run", 0, 0);
	struct pastset p = element_made("n", "n u64", 20, 100000);
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct rows_list streams;
	struct ask ask = {.wave = 1};
	struct stage *source;
	struct part part;
	char path[200];

	source_bed_look_and_tell(&streams);
	source = typed_open(&open);
	part = typed_wave(source, &ask);
	CU_ASSERT_EQUAL(part.lost, 100000 - 20);
	CU_ASSERT(part.read >= 20 && part.read <= 21);
	atomic_store(&p.live->head, 300000);
	ask = (struct ask){.wave = 2, .have = 1};
	part = typed_wave(source, &ask);
	CU_ASSERT_EQUAL(part.lost, 200000 - 20);
	CU_ASSERT_EQUAL(part.read, 20);
	atomic_store(&p.live->head, 300004);
	snprintf(path, sizeof(path), "%s/run/n.elem", fixture.base);
	CU_ASSERT_EQUAL(unlink(path), 0);
	(void)store_refresh(&fixture.store);
	ask = (struct ask){.wave = 3, .have = 2};
	part = typed_wave(source, &ask);
	CU_ASSERT_EQUAL(part.lost, 4);
	ask.again = true;
	CU_ASSERT_EQUAL(typed_wave(source, &ask).lost, 4);
	source_free(source, false);
	pastset_close(&p);
	maker_end(maker);
}

/* The room is one for all, in bytes; each in turn has it first. */
static void the_room_is_one(void)
{
	pid_t maker = maker_start("run", 0, 10);
	struct pastset p = element_made("n", "word u64[32]", 100, 50);
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct ask ask = {.wave = 1, .room = 16};
	struct stage *source;
	uint64_t read;

	source_bed_look();
	source = typed_open(&open);
	read = typed_wave(source, &ask).read;
	CU_ASSERT(read >= 2 && read <= 3);
	ask = (struct ask){.wave = 2, .have = 1, .room = 16};
	read = typed_wave(source, &ask).read;
	CU_ASSERT(read >= 10 && read <= 13);
	source_free(source, false);
	pastset_close(&p);
	maker_end(maker);
}

/* ---- surveys ---- */

/* Whoever asks in one turn of the loop gets what was read once, and in the next what is then. */
static void surveys_are_of_a_turn(void)
{
	pid_t maker = maker_start("run", 0, 40);
	struct event_base *base = event_base_new();
	struct survey *survey = survey_new(base, &source_bed_host);
	const Evspace__Status *first;

	source_bed_look();
	first = survey_take(survey);
	CU_ASSERT_EQUAL_FATAL(first->n_processes, 1);
	CU_ASSERT_EQUAL(first->processes[0]->events, 40);
	CU_ASSERT_STRING_EQUAL(first->processes[0]->run, "run");
	CU_ASSERT(first->n_classes > 0 && strcmp(first->classes[0]->run, "run") == 0);
	source_bed_discard(&fixture_find("rank0")->segment, 1, 30);
	CU_ASSERT_PTR_EQUAL(survey_take(survey), first);
	CU_ASSERT_EQUAL(first->processes[0]->held, SOURCE_BED_HELD);
	event_base_loop(base, EVLOOP_NONBLOCK);
	CU_ASSERT_EQUAL(survey_take(survey)->processes[0]->held, 10);
	survey_free(survey);
	maker_end(maker);
	event_base_free(base);
}

int main(void)
{
	static CU_TestInfo waves[] = {
		{"no more comes than there is room for", no_more_than_there_is_room_for},
		{"of two scopes with one id one alone counts", one_scope_alone_counts},
		{"a rank leaves the map, and comes back", a_rank_leaves_the_map},
		{"ranks stay where they are", ranks_stay_where_they_are},
		{"who was killed is marked in the last that it did", who_was_killed_is_marked},
		{"regions are read", regions_are_read},
		{"readers hold what they read", readers_hold},
		{"no room for cursors is said", no_room_for_cursors},
		{"of an element what is there comes at once, however far behind",
		 whats_there_comes},
		{"elements and what is collected share a wave's room", the_room_is_one},
		{"a survey is of a turn of the loop", surveys_are_of_a_turn},
		CU_TEST_INFO_NULL,
	};
	static CU_TestInfo fates[] = {
		{"written = held + overwritten + discarded", fates_add_up},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "waves",
		 .pTests = waves,
		 .pSetUpFunc = source_bed_begin,
		 .pTearDownFunc = source_bed_end},
		{.pName = "fates",
		 .pTests = fates,
		 .pSetUpFunc = fixture_begin,
		 .pTearDownFunc = fixture_end},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
