/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the store: segments of real processes come, go and die, and have their names. */
#include "node-agent/control/usage.h"
#include "node-agent/store/store.h"
#include "tests/tap.h"
#include "tests/fixture.h"
#include "tree/data/clock.h"
#include "tree/data/turn.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- coming and going ---- */

static void no_base(void)
{
	fixture_start(false);
	CU_ASSERT_EQUAL(fixture_count(), 0);
	CU_ASSERT_FALSE(fixture_exists("."));
	CU_ASSERT_EQUAL(store_refresh(&fixture.store), 0);
}

static void found_at_start(void)
{
	pid_t m = maker_start("first", 3, 20);
	const struct store_segment *s;

	fixture_start(false);
	CU_ASSERT_EQUAL_FATAL(fixture_count(), 1);
	s = fixture_find("rank3");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_STRING_EQUAL(s->run, "first");
	CU_ASSERT_EQUAL(s->pid, m);
	CU_ASSERT_EQUAL(s->rank, 3);
	CU_ASSERT_TRUE(s->alive);
	CU_ASSERT_EQUAL(s->pidfd, -1);
	maker_end(m);
	CU_ASSERT_TRUE(s->alive);
	CU_ASSERT_FALSE(store_check_alive(fixture_find("rank3")));
	CU_ASSERT_NOT_EQUAL(s->died_mono_ns, 0);
}

static void watched(void)
{
	pid_t a, b;
	uint64_t version;

	fixture_start(true);
	CU_ASSERT_TRUE(fixture_quiet(fixture.store.inotify));
	a = maker_start("one", 0, 0);
	CU_ASSERT_TRUE(fixture_becomes(1));
	version = fixture.store.version;
	b = maker_start("one", 1, 0);
	CU_ASSERT_TRUE(fixture_becomes(2));
	CU_ASSERT_TRUE(fixture.store.version > version);
	CU_ASSERT_PTR_NOT_NULL(fixture_find("rank0"));
	CU_ASSERT_PTR_NOT_NULL(fixture_find("rank1"));
	maker_end(a);
	maker_end(b);
}

static void killed(void)
{
	pid_t m;
	struct store_segment *s;

	fixture_start(true);
	m = maker_start("one", 0, 5);
	CU_ASSERT_TRUE_FATAL(fixture_becomes(1));
	s = fixture_find("rank0");
	CU_ASSERT_TRUE(s->pidfd >= 0 && fixture_quiet(s->pidfd));
	CU_ASSERT_TRUE(store_check_alive(s));
	kill(m, SIGKILL);
	CU_ASSERT_TRUE(fixture_readable(s->pidfd));
	CU_ASSERT_FALSE(store_check_alive(s));
	CU_ASSERT_EQUAL(s->pidfd, -1);
	maker_end(m);
	/* The segment stays, and another look knows when the process was first seen dead. */
	CU_ASSERT_EQUAL(fixture_count(), 1);
	uint64_t died = s->died_mono_ns;
	store_fini(&fixture.store);
	fixture_start(false);
	CU_ASSERT_EQUAL_FATAL(fixture_count(), 1);
	CU_ASSERT_FALSE(fixture_find("rank0")->alive);
	CU_ASSERT_EQUAL(fixture_find("rank0")->died_mono_ns, died);
}

static void removed(void)
{
	pid_t m;
	uint64_t version, serial;
	char path[400];

	fixture_start(true);
	m = maker_start("one", 0, 0);
	CU_ASSERT_TRUE_FATAL(fixture_becomes(1));
	version = fixture.store.version;
	serial = fixture_find("rank0")->serial;
	snprintf(path, sizeof(path), "%s/one", fixture.base);
	fixture_remove(path);
	CU_ASSERT_TRUE(fixture_becomes(0));
	CU_ASSERT_TRUE(fixture.store.version > version);
	maker_end(m);
	m = maker_start("one", 0, 0);
	CU_ASSERT_TRUE_FATAL(fixture_becomes(1));
	CU_ASSERT_TRUE(fixture_find("rank0")->serial > serial);
	maker_end(m);
}

static void base_removed(void)
{
	pid_t m;

	fixture_start(true);
	for (int i = 0; i < 3; i++) {
		m = maker_start("one", 0, 0);
		CU_ASSERT_TRUE_FATAL(fixture_becomes(1));
		fixture_remove(fixture.base);
		CU_ASSERT_TRUE(fixture_becomes(0));
		/* With nothing to see it must also fall silent. */
		for (int turn = 0; turn < 10 && !fixture_quiet(fixture.store.inotify); turn++)
			store_refresh(&fixture.store);
		CU_ASSERT_TRUE(fixture_quiet(fixture.store.inotify));
		maker_end(m);
	}
}

static void base_moved(void)
{
	pid_t m;
	char other[200];

	fixture_start(true);
	m = maker_start("one", 0, 0);
	CU_ASSERT_TRUE_FATAL(fixture_becomes(1));
	snprintf(other, sizeof(other), "%s/other", fixture.top);
	rename(fixture.base, other);
	CU_ASSERT_TRUE(fixture_becomes(0));
	rename(other, fixture.base);
	CU_ASSERT_TRUE(fixture_becomes(1));
	maker_end(m);
}

static void silent_at_rest(void)
{
	pid_t m;
	char path[400];

	fixture_start(true);
	m = maker_start("one", 0, 0);
	CU_ASSERT_TRUE_FATAL(fixture_becomes(1));
	while (!fixture_quiet(fixture.store.inotify))
		store_refresh(&fixture.store);
	/* Contents and times of files wake nobody. */
	snprintf(path, sizeof(path), "%s/one/%s", fixture.base, fixture_find("rank0")->file);
	CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, NULL, 0), 0);
	CU_ASSERT_TRUE(fixture_quiet(fixture.store.inotify));
	maker_end(m);
}

static unsigned gone_count;
static uint64_t gone_serial;

static void count_gone(const struct store_list *going, void *arg)
{
	const struct store_segment *s;

	(void)arg;
	TAILQ_FOREACH (s, going, link) {
		CU_ASSERT_PTR_NOT_NULL(s->segment.header);
		gone_count++;
		gone_serial = s->serial;
	}
}

static void told_before(void)
{
	pid_t m;
	uint64_t serial;

	fixture_start(true);
	fixture.store.gone = count_gone;
	gone_count = 0;
	m = maker_start("one", 0, 0);
	CU_ASSERT_TRUE_FATAL(fixture_becomes(1));
	serial = fixture_find("rank0")->serial;
	store_purge(&fixture.store, NULL, 0, true);
	CU_ASSERT_EQUAL(gone_count, 1);
	CU_ASSERT_EQUAL(gone_serial, serial);
	CU_ASSERT_EQUAL(fixture_count(), 0);
	maker_end(m);
}

/* ---- names ---- */

static void same_rank(void)
{
	pid_t a, b, c;
	char older[48];

	fixture_start(true);
	a = maker_start("one", 2, 0);
	CU_ASSERT_TRUE_FATAL(fixture_becomes(1));
	CU_ASSERT_STRING_EQUAL(fixture_find_pid(a)->name, "rank2");
	b = maker_start("one", 2, 0);
	c = maker_start("two", 2, 0);
	CU_ASSERT_TRUE_FATAL(fixture_becomes(3));
	snprintf(older, sizeof(older), "rank2.%d", (int)a);
	CU_ASSERT_STRING_EQUAL(fixture_find_pid(a)->name, older);
	CU_ASSERT_STRING_EQUAL(fixture_find_pid(b)->name, "rank2");
	CU_ASSERT_STRING_EQUAL(fixture_find_pid(c)->name, "rank2");
	/* The newest goes: the one before it has the name again. */
	maker_end(b);
	CU_ASSERT_FALSE(store_check_alive(fixture_find_pid(b)));
	store_purge(&fixture.store, "one", 0, false);
	CU_ASSERT_STRING_EQUAL(fixture_find_pid(a)->name, "rank2");
	maker_end(a);
	maker_end(c);
}

/* ---- many ---- */

#define MANY 1000

static void many(void)
{
	pid_t m = maker_start("many", 0, 0);
	char from[400], to[400];
	uint64_t then;

	fixture_start(false);
	CU_ASSERT_EQUAL_FATAL(fixture_count(), 1);
	snprintf(from, sizeof(from), "%s/many/%s", fixture.base, fixture_find("rank0")->file);
	for (int i = 1; i < MANY; i++) {
		snprintf(to, sizeof(to), "%s/many/rank%d.%d.seg", fixture.base, i, (int)m);
		CU_ASSERT_EQUAL_FATAL(link(from, to), 0);
	}
	store_fini(&fixture.store);
	then = clock_mono_ns();
	fixture_start(false);
	tap_note("%d segments found in %.1f ms", MANY, (double)(clock_mono_ns() - then) / 1e6);
	CU_ASSERT_EQUAL(fixture_count(), MANY);
	then = clock_mono_ns();
	CU_ASSERT_EQUAL(store_refresh(&fixture.store), 0);
	tap_note("looked at again in %.1f ms", (double)(clock_mono_ns() - then) / 1e6);
	CU_ASSERT_TRUE(clock_mono_ns() - then < 1000000000u);
	maker_end(m);
}

/* Files that no collector has made: however many there are, others have turns meanwhile, and those
 * who need all find all. */
static void very_many_forged(void)
{
	enum { FORGED = 20000 };
	double longest = 0, all = 0, took;
	unsigned turns = 0, n = 0;
	const struct store_refusal *r;
	char path[400];
	clock_t begun;
	bool more;

	fixture_start(true);
	snprintf(path, sizeof(path), "%s/forged", fixture.base);
	CU_ASSERT_EQUAL_FATAL(mkdir(path, 0700), 0);
	for (int i = 0; i < FORGED; i++) {
		snprintf(path, sizeof(path), "%s/forged/rank%d.%d.seg", fixture.base, i, i + 10);
		CU_ASSERT_EQUAL_FATAL(close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
	}
	do {
		begun = clock();
		more = store_refresh_part(&fixture.store, clock_mono_ns() + TURN_NS);
		took = (double)(clock() - begun) / CLOCKS_PER_SEC;
		longest = took > longest ? took : longest;
		all += took;
		if (++turns == 3)
			CU_ASSERT(more);
	} while (more);
	TAILQ_FOREACH (r, &fixture.store.refusals, link)
		n++;
	CU_ASSERT_EQUAL(n, FORGED);
	tap_note("%u turns of %.4f s, the longest of %.4f s", turns, all, longest);
	CU_ASSERT(longest < all / 3);
	/* Who needs all at once gets it, in the middle of a scan, too. */
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT(store_refresh_part(&fixture.store, 0));
	CU_ASSERT_EQUAL(store_refresh(&fixture.store), 0);
	n = 0;
	TAILQ_FOREACH (r, &fixture.store.refusals, link)
		n++;
	CU_ASSERT_EQUAL(n, FORGED - 1);
	/* One that is under way ends with the store. */
	snprintf(path, sizeof(path), "%s/forged/rank0.10.seg", fixture.base);
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT(store_refresh_part(&fixture.store, 0));
}

/* ---- what processes use ---- */

/* A process that runs all the time: while it is positive, lists of its threads come to their end
 * when it has run on for a while, as on a host with much to do. */
static pid_t busy;
static uint64_t busy_ran;

static uint64_t ran_ns(pid_t pid)
{
	struct timespec t = {0};
	clockid_t clock;

	CU_ASSERT_EQUAL_FATAL(clock_getcpuclockid(pid, &clock), 0);
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct dirent *readdir(DIR *dir)
{
	static struct dirent *(*next)(DIR *);
	uint64_t until = clock_mono_ns() + 60000000000;
	struct dirent *entry;

	if (!next)
		*(void **)(void *)&next = dlsym(RTLD_NEXT, "readdir64");
	entry = next(dir);
	if (entry || busy <= 0)
		return entry;
	for (busy_ran = ran_ns(busy); ran_ns(busy) < busy_ran + 50000000u;) {
		CU_ASSERT_TRUE_FATAL(clock_mono_ns() < until);
		sched_yield();
	}
	return NULL;
}

/* What a thread runs after it was read is not what ended ones have run. */
static void time_while_read(void)
{
	Evspace__Process p = EVSPACE__PROCESS__INIT;
	unsigned left = USAGE_THREADS;
	pid_t m = maker_start("one", 0, 0), spins = fork();
	struct store_segment s;

	if (spins == 0)
		for (;;)
			;
	CU_ASSERT_TRUE_FATAL(spins > 0);
	fixture_start(false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(fixture_find("rank0"));
	s = *fixture_find("rank0");
	busy = s.pid = spins;
	CU_ASSERT_TRUE(usage_fill(&s, &p, &left));
	busy = 0;
	CU_ASSERT_EQUAL_FATAL(p.n_used, 1);
	CU_ASSERT(p.used[0]->ran_ns <= busy_ran && left == USAGE_THREADS - 1);
	evspace__used__free_unpacked(p.used[0], NULL);
	free(p.used);
	maker_end(spins);
	maker_end(m);
}

static CU_TestInfo life_cases[] = {
	{"a base that is missing is empty", no_base},
	{"segments are found at the start", found_at_start},
	{"segments that come are noticed", watched},
	{"a killed process is noticed, its segment stays", killed},
	{"a removed run is unmapped; serials are not used again", removed},
	{"the base may be removed and made again", base_removed},
	{"the base may be moved away and back", base_moved},
	{"nothing wakes a store at rest", silent_at_rest},
	{"users are told before a segment is unmapped", told_before},
	{"the newest process of a rank has its name", same_rank},
	{"what threads run while they are read has not ended", time_while_read},
	{"1,000 segments", many},
	{"20,000 forged files", very_many_forged},
	CU_TEST_INFO_NULL,
};

/* ---- without inotify ---- */

#define INSTANCES_MAX 4096

static int instances[INSTANCES_MAX];
static unsigned n_instances;

static void instances_begin(void)
{
	fixture_begin();
	while (n_instances < INSTANCES_MAX &&
	       (instances[n_instances] = inotify_init1(IN_CLOEXEC)) >= 0)
		n_instances++;
}

static void instances_end(void)
{
	fixture_end();
	while (n_instances > 0)
		close(instances[--n_instances]);
}

static CU_TestInfo signal_cases[] = {
	{"segments that come are noticed", watched},
	{"a killed process is noticed, its segment stays", killed},
	{"a removed run is unmapped; serials are not used again", removed},
	{"the base may be removed and made again", base_removed},
	{"nothing wakes a store at rest", silent_at_rest},
	{"the newest process of a rank has its name", same_rank},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "life",
		 .pTests = life_cases,
		 .pSetUpFunc = fixture_begin,
		 .pTearDownFunc = fixture_end},
		{.pName = "the user has no inotify instance left",
		 .pTests = signal_cases,
		 .pSetUpFunc = instances_begin,
		 .pTearDownFunc = instances_end},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
