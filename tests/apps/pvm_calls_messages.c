/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages around a ring, by every way of sending and receiving. */
#include <string.h>
#include <sys/time.h>

#include "tests/apps/pvm_calls.h"

#define TAG_RING  10
#define TAG_PLACE 11
#define TAG_LATE  12
#define TAG_NONE  13
#define TAG_ALL	  14

static int next(const struct party *p)
{
	return p->tids[(p->me + 1) % p->n];
}

static int before(const struct party *p)
{
	return p->tids[(p->me + p->n - 1) % p->n];
}

/* Send @n ints to the next task. */
static void ring_send(const struct party *p, int n, int tag)
{
	int values[64];

	for (int i = 0; i < n; i++)
		values[i] = p->me * 100 + i;
	pvm_initsend(PvmDataRaw);
	CHECK(pvm_pkint(values, n, 1) == 0);
	COUNT(pvm_pkint, n * 4);
	CHECK(pvm_send(next(p), tag) == 0);
	COUNT(pvm_send, n * 4);
}

/* Unpack @n ints that the task before this one has sent. */
static void ring_unpack(const struct party *p, int n)
{
	int values[64];

	CHECK(pvm_upkint(values, n, 1) == 0);
	COUNT(pvm_upkint, n * 4);
	CHECK(values[n - 1] == (p->me + p->n - 1) % p->n * 100 + n - 1);
	checksum = checksum * 31 + (uint64_t)values[n - 1];
}

static void by_recv(const struct party *p)
{
	int bytes, tag, tid, mid;

	ring_send(p, 5, TAG_RING);
	mid = pvm_recv(before(p), TAG_RING);
	COUNT(pvm_recv, 20);
	CHECK(mid > 0);
	CHECK(pvm_bufinfo(mid, &bytes, &tag, &tid) == 0 && bytes == 20 && tid == before(p));
	ring_unpack(p, 5);
	ring_send(p, 7, TAG_RING);
	CHECK(pvm_recv(-1, TAG_RING) > 0);
	COUNT(pvm_recv, 28);
	ring_unpack(p, 7);
}

static void by_polling(const struct party *p)
{
	int mid;

	ring_send(p, 3, TAG_RING);
	while ((mid = pvm_probe(before(p), TAG_RING)) == 0)
		COUNT_POLL();
	CHECK(mid > 0);
	COUNT(pvm_probe, 0);
	while ((mid = pvm_nrecv(before(p), TAG_RING)) == 0)
		COUNT_POLL();
	CHECK(mid > 0);
	COUNT(pvm_nrecv, 12);
	ring_unpack(p, 3);
	CHECK(pvm_nrecv(-1, TAG_NONE) == 0);
	COUNT_POLL();
	CHECK(pvm_probe(-1, TAG_NONE) == 0);
	COUNT_POLL();
}

static void by_time(const struct party *p)
{
	struct timeval soon = {.tv_usec = 1000}, late = {.tv_sec = 60};

	CHECK(pvm_trecv(-1, TAG_NONE, &soon) == 0);
	COUNT_POLL();
	ring_send(p, 9, TAG_LATE);
	CHECK(pvm_trecv(-1, TAG_LATE, &late) > 0);
	COUNT(pvm_trecv, 36);
	ring_unpack(p, 9);
	ring_send(p, 1, TAG_LATE);
	CHECK(pvm_trecv(before(p), -1, NULL) > 0);
	COUNT(pvm_trecv, 4);
	ring_unpack(p, 1);
}

static void by_place(const struct party *p)
{
	double values[16] = {p->me, p->me + 1}, got[16];
	int tid, tag, length;

	CHECK(pvm_psend(next(p), TAG_PLACE, values, 16, PVM_DOUBLE) == 0);
	COUNT(pvm_psend, 128);
	CHECK(pvm_precv(-1, TAG_PLACE, got, 16, PVM_DOUBLE, &tid, &tag, &length) == 0);
	COUNT(pvm_precv, 128);
	CHECK(tid == before(p) && tag == TAG_PLACE && length == 128);
	CHECK(pvm_psend(next(p), TAG_PLACE, values, 3, PVM_SHORT) == 0);
	COUNT(pvm_psend, 6);
	CHECK(pvm_precv(before(p), TAG_PLACE, got, 16, PVM_BYTE, NULL, NULL, NULL) == 0);
	COUNT(pvm_precv, 6);
}

/* From the first task to all others, itself not included. */
static void to_all(const struct party *p)
{
	char text[] = "to all";

	if (p->me == 0) {
		pvm_initsend(PvmDataRaw);
		CHECK(pvm_pkbyte(text, sizeof(text), 1) == 0);
		COUNT(pvm_pkbyte, sizeof(text));
		CHECK(pvm_mcast((int *)(uintptr_t)p->tids, p->n, TAG_ALL) == 0);
		COUNT(pvm_mcast, sizeof(text));
		return;
	}
	CHECK(pvm_recv(p->tids[0], TAG_ALL) > 0);
	COUNT(pvm_recv, sizeof(text));
	CHECK(pvm_upkbyte(text, sizeof(text), 1) == 0);
	COUNT(pvm_upkbyte, sizeof(text));
	CHECK(strcmp(text, "to all") == 0);
}

/* What fails is a call of no bytes. */
static void in_vain(void)
{
	pvm_setopt(PvmAutoErr, 0);
	pvm_initsend(PvmDataRaw);
	CHECK(pvm_send(0x7fffffff, 1) < 0);
	COUNT(pvm_send, 0);
	CHECK(pvm_psend(-7, 1, NULL, 0, 99) < 0);
	COUNT(pvm_psend, 0);
	pvm_setopt(PvmAutoErr, 1);
}

/* What a mailbox holds is for all to read. */
static void by_mailbox(const struct party *p)
{
	char name[32];
	int value = 17, index;

	snprintf(name, sizeof(name), "evspace-%x", (unsigned)p->tids[p->me]);
	pvm_initsend(PvmDataRaw);
	CHECK(pvm_pkint(&value, 1, 1) == 0);
	COUNT(pvm_pkint, 4);
	index = pvm_putinfo(name, pvm_getsbuf(), PvmMboxDefault);
	CHECK(index >= 0);
	COUNT(pvm_putinfo, 4);
	CHECK(pvm_recvinfo(name, 0, PvmMboxDefault) > 0);
	COUNT(pvm_recvinfo, 4);
	CHECK(pvm_upkint(&value, 1, 1) == 0 && value == 17);
	COUNT(pvm_upkint, 4);
	CHECK(pvm_delinfo(name, index, PvmMboxDefault) == 0);
	COUNT(pvm_delinfo, 0);
}

void part_messages(const struct party *p)
{
	by_recv(p);
	by_polling(p);
	by_time(p);
	by_place(p);
	to_all(p);
	in_vain();
	by_mailbox(p);
}
