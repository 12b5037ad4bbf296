/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a hop whose child says more than it may. */
#include "tree/scope/hop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tests/hop-bed.h"
#include "tree/data/clock.h"
#include "tree/data/label-id.h"
#include "tree/data/names-comm.h"
#include "tree/scope/wave-quota.h"

/* What the child answers, as the case fills it in; how often each time that it is asked. */
static Evspace__Answer said;
static struct batch said_body;
static unsigned said_times;
static uint64_t off; /* what it says of another wave than is asked for */

static struct done {
	unsigned waves, leaves;
	size_t n_missing;
	uint64_t since_ns, cpu_us;
	int64_t base_ns;      /* of its first part */
	enum missing_why why; /* of the first leaf that is missing */
	char text[300];
} done;

static void sayer_frame(struct watch *watch, struct link *link, const struct frame *frame)
{
	const Evspace__Frame *f = frame->header;
	Evspace__Frame reply = EVSPACE__FRAME__INIT;
	struct run_view view;

	if (f->kind_case != EVSPACE__FRAME__KIND_ASK) {
		hop_bed_child_frame(watch, link, frame);
		return;
	}
	reply.kind_case = EVSPACE__FRAME__KIND_ANSWER;
	reply.answer = &said;
	said.scope = f->ask->scope;
	said.wave = f->ask->wave;
	for (struct batch_cursor c = {0}; batch_next_part(&said_body, &c, &view);)
		view.run->first = f->ask->wave + off;
	for (unsigned i = 0; i < said_times; i++)
		CU_ASSERT_EQUAL(link_send(link, &reply, &said_body), 0);
}

static void wave_late(void *arg, struct wave *w, size_t input)
{
	struct hop_bed *bed = arg;

	(void)input;
	hop_miss(bed->hop, w, true);
}

static void wave_done(void *arg, struct wave *w)
{
	struct batch_cursor c = {0};
	struct run_view view;

	(void)arg;
	done.base_ns = batch_next_part(&w->batch, &c, &view) ? view.part->clock.base_ns : 0;
	done.waves++;
	done.leaves = w->leaves;
	done.cpu_us = w->cpu_us;
	done.n_missing = w->n_missing;
	done.since_ns = w->n_missing ? w->missing[0].since_ns : 0;
	done.why = w->n_missing ? w->missing[0].why : 0;
	snprintf(done.text, sizeof(done.text), "%s",
		 w->n_missing && w->missing[0].text ? w->missing[0].text : "");
}

/* The child is place 3, with leaves 4, 5 and 7, of which the last is below 6. */
static void sayer_prepare(struct hop_bed *bed)
{
	static const struct gather_events waves = {.late = wave_late, .done = wave_done};
	static char node[] = "w0", none[] = "";
	static struct plan_place leaves[3];
	static struct plan_place inner = {.index = 6};
	static struct plan_place *below_inner[] = {&leaves[2]};
	static struct plan_place *below[] = {&leaves[0], &leaves[1], &inner};

	for (uint32_t i = 0; i < 3; i++)
		leaves[i] = (struct plan_place){.index = i < 2 ? 4 + i : 7,
						.leaf = true,
						.node = none,
						.cluster = none,
						.address = none};
	inner.node = inner.cluster = inner.address = none;
	inner.children = below_inner;
	inner.n_children = 1;
	hop_bed_prepare(bed, sayer_frame, &waves);
	bed->place = (struct plan_place){.index = 3,
					 .node = node,
					 .cluster = none,
					 .address = bed->w.local_address,
					 .children = below,
					 .n_children = 3};
}

static void sayer_begin(struct hop_bed *bed)
{
	hop_bed_begin(bed);
	hop_bed_child.opens = HOP_BED_REFUSALS;
	said = (Evspace__Answer)EVSPACE__ANSWER__INIT;
	batch_init(&said_body);
	said_times = 1;
	off = 0;
	done = (struct done){0};
	WAIT(&bed->w, hop_ready(bed->hop));
}

static void sayer_open(struct hop_bed *bed)
{
	sayer_prepare(bed);
	sayer_begin(bed);
}

/* Ask for a wave. Returns what became of the child: NULL if it is believed. */
static const char *sayer_asked(struct hop_bed *bed)
{
	static uint64_t number;
	unsigned waves = done.waves, way;
	const struct unready *unready;
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	struct wave *w;

	WAIT(&bed->w, hop_ready(bed->hop));
	ask.wave = ++number;
	ask.count = 1;
	ask.deadline_ms = 60000;
	w = gather_begin(bed->scope.gather, ask.wave, false, 0, ask.deadline_ms);
	way = hop_ask(bed->hop, &ask);
	CU_ASSERT_EQUAL_FATAL(way, 1);
	gather_expect(bed->scope.gather, w, 0, way);
	gather_seal(bed->scope.gather, w);
	WAIT(&bed->w, done.waves > waves);
	return hop_unready(bed->hop, &unready) ? unready->text : NULL;
}

static void sayer_close(struct hop_bed *bed)
{
	batch_fini(&said_body);
	hop_bed_close(bed);
}

/* Add a run of @element to what is said, behind a part of leaf 4. */
static void say_run(enum run_kind kind, uint32_t element, uint32_t count)
{
	batch_clear(&said_body);
	memset(batch_add(&said_body, RUN_PART, 4, 1, 1, 0), 0, sizeof(struct part));
	memset(batch_add(&said_body, kind, element, 1, count, 0), 0,
	       count * run_record_bytes(kind));
	said.leaves = 1;
}

static const char *name_known(const struct hop_bed *bed, uint32_t id)
{
	const struct name *name = names_find(bed->scope.names, id);

	return name ? name->text : "";
}

/* Names of others stay what they are; what is nobody's can be said. */
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

	sayer_open(&bed);
	names = bed.scope.names;
	names_learn(names, name_id(1, 0), LEVEL_ELEMENT, 1, 0, "/c/w1/rank1/t0/p2p");
	names_learn(names, name_id(1, NAME_LOCAL_MAX), LEVEL_THREAD, 1, 0, "/c/w1/rank1/t0");
	said.names = &list;
	said.n_names = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		name.id = cases[i].id;
		name.level = cases[i].level;
		name.text = texts[cases[i].level];
		CU_ASSERT_PTR_NULL(sayer_asked(&bed));
		CU_ASSERT_EQUAL(strcmp(name_known(&bed, name.id), name.text) == 0, cases[i].taken);
	}
	sayer_close(&bed);
}

static void elements_of_others(void)
{
	const struct {
		enum run_kind kind;
		uint32_t element;
		bool taken;
	} cases[] = {
		{RUN_TUPLES, name_id(4, 0), true},
		{RUN_TUPLES, name_id(1, NAME_LOCAL_MAX), true},	 /* a group, whoever named it */
		{RUN_NEWEST, name_id(4, NAME_LOCAL_MAX), false}, /* … to name_id(5, 0) */
		{RUN_TUPLES, name_id(1, 0), false},
		{RUN_TUPLES, name_id(2, 7), false},
		{RUN_TOTALS, name_id(1, 0), false},
	};
	struct part *mark;
	const char *why;
	struct hop_bed bed;

	sayer_open(&bed);
	names_learn(bed.scope.names, name_id(1, 0), LEVEL_ELEMENT, 1, 0, "/c/w1/rank1/t0/p2p");
	names_learn(bed.scope.names, name_id(1, NAME_LOCAL_MAX), LEVEL_NODE, 1, 0, "/c/w1");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		say_run(cases[i].kind, cases[i].element, 2);
		why = sayer_asked(&bed);
		CU_ASSERT_EQUAL(why == NULL, cases[i].taken);
		CU_ASSERT(!why || strstr(why, "which is not below it"));
	}
	/* A mark says what of its own is mixed, not what came before. */
	say_run(RUN_TUPLES, name_id(4, 0), 1);
	mark = batch_add(&said_body, RUN_PART, 4, 1, 1, 0);
	said_body.last->flags |= RUN_FOLD;
	*mark = (struct part){.elements = 2};
	why = sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "a mark over 2 parts behind 1"));
	mark->elements = 1;
	CU_ASSERT_PTR_NULL(sayer_asked(&bed));
	sayer_close(&bed);
}

/* Nobody waits for it, and nothing is learnt from it. */
static void unasked(void)
{
	Evspace__Comm comm = EVSPACE__COMM__INIT, *list = &comm;
	const struct unready *unready;
	struct hop_bed bed;

	sayer_open(&bed);
	comm.id = 7;
	said.comms = &list;
	said_times = 3;
	(void)sayer_asked(&bed);
	WAIT(&bed.w, !hop_ready(bed.hop));
	CU_ASSERT(hop_unready(bed.hop, &unready) == 1 &&
		  strstr(unready->text, "what it was not asked"));
	sayer_close(&bed);
}

/* What cannot be held is missing, and it is said why. */
static void more_than_is_held(void)
{
	struct wave_quota *wave_quota = wave_quota_join("ann");
	struct error e;
	struct hop_bed bed;

	sayer_open(&bed);
	gather_quota_set(bed.scope.gather, wave_quota);
	say_run(RUN_TUPLES, name_id(4, 0), 1);
	CU_ASSERT_EQUAL(wave_quota_take(wave_quota, WAVE_QUOTA_PEER, &e), 0);
	CU_ASSERT_PTR_NULL(sayer_asked(&bed));
	CU_ASSERT_EQUAL(done.leaves, 0);
	CU_ASSERT_EQUAL(done.n_missing, 3);
	CU_ASSERT_EQUAL(done.why, MISSING_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(done.text, "hold 256 MiB for ann here already"));
	wave_quota_give(wave_quota, WAVE_QUOTA_PEER);
	CU_ASSERT_PTR_NULL(sayer_asked(&bed));
	CU_ASSERT_EQUAL(done.leaves, 1);
	CU_ASSERT_EQUAL(done.n_missing, 0);
	sayer_close(&bed);
	wave_quota_leave(wave_quota);
}

/* So much of one child leaves room for others. */
static void as_much_as_it_leaves(void)
{
	static int32_t members[NAMES_MEMBER_MAX];
	static char label[] = "solve";
	Evspace__Comm comm = EVSPACE__COMM__INIT, *list = &comm;
	unsigned listed = 0;
	struct hop_bed bed;

	sayer_open(&bed);
	said.comms = &list;
	said.n_comms = 1;
	comm.size = NAMES_MEMBER_MAX;
	comm.members = members;
	comm.n_members = NAMES_MEMBER_MAX;
	for (comm.id = 1; comm.id <= 20; comm.id++)
		CU_ASSERT_PTR_NULL(sayer_asked(&bed));
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
	CU_ASSERT_PTR_NULL(sayer_asked(&bed));
	CU_ASSERT_PTR_NOT_NULL(names_label_find(bed.scope.names, comm.id));
	sayer_close(&bed);
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

	sayer_open(&bed);
	names_learn(bed.scope.names, name_id(0, 0), LEVEL_ELEMENT, 1, 0, "/c/w0/rank1/t0/p2p");
	names_comm_learn(bed.scope.names, 7, 6, 2, 0, own);
	name.id = name_id(4, 0);
	name.level = LEVEL_ELEMENT;
	name.rank = 9;
	name.text = text;
	said.names = &names;
	said.n_names = 1;
	said.comms = &list;
	said.n_comms = 1;
	comm.members = members;
	comm.size = comm.n_members = 2;
	/* It is not in it, and says what this host's rank is in. */
	comm.id = 7;
	CU_ASSERT_PTR_NULL(sayer_asked(&bed));
	CU_ASSERT_EQUAL(names_comm_find(bed.scope.names, 7)->members[0], 1);
	/* It was first, and is not believed for that. */
	comm.id = 8;
	CU_ASSERT_PTR_NULL(sayer_asked(&bed));
	CU_ASSERT_EQUAL(names_comm_find(bed.scope.names, 8)->members[0], 5);
	CU_ASSERT_EQUAL(names_comm_learn(bed.scope.names, 8, 6, 2, 0, own), 0);
	CU_ASSERT_EQUAL(names_comm_find(bed.scope.names, 8)->members[0], 1);
	/* Both can only be true of two communicators. */
	comm.id = 7;
	members[0] = members[1] = 9;
	CU_ASSERT_PTR_NULL(sayer_asked(&bed));
	known = names_comm_find(bed.scope.names, 7);
	CU_ASSERT(known->disputed && !known->members);
	sayer_close(&bed);
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

	sayer_prepare(&bed);
	for (size_t i = 0; i < 2; i++)
		bed.place.children[i]->placed = true;
	bed.place.children[0]->holds = holds;
	bed.place.children[1]->holds = none;
	bed.place.children[2]->children[0]->placed = true;
	bed.place.children[2]->children[0]->holds = all;
	sayer_begin(&bed);
	tellers = names_tellers(bed.scope.names);
	child = tellers_number(tellers, "w0");
	name.level = LEVEL_ELEMENT;
	name.text = text;
	said.names = &names;
	said.n_names = 1;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum tellers_has had = tellers_has(tellers, child, cases[i].number);

		name.id = name_id(cases[i].place, i);
		name.rank = cases[i].number;
		CU_ASSERT_PTR_NULL(sayer_asked(&bed));
		CU_ASSERT_EQUAL(tellers_has(tellers, child, cases[i].number) != had, cases[i].its);
		CU_ASSERT_STRING_EQUAL(name_known(&bed, name.id), text);
	}
	sayer_close(&bed);
}

static void too_many_names(void)
{
	enum { MANY = 150000 };
	static char text[] = "/c/w/r/t/p";
	Evspace__Name *names = memory_new(MANY, sizeof(*names));
	Evspace__Name **list = memory_new(MANY, sizeof(*list));
	const char *why;
	struct hop_bed bed;

	sayer_open(&bed);
	for (uint32_t i = 0; i < MANY; i++) {
		evspace__name__init(&names[i]);
		names[i].id = name_id(4, i);
		names[i].text = text;
		list[i] = &names[i];
	}
	said.names = list;
	/* Such a frame is not even unpacked. */
	said.n_names = MANY;
	why = sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "too long"));
	said.n_names = 30000;
	why = sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "30000 names and 0 communicators at once"));
	CU_ASSERT_EQUAL(names_count(bed.scope.names), 0);
	/* What dictionary_fill() sends comes in. */
	said.n_names = 20000;
	CU_ASSERT_PTR_NULL(sayer_asked(&bed));
	CU_ASSERT_EQUAL(names_count(bed.scope.names), 20000);
	sayer_close(&bed);
	free(names);
	free(list);
}

static void missing_more_than_there_are(void)
{
	Evspace__Missing missing[4], *list[4];
	const char *why;
	struct hop_bed bed;

	sayer_open(&bed);
	for (int i = 0; i < 4; i++) {
		evspace__missing__init(&missing[i]);
		missing[i].leaf = 4;
		missing[i].why = MISSING_LATE;
		missing[i].since_ms = UINT64_MAX / 2;
		list[i] = &missing[i];
	}
	said.missing = list;
	said.n_missing = 2;
	why = sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "speaks for leaf 4 twice"));
	said.n_missing = 4;
	why = sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "3 are below it"));
	said.n_missing = 1;
	said.leaves = 3;
	why = sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "3 are below it"));
	said.leaves = 2;
	memset(batch_add(&said_body, RUN_PART, 5, 1, 1, 0), 0, sizeof(struct part));
	memset(batch_add(&said_body, RUN_PART, 7, 1, 1, 0), 0, sizeof(struct part));
	said.cpu_us = UINT32_MAX;
	CU_ASSERT_PTR_NULL(sayer_asked(&bed));
	CU_ASSERT_EQUAL(done.leaves, 2);
	CU_ASSERT_EQUAL(done.n_missing, 1);
	CU_ASSERT(done.since_ns <= clock_mono_ns());
	sayer_close(&bed);
}

/* Whoever reads throws a wave away of which a mark joins a part twice, or one of another wave. */
static void parts_of_others(void)
{
	Evspace__Missing missing = EVSPACE__MISSING__INIT, *list = &missing;
	const char *why;
	struct hop_bed bed;

	sayer_open(&bed);
	say_run(RUN_TUPLES, name_id(4, 0), 1);
	missing.leaf = 4;
	missing.why = MISSING_LATE;
	said.missing = &list;
	said.n_missing = 1;
	why = sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "speaks for leaf 4 twice"));
	said.n_missing = 0;
	off = 1;
	why = sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "has a part of wave"));
	off = 0;
	said.leaves = 2;
	why = sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "has 2 leaves, but parts of 1"));
	memset(batch_add(&said_body, RUN_PART, 4, 1, 1, 0), 0, sizeof(struct part));
	why = sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "speaks for leaf 4 twice"));
	said.leaves = 1;
	say_run(RUN_TUPLES, name_id(4, 0), 1);
	CU_ASSERT_PTR_NULL(sayer_asked(&bed));
	sayer_close(&bed);
}

/* The next agent would refuse us for a time that no clock shows. */
static void clock_of_nowhen(void)
{
	struct part *part;
	struct hop_bed bed;

	sayer_open(&bed);
	bed.scope.epoch_ns = CLOCK_BASE_MOST;
	part = batch_add(&said_body, RUN_PART, 4, 1, 1, 0);
	*part = (struct part){.clock = {.base_ns = CLOCK_BASE_MOST}};
	said.leaves = 1;
	CU_ASSERT_PTR_NULL(sayer_asked(&bed));
	CU_ASSERT_EQUAL(done.base_ns, CLOCK_BASE_MOST);
	sayer_close(&bed);
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
