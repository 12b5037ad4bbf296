/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests thousands of children that are not there: they hold up nobody, and do not fill the log. */
#include "tree/scope/child.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/peers.h"
#include "tree/data/turn.h"

enum { THOUSANDS = 4000 };

static struct child_user users[THOUSANDS];
static bool fell[THOUSANDS];
static unsigned down;

static void user_up(struct child_user *user)
{
	(void)user;
}

static void user_down(struct child_user *user)
{
	down += !fell[user - users];
	fell[user - users] = true;
}

static void user_frame(struct child_user *user, const struct frame *frame)
{
	(void)user;
	(void)frame;
}

static const struct child_events events = {user_up, user_down, user_frame, NULL, NULL};

/* Until all have failed. Returns seconds of this process's own time; *@longest is of one turn. */
static double children_fail(struct event_base *base, struct child_set *set, double *longest)
{
	char name[16], nowhere[64];
	clock_t begun = clock(), turn = begun;

	snprintf(nowhere, sizeof(nowhere), "unix:%.50s", peers_path("nobody"));
	for (unsigned i = 0; i < THOUSANDS; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		child_join(set, &users[i], name, nowhere, &events);
	}
	*longest = (double)(clock() - begun) / CLOCKS_PER_SEC;
	while (down < THOUSANDS) {
		double took;

		event_base_loop(base, EVLOOP_ONCE);
		took = (double)(clock() - turn) / CLOCKS_PER_SEC;
		*longest = took > *longest ? took : *longest;
		turn = clock();
	}
	return (double)(turn - begun) / CLOCKS_PER_SEC;
}

static unsigned lines_in(int fd)
{
	static char text[1 << 20];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	unsigned lines = 0;

	for (ssize_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

/* CLOCK_MONOTONIC of this process is ahead by so many seconds. */
static time_t ahead_s;

int clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, id, t);

	if (rc == 0 && (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE))
		t->tv_sec += ahead_s;
	return rc;
}

/* Who was only in the sum has a line when there is room for it, also for the same reason. */
static void lines_come_later(struct world *w, int fd)
{
	unsigned before = lines_in(fd);

	ahead_s = 3600;
	/* all are dialled again within so many turns */
	for (unsigned i = 0; i < 10 * THOUSANDS && lines_in(fd) < before + 9; i++)
		event_base_loop(w->base, EVLOOP_ONCE);
	CU_ASSERT(lines_in(fd) >= before + 9 && lines_in(fd) <= before + 12);
}

static void thousands_of_children(void)
{
	double all, longest;
	struct child_set *set;
	struct world w;
	unsigned at_first;
	int was, fd;

	world_open(&w);
	was = dup(STDERR_FILENO);
	fd = memfd_create("stderr", 0);
	set = child_set_new(w.base, w.consumer);
	dup2(fd, STDERR_FILENO);
	all = children_fail(w.base, set, &longest);
	at_first = lines_in(fd);
	lines_come_later(&w, fd);
	dup2(was, STDERR_FILENO);
	tap_note("%.4f s, the longest turn %.4f s, %u lines", all, longest, at_first);
	CU_ASSERT(at_first > 0 && at_first <= 12);
	CU_ASSERT(longest < 4e-9 * TURN_NS || longest < all / 3);
	for (unsigned i = 0; i < THOUSANDS; i++)
		child_leave(&users[i]);
	child_set_free(set);
	close(was);
	close(fd);
	world_close(&w);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"thousands that are not there hold nobody up", thousands_of_children},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "children",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
