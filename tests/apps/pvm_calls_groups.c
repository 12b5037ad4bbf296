/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: joined by all, used for every group operation, and left. */
#include "tests/apps/pvm_calls.h"

#define TAG_GROUP 30

static char everyone[] = "everyone";

static void barrier(const struct party *p)
{
	CHECK(pvm_barrier(everyone, p->n) == 0);
	COUNT(pvm_barrier, 0);
}

/* Instances in a group are given in the order of coming: the sums must not depend on that. */
static void sums(const struct party *p, int instance)
{
	int values[3] = {p->me, 1, 2}, mine[2] = {p->me, 10}, all[32] = {0}, sum = 0;

	CHECK(pvm_reduce(PvmSum, values, 3, PVM_INT, TAG_GROUP, everyone, 0) == 0);
	COUNT(pvm_reduce, 12);
	if (instance == 0)
		CHECK(values[0] == p->n * (p->n - 1) / 2 && values[1] == p->n);
	barrier(p);
	CHECK(pvm_gather(all, mine, 2, PVM_INT, TAG_GROUP + 1, everyone, 0) == 0);
	COUNT(pvm_gather, 8);
	for (int i = 0; i < p->n; i++)
		sum += all[2 * i];
	if (instance == 0)
		CHECK(sum == p->n * (p->n - 1) / 2);
	barrier(p);
	for (int i = 0; i < p->n; i++)
		all[i] = 7;
	CHECK(pvm_scatter(values, all, 1, PVM_INT, TAG_GROUP + 2, everyone, 0) == 0);
	COUNT(pvm_scatter, 4);
	CHECK(values[0] == 7);
	barrier(p);
}

static void broadcast(const struct party *p, int instance)
{
	short value = 3;

	/* to all members but itself: without others that fails */
	if (instance == 0 && p->n == 1)
		return;
	if (instance == 0) {
		pvm_initsend(PvmDataRaw);
		CHECK(pvm_pkshort(&value, 1, 1) == 0);
		COUNT(pvm_pkshort, 2);
		CHECK(pvm_bcast(everyone, TAG_GROUP + 3) == 0);
		COUNT(pvm_bcast, 2);
	} else {
		CHECK(pvm_recv(-1, TAG_GROUP + 3) > 0);
		COUNT(pvm_recv, 2);
		CHECK(pvm_upkshort(&value, 1, 1) == 0 && value == 3);
		COUNT(pvm_upkshort, 2);
	}
	barrier(p);
}

void part_groups(const struct party *p)
{
	int instance = pvm_joingroup(everyone);

	CHECK(instance >= 0);
	COUNT(pvm_joingroup, 0);
	barrier(p);
	CHECK(pvm_gsize(everyone) == p->n);
	CHECK(pvm_getinst(everyone, p->tids[p->me]) == instance);
	sums(p, instance);
	broadcast(p, instance);
	CHECK(pvm_lvgroup(everyone) == 0);
	COUNT(pvm_lvgroup, 0);
	pvm_setopt(PvmAutoErr, 0);
	CHECK(pvm_barrier((char *)(uintptr_t) "", 1) < 0);
	COUNT(pvm_barrier, 0);
	pvm_setopt(PvmAutoErr, 1);
}
