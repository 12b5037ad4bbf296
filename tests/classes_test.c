/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests classes: their names, their sums over processes, and their way over the wire. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "tree/scope/classes.h"
#include "tree/data/op.h"

static int choose(const char *text, Evspace__Choice *choice)
{
	struct error e = {""};
	int rc = class_choice(text, choice, &e);

	CU_ASSERT(rc == 0 || (errno == EINVAL && strstr(e.text, "p2p, collective") != NULL));
	return rc;
}

static void names_of_classes_are_understood(void)
{
	Evspace__Choice c;

	CU_ASSERT(choose("p2p", &c) == 0 && c.channel == CHANNEL_P2P && !c.comm && !c.world);
	CU_ASSERT(choose("pack", &c) == 0 && c.channel == CHANNEL_PACK);
	CU_ASSERT(choose("wait@world", &c) == 0 && c.channel == CHANNEL_WAIT && c.world);
	CU_ASSERT(choose("all@1a2b3c4D", &c) == 0 && c.channel == -1 && c.comm == 0x1a2b3c4d);
	CU_ASSERT(choose("all", &c) == 0 && c.channel == -1 && !c.comm && !c.world);
}

static void others_are_not(void)
{
	static const char *const wrong[] = {"",
					    "p2",
					    "P2P",
					    "p2pp",
					    "state",
					    "p2p@",
					    "p2p@0",
					    "p2p@xyz",
					    "p2p@-1",
					    "p2p@ 1",
					    "p2p@123456789",
					    "@world",
					    "p2p@World",
					    "p2p world",
					    "aaaaaaaaaaaaaaaaaaaaaaaa"};
	Evspace__Choice c, before;

	/* what is between its members, too */
	memset(&c, 0x5a, sizeof(c));
	memcpy(&before, &c, sizeof(c));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT_EQUAL(choose(wrong[i], &c), -1);
		CU_ASSERT_EQUAL(memcmp(&c, &before, sizeof(c)), 0);
	}
}

static void names_are_written(void)
{
	struct class_sum sum = {.channel = CHANNEL_P2P};
	char buf[CLASS_TEXT];

	CU_ASSERT_STRING_EQUAL(class_name(&sum, buf), "p2p");
	sum.comm = 0x2a;
	CU_ASSERT_STRING_EQUAL(class_name(&sum, buf), "p2p@0000002a");
	sum.world = true;
	CU_ASSERT_STRING_EQUAL(class_name(&sum, buf), "p2p@world");
}

static void sums_are_by_class_and_mode(void)
{
	struct class_sum sum = {
		.channel = CHANNEL_WAIT, .processes = 1, .calls = 10, .bytes = 100, .skipped = 4};
	struct classes *classes = classes_new();

	CU_ASSERT_EQUAL(classes_count(classes), 0);
	CU_ASSERT_PTR_NULL(classes_at(classes, 0));
	classes_add(classes, &sum);
	classes_add(classes, &sum);
	sum.mode = 1;
	classes_add(classes, &sum);
	sum.channel = CHANNEL_P2P;
	classes_add(classes, &sum);
	sum.comm = 9;
	classes_add(classes, &sum);
	sum.comm = 77;
	sum.world = true;
	classes_add(classes, &sum);
	CU_ASSERT_EQUAL_FATAL(classes_count(classes), 5);
	CU_ASSERT_EQUAL(classes_at(classes, 0)->comm, 77);
	CU_ASSERT_EQUAL(classes_at(classes, 1)->comm, 0);
	CU_ASSERT_EQUAL(classes_at(classes, 2)->comm, 9);
	CU_ASSERT_EQUAL(classes_at(classes, 3)->calls, 20);
	CU_ASSERT_EQUAL(classes_at(classes, 3)->processes, 2);
	CU_ASSERT_EQUAL(classes_at(classes, 3)->skipped, 8);
	CU_ASSERT_EQUAL(classes_at(classes, 4)->mode, 1);
	CU_ASSERT_EQUAL(classes_at(classes, 4)->bytes, 100);
	classes_free(classes);
	classes_free(NULL);
}

static void the_wire_keeps_them(void)
{
	const struct class_sum sum = {.comm = 5,
				      .channel = CHANNEL_RMA,
				      .mode = 3,
				      .world = true,
				      .processes = 2,
				      .calls = 1,
				      .bytes = 2,
				      .time_ns = 3,
				      .skipped = 4};
	struct classes *from = classes_new(), *to = classes_new();
	Evspace__Class **list;

	classes_add(from, &sum);
	list = classes_wire(from, "night");
	CU_ASSERT_STRING_EQUAL(list[0]->run, "night");
	classes_add_wire(to, list[0]);
	CU_ASSERT_EQUAL(memcmp(classes_at(to, 0), classes_at(from, 0), sizeof(sum)), 0);
	list[0]->channel = CHANNEL_MAX;
	classes_add_wire(to, list[0]);
	CU_ASSERT_EQUAL(classes_count(to), 1);
	free(list);
	classes_free(from);
	classes_free(to);
}

static void there_are_not_too_many(void)
{
	struct classes *classes = classes_new();
	uint64_t calls = 0;

	for (uint32_t i = 0; i < CLASSES_MAX + 1000; i++) {
		struct class_sum sum = {.comm = i + 1, .calls = 1};

		classes_add(classes, &sum);
	}
	CU_ASSERT_EQUAL(classes_count(classes), CLASSES_MAX + 1);
	for (size_t i = 0; i < classes_count(classes); i++)
		calls += classes_at(classes, i)->calls;
	CU_ASSERT_EQUAL(calls, CLASSES_MAX + 1000);
	CU_ASSERT_EQUAL(classes_at(classes, 0)->calls, 1000);
	classes_free(classes);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"names of classes are understood", names_of_classes_are_understood},
		{"others are not", others_are_not},
		{"names are written", names_are_written},
		{"sums are by class and mode", sums_are_by_class_and_mode},
		{"the wire keeps them", the_wire_keeps_them},
		{"there are not too many", there_are_not_too_many},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "classes", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
