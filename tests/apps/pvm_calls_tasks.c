/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that are started, watched, signalled and killed; and all that only asks. */
#include <signal.h>
#include <sys/time.h>

#include "tests/apps/pvm_calls.h"

#define TAG_EXIT 40

/* A program that is no PVM program is a task, too. */
static void kill_one(void)
{
	char *args[] = {(char *)(uintptr_t) "1000", NULL};
	int tid, gone;

	CHECK(pvm_spawn((char *)(uintptr_t) "sleep", args, PvmTaskDefault, (char *)(uintptr_t) "",
			1, &tid) == 1);
	COUNT(pvm_spawn, 0);
	CHECK(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid) == 0);
	COUNT(pvm_notify, 0);
	CHECK(pvm_sendsig(tid, SIGURG) == 0);
	COUNT(pvm_sendsig, 0);
	CHECK(pvm_kill(tid) == 0);
	COUNT(pvm_kill, 0);
	CHECK(pvm_recv(-1, TAG_EXIT) > 0);
	COUNT(pvm_recv, 4);
	CHECK(pvm_upkint(&gone, 1, 1) == 0 && gone == tid);
	COUNT(pvm_upkint, 4);
}

/* A host that is in the machine already, and one that is not. */
static void hosts(void)
{
	struct pvmhostinfo *info;
	int n, formats, result = 0;
	char *name;

	CHECK(pvm_config(&n, &formats, &info) == 0 && n > 0);
	name = info[0].hi_name;
	CHECK(pvm_addhosts(&name, 1, &result) <= 0 && result < 0);
	COUNT(pvm_addhosts, 0);
	name = (char *)(uintptr_t) "nowhere.invalid";
	CHECK(pvm_delhosts(&name, 1, &result) <= 0);
	COUNT(pvm_delhosts, 0);
}

/* None of these is recorded, nor what they send inside. */
static void questions(const struct party *p)
{
	struct pvmtaskinfo *tasks;
	struct pvmmboxinfo *boxes;
	struct timeval clock, delta;
	char name[] = "evspace-question";
	int n, *list, context;

	CHECK(pvm_mytid() == p->tids[p->me]);
	CHECK(pvm_tasks(0, &n, &tasks) == 0 && n >= 1);
	CHECK(pvm_pstat(p->tids[0]) == PvmOk);
	CHECK(pvm_tidtohost(p->tids[0]) > 0);
	CHECK(pvm_getmboxinfo((char *)(uintptr_t) "*", &n, &boxes) >= 0);
	CHECK(pvm_hostsync(pvm_tidtohost(p->tids[p->me]), &clock, &delta) == 0);
	CHECK(pvm_getfds(&list) > 0);
	context = pvm_newcontext();
	CHECK(context > 0 && pvm_freecontext(context) == 0);
	CHECK(pvm_insert(name, -1, 5) >= 0);
	CHECK(pvm_lookup(name, 0, &n) >= 0 && n == 5);
	CHECK(pvm_delete(name, 0) == 0);
	CHECK(pvm_export(name) == 0);
	CHECK(pvm_unexport(name) == 0);
}

void part_tasks(const struct party *p)
{
	if (p->me == 0) {
		kill_one();
		hosts();
		questions(p);
	}
}
