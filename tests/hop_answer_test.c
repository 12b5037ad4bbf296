/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a hop whose child says more than it may. */
#include "tree/scope/hop.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pathmap/base/memory.h"
#include "tests/hop-sayer.h"
#include "tests/tap.h"
#include "tree/data/clock.h"
#include "tree/data/columns-batch.h"
#include "tree/data/names-comm.h"
#include "tree/data/tellers.h"
#include "tree/scope/quota.h"

/* Add a run of @element to what is said, behind a part of leaf 4. */
static void say_run(enum run_kind kind, uint32_t element, uint32_t count)
{
	batch_clear(&hop_sayer_body);
	memset(batch_add(&hop_sayer_body, RUN_PART, 4, 1, 1, 0), 0, sizeof(struct part));
	memset(batch_add(&hop_sayer_body, kind, element, 1, count, 0), 0,
	       count * run_record_bytes(kind));
	hop_sayer_said.leaves = 1;
}

static const char *name_known(const struct hop_bed *bed, uint32_t id)
{
	const struct name *name = names_find(bed->scope.names, id);

	return name ? name->text : "";
}

/* Names of others stay what they are; what is nobody's can be hop_sayer_said. */
static void names_of_others(void)
{
	const struct {
		uint32_t id;
		enum level level;
		bool taken;
	} cases[] = {
		{name_id(4, 0), LEVEL_ELEMENT, true},
		{name_id(3, NAME_LOCAL_MAX), LEVEL_THREAD, true},
		{name_id(6 + PLAN_PLACES, NAME_LOCAL_MAX), LEVEL_NODE, true},
		{name_id(9, NAME_LOCAL_MAX), LEVEL_CLUSTER, true},
		{name_id(1, 0), LEVEL_ELEMENT, false},
		{name_id(1, 0), LEVEL_THREAD, false},
		{name_id(1, NAME_LOCAL_MAX), LEVEL_THREAD, false},
		{name_id(1, NAME_LOCAL_MAX), LEVEL_NODE, false},
		{name_id(2, 0), LEVEL_ELEMENT, false},
		{name_id(0, NAME_LOCAL_MAX), LEVEL_CLUSTER, false},
	};
	static char texts[][32] = {"/e/w0/rank9/t0/p2p", "/e/w0/rank9/t0", "/e/w0", "/e"};
	Evspace__Name name = EVSPACE__NAME__INIT, *list = &name;
	struct names *names;
	struct hop_bed bed;

	hop_sayer_open(&bed);
	names = bed.scope.names;
	names_learn(names, name_id(1, 0), LEVEL_ELEMENT, 1, 0, "/c/w1/rank1/t0/p2p");
	names_learn(names, name_id(1, NAME_LOCAL_MAX), LEVEL_THREAD, 1, 0, "/c/w1/rank1/t0");
	hop_sayer_said.names = &list;
	hop_sayer_said.n_names = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		name.id = cases[i].id;
		name.level = cases[i].level;
		name.text = texts[cases[i].level];
		CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
		CU_ASSERT_EQUAL(strcmp(name_known(&bed, name.id), name.text) == 0, cases[i].taken);
	}
	hop_sayer_close(&bed);
}

static void elements_of_others(void)
{
	const struct {
		enum run_kind kind;
		uint32_t element;
		bool taken;
	} cases[] = {
		{RUN_TUPLES, name_id(4, 0), true},
		{RUN_TUPLES, name_id(1, NAME_LOCAL_MAX), true}, /* a group, whoever named it */
		{RUN_TUPLES, name_id(1, NAME_LOCAL_MAX - 1),
		 false}, /* … of a host that is not below */
		{RUN_NEWEST, name_id(4, NAME_LOCAL_MAX), false}, /* … to name_id(5, 0) */
		{RUN_TUPLES, name_id(1, 0), false},
		{RUN_TUPLES, name_id(2, 7), false},
		{RUN_TOTALS, name_id(1, 0), false},
	};
	struct part *mark;
	const char *why;
	struct hop_bed bed;

	hop_sayer_own = true;
	hop_sayer_open(&bed);
	hop_sayer_own = false;
	names_learn(bed.scope.names, name_id(1, 0), LEVEL_ELEMENT, 1, 0, "/c/w1/rank1/t0/p2p");
	names_learn(bed.scope.names, name_id(1, NAME_LOCAL_MAX), LEVEL_NODE, 1, 0, "/c/w1");
	names_learn(bed.scope.names, name_id(1, NAME_LOCAL_MAX - 1), LEVEL_NODE, 1, 0, "/c/w2");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		say_run(cases[i].kind, cases[i].element, 2);
		why = hop_sayer_asked(&bed);
		CU_ASSERT_EQUAL(why == NULL, cases[i].taken);
		CU_ASSERT(!why || strstr(why, "which is not below it"));
	}
	/* The same as columns. */
	say_run(RUN_NEWEST, name_id(4, NAME_LOCAL_MAX - 19), 20);
	columns_batch_pack(&hop_sayer_body);
	CU_ASSERT(hop_sayer_body.plain > hop_sayer_body.bytes);
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	say_run(RUN_NEWEST, name_id(4, NAME_LOCAL_MAX - 18), 20);
	columns_batch_pack(&hop_sayer_body);
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "which is not below it"));
	/* A mark says what of its own is mixed, not what came before. */
	say_run(RUN_TUPLES, name_id(4, 0), 1);
	mark = batch_add(&hop_sayer_body, RUN_PART, 4, 1, 1, 0);
	hop_sayer_body.last->flags |= RUN_FOLD;
	*mark = (struct part){.elements = 2};
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "a mark over 2 parts behind 1"));
	mark->elements = 1;
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	hop_sayer_close(&bed);
}

/* Nobody waits for it, and nothing is learnt from it. */
static void unasked(void)
{
	Evspace__Comm comm = EVSPACE__COMM__INIT, *list = &comm;
	const struct unready *unready;
	struct hop_bed bed;

	hop_sayer_open(&bed);
	comm.id = 7;
	hop_sayer_said.comms = &list;
	hop_sayer_times = 3;
	(void)hop_sayer_asked(&bed);
	WAIT(&bed.w, !hop_ready(bed.hop));
	CU_ASSERT(hop_unready(bed.hop, &unready) == 1 &&
		  strstr(unready->text, "what it was not asked"));
	hop_sayer_close(&bed);
}

/* What cannot be held is missing, and it is said why. */
static void more_than_is_held(void)
{
	struct quota *quota = quota_join("ann");
	struct error e;
	struct hop_bed bed;

	hop_sayer_open(&bed);
	gather_quota_set(bed.scope.gather, quota);
	say_run(RUN_TUPLES, name_id(4, 0), 1);
	CU_ASSERT_EQUAL(quota_take(quota, QUOTA_KIND / 2, &e), 0);
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	CU_ASSERT_EQUAL(hop_sayer_done.leaves, 0);
	CU_ASSERT_EQUAL(hop_sayer_done.n_missing, 3);
	CU_ASSERT_EQUAL(hop_sayer_done.why, MISSING_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(hop_sayer_done.text, "hold 192 MiB for ann here already"));
	quota_give(quota, QUOTA_WAVES, QUOTA_KIND / 2);
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	CU_ASSERT_EQUAL(hop_sayer_done.leaves, 1);
	CU_ASSERT_EQUAL(hop_sayer_done.n_missing, 0);
	hop_sayer_close(&bed);
	quota_leave(quota);
}

/* So much of one child leaves room for others. */
static void as_much_as_it_leaves(void)
{
	static int32_t members[NAMES_MEMBER_MAX];
	static char label[] = "solve";
	Evspace__Comm comm = EVSPACE__COMM__INIT, *list = &comm;
	unsigned listed = 0;
	struct hop_bed bed;

	hop_sayer_open(&bed);
	hop_sayer_said.comms = &list;
	hop_sayer_said.n_comms = 1;
	comm.size = NAMES_MEMBER_MAX;
	comm.members = members;
	comm.n_members = NAMES_MEMBER_MAX;
	for (comm.id = 1; comm.id <= 20; comm.id++)
		CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	/* Its other communicators are known without members, and what is small is heard. */
	CU_ASSERT_EQUAL(names_comm_count(bed.scope.names), 20);
	for (uint32_t id = 1; id <= 20; id++) {
		const struct name_comm *known = names_comm_find(bed.scope.names, id);

		listed += known && known->members;
	}
	CU_ASSERT(listed >= 8);
	CU_ASSERT(listed < 12);
	comm.id = label_id(label, strlen(label));
	comm.size = 0;
	comm.n_members = 0;
	comm.label = label;
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	CU_ASSERT_PTR_NOT_NULL(names_label_find(bed.scope.names, comm.id));
	hop_sayer_close(&bed);
}

/* The child has rank 9 in leaf 4; this host has rank 1, and the communicators of that. */
static void contradicts(void)
{
	int32_t members[] = {5, 1}, own[] = {1, 5};
	Evspace__Comm comm = EVSPACE__COMM__INIT, *list = &comm;
	Evspace__Name name = EVSPACE__NAME__INIT, *names = &name;
	static char text[] = "/e/w4/rank9/t0/p2p";
	const struct name_comm *known;
	struct hop_bed bed;

	hop_sayer_open(&bed);
	names_learn(bed.scope.names, name_id(0, 0), LEVEL_ELEMENT, 1, 0, "/c/w0/rank1/t0/p2p");
	names_comm_learn(bed.scope.names, 7, 6, 2, 0, own);
	name.id = name_id(4, 0);
	name.level = LEVEL_ELEMENT;
	name.rank = 9;
	name.text = text;
	hop_sayer_said.names = &names;
	hop_sayer_said.n_names = 1;
	hop_sayer_said.comms = &list;
	hop_sayer_said.n_comms = 1;
	comm.members = members;
	comm.size = comm.n_members = 2;
	/* It is not in it, and says what this host's rank is in. */
	comm.id = 7;
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	CU_ASSERT_EQUAL(names_comm_find(bed.scope.names, 7)->members[0], 1);
	/* It was first, and is not believed for that. */
	comm.id = 8;
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	CU_ASSERT_EQUAL(names_comm_find(bed.scope.names, 8)->members[0], 5);
	CU_ASSERT_EQUAL(names_comm_learn(bed.scope.names, 8, 6, 2, 0, own), 0);
	CU_ASSERT_EQUAL(names_comm_find(bed.scope.names, 8)->members[0], 1);
	/* Both can only be true of two communicators. */
	comm.id = 7;
	members[0] = members[1] = 9;
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	known = names_comm_find(bed.scope.names, 7);
	CU_ASSERT(known->disputed && !known->members);
	hop_sayer_close(&bed);
}

/* The map puts ranks 2, 7 and 9 on leaf 4: nobody believes that others are there. */
static void ranks_of_others(void)
{
	static const struct {
		int32_t number;
		uint32_t place;
		bool its;
	} cases[] = {
		{2, 4, true},	{7, 4, true},	    {8, 4, true},  {9, 4, true},
		{0, 4, false},	{3, 4, false},	    {6, 4, false}, {10, 4, false},
		{-1, 4, false}, {0x40001, 4, true}, {0, 5, false}, {0, 7, true},
	};
	static char text[] = "/e/w4/rank9/t0/p2p", holds[] = "2,7-9", none[] = "", all[] = "all";
	Evspace__Name name = EVSPACE__NAME__INIT, *names = &name;
	struct tellers *tellers;
	struct hop_bed bed;
	uint32_t child;

	hop_sayer_prepare(&bed);
	for (size_t i = 0; i < 2; i++)
		bed.place.children[i]->placed = true;
	bed.place.children[0]->holds = holds;
	bed.place.children[1]->holds = none;
	bed.place.children[2]->children[0]->placed = true;
	bed.place.children[2]->children[0]->holds = all;
	hop_sayer_begin(&bed);
	tellers = names_tellers(bed.scope.names);
	child = tellers_number(tellers, "w0");
	name.level = LEVEL_ELEMENT;
	name.text = text;
	hop_sayer_said.names = &names;
	hop_sayer_said.n_names = 1;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum tellers_has had = tellers_has(tellers, child, cases[i].number);

		name.id = name_id(cases[i].place, i);
		name.rank = cases[i].number;
		CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
		CU_ASSERT_EQUAL(tellers_has(tellers, child, cases[i].number) != had, cases[i].its);
		CU_ASSERT_STRING_EQUAL(name_known(&bed, name.id), text);
	}
	hop_sayer_close(&bed);
}

static void too_many_names(void)
{
	enum { MANY = 150000 };
	static char text[] = "/c/w/r/t/p";
	Evspace__Name *names = memory_new(MANY, sizeof(*names));
	Evspace__Name **list = memory_new(MANY, sizeof(*list));
	const char *why;
	struct hop_bed bed;

	hop_sayer_open(&bed);
	for (uint32_t i = 0; i < MANY; i++) {
		evspace__name__init(&names[i]);
		names[i].id = name_id(4, i);
		names[i].text = text;
		list[i] = &names[i];
	}
	hop_sayer_said.names = list;
	/* Such a frame is not even unpacked. */
	hop_sayer_said.n_names = MANY;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "too long"));
	hop_sayer_said.n_names = 30000;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "30000 names and 0 communicators at once"));
	CU_ASSERT_EQUAL(names_count(bed.scope.names), 0);
	/* What dictionary_fill() sends comes in. */
	hop_sayer_said.n_names = 20000;
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	CU_ASSERT_EQUAL(names_count(bed.scope.names), 20000);
	hop_sayer_close(&bed);
	free(names);
	free(list);
}

static void missing_more_than_there_are(void)
{
	Evspace__Missing missing[4], *list[4];
	const char *why;
	struct hop_bed bed;

	hop_sayer_open(&bed);
	for (int i = 0; i < 4; i++) {
		evspace__missing__init(&missing[i]);
		missing[i].leaf = 4;
		missing[i].why = MISSING_LATE;
		missing[i].since_ms = UINT64_MAX / 2;
		list[i] = &missing[i];
	}
	hop_sayer_said.missing = list;
	hop_sayer_said.n_missing = 2;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "speaks for leaf 4 twice"));
	hop_sayer_said.n_missing = 4;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "3 are below it"));
	hop_sayer_said.n_missing = 1;
	hop_sayer_said.leaves = 3;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "3 are below it"));
	hop_sayer_said.leaves = 2;
	memset(batch_add(&hop_sayer_body, RUN_PART, 5, 1, 1, 0), 0, sizeof(struct part));
	memset(batch_add(&hop_sayer_body, RUN_PART, 7, 1, 1, 0), 0, sizeof(struct part));
	hop_sayer_said.cpu_us = UINT32_MAX;
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	CU_ASSERT_EQUAL(hop_sayer_done.leaves, 2);
	CU_ASSERT_EQUAL(hop_sayer_done.n_missing, 1);
	CU_ASSERT(hop_sayer_done.since_ns <= clock_mono_ns());
	hop_sayer_close(&bed);
}

/* Whoever reads throws a wave away of which a mark joins a part twice, or one of another wave. */
static void parts_of_others(void)
{
	Evspace__Missing missing = EVSPACE__MISSING__INIT, *list = &missing;
	const char *why;
	struct hop_bed bed;

	hop_sayer_open(&bed);
	say_run(RUN_TUPLES, name_id(4, 0), 1);
	missing.leaf = 4;
	missing.why = MISSING_LATE;
	hop_sayer_said.missing = &list;
	hop_sayer_said.n_missing = 1;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "speaks for leaf 4 twice"));
	hop_sayer_said.n_missing = 0;
	hop_sayer_off = 1;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "has a part of wave"));
	hop_sayer_off = 0;
	hop_sayer_said.leaves = 2;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "has 2 leaves, but parts of 1"));
	memset(batch_add(&hop_sayer_body, RUN_PART, 4, 1, 1, 0), 0, sizeof(struct part));
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "speaks for leaf 4 twice"));
	hop_sayer_said.leaves = 1;
	say_run(RUN_TUPLES, name_id(4, 0), 1);
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	hop_sayer_close(&bed);
}

/* ---- how long it takes ---- */

/* CPU time of this process between two turns of the loop: the longest, and all. */
static struct event *ticking;
static double longest, all;
static clock_t last;

static void tick(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval now = {0, 0};
	clock_t at = clock();
	double took = (double)(at - last) / CLOCKS_PER_SEC;

	(void)fd;
	(void)what;
	(void)arg;
	longest = took > longest ? took : longest;
	all += took;
	last = at;
	evtimer_add(ticking, &now);
}

/* Runs of groups in no order: a look at a name for each of them. */
static void say_groups(struct names *names, uint32_t groups, uint32_t runs)
{
	char text[NAME_BYTES];

	for (uint32_t i = 0; i < groups; i++) {
		snprintf(text, sizeof(text), "/c/w1/rank%u/t0", i);
		names_learn(names, name_id(1, i), LEVEL_THREAD, (int32_t)i, 0, text);
	}
	say_run(RUN_TUPLES, name_id(4, 0), 1);
	for (uint32_t i = 0; i < runs; i++)
		batch_add(&hop_sayer_body, RUN_TUPLES,
			  name_id(1, i * UINT32_C(2654435761) % groups), i, 0, 0);
}

/* However much is to be checked of an answer, the loop goes on meanwhile. */
static void others_go_on(void)
{
	struct hop_bed bed;

	hop_sayer_own = true;
	hop_sayer_open(&bed);
	hop_sayer_own = false;
	say_groups(bed.scope.names, 50000, 1000000);
	ticking = evtimer_new(bed.scope.base, tick, NULL);
	last = clock();
	longest = all = 0;
	tick(-1, 0, NULL);
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	tap_note("all took %.3f s, the longest turn %.3f s", all, longest);
	CU_ASSERT_EQUAL(hop_sayer_done.leaves, 1);
	CU_ASSERT(longest < all / 3);
	/* the last of many runs is another's */
	batch_add(&hop_sayer_body, RUN_TUPLES, name_id(9, 1), 1, 0, 0);
	CU_ASSERT_PTR_NOT_NULL(hop_sayer_asked(&bed));
	event_free(ticking);
	hop_sayer_close(&bed);
}

/* The next agent would refuse us for a time that no clock shows. */
static void clock_of_nowhen(void)
{
	struct part *part;
	struct hop_bed bed;

	hop_sayer_open(&bed);
	bed.scope.epoch_ns = CLOCK_BASE_MOST;
	part = batch_add(&hop_sayer_body, RUN_PART, 4, 1, 1, 0);
	*part = (struct part){.clock = {.base_ns = CLOCK_BASE_MOST}};
	hop_sayer_said.leaves = 1;
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	CU_ASSERT_EQUAL(hop_sayer_done.base_ns, CLOCK_BASE_MOST);
	hop_sayer_close(&bed);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"names of others stay what they are", names_of_others},
		{"nobody speaks for elements of others", elements_of_others},
		{"nobody answers what was not asked", unasked},
		{"what waves cannot hold is missing for that reason", more_than_is_held},
		{"nobody takes more room than is left to others", as_much_as_it_leaves},
		{"what it and others say of communicators", contradicts},
		{"whose ranks are where the map has them", ranks_of_others},
		{"nobody says more names at once than agents do", too_many_names},
		{"nobody lacks more than there is", missing_more_than_there_are},
		{"nobody speaks twice for a leaf, nor for another wave", parts_of_others},
		{"others go on while very much is checked", others_go_on},
		{"a clock of nowhen stays within what clocks show", clock_of_nowhen},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "answers to hops",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
