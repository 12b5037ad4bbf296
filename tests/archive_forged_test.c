/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that archives which somebody has written so, with right checksums, hold up nobody who reads
 * a part of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "consumers/archive/archive-writer.h"
#include "consumers/cli/options.h"
#include "consumers/client/client-replay.h"
#include "consumers/client/evspace-client.h"
#include "consumers/keep/merging.h"
#include "pathmap/base/memory.h"
#include "tests/tap.h"
#include "tree/data/tuple.h"

#define ELEMENTS 12u
#define TUPLES	 3u
#define RANGES	 1000000u

static char folder[] = "/tmp/archive-forged.XXXXXX";

bool options_interrupted(void)
{
	return false;
}

static void tuples_add(struct merged_host *h, uint64_t first)
{
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		struct tuple *to = batch_add(&h->runs, RUN_TUPLES, name_id(1, i), first, TUPLES, 0);

		memset(to, 0, TUPLES * sizeof(*to));
		for (uint32_t k = 0; k < TUPLES; k++)
			to[k].start = to[k].end = first + k + 1;
	}
	h->part.read = ELEMENTS * TUPLES;
}

/* Three waves of twelve elements: a chunk with names and the first of them, then an index, and a
 * chunk with the others. */
static void archive_make(void)
{
	struct error e = {0};
	struct merging w = {.view = "events", .reading = READ_STREAM, .whole = true, .e = &e};
	struct merged_host *h = memory_new(1, sizeof(*h));

	memcpy(w.run, "run", 4);
	w.names = names_new(0);
	merged_init(&w.merged);
	w.to = archive_writer_fresh(folder, 0, &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w.to);
	h->text = memory_copy("/A/a0");
	h->key = memory_copy("/a0");
	h->index = w.n_hosts = 1;
	h->part.clock = CLOCK_LINE_NS;
	batch_init(&h->runs);
	HASH_ADD_KEYPTR(hh, w.hosts, h->key, strlen(h->key), h);
	w.by_index = memory_new(1, sizeof(struct merged_host *));
	w.by_index[0] = h;
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		char *text = memory_format("/A/a0/rank%u/t0/p2p", i);
		const struct name said = {name_id(1, i), (int32_t)i, LEVEL_ELEMENT, 0, text, 0};

		CU_ASSERT_EQUAL(names_hear(w.names, &said), 0);
		free(text);
	}
	merging_begin(&w);
	for (uint64_t wave = 0; wave < 3; wave++) {
		w.taken_ns = (int64_t)wave + 1;
		tuples_add(h, wave * TUPLES);
		merging_wave(&w, wave == 2);
	}
	CU_ASSERT_EQUAL(w.rc, 0);
	merging_fini(&w);
}

static void chunk_put(FILE *out, struct archive_head *head, const unsigned char *stored)
{
	head->sum = archive_sum(head, stored);
	fwrite(head, sizeof(*head), 1, out);
	fwrite(stored, 1, head->stored, out);
}

/* As many ranges of all elements as an index can say. */
static void index_put(FILE *out, struct archive_head *head)
{
	struct archive_elements *plain = memory_new(RANGES, sizeof(*plain));
	const size_t bytes = RANGES * sizeof(*plain), most = ZSTD_compressBound(bytes);
	unsigned char *stored = memory_new(most, 1);

	for (uint32_t i = 1; i < RANGES; i++)
		plain[i] = (struct archive_elements){name_id(1, 0), ELEMENTS};
	head->plain = (uint32_t)bytes;
	head->stored = (uint32_t)ZSTD_compress(stored, most, plain, bytes, 1);
	chunk_put(out, head, stored);
	free(plain);
	free(stored);
}

/* The chunk behind the index ends with wave @last, if that is said; else the index has many ranges.
 */
static void archive_forge(uint64_t last)
{
	char *file = memory_format("%s/00000001.evspace", folder);
	char *forged = memory_format("%s.new", file);
	FILE *in = fopen(file, "r"), *out = fopen(forged, "w");
	struct archive_head head;
	unsigned indexes = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	while (fread(&head, sizeof(head), 1, in) == 1) {
		unsigned char *stored = memory_new(head.stored + 8, 1);

		CU_ASSERT_EQUAL(fread(stored, 1, head.stored, in), head.stored);
		if (indexes > 0 && last)
			head.last = last;
		indexes += head.kind == ARCHIVE_INDEX;
		if (head.kind == ARCHIVE_INDEX && !last)
			index_put(out, &head);
		else
			chunk_put(out, &head, stored);
		free(stored);
	}
	CU_ASSERT_EQUAL(indexes, 1);
	fclose(in);
	CU_ASSERT_EQUAL(fclose(out), 0);
	CU_ASSERT_EQUAL(rename(forged, file), 0);
	free(forged);
	free(file);
}

/* Events of the elements that are selected. */
static unsigned events_of(const char *select)
{
	char *address = memory_format(CLIENT_REPLAY "%s", folder), why[512] = "";
	const struct evspace_options look = {
		.connect = address, .view = "events", .select = &select, .n_select = 1};
	enum evspace_failure failure;
	struct evspace_client *client = evspace_open(&look, &failure, why, sizeof(why));
	struct evspace_event ev;
	unsigned n = 0;

	CU_ASSERT_STRING_EQUAL(why, "");
	while (client && evspace_next(client, -1) > 0)
		while (evspace_event(client, &ev))
			n++;
	evspace_close(client);
	free(address);
	return n;
}

/* Before: who reads it stays so for good. */
static void right(void)
{
	archive_make();
	CU_ASSERT_EQUAL(events_of("/**/rank3/**"), 3 * TUPLES);
	CU_ASSERT_EQUAL(events_of("/**/rank99/**"), 0);
}

static void last_wave(void)
{
	archive_make();
	archive_forge(UINT64_C(1) << 60);
	CU_ASSERT_EQUAL(events_of("/**/rank99/**"), 0);
}

static void many_ranges(void)
{
	archive_make();
	archive_forge(0);
	CU_ASSERT_EQUAL(events_of("/**/rank99/**"), 0);
	CU_ASSERT_EQUAL(events_of("/**/rank3/**"), 3 * TUPLES);
}

/* Who is held up ends so. */
static void folder_new(void)
{
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	alarm(120);
}

static void folder_end(void)
{
	char *file = memory_format("%s/00000001.evspace", folder);

	alarm(0);
	CU_ASSERT_EQUAL(unlink(file), 0);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
	free(file);
}

static CU_TestInfo cases[] = {
	{"what is selected is read", right},
	{"a chunk that says it ends with wave 2^60", last_wave},
	{"an index of a million ranges", many_ranges},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "forged archives",
		 .pSetUpFunc = folder_new,
		 .pTearDownFunc = folder_end,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
