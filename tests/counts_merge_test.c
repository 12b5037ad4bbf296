/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a merged archive has of what classes have counted: of each element the newest, all or
 * none. */
#include "consumers/keep/counts-merge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consumers/archive/archive-writer.h"
#include "consumers/cli/options.h"
#include "consumers/client/client-replay.h"
#include "consumers/client/evspace-client.h"
#include "pathmap/base/memory.h"
#include "tests/tap.h"
#include "tree/data/columns-batch.h"

static char folder[] = "/tmp/counts-merge.XXXXXX";

bool options_interrupted(void)
{
	return false;
}

static char *path(const char *name)
{
	return memory_format("%s/%s", folder, name);
}

/* An archive of counts of element i of one host: @counts[i] classes, each called @calls times. */
static void archive_make(const char *name, const uint32_t *counts, uint32_t n, uint64_t calls)
{
	static char run[] = "run";
	struct error e = {0};
	struct merging w = {.view = CLIENT_REPLAY_COUNTS_VIEW, .reading = READ_COUNTS, .e = &e};
	struct merged_host *h = memory_new(1, sizeof(*h));
	char *at = path(name), *beside = memory_format("%s/" CLIENT_REPLAY_COUNTS, at);

	memcpy(w.run, run, sizeof(run));
	w.names = names_new(0);
	merged_init(&w.merged);
	w.to = archive_writer_fresh(at, 0, &e);
	archive_writer_free(w.to);
	w.to = archive_writer_fresh(beside, 0, &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w.to);
	h->text = memory_copy("/A/a0");
	h->key = memory_copy("/a0");
	h->index = w.n_hosts = 1;
	batch_init(&h->runs);
	HASH_ADD_KEYPTR(hh, w.hosts, h->key, strlen(h->key), h);
	w.by_index = memory_new(1, sizeof(struct merged_host *));
	w.by_index[0] = h;
	for (uint32_t i = 0; i < n; i++) {
		char *text = memory_format("/A/a0/rank%u/t0/p2p", i);
		const struct name said = {name_id(1, i), (int32_t)i, LEVEL_ELEMENT, 0, text, 0};
		struct count *to = batch_add(&h->runs, RUN_COUNTS, said.id, 0, counts[i], 0);

		CU_ASSERT_EQUAL(names_hear(w.names, &said), 0);
		for (uint32_t k = 0; k < counts[i]; k++)
			to[k] = (struct count){.calls = calls, .comm = k + 1};
		free(text);
	}
	merging_begin(&w);
	merging_wave(&w, true);
	CU_ASSERT_EQUAL(w.rc, 0);
	merging_fini(&w);
	free(beside);
	free(at);
}

/* Merge "a" and "b" into @name. */
static int merge(const char *name)
{
	struct error e = {0};
	struct merging events = {.n = 2, .e = &e, .run = "run"};
	char *out = path(name), *a = path("a"), *b = path("b");
	int rc;

	events.names = names_new(0);
	merged_init(&events.merged);
	events.sources = memory_new(2, sizeof(*events.sources));
	events.sources[0].folder = a;
	events.sources[1].folder = b;
	events.sources[0].run = memory_copy("run");
	events.sources[1].run = memory_copy("run");
	CU_ASSERT_EQUAL(mkdir(out, 0700), 0);
	rc = counts_merge(&events, out);
	CU_ASSERT_STRING_EQUAL(e.text, "");
	merging_fini(&events);
	free(a);
	free(b);
	free(out);
	return rc;
}

/* Calls, and classes, that the archive @name has in its one wave; -1: there is none. */
static int64_t calls_of(const char *name, uint64_t *classes)
{
	char *at = path(name),
	     *address = memory_format(CLIENT_REPLAY "%s/" CLIENT_REPLAY_COUNTS, at);
	const struct evspace_options look = {.connect = address, .view = CLIENT_REPLAY_COUNTS_VIEW};
	enum evspace_failure failure;
	char why[512];
	struct evspace_client *client = evspace_open(&look, &failure, why, sizeof(why));
	int64_t calls = client ? 0 : -1;

	*classes = 0;
	while (client && evspace_next(client, -1) > 0) {
		struct client_replayed r = client_replayed(client);
		struct batch_cursor cursor = {0};
		struct run_view view;

		while (batch_next_packed(r.batch, &cursor, &view)) {
			for (uint32_t i = 0; view.run->kind == RUN_COUNTS && i < view.run->count;
			     i++) {
				calls += (int64_t)view.counts[i].calls;
				++*classes;
			}
		}
	}
	evspace_close(client);
	free(address);
	free(at);
	return calls;
}

static void newest_of_each(void)
{
	uint64_t classes;

	archive_make("a", (const uint32_t[]){3, 2}, 2, 10);
	archive_make("b", (const uint32_t[]){4, 1}, 2, 9);
	CU_ASSERT_EQUAL(merge("few"), 0);
	CU_ASSERT_EQUAL(calls_of("few", &classes), 4 * 9 + 2 * 10);
	CU_ASSERT_EQUAL(classes, 6);
}

/* An element has 65,535 at most. */
#define MANY	 (1u << 15)
#define ELEMENTS (COUNTS_MERGE_MOST / MANY)

static void as_many_as_fit(void)
{
	uint32_t counts[ELEMENTS];
	uint64_t classes;

	for (uint32_t i = 0; i < ELEMENTS; i++)
		counts[i] = MANY;
	archive_make("a", counts, ELEMENTS, 1);
	archive_make("b", counts, ELEMENTS, 2);
	CU_ASSERT_EQUAL(merge("most"), 0);
	CU_ASSERT_EQUAL(calls_of("most", &classes), 2 * (int64_t)COUNTS_MERGE_MOST);
	CU_ASSERT_EQUAL(classes, COUNTS_MERGE_MOST);
}

static void too_many(void)
{
	uint32_t counts[ELEMENTS];
	uint64_t classes;

	for (uint32_t i = 0; i < ELEMENTS; i++)
		counts[i] = MANY;
	counts[0] = 1;
	archive_make("a", counts, ELEMENTS, 1);
	counts[0] = MANY + 1;
	archive_make("b", counts, ELEMENTS, 1);
	CU_ASSERT_EQUAL(merge("many"), 1);
	CU_ASSERT_EQUAL(calls_of("many", &classes), -1);
}

/* Remove what was made. */
static void files_remove(void)
{
	static const char *const files[] = {"a/counts",	   "b/counts", "few/counts", "most/counts",
					    "many/counts", "a",	       "b",	     "few",
					    "most",	   "many"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *at = path(files[i]), *file = memory_format("%s/00000001.evspace", at);

		unlink(file);
		rmdir(at);
		free(file);
		free(at);
	}
}

static void folder_new(void)
{
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

static void folder_end(void)
{
	files_remove();
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static CU_TestInfo cases[] = {
	{"of each element the newest", newest_of_each},
	{"as many classes as a wave has", as_many_as_fit},
	{"of too many none, as some of them would be taken for all", too_many},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "counts merged",
		 .pSetUpFunc = folder_new,
		 .pTearDownFunc = folder_end,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
