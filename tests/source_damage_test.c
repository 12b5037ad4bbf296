/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a leaf's source makes of files that are damaged, change, go, or have another clock. */
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
#include "tree/data/op-table.h"
#include "tree/data/op.h"
#include "tree/link/rate-limit.h"

/* As a program that needs the room removes it: what nobody has read is lost, exactly. */
static void what_goes_unread_is_lost(void)
{
	pid_t makers[] = {maker_start("run", 0, 10), maker_start("run", 1, 12)};
	struct stage *source;
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct rows_list streams;
	struct ask ask = {.wave = 1, .room = 4};
	struct part part;
	char path[400];

	maker_end(makers[0]);
	maker_end(makers[1]);
	source_bed_look_and_tell(&streams);
	source = source_bed_open(&open);
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 4);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/run/rank%d.%d.seg", fixture.base, i,
			 (int)makers[i]);
		CU_ASSERT_EQUAL(unlink(path), 0);
	}
	store_refresh(&fixture.store);
	CU_ASSERT_EQUAL(fixture_count(), 0);
	ask = (struct ask){.wave = 2, .have = 1};
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.lost, 18);
	ask.again = true;
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.lost, 18);
	ask = (struct ask){.wave = 3, .have = 2};
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.lost, 0);
	source_free(source, false);
}

static void damaged_files_are_counted(void)
{
	pid_t makers[] = {maker_start("run", 0, 10), maker_start("run", 1, 10)};
	struct stage *source;
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct part part;
	struct ask ask = {.wave = 1};
	char path[400];
	uint64_t version;

	fixture_file("run", "rank7.1.seg", "nothing that could be a segment");
	fixture_file("other", "rank8.1.seg", "neither, of another run");
	source_bed_look();
	source = source_bed_open(&open);
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 20);
	CU_ASSERT_EQUAL(part.unreadable, 1);
	/* cut short under the reader */
	snprintf(path, sizeof(path), "%s/run/%s", fixture.base, fixture_find("rank1")->file);
	CU_ASSERT_EQUAL(truncate(path, 4096), 0);
	ask.wave = 2;
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 0);
	ask.wave = 3;
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.unreadable, 2);
	/* one that is not collected, and one that is not any more: that has a file */
	snprintf(path, sizeof(path), "rank0.%d.refused-cut-off", (int)makers[0]);
	fixture_file("run", path, "");
	fixture_file("run", "rank9.1.refused-quota", "");
	version = fixture.store.version;
	store_refresh(&fixture.store);
	CU_ASSERT_EQUAL(fixture.store.version, version + 1);
	ask.wave = 4;
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 0);
	CU_ASSERT_EQUAL(part.unreadable, 3);
	source_free(source, false);
	for (size_t i = 0; i < 2; i++)
		maker_end(makers[i]);
}

/* What a process has written in ticks of another kind than ours is of the same time. */
static void ticks_of_another_kind(enum reading reading)
{
	pid_t maker = maker_start("run", 0, 3);
	Evspace__Open open = source_bed_asked(reading);
	struct ask ask = {.wave = 1};
	struct segment_header *said;
	struct tuple last = {0};
	struct clock_line line;
	struct stage *source;
	struct part part;

	source_bed_look();
	said = &fixture_find("rank0")->segment.said;
	said->clock_kind = clock_kind() == CLOCK_TICKS_TSC ? CLOCK_TICKS_MONO : CLOCK_TICKS_TSC;
	said->born = clock_pair_take(said->clock_kind);
	said->born.mono_ns -= 1000000000;
	said->born.ticks -= 1000000000;
	line = clock_line_through(said->clock_kind, said->born, clock_pair_take(said->clock_kind),
				  source_bed_host.epoch_ns);
	source = source_bed_open(&open);
	CU_ASSERT_TRUE(source_bed_wave(source, &ask, &part, &last) > 0);
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
	Evspace__Open open = source_bed_asked(READ_STREAM);
	struct part part;
	struct ask ask = {.wave = 1};

	source_bed_look();
	source = source_bed_open(&open);
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 20);
	poke("rank0", head_of("rank0"), 3);
	ask.again = true;
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 10);
	CU_ASSERT_EQUAL(part.unreadable, 1);
	poke("rank1", head_of("rank1"), 3);
	ask = (struct ask){.wave = 2, .have = 1};
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), 0);
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
	Evspace__Open open = source_bed_asked(READ_LATEST);
	static char p2p[] = "/**/p2p";
	char *only[] = {p2p}, path[400], name[16];
	struct part part;
	struct ask ask = {.wave = 1};
	pid_t makers[N];

	for (int i = 0; i < N; i++)
		makers[i] = maker_start("run", i, 10);
	open.select = only;
	source_bed_look();
	source = source_bed_open(&open);
	CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), N);
	for (int i = N - 1; i >= 0; i -= 5) {
		snprintf(name, sizeof(name), "rank%d", i);
		snprintf(path, sizeof(path), "%s/run/%s", fixture.base, fixture_find(name)->file);
		CU_ASSERT_EQUAL(truncate(path, i % 2 ? 4096 : 0), 0);
		ask.wave++;
		CU_ASSERT_EQUAL(source_bed_wave(source, &ask, &part, NULL), N - ask.wave + 1);
		CU_ASSERT_EQUAL(part.unreadable, ask.wave - 1);
	}
	source_free(source, false);
	for (int i = 0; i < N; i++)
		maker_end(makers[i]);
}

/* Nothing of a header that was checked is read again. */
static void headers_that_change(void)
{
	pid_t maker = maker_start("run", 0, 10);
	struct classes *classes = classes_new();
	const size_t header = sizeof(struct segment_header);
	struct store_run *runs;
	struct stage *source;
	Evspace__Open open = source_bed_asked(READ_LATEST);
	struct part part;
	struct ask ask = {.wave = 1};

	source_bed_look();
	for (size_t at = 0; at + 8 <= header; at += 8)
		poke("rank0", at, UINT64_C(0x6969696969696969));
	poke("rank0", offsetof(struct segment_header, threads), UINT64_C(0x100000001));
	poke("rank0", offsetof(struct segment_header, elements), UINT64_C(0x100000002));
	source = source_bed_open(&open);
	(void)source_bed_wave(source, &ask, &part, NULL);
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

int main(void)
{
	static CU_TestInfo waves[] = {
		{"ticks of another kind than the agent's, in a stream", other_ticks_streamed},
		{"the newest tuple in ticks of another kind", other_ticks_latest},
		{"what goes unread is lost, exactly", what_goes_unread_is_lost},
		{"damaged files are counted", damaged_files_are_counted},
		{"heads that go back", heads_that_go_back},
		{"one file that is cut blinds nobody", one_file_blinds_nobody},
		{"headers that change", headers_that_change},
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
