/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests sorting what has no room in memory: all of it comes, in order, whatever the memory is; what
 * cannot be written is said; the file is nobody's. */
#include "consumers/keep/spill.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

#include "tests/random.h"
#include "tests/tap.h"

struct item {
	uint64_t key, nth;
	char fill[8];
};

static char folder[] = "/tmp/spill-test.XXXXXX";
static uint64_t seed = 1;

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? 1 : -1;
	return (x->nth > y->nth) - (x->nth < y->nth);
}

static struct spill *spill_begin(size_t memory)
{
	char beside[sizeof(folder) + 8];

	snprintf(beside, sizeof(beside), "%s/out//", folder);
	return spill_new(sizeof(struct item), by_key, memory, beside);
}

/* Nothing is in the folder, though a file is in use. */
static bool is_empty(void)
{
	DIR *d = opendir(folder);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n == 2;
}

static void sorted(size_t n, size_t memory, uint64_t keys)
{
	struct item *all = calloc(n + 1, sizeof(*all)), item;
	struct spill *s = spill_begin(memory);
	struct error e = {""};

	for (size_t i = 0; i < n; i++) {
		all[i].key = random_below(&seed, keys);
		all[i].nth = i;
		memcpy(all[i].fill, &i, sizeof(all[i].fill));
		CU_ASSERT_EQUAL_FATAL(spill_add(s, &all[i], &e), 0);
	}
	CU_ASSERT_EQUAL(spill_count(s), n);
	qsort(all, n, sizeof(*all), by_key);
	for (unsigned turn = 0; turn < 3; turn++) {
		for (size_t i = 0; i < (turn == 1 ? n / 2 : n); i++) {
			CU_ASSERT_EQUAL_FATAL(spill_next(s, &item, &e), 1);
			CU_ASSERT_EQUAL_FATAL(memcmp(&item, &all[i], sizeof(item)), 0);
		}
		if (turn == 1) {
			spill_again(s);
			continue;
		}
		CU_ASSERT_EQUAL(spill_next(s, &item, &e), 0);
		CU_ASSERT_EQUAL(spill_next(s, &item, &e), 0);
		spill_again(s);
	}
	CU_ASSERT_TRUE(is_empty());
	spill_free(s);
	free(all);
}

static void any_memory(void)
{
	static const size_t memories[] = {
		1, 2 * sizeof(struct item), 3 * sizeof(struct item), 1000, 64 << 10, 1 << 20};

	for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
		sorted(0, memories[i], 1);
		sorted(1, memories[i], 1);
		sorted(2, memories[i], 10);
		sorted(3, memories[i], 1);
		sorted(5000, memories[i], 100);
		sorted(5001, memories[i], UINT64_MAX);
	}
	/* exactly what there is room for, and one more */
	sorted(100, 100 * sizeof(struct item), 50);
	sorted(101, 100 * sizeof(struct item), 50);
	sorted(200, 100 * sizeof(struct item), 50);
}

/* A limit for files is as a disk without room. */
static void full_disk(void)
{
	struct rlimit before, limit;
	struct spill *s = spill_begin(1000);
	struct error e = {""};
	struct item item = {0};
	int rc = 0;

	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 4096;
	signal(SIGXFSZ, SIG_IGN);
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 1000 && rc == 0; i++)
		rc = spill_add(s, &item, &e);
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &before), 0);
	CU_ASSERT_EQUAL(rc, -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "cannot be written: File too large"));
	spill_free(s);
}

static void no_folder(void)
{
	struct spill *s = spill_new(sizeof(struct item), by_key, 1, "/nowhere/at/all");
	struct error e = {""};
	const struct item record = {0};

	CU_ASSERT_EQUAL(spill_add(s, &record, &e), 0);
	CU_ASSERT_EQUAL(spill_add(s, &record, &e), 0);
	CU_ASSERT_EQUAL(spill_add(s, &record, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "/nowhere/at/.evspace"));
	spill_free(s);
	spill_free(NULL);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"all comes in order, whatever the memory is", any_memory},
		{"a full disk is said", full_disk},
		{"... and a folder that is not there", no_folder},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "spill", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};
	int rc;

	if (!mkdtemp(folder))
		return 99;
	rc = tap_run(suites);
	rmdir(folder);
	return rc;
}
