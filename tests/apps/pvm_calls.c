/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes every PVM call that is collected, in several tasks, and counts them:
 * pvm_calls DIR TASKS ROUNDS [WHERE]. Each task leaves its counts in DIR; ROUNDS may be 0: as many
 * as there are until the first task finds a file DIR/enough. WHERE is a host for all but the first.
 */
#include "tests/apps/pvm_calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAG_PARTY 1
#define TAG_SUM	  2
#define TAG_MORE  3

uint64_t checksum;

void check_is(int oracle, const char *what, const char *file, int line)
{
	if (oracle)
		return;
	fprintf(stderr, "pvm_calls: %s:%d: not so: %s\n", file, line, what);
	pvm_exit();
	exit(1);
}

/* The first task starts the others and tells them who all are. */
static void party_make(struct party *p, char **argv, char *where)
{
	char *args[] = {argv[1], argv[2], argv[3], NULL};
	int flag = where ? PvmTaskHost : PvmTaskDefault;
	char program[512];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	CHECK(length > 0);
	program[length] = '\0';
	p->tids[0] = pvm_mytid();
	CHECK(p->tids[0] > 0);
	if (p->n > 1) {
		CHECK(pvm_spawn(program, args, flag, where ? where : (char *)(uintptr_t) "",
				p->n - 1, p->tids + 1) == p->n - 1);
		COUNT(pvm_spawn, 0);
		pvm_initsend(PvmDataRaw);
		CHECK(pvm_pkint(p->tids, p->n, 1) == 0);
		COUNT(pvm_pkint, p->n * 4);
		CHECK(pvm_mcast(p->tids + 1, p->n - 1, TAG_PARTY) == 0);
		COUNT(pvm_mcast, p->n * 4);
	}
}

static void party_join(struct party *p, int parent)
{
	int tid = pvm_mytid();

	CHECK(pvm_recv(parent, TAG_PARTY) > 0);
	COUNT(pvm_recv, p->n * 4);
	CHECK(pvm_upkint(p->tids, p->n, 1) == 0);
	COUNT(pvm_upkint, p->n * 4);
	for (p->me = 0; p->tids[p->me] != tid; p->me++)
		CHECK(p->me < p->n);
}

/* The first task looks, and tells the others. */
static int party_wants_more(const struct party *p)
{
	char enough[4096];
	int more;

	if (p->me > 0) {
		CHECK(pvm_recv(p->tids[0], TAG_MORE) > 0);
		COUNT(pvm_recv, 4);
		CHECK(pvm_upkint(&more, 1, 1) == 0);
		COUNT(pvm_upkint, 4);
		return more;
	}
	snprintf(enough, sizeof(enough), "%s/enough", p->dir);
	more = access(enough, F_OK) != 0;
	if (p->n > 1) {
		pvm_initsend(PvmDataRaw);
		CHECK(pvm_pkint(&more, 1, 1) == 0);
		COUNT(pvm_pkint, 4);
		CHECK(pvm_mcast((int *)(uintptr_t)(p->tids + 1), p->n - 1, TAG_MORE) == 0);
		COUNT(pvm_mcast, 4);
	}
	return more;
}

/* The first task prints what all have found. */
static void party_end(const struct party *p)
{
	unsigned long mine = checksum, theirs;

	if (p->me > 0) {
		pvm_initsend(PvmDataRaw);
		CHECK(pvm_pkulong(&mine, 1, 1) == 0);
		COUNT(pvm_pkulong, 8);
		CHECK(pvm_send(p->tids[0], TAG_SUM) == 0);
		COUNT(pvm_send, 8);
	}
	for (int i = 1; p->me == 0 && i < p->n; i++) {
		CHECK(pvm_recv(p->tids[i], TAG_SUM) > 0);
		COUNT(pvm_recv, 8);
		CHECK(pvm_upkulong(&theirs, 1, 1) == 0);
		COUNT(pvm_upkulong, 8);
		mine = mine * 31 + theirs;
	}
	if (p->me == 0)
		printf("checksum %lu\n", mine);
}

int main(int argc, char **argv)
{
	struct party p = {.dir = argv[1]};
	char *where = argc > 4 ? argv[4] : NULL;
	int parent = PvmNoParent;

	if (argc < 4) {
		fputs("usage: pvm_calls DIR TASKS ROUNDS [WHERE]\n", stderr);
		return 2;
	}
	p.n = atoi(argv[2]);
	p.rounds = atoi(argv[3]);
	/* whichever it is, the first call is the one that makes it a task */
	if (getenv("PVMEPID")) {
		parent = pvm_parent();
		COUNT(pvm_parent, 0);
	} else {
		COUNT(pvm_mytid, 0);
	}
	if (parent > 0)
		party_join(&p, parent);
	else
		party_make(&p, argv, where);
	for (int i = 0; p.rounds ? i < p.rounds : party_wants_more(&p); i++) {
		part_messages(&p);
		part_packing(&p);
		part_groups(&p);
	}
	part_tasks(&p);
	party_end(&p);
	COUNT(pvm_exit, 0);
	pvm_counts_write(p.dir, p.tids[p.me]);
	CHECK(pvm_exit() == 0);
	return 0;
}
