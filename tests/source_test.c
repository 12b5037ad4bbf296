/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a leaf's source makes of segments: how much, for whom, of the dead, of damaged files.
 */
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

#include "node-agent/source/accounting.h"
#include "node-agent/source/row-label.h"
#include "node-agent/source/row.h"
#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-comm.h"
#include "node-agent/segment/segment-label.h"
#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/store/store-run.h"
#include "node-agent/control/survey.h"
#include "node-agent/control/switch.h"
#include "pathmap/base/memory.h"
#include "tests/tap.h"
#include "tests/fixture.h"
#include "tree/data/names-comm.h"
#include "tree/data/op-table.h"
#include "tree/data/op.h"
#include "tree/link/rate-limit.h"

/* Of the maker's element of 16 as many can be read. */
#define HELD 15u

static char everything[] = "/**", *patterns[] = {everything};
static char node[] = "n", cluster[] = "c";
static struct plan_place place = {.node = node, .cluster = cluster, .leaf = true};
static struct pathmap *map;
static struct source_host host;
static struct clock_host host_clock;
static struct names *names;
static struct batch batch;

static void begin(void)
{
	fixture_begin();
	map = pathmap_local(node);
	names = names_new(NAME_PLACE_MAX);
	batch_init(&batch);
}

static void end(void)
{
	batch_fini(&batch);
	names_free(names);
	sites_free(host.sites);
	host.sites = NULL;
	pathmap_free(map);
	fixture_end();
}

/* The maker's host is this one, whatever the node is called. */
static void look_at_store(void)
{
	fixture_start(false);
	clock_host_init(&host_clock);
	host = (struct source_host){
		.store = &fixture.store,
		.map = map,
		.node = node,
		.sites = sites_new(),
		.clock = &host_clock,
	};
}

static Evspace__Open asked_for(enum reading reading)
{
	static uint8_t id[16] = "a scope of tests";
	Evspace__Open open = EVSPACE__OPEN__INIT;
	static char run[] = "run";

	open.id.data = id;
	open.id.len = sizeof(id);
	open.run = run;
	open.reading = reading;
	open.backlog = true;
	open.select = patterns;
	open.n_select = 1;
	return open;
}

static struct stage *source_open(const Evspace__Open *open)
{
	struct error e = {""};
	struct stage *source = source_new(&host, open, &place, names, &e);

	if (!source)
		tap_note("%s", e.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(source);
	return source;
}

/* Take in all that there is, as the loop does, and read a wave. */
static int wave_read(struct stage *source, const struct ask *ask, struct error *e)
{
	while (source->ops->take && !source->ops->take(source))
		;
	return source->ops->read(source, ask, &batch, e);
}

/* Read a wave. Returns the tuples in it, and in *@last (may be NULL) the last of them. */
static uint64_t wave(struct stage *source, const struct ask *ask, struct part *part,
		     struct tuple *last)
{
	struct batch_cursor cursor = {0};
	struct run_view view;
	uint64_t n = 0;

	memset(part, 0, sizeof(*part));
	CU_ASSERT_EQUAL_FATAL(wave_read(source, ask, NULL), 0);
	while (batch_next(&batch, &cursor, &view)) {
		if (view.run->kind == RUN_PART)
			*part = *view.part;
		if (view.run->kind != RUN_TUPLES || view.run->count == 0)
			continue;
		n += view.run->count;
		if (last && !(view.tuples[0].flags & TUPLE_REGION))
			*last = view.tuples[view.run->count - 1];
	}
	CU_ASSERT_EQUAL(part->read, n);
	return n;
}

static void no_more_than_there_is_room_for(void)
{
	pid_t maker = maker_start("run", 0, 40);
	struct stage *source;
	Evspace__Open open = asked_for(READ_STREAM);
	struct part part;
	struct ask ask = {.wave = 1, .room = 6};

	look_at_store();
	source = source_open(&open);
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 6);
	CU_ASSERT_EQUAL(part.lost, 40 - HELD);
	/* what was given once is given whole again, however little room there is by then */
	ask.again = 1;
	ask.room = 1;
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 6);
	ask = (struct ask){.wave = 2, .room = 6};
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 6);
	CU_ASSERT_EQUAL(part.lost, 0);
	ask = (struct ask){.wave = 3, .have = 2};
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), HELD - 12);
	ask = (struct ask){.wave = 4, .have = 3};
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 0);
	source_free(source, false);
	maker_end(maker);
}

/* Of two scopes with one id only one counts; the other one has its turn when that is gone. */
static void one_scope_alone_counts(void)
{
	pid_t maker = maker_start("run", 0, 10);
	struct stage *first, *second;
	Evspace__Open open = asked_for(READ_STREAM);
	struct part part;
	struct ask ask = {.wave = 1};

	look_at_store();
	first = source_open(&open);
	second = source_open(&open);
	CU_ASSERT_EQUAL(wave(second, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(wave(first, &ask, &part, NULL), 10);
	source_free(first, true);
	ask.again = 1;
	CU_ASSERT_EQUAL(wave(second, &ask, &part, NULL), 10);
	ask = (struct ask){.wave = 2, .have = 1};
	CU_ASSERT_EQUAL(wave(second, &ask, &part, NULL), 0);
	source_free(second, false);
	maker_end(maker);
}

/* A map leaves rank 0 out, and another one has it again. */
static void a_rank_leaves_the_map(void)
{
	static char rank[] = "0", none[] = "";
	pid_t maker = maker_start("run", 0, 14);
	struct plan_place had = place, without = place;
	Evspace__Open open = asked_for(READ_STREAM);
	struct stage *source;
	struct ask ask = {.wave = 1, .room = 4};
	struct part part;

	look_at_store();
	had.placed = without.placed = true;
	had.holds = rank;
	without.holds = none;
	source = source_new(&host, &open, &had, names, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(source);
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 4);
	CU_ASSERT_EQUAL(part.processes, 1);
	source_replace(source, &without);
	ask.wave = 2;
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.processes, 0);
	/* what was read before is told again */
	ask = (struct ask){.wave = 1, .again = true};
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 4);
	/* and it goes on where it stopped */
	source_replace(source, &had);
	ask = (struct ask){.wave = 3};
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 10);
	CU_ASSERT_EQUAL(part.processes, 1);
	source_free(source, false);
	maker_end(maker);
}

static bool may_be_moved(const struct plan_place *by, const char *why)
{
	Evspace__Open open = asked_for(READ_LATEST);
	static char none[] = "";
	struct error e = {""};
	struct stage *source;

	open.run = none;
	source = source_new(&host, &open, by, names, &e);
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
	struct plan_place by = place, without = place;
	Evspace__Open open = asked_for(READ_STREAM);
	struct stage *source;
	struct ask ask = {.wave = 1};
	struct part part;

	look_at_store();
	fixture_file(".", "agent-m.sock", "");
	host.streams = &streams;
	by.placed = without.placed = true;
	by.holds = without.holds = ranks;
	by.elsewhere = elsewhere;
	without.elsewhere = none;
	CU_ASSERT_FALSE(may_be_moved(&by, both));
	source = source_new(&host, &open, &without, names, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(source);
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 12);
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
	Evspace__Open open = asked_for(READ_LATEST);
	struct part part;
	struct ask ask = {.wave = 1};
	struct tuple last = {0};

	look_at_store();
	source = source_open(&open);
	CU_ASSERT_EQUAL(wave(source, &ask, &part, &last), 2);
	CU_ASSERT_EQUAL(last.flags & TUPLE_GONE, 0);
	CU_ASSERT_EQUAL(part.processes, 1);
	maker_end(maker);
	CU_ASSERT_FALSE(store_check_alive(fixture_find("rank0")));
	ask.wave = 2;
	CU_ASSERT_EQUAL(wave(source, &ask, &part, &last), 2);
	CU_ASSERT_EQUAL(last.flags & (TUPLE_GONE | TUPLE_RUNNING), TUPLE_GONE);
	CU_ASSERT_EQUAL(part.processes, 0);
	source_free(source, false);
}

/* The region that a thread is in comes beside what it does. */
static void regions_are_read(void)
{
	pid_t maker = maker_start("run", 0, 3);
	struct stage *source;
	Evspace__Open open = asked_for(READ_LATEST);
	struct part part;
	struct ask ask = {.wave = 1};
	static char users[] = "/**/user";
	char *only[] = {users};
	struct batch_cursor cursor = {0};
	struct run_view view;

	open.select = only;
	look_at_store();
	source = source_open(&open);
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 1);
	while (batch_next(&batch, &cursor, &view) && view.run->kind != RUN_TUPLES)
		;
	CU_ASSERT_EQUAL_FATAL(view.run->kind, RUN_TUPLES);
	CU_ASSERT_EQUAL(view.tuples[0].flags, TUPLE_REGION | TUPLE_RUNNING);
	CU_ASSERT_EQUAL(view.tuples[0].op, OP_EVSPACE_REGION);
	CU_ASSERT_EQUAL(view.tuples[0].start, 1);
	CU_ASSERT_STRING_EQUAL(names_label_find(names, view.tuples[0].seq_or_tag), "region");
	CU_ASSERT_STRING_EQUAL(names_find(names, view.run->element)->text, "/c/n/rank0/t0/user");
	source_free(source, false);
	maker_end(maker);
}

static void files_go(const struct store_list *going, void *arg)
{
	(void)arg;
	rows_gone(&host, going);
}

static void look_at_store_and_tell(struct rows_list *streams)
{
	look_at_store();
	LIST_INIT(streams);
	host.streams = streams;
	fixture.store.gone = files_go;
}

/* As a program that needs the room removes it: what nobody has read is lost, exactly. */
static void what_goes_unread_is_lost(void)
{
	pid_t makers[] = {maker_start("run", 0, 10), maker_start("run", 1, 12)};
	struct stage *source;
	Evspace__Open open = asked_for(READ_STREAM);
	struct rows_list streams;
	struct ask ask = {.wave = 1, .room = 4};
	struct part part;
	char path[400];

	maker_end(makers[0]);
	maker_end(makers[1]);
	look_at_store_and_tell(&streams);
	source = source_open(&open);
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 4);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/run/rank%d.%d.seg", fixture.base, i,
			 (int)makers[i]);
		CU_ASSERT_EQUAL(unlink(path), 0);
	}
	store_refresh(&fixture.store);
	CU_ASSERT_EQUAL(fixture_count(), 0);
	ask = (struct ask){.wave = 2, .have = 1};
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.lost, 18);
	ask.again = true;
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.lost, 18);
	ask = (struct ask){.wave = 3, .have = 2};
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.lost, 0);
	source_free(source, false);
}

static void damaged_files_are_counted(void)
{
	pid_t makers[] = {maker_start("run", 0, 10), maker_start("run", 1, 10)};
	struct stage *source;
	Evspace__Open open = asked_for(READ_STREAM);
	struct part part;
	struct ask ask = {.wave = 1};
	char path[400];
	uint64_t version;

	fixture_file("run", "rank7.1.seg", "nothing that could be a segment");
	fixture_file("other", "rank8.1.seg", "neither, of another run");
	look_at_store();
	source = source_open(&open);
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 20);
	CU_ASSERT_EQUAL(part.unreadable, 1);
	/* cut short under the reader */
	snprintf(path, sizeof(path), "%s/run/%s", fixture.base, fixture_find("rank1")->file);
	CU_ASSERT_EQUAL(truncate(path, 4096), 0);
	ask.wave = 2;
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 0);
	ask.wave = 3;
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.unreadable, 2);
	/* one that is not collected, and one that is not any more: that has a file */
	snprintf(path, sizeof(path), "rank0.%d.refused-cut-off", (int)makers[0]);
	fixture_file("run", path, "");
	fixture_file("run", "rank9.1.refused-quota", "");
	version = fixture.store.version;
	store_refresh(&fixture.store);
	CU_ASSERT_EQUAL(fixture.store.version, version + 1);
	ask.wave = 4;
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.unreadable, 3);
	source_free(source, false);
	for (size_t i = 0; i < 2; i++)
		maker_end(makers[i]);
}

/* What a process has written in ticks of another kind than ours is of the same time. */
static void ticks_of_another_kind(enum reading reading)
{
	pid_t maker = maker_start("run", 0, 3);
	Evspace__Open open = asked_for(reading);
	struct ask ask = {.wave = 1};
	struct segment_header *said;
	struct tuple last = {0};
	struct clock_line line;
	struct stage *source;
	struct part part;

	look_at_store();
	said = &fixture_find("rank0")->segment.said;
	said->clock_kind = clock_kind() == CLOCK_TICKS_TSC ? CLOCK_TICKS_MONO : CLOCK_TICKS_TSC;
	said->born = clock_pair_take(said->clock_kind);
	said->born.mono_ns -= 1000000000;
	said->born.ticks -= 1000000000;
	line = clock_line_through(said->clock_kind, said->born, clock_pair_take(said->clock_kind),
				  host.epoch_ns);
	source = source_open(&open);
	CU_ASSERT_TRUE(wave(source, &ask, &part, &last) > 0);
	/* the maker's tuples are of tick 0 */
	CU_ASSERT_DOUBLE_EQUAL((double)clock_line_ns(&part.clock, last.start),
			       (double)clock_line_ns(&line, 0), 1e6);
	source_free(source, false);
	maker_end(maker);
}

static void other_ticks_streamed(void)
{
	ticks_of_another_kind(READ_STREAM);
}

static void other_ticks_latest(void)
{
	ticks_of_another_kind(READ_LATEST);
}

/* A word of the segment @name of the run, at @at, becomes @word. */
static void poke(const char *name, size_t at, uint64_t word)
{
	char path[400];
	int fd;

	snprintf(path, sizeof(path), "%s/run/%s", fixture.base, fixture_find(name)->file);
	fd = open(path, O_WRONLY);
	CU_ASSERT_EQUAL(pwrite(fd, &word, sizeof(word), (off_t)at), sizeof(word));
	close(fd);
}

/* Where the head of the segment's only element but the overflow's is. */
static size_t head_of(const char *name)
{
	return segment_element(&fixture_find(name)->segment, 1)->ring_at;
}

/* A head that goes back ends the reading of its process, not the agent's time. */
static void heads_that_go_back(void)
{
	pid_t makers[] = {maker_start("run", 0, 10), maker_start("run", 1, 10)};
	struct stage *source;
	Evspace__Open open = asked_for(READ_STREAM);
	struct part part;
	struct ask ask = {.wave = 1};

	look_at_store();
	source = source_open(&open);
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 20);
	poke("rank0", head_of("rank0"), 3);
	ask.again = true;
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 10);
	CU_ASSERT_EQUAL(part.unreadable, 1);
	poke("rank1", head_of("rank1"), 3);
	ask = (struct ask){.wave = 2, .have = 1};
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.unreadable, 2);
	source_free(source, false);
	for (size_t i = 0; i < 2; i++)
		maker_end(makers[i]);
}

/* Of many processes one has its file cut: whichever that is, the others are read. */
static void one_file_blinds_nobody(void)
{
	enum { N = 20 };
	struct stage *source;
	Evspace__Open open = asked_for(READ_LATEST);
	static char p2p[] = "/**/p2p";
	char *only[] = {p2p}, path[400], name[16];
	struct part part;
	struct ask ask = {.wave = 1};
	pid_t makers[N];

	for (int i = 0; i < N; i++)
		makers[i] = maker_start("run", i, 10);
	open.select = only;
	look_at_store();
	source = source_open(&open);
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), N);
	for (int i = N - 1; i >= 0; i -= 5) {
		snprintf(name, sizeof(name), "rank%d", i);
		snprintf(path, sizeof(path), "%s/run/%s", fixture.base, fixture_find(name)->file);
		CU_ASSERT_EQUAL(truncate(path, i % 2 ? 4096 : 0), 0);
		ask.wave++;
		CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), N - ask.wave + 1);
		CU_ASSERT_EQUAL(part.unreadable, ask.wave - 1);
	}
	source_free(source, false);
	for (int i = 0; i < N; i++)
		maker_end(makers[i]);
}

/* Whatever is read of a run, no program removes it meanwhile for want of room. */
static void readers_hold(void)
{
	static const enum reading readings[] = {READ_STREAM, READ_LATEST, READ_COUNTS};
	pid_t maker = maker_start("run", 0, 10);
	const struct store_segment *s;
	struct ask ask = {.wave = 1};

	maker_end(maker);
	look_at_store();
	s = TAILQ_FIRST(&fixture.store.segments);
	for (unsigned i = 0; i < 3; i++) {
		Evspace__Open open = asked_for(readings[i]);
		struct stage *source = source_open(&open);

		CU_ASSERT_EQUAL(wave_read(source, &ask, NULL), 0);
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
	Evspace__Open open = asked_for(READ_STREAM);
	struct part part;
	struct ask ask = {.wave = 1, .room = 4};
	struct rlimit was;

	getrlimit(RLIMIT_FSIZE, &was);
	signal(SIGXFSZ, SIG_IGN);
	look_at_store();
	setrlimit(RLIMIT_FSIZE, &none);
	source = source_open(&open);
	CU_ASSERT_EQUAL(wave_read(source, &ask, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "cannot keep cursors in"));
	setrlimit(RLIMIT_FSIZE, &was);
	ask.wave = 2;
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 4);
	/* nor is a wave that cannot be noted one: what was read comes with a later one */
	setrlimit(RLIMIT_FSIZE, &none);
	ask.wave = 3;
	CU_ASSERT_EQUAL(wave_read(source, &ask, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "free some space"));
	setrlimit(RLIMIT_FSIZE, &was);
	ask = (struct ask){.wave = 4, .have = 2};
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 6);
	CU_ASSERT_EQUAL(part.lost, 0);
	source_free(source, false);
	maker_end(maker);
}

/* Nothing of a header that was checked is read again. */
static void headers_that_change(void)
{
	pid_t maker = maker_start("run", 0, 10);
	struct classes *classes = classes_new();
	const size_t header = sizeof(struct segment_header);
	struct store_run *runs;
	struct stage *source;
	Evspace__Open open = asked_for(READ_LATEST);
	struct part part;
	struct ask ask = {.wave = 1};

	look_at_store();
	for (size_t at = 0; at + 8 <= header; at += 8)
		poke("rank0", at, UINT64_C(0x6969696969696969));
	poke("rank0", offsetof(struct segment_header, threads), UINT64_C(0x100000001));
	poke("rank0", offsetof(struct segment_header, elements), UINT64_C(0x100000002));
	source = source_open(&open);
	(void)wave(source, &ask, &part, NULL);
	CU_ASSERT_EQUAL(part.elements, 4);
	CU_ASSERT_EQUAL(switch_read(fixture_find("rank0"), classes), 0);
	CU_ASSERT(classes_count(classes) > 0);
	CU_ASSERT_EQUAL_FATAL(store_runs(&fixture.store, &runs), 1);
	CU_ASSERT_EQUAL(runs[0].world_size, 4);
	free(runs);
	CU_ASSERT_TRUE(store_check_alive(fixture_find("rank0")));
	classes_free(classes);
	source_free(source, false);
	maker_end(maker);
}

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

/* Very many elements hold nobody up: a few at a time are taken in, and then none is left out, nor
 * read twice, nor from before the opening. */
static void very_many_elements(void)
{
	struct element_writer *writers = memory_new(CROWD, sizeof(*writers));
	struct segment s = crowd_segment();
	Evspace__Open open = asked_for(READ_STREAM);
	struct ask ask = {.wave = 1};
	struct stage *source;
	struct part part;
	unsigned turns = 1;

	crowd_write(&s, writers, 0, CROWD - 10);
	look_at_store();
	open.backlog = false;
	source = source_open(&open);
	CU_ASSERT_FALSE(source->ops->ready(source));
	crowd_write(&s, writers, 0, CROWD);
	while (!source->ops->take(source))
		turns++;
	tap_note("%u turns", turns);
	CU_ASSERT(turns > 1);
	CU_ASSERT_TRUE(source->ops->ready(source));
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), CROWD);
	CU_ASSERT_EQUAL(part.lost, 0);
	crowd_write(&s, writers, 0, CROWD);
	CU_ASSERT_TRUE(source->ops->ready(source));
	ask = (struct ask){.wave = 2, .have = 1};
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), CROWD);
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
	Evspace__Open open = asked_for(READ_LATEST);
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
	look_at_store();
	host.said = &limit;
	dup2(fd, STDERR_FILENO);
	source = source_open(&open);
	for (; ask.wave <= 3; ask.wave++)
		(void)wave_read(source, &ask, NULL);
	dup2(was, STDERR_FILENO);
	tap_note("%s", said_of(fd));
	CU_ASSERT_PTR_NOT_NULL(strstr(said_of(fd), "evspace: run run has more elements"));
	CU_ASSERT_PTR_EQUAL(strchr(said_of(fd), '\n'), strrchr(said_of(fd), '\n'));
	CU_ASSERT_EQUAL(accounting_read(&s, ACCOUNTING_ALL, &sum), 0);
	CU_ASSERT_EQUAL(sum.written, most);
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
	Evspace__Open open = asked_for(READ_LATEST);
	struct ask ask = {.wave = 1};
	struct stage *source;
	struct part part;

	for (uint32_t i = 0; i < COMMS; i++)
		segment_comm_add(&s, 100 + i, 1, 2, SEGMENT_MEMBERS_UNKNOWN);
	look_at_store();
	source = source_open(&open);
	(void)wave(source, &ask, &part, NULL);
	CU_ASSERT_EQUAL(names_comm_count(names), COMMS);
	for (uint32_t i = 0; i < COMMS; i++) {
		segment_comm_leave(&s, 100 + i);
		segment_comm_add(&s, 200 + i, 1, 2, SEGMENT_MEMBERS_UNKNOWN);
	}
	ask.wave = 2;
	(void)wave(source, &ask, &part, NULL);
	CU_ASSERT_EQUAL(names_comm_count(names), 2 * COMMS);
	for (uint32_t i = 0; i < COMMS; i++)
		CU_ASSERT_PTR_NOT_NULL(names_comm_find(names, 200 + i));
	source_free(source, false);
	segment_close(&s);
}

static void discard(const struct segment *s, uint32_t element, uint64_t below)
{
	struct segment_mark *marks = segment_marks_map(s);

	CU_ASSERT_PTR_NOT_NULL_FATAL(marks);
	atomic_store(&marks[element].below, below);
	segment_marks_unmap(s, marks);
}

/* What goes before all of it was taken in is lost all the same, what was discarded apart. */
static void crowd_goes(bool backlog, uint64_t lost, uint64_t discarded)
{
	struct element_writer *writers = memory_new(CROWD, sizeof(*writers));
	struct segment s = crowd_segment();
	Evspace__Open open = asked_for(READ_STREAM);
	struct ask ask = {.wave = 1};
	struct rows_list streams;
	struct stage *source;
	struct part part;

	crowd_write(&s, writers, 0, CROWD - 10);
	/* the overflow element is number 0 */
	discard(&s, CROWD - 20, 1);
	look_at_store_and_tell(&streams);
	open.backlog = backlog;
	source = source_open(&open);
	(void)source->ops->take(source);
	crowd_write(&s, writers, 0, CROWD);
	CU_ASSERT_EQUAL(unlink(s.path), 0);
	store_refresh(&fixture.store);
	for (unsigned again = 0; again < 2; again++) {
		ask.again = again;
		CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 0);
		CU_ASSERT_EQUAL(part.lost, lost);
		CU_ASSERT_EQUAL(part.discarded, discarded);
	}
	ask = (struct ask){.wave = 2, .have = 1};
	CU_ASSERT_EQUAL(wave(source, &ask, &part, NULL), 0);
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
	Evspace__Open open = asked_for(READ_LATEST);
	struct stage *source;
	unsigned turns = 1;

	for (int32_t i = 0; i < TELLERS; i++)
		crowd_lists(i);
	look_at_store();
	source = source_open(&open);
	while (!source->ops->take(source))
		turns++;
	tap_note("%u turns", turns);
	/* what had no end would be a turn for each, and one more */
	CU_ASSERT(turns > TELLERS + 1);
	for (uint32_t i = 0; i < LISTS; i++) {
		const struct name_comm *comm = names_comm_find(names, 100 + i);

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
	CU_ASSERT_EQUAL(row_labels_take(&wide, names, &taken), 1);
	CU_ASSERT_TRUE(row_labels_changed(&wide, &taken));
	then = label_make(&s, "then");
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(row_labels_take(&wide, names, &taken), 1);
	CU_ASSERT_EQUAL(row_labels_take(&wide, names, &taken), 0);
	CU_ASSERT_PTR_NOT_NULL(names_label_find(names, first));
	CU_ASSERT_PTR_NULL(names_label_find(names, then));
	CU_ASSERT_TRUE(row_labels_changed(&wide, &taken));
	while (row_labels_take(&wide, names, &taken) > 0)
		;
	CU_ASSERT_PTR_NOT_NULL(names_label_find(names, then));
	CU_ASSERT_FALSE(row_labels_changed(&wide, &taken));
	segment_close(&s);
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
	CU_ASSERT_EQUAL(h.held, HELD);
	CU_ASSERT_EQUAL(accounting_overwritten(&h), 40 - HELD);
	CU_ASSERT_EQUAL(accounting_read(s, 1u << CHANNEL_WAIT, &nothing), 0);
	CU_ASSERT_EQUAL(nothing.written, 0);
	/* element 0 is the overflow's */
	discard(s, 1, 30);
	h = (struct accounting){0};
	CU_ASSERT_EQUAL(accounting_read(s, 1u << CHANNEL_P2P, &h), 0);
	CU_ASSERT_EQUAL(h.held, 10);
	CU_ASSERT_EQUAL(h.discarded, HELD - 10);
	CU_ASSERT_EQUAL(accounting_overwritten(&h), 40 - HELD);
	discard(s, 1, UINT64_MAX);
	CU_ASSERT_EQUAL(accounting_read(s, ACCOUNTING_ALL, &damaged), 0);
	CU_ASSERT_EQUAL(damaged.held, 0);
	CU_ASSERT_EQUAL(damaged.discarded, HELD);
	maker_end(maker);
}

/* Whoever asks in one turn of the loop gets what was read once, and in the next what is then. */
static void surveys_are_of_a_turn(void)
{
	pid_t maker = maker_start("run", 0, 40);
	struct event_base *base = event_base_new();
	struct survey *survey = survey_new(base, &host);
	const Evspace__Status *first;

	look_at_store();
	first = survey_take(survey);
	CU_ASSERT_EQUAL_FATAL(first->n_processes, 1);
	CU_ASSERT_EQUAL(first->processes[0]->events, 40);
	CU_ASSERT_STRING_EQUAL(first->processes[0]->run, "run");
	CU_ASSERT(first->n_classes > 0 && strcmp(first->classes[0]->run, "run") == 0);
	discard(&fixture_find("rank0")->segment, 1, 30);
	CU_ASSERT_PTR_EQUAL(survey_take(survey), first);
	CU_ASSERT_EQUAL(first->processes[0]->held, HELD);
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
		{"ticks of another kind than the agent's, in a stream", other_ticks_streamed},
		{"the newest tuple in ticks of another kind", other_ticks_latest},
		{"what goes unread is lost, exactly", what_goes_unread_is_lost},
		{"damaged files are counted", damaged_files_are_counted},
		{"heads that go back", heads_that_go_back},
		{"one file that is cut blinds nobody", one_file_blinds_nobody},
		{"readers hold what they read", readers_hold},
		{"no room for cursors is said", no_room_for_cursors},
		{"headers that change", headers_that_change},
		{"very many elements", very_many_elements},
		{"more elements than can be rows", more_elements_than_rows},
		{"communicators that are made again", communicators_are_made_again},
		{"labels come in parts", labels_come_in_parts},
		{"communicators of very many processes", very_many_members},
		{"what goes unseen is lost, too, exactly", what_goes_unseen_is_lost},
		{"... from now on", what_goes_unseen_from_now_on_is_lost},
		{"a survey is of a turn of the loop", surveys_are_of_a_turn},
		CU_TEST_INFO_NULL,
	};
	static CU_TestInfo fates[] = {
		{"written = held + overwritten + discarded", fates_add_up},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "waves", .pTests = waves, .pSetUpFunc = begin, .pTearDownFunc = end},
		{.pName = "fates",
		 .pTests = fates,
		 .pSetUpFunc = fixture_begin,
		 .pTearDownFunc = fixture_end},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
