/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what `evspace view` makes of bins: histograms in order, whatever order they come in, and
 * memory for those that came. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fake-words.h"
#include "tests/fake.h"
#include "tests/tap.h"
#include "tree/data/bin.h"
#include "tree/data/names.h"
#include "tree/data/op.h"

/* Each with a bin of its own. With room for all bins they would take 690 MB. */
#define HISTOGRAMS 30000u
#define KB_MOST	   (200L * 1024)

/* ---- the agent: this runs in its process ---- */

static void answer(struct link *link, uint64_t wave, const struct bin *bins, uint32_t n)
{
	Evspace__Answer a = EVSPACE__ANSWER__INIT;
	struct batch body;
	struct part *part;

	batch_init(&body);
	a.scope = 1;
	a.wave = wave;
	a.leaves = 1;
	if (wave == 1)
		fake_words_names(&a);
	part = batch_add(&body, RUN_PART, 1, wave, 1, 0);
	*part = (struct part){.clock = CLOCK_LINE_NS, .elements = 1, .processes = 1};
	if (n)
		memcpy(batch_add(&body, RUN_BINS, name_id(1, 0), 0, n, 0), bins, n * sizeof(*bins));
	link_send(link, &WIRE_FRAME(ANSWER, answer, &a), &body);
	batch_fini(&body);
}

static struct bin bin_of(uint64_t value, uint32_t comm)
{
	return (struct bin){
		.count = 1,
		.sum = value,
		.most = value,
		.comm = comm,
		.op = op_find("MPI_Send"),
		.slot = (uint16_t)(BIN_COUNT * TOTAL_BYTES + bin_number(value)),
	};
}

static bool answer_many(struct link *link, const Evspace__Ask *ask)
{
	static struct bin bins[HISTOGRAMS];

	for (uint32_t i = 0; i < HISTOGRAMS; i++)
		bins[i] = bin_of(i, i + 1);
	for (uint64_t wave = ask->wave; wave < ask->wave + ask->count; wave++)
		answer(link, wave, bins, wave == 1 ? HISTOGRAMS : 0);
	return true;
}

static bool answer_mixed(struct link *link, const Evspace__Ask *ask)
{
	static const uint64_t values[] = {40, 3, UINT64_MAX, 17, 41, 3, 0};
	struct bin bins[sizeof(values) / sizeof(values[0])];
	uint32_t n = sizeof(values) / sizeof(values[0]);

	for (uint32_t i = 0; i < n; i++)
		bins[i] = bin_of(values[i], 7);
	for (uint64_t wave = ask->wave; wave < ask->wave + ask->count; wave++)
		answer(link, wave, bins, wave == 1 ? n : 0);
	return true;
}

/* ---- the consumer ---- */

static char said[65536];

/* `evspace view` of what the agent answers once, as @how. Returns the most memory that it had. */
static long view(bool (*ask)(struct link *, const Evspace__Ask *), const char *how)
{
	const struct fake_script script = {.ask = ask, .lone = true};
	struct rusage usage = {0};
	const char *address;
	pid_t agent = fake_start(&script, &address), pid;
	int out[2], status = -1;
	size_t n;
	FILE *from;

	CU_ASSERT_EQUAL_FATAL(pipe(out), 0);
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		execlp("evspace", "evspace", "view", "sizes", "--backlog", "--count", "1", how,
		       "--connect", address, NULL);
		_exit(127);
	}
	close(out[1]);
	from = fdopen(out[0], "r");
	n = fread(said, 1, sizeof(said) - 1, from);
	said[n] = '\0';
	fclose(from);
	CU_ASSERT_EQUAL(wait4(pid, &status, 0, &usage), pid);
	CU_ASSERT_EQUAL(status, 0);
	fake_stop(agent);
	return usage.ru_maxrss;
}

static void memory_is_for_what_came(void)
{
	long kb = view(answer_many, "--bars");

	tap_note("%ld kB", kb);
	CU_ASSERT_TRUE(kb < KB_MOST);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "and 29980 more"));
}

static void bins_are_merged_in_order(void)
{
	static const char *const bins[] = {
		"\"low\":0,\"high\":0,\"count\":1,\"sum\":0,\"most\":0",
		"\"low\":3,\"high\":3,\"count\":2,\"sum\":6,\"most\":3",
		"\"low\":17,\"high\":17,\"count\":1,\"sum\":17,\"most\":17",
		"\"low\":40,\"high\":41,\"count\":2,\"sum\":81,\"most\":41",
		"\"high\":null,\"count\":1,",
	};
	const char *at = said;

	view(answer_mixed, "--json");
	for (size_t i = 0; i < sizeof(bins) / sizeof(bins[0]) && at; i++)
		at = strstr(at, bins[i]);
	if (!at)
		tap_note("%s", said);
	CU_ASSERT_PTR_NOT_NULL(at);
}

int main(void)
{
	static CU_TestInfo bins[] = {
		{"memory is for what came", memory_is_for_what_came},
		{"bins are merged, in order", bins_are_merged_in_order},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "bins", .pTests = bins, .pCleanupFunc = fake_clean},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
