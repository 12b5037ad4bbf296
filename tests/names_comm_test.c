/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests communicators and labels: learning, who is believed, members, limits. */
#include "tests/tap.h"
#include "tree/data/names-comm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tree/data/tellers.h"

/* Each task of PVM says only that itself is in a group. */
static void groups(void)
{
	static const int32_t tasks[] = {0x40003, 0x40001, 0xc0001};
	struct names *names = names_new(0);
	const struct name_comm *comm;

	/* What nobody has heard of yet is announced once. */
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(names_comm_learn(names, 9, 5, 1, 0, &tasks[i]), 0);
		CU_ASSERT_EQUAL(names_comm_learn(names, 9, 5, 1, 0, &tasks[i]), 0);
		CU_ASSERT_EQUAL(names_comm_count(names), i < 2 ? 1 : 2);
		if (i == 1)
			names_comm_said(names, 1);
	}
	/* One that had no room for itself on record says nothing against it. */
	CU_ASSERT_EQUAL(names_comm_learn(names, 9, 5, 1, 0, NULL), 0);
	comm = names_comm_find(names, 9);
	CU_ASSERT_PTR_NOT_NULL_FATAL(comm);
	CU_ASSERT_EQUAL(comm->size, 3);
	CU_ASSERT_EQUAL(names_use(names).members, 3);
	CU_ASSERT_EQUAL(comm->members[0], 0x40001);
	CU_ASSERT_EQUAL(comm->members[1], 0x40003);
	CU_ASSERT_EQUAL(comm->members[2], 0xc0001);
	names_free(names);
}

static void communicators(void)
{
	static const int32_t members[] = {4, 2}, others[] = {4, 3};
	struct names *names = names_new(0);
	const struct name_comm *comm;

	CU_ASSERT_PTR_NULL(names_comm_find(names, 5));
	CU_ASSERT_EQUAL(names_comm_learn(names, 5, 0, 8, 1, NULL), 0);
	CU_ASSERT_EQUAL(names_comm_learn(names, 6, 5, 2, 0, members), 0);
	CU_ASSERT_EQUAL(names_comm_learn(names, 6, 5, 2, 0, members), 0);
	CU_ASSERT_EQUAL(names_comm_count(names), 2);
	/* The first to say it says it for all, but for what was not known. */
	CU_ASSERT_EQUAL(names_comm_learn(names, 6, 5, 2, 0, others), -1);
	CU_ASSERT_EQUAL(names_comm_learn(names, 6, 5, 3, 0, NULL), -1);
	CU_ASSERT_EQUAL(names_comm_learn(names, 6, 5, 2, 0, NULL), 0);
	CU_ASSERT_EQUAL(names_comm_count(names), 2);
	comm = names_comm_find(names, 6);
	CU_ASSERT_PTR_NOT_NULL_FATAL(comm);
	CU_ASSERT_EQUAL(comm->parent, 5);
	CU_ASSERT_EQUAL(comm->members[1], 2);
	CU_ASSERT_EQUAL(names_use(names).members, 2);
	CU_ASSERT_EQUAL(names_comm_learn(names, 8, 5, 2, 0, NULL), 0);
	names_comm_said(names, 3);
	CU_ASSERT_EQUAL(names_comm_learn(names, 8, 5, 2, 0, others), 0);
	CU_ASSERT_EQUAL(names_comm_count(names), 4);
	CU_ASSERT_EQUAL(names_comm_find(names, 8)->members[1], 3);
	CU_ASSERT_EQUAL(names_comm_find(names, 5)->world, 1);
	CU_ASSERT_PTR_NULL(names_comm_find(names, 5)->members);
	CU_ASSERT_EQUAL(names_comm_at(names, 0)->id, 5);
	CU_ASSERT_PTR_EQUAL(names_comm_at(names, 1), comm);
	CU_ASSERT_EQUAL(names_comm_learn(names, 0, 5, 2, 0, members), -1);
	CU_ASSERT_EQUAL(names_comm_learn(names, 7, 5, NAMES_MEMBER_MAX + 1, 0, members), -1);
	CU_ASSERT_EQUAL(errno, EPROTO);
	for (uint32_t i = 4; i < NAMES_COMM_MAX; i++)
		names_comm_learn(names, 100 + i, 5, 2, 0, NULL);
	CU_ASSERT_EQUAL(names_comm_count(names), NAMES_COMM_MAX);
	CU_ASSERT_EQUAL(names_comm_learn(names, 7, 5, 2, 0, members), -1);
	names_free(names);
}

/* ---- who says what ---- */

#define ALICE 1
#define BOB   2
#define EVE   3

/* Alice has rank 3, Bob rank 4, Eve rank 9. */
static struct names *told_names(void)
{
	static const char *const nodes[] = {"alice", "bob", "eve"};
	static const int32_t ranks[] = {3, 4, 9};
	struct names *names = names_new(0);
	struct tellers *tellers = names_tellers(names);

	for (uint32_t i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(tellers_number(tellers, nodes[i]), ALICE + i);
		CU_ASSERT_EQUAL(tellers_number(tellers, nodes[i]), ALICE + i);
		tellers_own(tellers, ALICE + i, ranks[i]);
	}
	return names;
}

static struct names_talk talk_of(uint32_t teller)
{
	return (struct names_talk){.teller = teller,
				   .comms = NAMES_COMM_MAX,
				   .members = NAMES_MEMBERS_MAX,
				   .moves = NAMES_MOVES_MAX};
}

/* Communicator 7 has members @a and @b, says @teller. */
static int tells(struct names *names, uint32_t teller, int32_t a, int32_t b)
{
	struct names_talk talk = talk_of(teller);
	int32_t members[] = {a, b};
	struct name_comm comm = {.id = 7, .parent = 1, .size = 2, .members = members};

	return names_comm_hear(names, &talk, &comm);
}

/* Are these the members, or none that are known? */
static bool are(const struct names *names, int32_t a, int32_t b)
{
	const struct name_comm *comm = names_comm_find(names, 7);

	if (comm->disputed)
		return !comm->members && !comm->world && a < 0;
	return comm->members && comm->members[0] == a && comm->members[1] == b;
}

static void who_is_believed(void)
{
	static const struct {
		struct {
			uint32_t teller;
			int32_t a, b;
		} said[4];
		int32_t a, b; /* what becomes of it; -1: nobody knows */
	} cases[] = {
		/* A stranger's word holds until one who is in it by that says otherwise, whatever
		 * comes then. */
		{{{EVE, 4, 3}}, 4, 3},
		{{{EVE, 4, 3}, {ALICE, 3, 4}}, 3, 4},
		{{{EVE, 4, 3}, {ALICE, 3, 4}, {EVE, 4, 3}, {BOB, 3, 4}}, 3, 4},
		{{{ALICE, 3, 4}, {EVE, 4, 3}}, 3, 4},
		{{{ALICE, 3, 4}, {EVE, 5, 6}}, 3, 4},
		/* Nobody is believed for putting himself into it. */
		{{{EVE, 3, 9}, {ALICE, 3, 4}}, 3, 4},
		{{{ALICE, 3, 4}, {EVE, 3, 9}}, 3, 4},
		{{{EVE, 5, 6}, {ALICE, 3, 4}}, -1, -1},
		/* Both can be true of two communicators. */
		{{{ALICE, 3, 4}, {EVE, 9, 8}, {BOB, 3, 4}}, -1, -1},
		{{{EVE, 5, 6}, {BOB, 6, 5}}, -1, -1},
		{{{EVE, 5, 6}, {BOB, 6, 5}, {ALICE, 3, 4}}, -1, -1},
		/* A stranger who was right first is no better. */
		{{{EVE, 3, 4}, {ALICE, 3, 4}, {BOB, 4, 3}}, -1, -1},
		/* One changes its own word. */
		{{{BOB, 3, 4}, {BOB, 5, 6}}, 5, 6},
		{{{BOB, 3, 4}, {EVE, 3, 4}, {BOB, 5, 6}}, 5, 6},
		{{{BOB, 3, 4}, {ALICE, 3, 4}, {BOB, 5, 6}}, -1, -1},
		/* Those in other worlds say no more than that they are. */
		{{{ALICE, 3, -1}, {BOB, -1, 4}}, 3, -1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct names *names = told_names();

		for (size_t k = 0; k < 4 && cases[i].said[k].teller; k++)
			tells(names, cases[i].said[k].teller, cases[i].said[k].a,
			      cases[i].said[k].b);
		CU_ASSERT(are(names, cases[i].a, cases[i].b));
		CU_ASSERT_EQUAL(names_use(names).members,
				names_comm_find(names, 7)->members ? 2 : 0);
		names_free(names);
	}
}

/* What this host's own programs have recorded, and whom to name. */
static void believed_here(void)
{
	struct names *names = told_names();
	const int32_t members[] = {2, 4};
	uint32_t comm = 0;

	names_learn(names, name_id(0, 0), LEVEL_ELEMENT, 3, 0, "/4W/w0/rank2/t0/p2p");
	tellers_own(names_tellers(names), TELLER_SELF, 2);
	tells(names, EVE, 4, 2);
	CU_ASSERT_EQUAL(names_comm_learn(names, 7, 1, 2, 0, members), 0);
	CU_ASSERT(are(names, 2, 4));
	CU_ASSERT_STRING_EQUAL(tellers_contradicted(names_tellers(names), EVE, &comm), "this host");
	CU_ASSERT_EQUAL(comm, 7);
	CU_ASSERT_PTR_NULL(tellers_contradicted(names_tellers(names), EVE, &comm));
	CU_ASSERT_PTR_NULL(tellers_contradicted(names_tellers(names), BOB, &comm));
	names_free(names);
}

/* Eve says that all processes are hers, too. */
static void claimed_by_a_liar(void)
{
	static const struct {
		uint32_t first, second;
		int32_t a, b; /* what Eve says */
		bool known;   /* is what the other one says, 3 and 4, still? */
	} cases[] = {
		{TELLER_SELF, EVE, 3, 9, true},
		{EVE, TELLER_SELF, 3, 9, true},
		{TELLER_SELF, EVE, 3, 4, true},
		{TELLER_SELF, EVE, 4, 3, true},
		/* Whose they are is not known: nobody's word is better. */
		{ALICE, EVE, 3, 9, false},
		{EVE, ALICE, 3, 9, false},
		{ALICE, EVE, 4, 3, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t other = cases[i].first == EVE ? cases[i].second : cases[i].first;
		struct names *names = told_names();
		struct tellers *tellers = names_tellers(names);

		tellers_own(tellers, EVE, 3);
		tellers_own(tellers, EVE, 4);
		tellers_own(tellers, other, 3);
		tellers_own(tellers, other, 4);
		tellers_own(tellers, EVE, 3);
		for (int k = 0; k < 4; k++) {
			if (k % 2 ? cases[i].second == EVE : cases[i].first == EVE)
				tells(names, EVE, cases[i].a, cases[i].b);
			else
				tells(names, other, 3, 4);
		}
		CU_ASSERT(are(names, cases[i].known ? 3 : -1, cases[i].known ? 4 : -1));
		names_free(names);
	}
}

/* Nobody loses what he has said to have, nor has what this host has. */
static void whose_processes_are(void)
{
	struct names *names = told_names();
	struct tellers *t = names_tellers(names);

	CU_ASSERT_EQUAL(tellers_has(t, ALICE, 7), TELLERS_UNKNOWN);
	CU_ASSERT_EQUAL(tellers_has(t, ALICE, 3), TELLERS_SOLE);
	CU_ASSERT_EQUAL(tellers_has(t, BOB, 3), TELLERS_OTHERS);
	tellers_own(t, EVE, 3);
	CU_ASSERT_EQUAL(tellers_has(t, ALICE, 3), TELLERS_CONTESTED);
	CU_ASSERT_EQUAL(tellers_has(t, EVE, 3), TELLERS_CONTESTED);
	CU_ASSERT_EQUAL(tellers_has(t, BOB, 3), TELLERS_OTHERS);
	tellers_own(t, BOB, 3);
	CU_ASSERT_EQUAL(tellers_has(t, ALICE, 3), TELLERS_CONTESTED);
	CU_ASSERT_EQUAL(tellers_has(t, BOB, 3), TELLERS_CONTESTED);
	tellers_own(t, TELLER_SELF, 3);
	CU_ASSERT_EQUAL(tellers_has(t, TELLER_SELF, 3), TELLERS_SOLE);
	tellers_own(t, ALICE, 3);
	CU_ASSERT_EQUAL(tellers_has(t, TELLER_SELF, 3), TELLERS_SOLE);
	CU_ASSERT_EQUAL(tellers_has(t, ALICE, 3), TELLERS_OTHERS);
	CU_ASSERT_EQUAL(tellers_has(t, EVE, 3), TELLERS_OTHERS);
	names_free(names);
}

/* What was announced is taken back above. */
static void disputed_above(void)
{
	struct name_comm comm = {.id = 7, .size = 2, .disputed = true};
	struct names_talk alice = talk_of(ALICE), bob = talk_of(BOB);
	struct names *names = told_names();

	tells(names, ALICE, 3, 4);
	CU_ASSERT_EQUAL(names_comm_hear(names, &bob, &comm), 0);
	CU_ASSERT(are(names, 3, 4));
	names_comm_said(names, 1);
	CU_ASSERT_EQUAL(names_comm_hear(names, &alice, &comm), 0);
	CU_ASSERT(are(names, -1, -1));
	CU_ASSERT_EQUAL(names_comm_count(names), 2);
	CU_ASSERT(names_comm_at(names, 1)->disputed);
	CU_ASSERT_EQUAL(tells(names, ALICE, 4, 3), 0);
	CU_ASSERT(are(names, 4, 3));
	names_free(names);
}

static void labels_prove_themselves(void)
{
	static const char text[] = "solve", odd[] = "l?sen";
	struct names *names = names_new(0);
	uint32_t id = label_id(text, strlen(text));
	const int32_t members[] = {4, 2};

	CU_ASSERT_EQUAL(names_label_learn(names, id, "another"), -1);
	CU_ASSERT_EQUAL(names_label_learn(names, id + 1, text), -1);
	CU_ASSERT_EQUAL(names_label_learn(names, id, "solve\033[2J"), -1);
	CU_ASSERT_PTR_NULL(names_label_find(names, id));
	CU_ASSERT_EQUAL(names_label_learn(names, id, text), 0);
	CU_ASSERT_STRING_EQUAL(names_label_find(names, id), text);
	/* What was no ASCII has the number of what it was. */
	CU_ASSERT_EQUAL(names_label_learn(names, 77, odd), 0);
	CU_ASSERT_STRING_EQUAL(names_label_find(names, 77), odd);
	/* A label is in no communicator's way. */
	CU_ASSERT_EQUAL(names_comm_learn(names, 77, 1, 2, 0, members), 0);
	CU_ASSERT_EQUAL(names_comm_find(names, 77)->size, 2);
	CU_ASSERT_STRING_EQUAL(names_label_find(names, 77), odd);
	names_free(names);
}

/* ---- what it costs ---- */

enum { GROUP = 1 << 19, LATE = 4096 };

/* Of this process: others may use the machine. */
static double cpu_s(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* A group that has many members, and those that come one by one before all of these. */
static void groups_grow_cheaply(void)
{
	static int32_t many[GROUP];
	struct names *names = names_new(0);
	struct names_talk talk = talk_of(ALICE);
	struct name_comm comm = {.id = 9, .size = GROUP, .members = many};
	const struct name_comm *group;
	double begun = cpu_s();
	unsigned taken = 0;

	tellers_number(names_tellers(names), "alice");
	for (int32_t i = 0; i < GROUP; i++)
		many[i] = 0x100000 + 2 * i;
	talk.moves = NAMES_MEMBERS_MAX;
	CU_ASSERT_EQUAL(names_comm_hear(names, &talk, &comm), 0);
	comm.size = 1;
	talk = talk_of(ALICE);
	for (int32_t i = 0; i < LATE; i++) {
		int32_t late = 0x100000 - 1 - i;

		comm.members = &late;
		taken += names_comm_hear(names, &talk, &comm) == 0;
	}
	/* As much of it as does not take long: it took half a minute. */
	CU_ASSERT(taken > 0 && taken < LATE);
	CU_ASSERT(talk.slow && !talk.full);
	CU_ASSERT(cpu_s() - begun < 3);
	group = names_comm_find(names, 9);
	CU_ASSERT_EQUAL(group->size, GROUP + taken);
	CU_ASSERT_EQUAL(names_use(names).members, GROUP + taken);
	CU_ASSERT(members_ordered(group->members, group->size));
	/* Behind all others there is nothing to move. */
	talk = talk_of(ALICE);
	for (int32_t i = 0; i < LATE; i++) {
		int32_t last = 0x300000 + i;

		comm.members = &last;
		names_comm_hear(names, &talk, &comm);
	}
	CU_ASSERT_EQUAL(group->size, GROUP + taken + LATE);
	CU_ASSERT_FALSE(talk.full || talk.slow);
	/* Nobody is in it by another's word. */
	tellers_own(names_tellers(names), tellers_number(names_tellers(names), "bob"), 0x80000);
	comm.members = (int32_t[]){0x80000};
	names_comm_hear(names, &talk, &comm);
	CU_ASSERT_EQUAL(group->size, GROUP + taken + LATE);
	names_free(names);
}

/* One answer's worth, from each of many hosts that have a part of large communicators. */
static void large_ones_of_honest_hosts(void)
{
	enum { LARGE = 10000, HOSTS = 20, EACH = LARGE / HOSTS, COMMS = 5 };
	static int32_t ranks[LARGE], tasks[LARGE];
	struct names *names = names_new(0);
	struct tellers *t = names_tellers(names);
	unsigned short_of = 0;
	char node[16];

	for (int32_t i = 0; i < LARGE; i++) {
		ranks[i] = LARGE - 1 - i;
		tasks[i] = 0x40000 + i;
	}
	for (unsigned h = 0; h < HOSTS; h++) {
		uint32_t teller;

		snprintf(node, sizeof(node), "w%u", h);
		teller = tellers_number(t, node);
		for (int32_t i = 0; i < EACH; i++) {
			tellers_own(t, teller, (int32_t)h * EACH + i);
			tellers_own(t, teller, 0x40000 + (int32_t)h * EACH + i);
		}
	}
	for (unsigned h = 0; h < HOSTS; h++) {
		struct names_talk talk = talk_of(1 + h);

		for (uint32_t id = 1; id <= COMMS; id++) {
			struct name_comm comm = {.id = id, .size = LARGE, .members = ranks};
			struct name_comm group = {.id = COMMS + id, .size = EACH};

			group.members = &tasks[h * EACH];
			short_of += names_comm_hear(names, &talk, &comm) != 0;
			short_of += names_comm_hear(names, &talk, &group) != 0;
		}
		short_of += talk.slow || talk.full;
	}
	CU_ASSERT_EQUAL(short_of, 0);
	for (uint32_t id = 1; id <= 2 * COMMS; id++) {
		CU_ASSERT_EQUAL(names_comm_find(names, id)->size, LARGE);
		CU_ASSERT_FALSE(names_comm_find(names, id)->disputed);
	}
	names_free(names);
}

/* What one answer says: communicators that are contradicted, groups for which there is no room. */
static void lies_cost_little(void)
{
	enum { MANY = 1 << 20, TIMES = 4096 };
	static int32_t ranks[MANY], tasks[MANY];
	struct names *names = told_names();
	struct name_comm comm = {.id = 8, .size = MANY, .members = ranks};
	struct names_talk talk = talk_of(ALICE);
	double begun;

	for (int32_t i = 0; i < MANY; i++) {
		ranks[i] = (int32_t)((uint32_t)i * 2654435761u % MANY);
		tasks[i] = 0x40000 + i;
		tellers_own(names_tellers(names), BOB, i);
	}
	CU_ASSERT_EQUAL(names_comm_hear(names, &talk, &comm), 0);
	begun = cpu_s();
	talk = talk_of(EVE);
	comm.size = 3;
	for (int i = 0; i < TIMES; i++)
		CU_ASSERT_EQUAL(names_comm_hear(names, &talk, &comm), -1);
	CU_ASSERT(talk.slow && !talk.full);
	CU_ASSERT(cpu_s() - begun < 0.2);
	CU_ASSERT_EQUAL(names_comm_find(names, 8)->size, MANY);
	CU_ASSERT_FALSE(names_comm_find(names, 8)->disputed);
	/* Nobody looks whose they are. */
	talk = talk_of(EVE);
	talk.members = MANY - 1;
	comm = (struct name_comm){.id = 9, .size = MANY, .members = tasks};
	CU_ASSERT_EQUAL(names_comm_hear(names, &talk, &comm), -1);
	CU_ASSERT(talk.full && !talk.slow);
	names_free(names);
}

static void members_come_together(void)
{
	int32_t list[16] = {2, 4, 6, 8}, more[] = {1, 5, 9};
	int32_t all[] = {1, 2, 4, 5, 6, 8, 9};

	CU_ASSERT(members_ordered(list, 4));
	CU_ASSERT_FALSE(members_ordered((int32_t[]){1, 1}, 2));
	for (size_t from = 0; from <= 4; from++) {
		for (int32_t number = 0; number < 10; number++) {
			size_t place = from;

			while (place < 4 && list[place] < number)
				place++;
			CU_ASSERT_EQUAL(members_place(list, 4, from, number), place);
		}
	}
	CU_ASSERT_EQUAL(members_moved(list, 4, &more[1]), 2);
	members_merge(list, 4, more, 3);
	CU_ASSERT_EQUAL(memcmp(list, all, sizeof(all)), 0);
}
static CU_TestInfo comm_cases[] = {
	{"communicators", communicators},
	{"members of groups come together", groups},
	{"who is believed of those that contradict each other", who_is_believed},
	{"… with what this host says itself", believed_here},
	{"… with one who says that all is his", claimed_by_a_liar},
	{"whose processes are", whose_processes_are},
	{"what those below contradict each other about", disputed_above},
	{"labels prove themselves by their numbers", labels_prove_themselves},
	{"lists of members", members_come_together},
	{"groups grow cheaply, or not", groups_grow_cheaply},
	{"large ones of honest hosts", large_ones_of_honest_hosts},
	{"lies cost little", lies_cost_little},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "communicators", .pTests = comm_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
