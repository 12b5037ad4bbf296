/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is believed of a child that lies about names, and what that takes. */
#include "tests/tap.h"
#include "tree/scope/below.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pathmap/base/memory.h"
#include "tree/scope/quota.h"

#define MIB ((size_t)1 << 20)

/* What a child says at once. */
enum { NAMES = 10000, COMMS = 4000, MEMBERS = 40 };

static char texts[NAMES][64];
static Evspace__Name names_said[NAMES], *name_list[NAMES];
static Evspace__Comm comms_said[COMMS], *comm_list[COMMS];
static int32_t members[MEMBERS];

/* The child is leaf 4, on w4. */
static char node[] = "w4", five_node[] = "w5", none[] = "";
static struct plan_place leaf = {
	.index = 4, .node = node, .cluster = none, .address = none, .leaf = true};

/* Part @turn of what it says. */
static void say(Evspace__Answer *said, uint32_t turn)
{
	evspace__answer__init(said);
	for (uint32_t i = 0; i < NAMES; i++) {
		uint32_t id = turn * NAMES + i;

		evspace__name__init(&names_said[i]);
		snprintf(texts[i], sizeof(texts[i]), "/-/w4/rank%u/t0/p2p", id);
		names_said[i].id = name_id(4, id);
		names_said[i].rank = (int32_t)id;
		names_said[i].text = texts[i];
		name_list[i] = &names_said[i];
	}
	for (uint32_t i = 0; i < COMMS; i++) {
		evspace__comm__init(&comms_said[i]);
		comms_said[i].id = 1 + turn * COMMS + i;
		comms_said[i].size = comms_said[i].n_members = MEMBERS;
		comms_said[i].members = members;
		comm_list[i] = &comms_said[i];
	}
	said->names = name_list;
	said->n_names = NAMES;
	said->comms = comm_list;
	said->n_comms = COMMS;
}

/* One scope of a consumer, as the parent has it. */
struct heard {
	struct names *names;
	struct quota *quota;
	struct hearsay from;
};

static void heard_open(struct heard *h, const char *peer)
{
	*h = (struct heard){.quota = quota_join(peer)};
	h->names = quota_names_new(h->quota, 0);
}

static void heard_close(struct heard *h)
{
	quota_names_free(h->quota, h->names);
	quota_leave(h->quota);
}

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Whatever scopes a consumer opens: what a child says for it is bounded, so is what all have, and
 * all goes at once when the consumer does. */
static void many_scopes_of_one(void)
{
	enum { SCOPES = 64, TURNS = 4 };
	static struct heard all[SCOPES];
	size_t before = allocated(), granted = 0, lines = 0;
	struct error e = {""}, said_first = {""};
	struct hearsay_child child = {.node = node};
	struct below below;
	struct heard bob;
	Evspace__Answer said;
	double begun, made;

	below_init(&below, &leaf);
	child.below = &below;
	begun = (double)clock() / CLOCKS_PER_SEC;
	for (int i = 0; i < MEMBERS; i++)
		members[i] = i;
	for (int k = 0; k < SCOPES; k++)
		heard_open(&all[k], "ann");
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		say(&said, turn);
		for (int k = 0; k < SCOPES; k++) {
			int rc = hearsay_learn(&all[k].from, &child, &said, all[k].names, &e);

			CU_ASSERT(rc >= 0);
			lines += rc > 0;
			if (rc > 0 && !said_first.text[0])
				said_first = e;
		}
	}
	made = (double)clock() / CLOCKS_PER_SEC - begun;
	for (int k = 0; k < SCOPES; k++)
		granted += names_granted(all[k].names);
	CU_ASSERT(granted > QUOTA_KIND / 2 - MIB);
	CU_ASSERT(granted <= QUOTA_KIND / 2 + MIB);
	CU_ASSERT(allocated() - before < granted + granted / 8 || allocated() == 0);
	CU_ASSERT(all[SCOPES - 1].from.left_out > NAMES);
	CU_ASSERT_PTR_NOT_NULL(strstr(said_first.text, "are ignored so far: names have 384 MiB"));
	CU_ASSERT(lines > 0 && lines <= SCOPES * 3);
	/* Waves have what they need, and so has another consumer. */
	CU_ASSERT_EQUAL(quota_take(all[0].quota, 128 * MIB, &e), 0);
	quota_give(all[0].quota, QUOTA_WAVES, 128 * MIB);
	heard_open(&bob, "bob");
	CU_ASSERT_EQUAL(hearsay_learn(&bob.from, &child, &said, bob.names, &e), 0);
	CU_ASSERT_EQUAL(names_count(bob.names), NAMES);
	CU_ASSERT_EQUAL(bob.from.left_out, 0);
	heard_close(&bob);
	begun = (double)clock() / CLOCKS_PER_SEC;
	for (int k = 0; k < SCOPES; k++)
		heard_close(&all[k]);
	begun = (double)clock() / CLOCKS_PER_SEC - begun;
	tap_note("made in %.4f s, freed in %.4f s", made, begun);
	CU_ASSERT(begun < made / 8);
	/* All was given back. */
	heard_open(&bob, "bob");
	CU_ASSERT(quota_grant(bob.quota, QUOTA_KIND / 2));
	quota_give(bob.quota, QUOTA_NAMES, QUOTA_KIND / 2);
	heard_close(&bob);
	below_fini(&below);
}

/* ---- whose names ---- */

/* Leaf 4 on w4, and 5 on w5 below it. */
static struct plan_place five = {
	.index = 5, .node = five_node, .cluster = none, .address = none, .leaf = true, .own = true};
static struct plan_place *below_four[] = {&five};
static struct plan_place four = {.index = 4,
				 .node = node,
				 .cluster = none,
				 .address = none,
				 .leaf = true,
				 .own = true,
				 .children = below_four,
				 .n_children = 1};

static bool hears(struct heard *h, const struct hearsay_child *child, uint32_t id, enum level level,
		  const char *text, struct error *e)
{
	Evspace__Name name = EVSPACE__NAME__INIT, *list = &name;
	Evspace__Answer said = EVSPACE__ANSWER__INIT;
	const struct name *known;
	char copy[NAME_BYTES];

	snprintf(copy, sizeof(copy), "%s", text);
	name.id = id;
	name.level = level;
	name.text = copy;
	said.names = &list;
	said.n_names = 1;
	e->text[0] = '\0';
	CU_ASSERT(hearsay_learn(&h->from, child, &said, h->names, e) >= 0);
	known = names_find(h->names, id);
	return known && strcmp(known->text, text) == 0;
}

/* Who has an element says what it is called, but not by another one's name. */
static void names_of_other_hosts(void)
{
	const struct {
		uint32_t id;
		enum level level;
		const char *text;
		bool own; /* learnt where all elements are the leaves' own */
	} said[] = {
		{name_id(4, 0), LEVEL_ELEMENT, "/-/w4/rank0/t0/p2p", true},
		{name_id(4, 1), LEVEL_ELEMENT, "/old/w4/rank0/t0/p2p", true},
		{name_id(4, 2), LEVEL_ELEMENT, "/-/w0/rank0/t0/p2p", false},
		{name_id(4, 3), LEVEL_ELEMENT, "/-/w5/rank0/t0/p2p", false},
		{name_id(4, 4), LEVEL_ELEMENT, "/-/w/rank0/t0/p2p", false},
		{name_id(4, 5), LEVEL_ELEMENT, "/-/w44/rank0/t0/p2p", false},
		{name_id(5, 0), LEVEL_ELEMENT, "/-/w5/rank1/t0/p2p", true},
		{name_id(5, 1), LEVEL_ELEMENT, "/-/w4/rank1/t0/p2p", false},
		/* Groups are of any host there, by whoever has given them out. */
		{name_id(4, NAME_LOCAL_MAX), LEVEL_THREAD, "/-/w5/rank1/t0", true},
		{name_id(4, NAME_LOCAL_MAX - 1), LEVEL_NODE, "/-/w5", true},
		{name_id(4, NAME_LOCAL_MAX - 2), LEVEL_NODE, "/-/w0", false},
		{name_id(4, NAME_LOCAL_MAX - 3), LEVEL_CLUSTER, "/-", true},
		/* … and one that another part's host was first to name. */
		{name_id(9, NAME_LOCAL_MAX), LEVEL_NODE, "/-/w9", true},
	};
	struct hearsay_child child = {.node = node};
	struct error e;
	struct heard h;

	for (int own = 0; own < 2; own++) {
		struct below below;
		size_t stolen = 0;

		five.own = four.own = own;
		below_init(&below, &four);
		child.below = &below;
		heard_open(&h, "ann");
		for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
			bool wanted = said[i].own || !own;
			bool heard = hears(&h, &child, said[i].id, said[i].level, said[i].text, &e);

			CU_ASSERT_EQUAL(heard, wanted);
			stolen += !wanted;
			/* It is told once. */
			CU_ASSERT_EQUAL(e.text[0] != '\0', !wanted && stolen == 1);
			if (!wanted && stolen == 1)
				CU_ASSERT_PTR_NOT_NULL(
					strstr(e.text, "the last is \"/-/w0/rank0/t0/p2p\""));
			CU_ASSERT_EQUAL(h.from.stolen, stolen);
		}
		heard_close(&h);
		below_fini(&below);
	}
}

/* Few runs may have very many ranges, of hosts that hold nothing: others go on meanwhile. */
static void many_ranges_take_turns(void)
{
	enum { PLACES = 4000, RUNS = 3 };
	static struct plan_place places[PLACES], *below_root[PLACES];
	struct plan_place root = leaf;
	Evspace__Answer said = EVSPACE__ANSWER__INIT;
	struct below_spoken spoken = {.below = NULL};
	struct below below;
	struct batch body;
	struct error e;

	for (uint32_t i = 0; i < PLACES; i++) {
		places[i] = leaf;
		places[i].index = 10 + i;
		places[i].leaf = false;
		below_root[i] = &places[i];
	}
	root.children = below_root;
	root.n_children = PLACES;
	below_init(&below, &root);
	below.folds = true;
	said.wave = 1;
	batch_init(&body);
	for (unsigned run = 0; run < RUNS; run++) {
		struct leaf_range *ranges;

		memset(batch_add(&body, RUN_PART, 4, 1, 1, 0), 0, sizeof(struct part));
		body.last->flags |= RUN_MANY;
		ranges = batch_add(&body, RUN_LEAVES, 4, 1, PLACES / 2, 0);
		for (uint32_t i = 0; i < PLACES / 2; i++)
			ranges[i] = (struct leaf_range){10 + 2 * i, 1};
	}
	CU_ASSERT_EQUAL(below_check(&below, &spoken, NULL, &said, &body, 1, &e), 1);
	CU_ASSERT_EQUAL(below_check(&below, &spoken, NULL, &said, &body, 1, &e), 0);
	batch_fini(&body);
	below_fini(&below);
}

static CU_TestInfo cases[] = {
	{"nobody gives its elements another host's name", names_of_other_hosts},
	{"what a child tells for one consumer is bounded in all scopes", many_scopes_of_one},
	{"very many ranges of leaves are looked at in turns", many_ranges_take_turns},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "hearsay", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
