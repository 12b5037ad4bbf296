/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests names: learning, announcing, levels, replacement, limits, and what they cost. */
#include "tree/data/names-comm.h"
#include "tests/tap.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tree/data/tellers.h"

#define P2P	   "/4W/w0/rank3/t0/p2p"
#define COLLECTIVE "/4W/w0/rank3/t0/collective"

static int learn(struct names *names, uint32_t id, const char *text)
{
	return names_learn(names, id, LEVEL_ELEMENT, 3, 0, text);
}

static const char *text_of(const struct names *names, uint32_t id)
{
	const struct name *name = names_find(names, id);

	return name ? name->text : "none";
}

static void learnt_found_and_announced(void)
{
	struct names *names = names_new(7);

	CU_ASSERT_EQUAL(names_place(names), 7);
	CU_ASSERT_PTR_NULL(names_find(names, 0));
	CU_ASSERT_EQUAL(learn(names, name_id(2, 5), P2P), 0);
	CU_ASSERT_EQUAL(learn(names, name_id(0, 0), COLLECTIVE), 0);
	CU_ASSERT_STRING_EQUAL(text_of(names, name_id(2, 5)), P2P);
	CU_ASSERT_STRING_EQUAL(text_of(names, 0), COLLECTIVE);
	CU_ASSERT_EQUAL(names_find(names, 0)->rank, 3);
	CU_ASSERT_EQUAL(names_count(names), 2);
	CU_ASSERT_EQUAL(names_at(names, 0)->id, name_id(2, 5));
	CU_ASSERT_EQUAL(names_at(names, 1)->id, 0);
	CU_ASSERT_EQUAL(name_place(name_id(NAME_PLACE_MAX, NAME_LOCAL_MAX)), NAME_PLACE_MAX);
	names_free(names);
	names_free(NULL);
}

static void said_again(void)
{
	struct names *names = names_new(0);
	char text[] = P2P;

	learn(names, 1, text);
	memset(text, 'x', sizeof(text) - 1);
	CU_ASSERT_STRING_EQUAL(text_of(names, 1), P2P);
	/* The same once more is no news; another text for the id is. */
	CU_ASSERT_EQUAL(learn(names, 1, P2P), 0);
	CU_ASSERT_EQUAL(names_count(names), 1);
	CU_ASSERT_EQUAL(learn(names, 1, COLLECTIVE), 0);
	CU_ASSERT_EQUAL(names_count(names), 2);
	CU_ASSERT_STRING_EQUAL(names_at(names, 0)->text, COLLECTIVE);
	CU_ASSERT_STRING_EQUAL(names_at(names, 1)->text, COLLECTIVE);
	names_free(names);
}

static void what_is_no_name(void)
{
	static const struct {
		enum level level;
		const char *text;
	} bad[] = {
		{LEVEL_ELEMENT, ""},
		{LEVEL_ELEMENT, "4W/w0/rank3/t0/p2p"},
		{LEVEL_ELEMENT, "/4W/w0/rank3/t0"},
		{LEVEL_ELEMENT, "/4W/w0/rank3/t0/p2p/x"},
		{LEVEL_ELEMENT, "/4W//rank3/t0/p2p"},
		{LEVEL_ELEMENT, "/4W/w0/rank3/t0/"},
		{LEVEL_ELEMENT, "/4W/w 0/rank3/t0/p2p"},
		{LEVEL_ELEMENT, "/4W/w0/rank3/t0/p2p\033[2J"},
		{LEVEL_ELEMENT, "/4W/w0/rank3/t0/p\xc3\xbcp"},
		{LEVEL_NODE, "/4W"},
		{LEVEL_CLUSTER, "/4W/"},
		{LEVEL_ALL, "/4W"},
		{LEVEL_COUNT, "/4W"},
	};
	char longest[NAME_BYTES + 1] = "/4W/w0/rank3/t0/";
	struct names *names = names_new(0);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		CU_ASSERT_EQUAL(names_learn(names, 1, bad[i].level, 0, 0, bad[i].text), -1);
		CU_ASSERT_EQUAL(errno, EPROTO);
	}
	memset(longest + strlen(longest), 'x', sizeof(longest) - 1 - strlen(longest));
	CU_ASSERT_EQUAL(learn(names, 1, longest), -1);
	CU_ASSERT_EQUAL(names_count(names), 0);
	longest[NAME_BYTES - 1] = '\0';
	CU_ASSERT_EQUAL(learn(names, 1, longest), 0);
	CU_ASSERT_EQUAL(names_group(names, 1, LEVEL_NODE), name_id(0, NAME_LOCAL_MAX));
	/* A node outside all clusters. */
	CU_ASSERT_EQUAL(learn(names, 2, "//w0/rank3/t0/p2p"), 0);
	names_free(names);
}

static void groups_by_level(void)
{
	struct names *names = names_new(7);
	uint32_t node, thread;

	learn(names, 1, P2P);
	learn(names, 2, COLLECTIVE);
	learn(names, 3, "/4W/w0/rank4/t0/p2p");
	CU_ASSERT_EQUAL(names_group(names, 9, LEVEL_NODE), 0);
	CU_ASSERT_EQUAL(names_group(names, 1, LEVEL_ELEMENT), 1);
	CU_ASSERT_EQUAL(names_count(names), 3);
	thread = names_group(names, 1, LEVEL_THREAD);
	CU_ASSERT_EQUAL(name_place(thread), 7);
	CU_ASSERT_EQUAL(names_group(names, 2, LEVEL_THREAD), thread);
	CU_ASSERT_NOT_EQUAL(names_group(names, 3, LEVEL_THREAD), thread);
	CU_ASSERT_EQUAL(names_find(names, thread)->rank, 3);
	CU_ASSERT_EQUAL(names_find(names, thread)->level, LEVEL_THREAD);
	node = names_group(names, 3, LEVEL_NODE);
	CU_ASSERT_STRING_EQUAL(text_of(names, node), "/4W/w0");
	CU_ASSERT_EQUAL(names_find(names, node)->rank, -1);
	CU_ASSERT_EQUAL(names_group(names, thread, LEVEL_NODE), node);
	CU_ASSERT_STRING_EQUAL(text_of(names, names_group(names, node, LEVEL_CLUSTER)), "/4W");
	CU_ASSERT_STRING_EQUAL(text_of(names, names_group(names, 2, LEVEL_ALL)), "/");
	/* What is above the level already stands for itself. */
	CU_ASSERT_EQUAL(names_group(names, node, LEVEL_THREAD), node);
	/* Those given out here are announced, too: two threads, node, cluster, all. */
	CU_ASSERT_EQUAL(names_count(names), 8);
	/* Another place of this host gives out what is new. */
	names_place_set(names, 8);
	learn(names, 5, "/4W/w1/rank5/t0/p2p");
	CU_ASSERT_EQUAL(name_place(names_group(names, 5, LEVEL_NODE)), 8);
	CU_ASSERT_EQUAL(names_group(names, 3, LEVEL_NODE), node);
	names_free(names);
}

static void outside_clusters(void)
{
	struct names *names = names_new(0);
	uint32_t cluster, all;

	learn(names, 1, "//w0/rank3/t0/p2p");
	cluster = names_group(names, 1, LEVEL_CLUSTER);
	all = names_group(names, 1, LEVEL_ALL);
	CU_ASSERT_STRING_EQUAL(text_of(names, cluster), "/");
	CU_ASSERT_STRING_EQUAL(text_of(names, all), "/");
	CU_ASSERT_NOT_EQUAL(cluster, all);
	CU_ASSERT_EQUAL(names_group(names, cluster, LEVEL_ALL), all);
	names_free(names);
}

/* Whoever says a text first, says it for all: a fold must not fall apart by who named its group. */
static void the_first_to_say_it(void)
{
	struct names *names = names_new(0);

	names_learn(names, name_id(4, 9), LEVEL_NODE, -1, 0, "/4W/w0");
	learn(names, 1, P2P);
	CU_ASSERT_EQUAL(names_group(names, 1, LEVEL_NODE), name_id(4, 9));
	names_learn(names, name_id(5, 9), LEVEL_NODE, -1, 0, "/4W/w0");
	learn(names, 2, COLLECTIVE);
	CU_ASSERT_EQUAL(names_group(names, 2, LEVEL_NODE), name_id(4, 9));
	CU_ASSERT_EQUAL(names_group(names, name_id(5, 9), LEVEL_NODE), name_id(4, 9));
	names_free(names);
}

static void groups_follow_replaced_names(void)
{
	struct names *names = names_new(0);

	names_learn(names, name_id(4, 9), LEVEL_NODE, -1, 0, "/4W/w0");
	learn(names, 1, P2P);
	CU_ASSERT_EQUAL(names_group(names, 1, LEVEL_NODE), name_id(4, 9));
	names_learn(names, name_id(4, 9), LEVEL_NODE, -1, 0, "/4W/w1");
	CU_ASSERT_STRING_EQUAL(text_of(names, names_group(names, 1, LEVEL_NODE)), "/4W/w0");
	learn(names, 1, "/4W/w1/rank3/t0/p2p");
	CU_ASSERT_EQUAL(names_group(names, 1, LEVEL_NODE), name_id(4, 9));
	names_free(names);
}

/* Somebody below uses our place's numbers: ours go around them. */
static void our_numbers_taken(void)
{
	struct names *names = names_new(0);

	learn(names, 1, P2P);
	learn(names, name_id(0, NAME_LOCAL_MAX), COLLECTIVE);
	CU_ASSERT_EQUAL(names_group(names, 1, LEVEL_ALL), name_id(0, NAME_LOCAL_MAX - 1));
	CU_ASSERT_STRING_EQUAL(text_of(names, name_id(0, NAME_LOCAL_MAX)), COLLECTIVE);
	names_free(names);
}

static void as_many_as_there_may_be(void)
{
	struct names *names = names_new(0);
	char text[64];
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < NAMES_MAX; i++) {
		snprintf(text, sizeof(text), "/4W/w%u/rank%u/t0/p2p", i % 64, i);
		wrong += names_learn(names, name_id(i % 64, i / 64), LEVEL_ELEMENT, (int32_t)i, 0,
				     text) != 0;
	}
	for (uint32_t i = 0; i < NAMES_MAX; i++) {
		const struct name *name = names_find(names, name_id(i % 64, i / 64));

		wrong += !name || name->rank != (int32_t)i;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(learn(names, name_id(99, 1), P2P), -1);
	CU_ASSERT_EQUAL(errno, EPROTO);
	/* No more to give: what belongs together falls apart, nothing else happens. */
	CU_ASSERT_EQUAL(names_group(names, name_id(3, 3), LEVEL_NODE), name_id(3, 3));
	CU_ASSERT_EQUAL(names_count(names), NAMES_MAX);
	names_free(names);
}

/* ---- what they cost ---- */

/* Of this process: others may use the machine. */
static double cpu_s(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* Ids that the old hash put into one place: their number squared was what they took. */
static void ids_that_are_chosen(void)
{
	enum { IDS = 80000 };
	uint32_t back = 1, id;
	struct names *names = names_new(0);
	double begun = cpu_s();

	/* The inverse of 2654435769 modulo 2^32. */
	for (int i = 0; i < 5; i++)
		back *= 2 - UINT32_C(2654435769) * back;
	for (uint32_t i = 0; i < IDS; i++) {
		id = back * i;
		CU_ASSERT_EQUAL(names_learn(names, id, LEVEL_CLUSTER, -1, 0, "/c"), 0);
	}
	CU_ASSERT(cpu_s() - begun < 1);
	names_free(names);
}

/* Nobody is granted more than this. */
struct purse {
	size_t left;
};

static bool purse_grant(void *arg, size_t bytes)
{
	struct purse *purse = arg;

	if (bytes > purse->left)
		return false;
	purse->left -= bytes;
	return true;
}

/* Bytes that are allocated; none where another allocator than the system's counts. */
static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static int hear(struct names *names, uint32_t i)
{
	char text[64];

	snprintf(text, sizeof(text), "/4W/w%u/rank%u/t0/p2p", i % 64, i);
	if (names_hear(names,
		       &(struct name){name_id(1, i), (int32_t)i, LEVEL_ELEMENT, 0, text, 0}) < 0)
		return -1;
	tellers_own(names_tellers(names), 1, (int32_t)i);
	return 0;
}

static void what_is_heard_is_granted(void)
{
	enum { MOST = 16 << 20 };
	static char shorter[] = "/4W/w1";
	const struct name other = {name_id(1, 0), 0, LEVEL_NODE, 0, shorter, 0};
	struct purse purse = {MOST};
	size_t before = allocated();
	struct names *names = names_new(0);
	uint32_t n = 0, group;

	tellers_number(names_tellers(names), "w1");
	names_grant_set(names, purse_grant, &purse);
	while (hear(names, n) == 0)
		n++;
	CU_ASSERT_EQUAL(errno, ENOBUFS);
	CU_ASSERT(n > 10000);
	CU_ASSERT(names_granted(names) <= MOST);
	CU_ASSERT(allocated() <= before + MOST + MOST / 16);
	/* The same once more costs nothing; another text has the place of the one before. */
	CU_ASSERT_EQUAL(hear(names, 0), 0);
	purse.left = 64;
	CU_ASSERT_EQUAL(names_hear(names, &other), 0);
	CU_ASSERT_STRING_EQUAL(text_of(names, name_id(1, 0)), "/4W/w1");
	purse.left = 0;
	/* Groups fall apart, and this host's own are learnt. */
	CU_ASSERT_EQUAL(names_group(names, name_id(1, 1), LEVEL_ALL), name_id(1, 1));
	CU_ASSERT_EQUAL(learn(names, name_id(0, 1), P2P), 0);
	CU_ASSERT_STRING_EQUAL(text_of(names, name_id(0, 1)), P2P);
	/* … and grouped, up to what stands for all. */
	group = names_group(names, name_id(0, 1), LEVEL_NODE);
	CU_ASSERT_NOT_EQUAL(group, name_id(0, 1));
	CU_ASSERT_STRING_EQUAL(text_of(names, group), "/4W/w0");
	CU_ASSERT_STRING_EQUAL(text_of(names, names_group(names, group, LEVEL_CLUSTER)), "/4W");
	/* Groups are made when there is memory again. */
	CU_ASSERT_EQUAL(names_group(names, name_id(1, 1), LEVEL_ALL), name_id(1, 1));
	purse.left = MOST;
	group = names_group(names, name_id(1, 1), LEVEL_ALL);
	CU_ASSERT_STRING_EQUAL(text_of(names, group), "/");
	CU_ASSERT(purse.left < MOST);
	names_free(names);
}

/* Where nobody is asked, it is bounded all the same, whatever grows. */
static void what_is_heard_is_bounded(void)
{
	static int32_t members[NAMES_MEMBER_MAX];
	size_t before = allocated();
	struct names *names = names_new(NAME_PLACE_MAX);
	struct name_comm comm = {.id = 1, .members = members};
	struct names_talk talk = {
		.teller = tellers_number(names_tellers(names), "entry"),
		.comms = NAMES_COMM_MAX,
	};

	for (comm.size = NAMES_MEMBER_MAX - 1000; comm.size < NAMES_MEMBER_MAX; comm.size++) {
		talk.members = talk.moves = NAMES_MEMBERS_MAX;
		CU_ASSERT_EQUAL(names_comm_hear(names, &talk, &comm), 0);
	}
	CU_ASSERT(talk.left_out > 0);
	CU_ASSERT(allocated() <= before + NAMES_BYTES_MAX + NAMES_BYTES_MAX / 16);
	/* It is known without its members, and so are names whose place is large enough. */
	CU_ASSERT_EQUAL(names_comm_find(names, 1)->size, NAMES_MEMBER_MAX - 1);
	names_free(names);
}

/* What a consumer with 8 scopes has of a child that says as much as it may. */
static void going_costs_little(void)
{
	enum { SCOPES = 8, EACH = 64000, COMMS = 8000 };
	static const int32_t members[] = {4, 2};
	struct names *all[SCOPES];
	double begun = cpu_s(), made;

	for (int k = 0; k < SCOPES; k++) {
		all[k] = names_new(0);
		tellers_number(names_tellers(all[k]), "w1");
		for (uint32_t i = 0; i < EACH; i++)
			CU_ASSERT_EQUAL(hear(all[k], i), 0);
		for (uint32_t id = 1; id <= COMMS; id++)
			names_comm_learn(all[k], id, 1, 2, 0, members);
	}
	made = cpu_s() - begun;
	for (int k = 0; k < SCOPES; k++)
		names_free(all[k]);
	begun = cpu_s() - begun - made;
	tap_note("made in %.4f s, freed in %.4f s", made, begun);
	CU_ASSERT(begun < made / 8);
}

static CU_TestInfo names_cases[] = {
	{"learnt, found, announced", learnt_found_and_announced},
	{"said again", said_again},
	{"what is no name", what_is_no_name},
	{"groups by level", groups_by_level},
	{"a node outside all clusters", outside_clusters},
	{"the first to say a text says it for all", the_first_to_say_it},
	{"groups follow replaced names", groups_follow_replaced_names},
	{"our numbers are taken", our_numbers_taken},
	{"as many as there may be", as_many_as_there_may_be},
	{"ids that are chosen", ids_that_are_chosen},
	{"what is heard is granted", what_is_heard_is_granted},
	{"what is heard is bounded where nobody is asked", what_is_heard_is_bounded},
	{"names go at little cost", going_costs_little},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "names", .pTests = names_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
