/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the sampler follows a program: threads for which there was no room, and regions that
 * come later. */
#include <dirent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/segment-table.h"
#include "node-agent/source/sampler.h"
#include "node-agent/store/mirror.h"
#include "tests/fixture.h"
#include "tests/source-bed.h"
#include "tests/tap.h"
#include "tree/data/clock.h"
#include "tree/data/entropy-window.h"
#include "tree/data/op-table.h"

#define PATIENCE_NS UINT64_C(20000000000)

static struct event_base *base;
static struct sampler *sampler;

/* ---- programs ---- */

/* Each byte told: 'r' makes thread 0 be in the other one of two regions, 'l' adds ten names. */
static void program_obeys(struct segment *s, struct segment_thread *thread, char word)
{
	static unsigned regions, labels;
	char name[16];

	if (word == 'r') {
		uint32_t label = segment_label_make(s, regions++ % 2 ? "a" : "b", 1);

		atomic_store(&thread->user.regions[0].label, label);
	}
	for (unsigned i = 0; word == 'l' && i < 10; i++) {
		int length = snprintf(name, sizeof(name), "l%u", labels++);

		segment_label_make(s, name, (size_t)length);
	}
}

static _Noreturn void program(int rank, unsigned threads, int tells, int told)
{
	struct segment_plan plan = {
		.run = "run", .rank = rank, .world_size = 4, .world = 1, .threads = threads};
	struct segment_thread *first = NULL;
	struct segment segment;
	char dir[256], word = 0;

	snprintf(dir, sizeof(dir), "%s/run", fixture.base);
	mkdir(fixture.base, 0700);
	mkdir(dir, 0700);
	plan.dir = dir;
	if (segment_create(&segment, &plan, NULL))
		_exit(1);
	for (unsigned i = 0; i < threads; i++) {
		struct segment_thread *thread = segment_thread_add(&segment, i + 1);

		first = first ? first : thread;
	}
	atomic_store(&first->user.regions[0].label, segment_label_make(&segment, "a", 1));
	atomic_store(&first->user.regions[0].since, 1);
	atomic_store(&first->user.depth, 1);
	do {
		program_obeys(&segment, first, word);
		if (write(tells, &word, 1) != 1)
			_exit(1);
	} while (read(told, &word, 1) == 1);
	_exit(0);
}

/* A process that obeys. */
struct obedient {
	pid_t pid;
	int tell, answers;
};

static void obey(const struct obedient *o, char word)
{
	CU_ASSERT_EQUAL(write(o->tell, &word, 1), 1);
	CU_ASSERT_EQUAL(read(o->answers, &word, 1), 1);
}

static struct obedient program_start(int rank, unsigned threads)
{
	struct obedient o;
	int there[2], back[2];
	char byte;

	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		abort();
	o.pid = fork();
	if (!o.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		program(rank, threads, back[1], there[0]);
	}
	close(there[0]);
	close(back[1]);
	o.tell = there[1];
	o.answers = back[0];
	CU_ASSERT_EQUAL(read(o.answers, &byte, 1), 1);
	return o;
}

static void program_end(const struct obedient *o)
{
	maker_end(o->pid);
	close(o->tell);
	close(o->answers);
}

/* ---- the sampler ---- */

static void sampler_start(const char *text)
{
	struct sampling sampling;
	struct error e = {""};

	source_bed_look();
	base = event_base_new();
	sampler = sampler_new(base, &source_bed_host, &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(sampler);
	CU_ASSERT_EQUAL_FATAL(sampling_parse(&sampling, text, true, &e), 0);
	CU_ASSERT_EQUAL_FATAL(sampler_want(sampler, "run", &sampling, &e), 0);
}

static void sampler_end(void)
{
	sampler_free(sampler);
	event_base_free(base);
}

/* The elements of samples of a process that are there; the name of one of them. */
static unsigned elements_of(const char *process, char name[MIRROR_FILE])
{
	char dir[256];
	const struct dirent *file;
	unsigned n = 0;
	DIR *folder;

	snprintf(dir, sizeof(dir), "%s/run", fixture.base);
	folder = opendir(dir);
	CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
	while ((file = readdir(folder))) {
		if (strncmp(file->d_name, process, strlen(process)) != 0 ||
		    !strstr(file->d_name, ".mirror"))
			continue;
		snprintf(name, MIRROR_FILE, "%.*s", MIRROR_FILE - 1, file->d_name);
		n++;
	}
	closedir(folder);
	return n;
}

static void threads_have_their_turn(void)
{
	struct obedient many = program_start(0, SAMPLER_THREADS), few;
	uint64_t until = clock_mono_ns() + PATIENCE_NS;
	char name[MIRROR_FILE];

	sampler_start("every 1ms to 10ms");
	CU_ASSERT_EQUAL(elements_of("rank0", name), SAMPLER_THREADS);
	few = program_start(1, 3);
	CU_ASSERT_EQUAL(store_refresh(&fixture.store), 0);
	event_base_loop(base, EVLOOP_ONCE);
	CU_ASSERT_EQUAL(elements_of("rank1", name), 0);
	program_end(&many);
	CU_ASSERT_FALSE(store_check_alive(fixture_find_pid(many.pid)));
	while (elements_of("rank1", name) < 3 && clock_mono_ns() < until)
		event_base_loop(base, EVLOOP_ONCE);
	CU_ASSERT_EQUAL(elements_of("rank1", name), 3);
	/* what there is of the other one may be read still */
	CU_ASSERT_EQUAL(elements_of("rank0", name), SAMPLER_THREADS);
	sampler_end();
	CU_ASSERT_EQUAL(elements_of("rank", name), 0);
	program_end(&few);
}

/* So many samples are kept when it goes on in the other region. */
static uint64_t kept_of_change(const struct obedient *o, const struct mirror *m)
{
	uint64_t before, until = clock_mono_ns() + PATIENCE_NS;

	/* longer than the window */
	for (unsigned i = 0; i < 5; i++)
		event_base_loop(base, EVLOOP_ONCE);
	before = mirror_head(m);
	obey(o, 'r');
	while (mirror_head(m) == before && clock_mono_ns() < until)
		event_base_loop(base, EVLOOP_ONCE);
	for (unsigned i = 0; i < 5; i++)
		event_base_loop(base, EVLOOP_ONCE);
	return mirror_head(m) - before;
}

/* The threshold is what the first repetition tells while a hundred things more can happen than at
 * the begin. Of what tells less only the last sample before a change is kept. */
static void regions_that_come_count(void)
{
	struct obedient o = program_start(0, 1);
	uint64_t until = clock_mono_ns() + PATIENCE_NS, kept;
	char name[MIRROR_FILE], dir[256], text[128];
	struct entropy_table table;
	struct error e = {""};
	struct mirror m;

	entropy_table_init(&table, 2, 1, NULL);
	snprintf(dir, sizeof(dir), "%s/run", fixture.base);
	snprintf(text, sizeof(text), "window 2 threshold %g every 100us to 1ms",
		 table.same[0] / (op_count(OP_MPI_SEND, -1) + 100));
	sampler_start(text);
	CU_ASSERT_EQUAL_FATAL(elements_of("rank0", name), 1);
	CU_ASSERT_EQUAL_FATAL(mirror_open(&m, dir, name, &e), 0);
	kept = kept_of_change(&o, &m);
	CU_ASSERT(kept > 1);
	for (unsigned i = 0; i < 20; i++)
		obey(&o, 'l');
	while ((kept = kept_of_change(&o, &m)) > 1 && clock_mono_ns() < until)
		;
	CU_ASSERT_EQUAL(kept, 1);
	mirror_close(&m);
	sampler_end();
	program_end(&o);
}

static CU_TestInfo cases[] = {
	{"threads that found no room are sampled when there is some", threads_have_their_turn},
	{"regions that come later are things that can happen", regions_that_come_count},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "sampler",
		 .pSetUpFunc = source_bed_begin,
		 .pTearDownFunc = source_bed_end,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
