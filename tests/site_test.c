/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how call sites are resolved, what elements are called, and what marks discard. */
#include "node-agent/segment/element-writer.h"
#include "node-agent/source/site.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/collect/core/modules.h"
#include "node-agent/source/label.h"
#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-read.h"
#include "pathmap/model/pattern.h"
#include "tests/segments.h"
#include "tests/tap.h"

#define ELEMENTS 10000u

/* Where a call returns to. */
static __attribute__((noinline)) uint64_t here(void)
{
	/* or gcc takes two calls for one */
	__asm__ volatile("");
	return (uintptr_t)__builtin_return_address(0);
}

/* A segment with room for many elements of call sites, and this program's modules. */
static struct segment site_segment(void)
{
	struct segment_plan plan = segments_plan();
	struct segment s;
	struct error e;

	segments_folder_empty(segments_dir);
	plan.split[CHANNEL_P2P] = SPLIT_SITE;
	plan.elements = ELEMENTS;
	plan.capacity[CHANNEL_P2P] = 4;
	CU_ASSERT_EQUAL_FATAL(segment_create(&s, &plan, &e), 0);
	modules_note_all(&s);
	return s;
}

static const char *label(const struct segment *s, struct sites *sites, uint8_t split, uint64_t key)
{
	static char text[NAME_BYTES];
	const struct segment_element element = {.split = split, .key = key};

	CU_ASSERT_EQUAL(label_write(text, sizeof(text), s, &element, sites), 0);
	return text;
}

static void lines(void)
{
	struct segment s = site_segment();
	struct sites *sites = sites_new();
	uint64_t first = here(), line = __LINE__, second = here();
	char text[64];

	snprintf(text, sizeof(text), "p2p:site_test.c:%" PRIu64, line);
	CU_ASSERT_STRING_EQUAL(label(&s, sites, SPLIT_SITE, first), text);
	/* the same line once more, from another place in it */
	snprintf(text, sizeof(text), "p2p:site_test.c:%" PRIu64 "+0x%" PRIx64, line,
		 second - segment_module_find(&s, second)->bias);
	CU_ASSERT_STRING_EQUAL(label(&s, sites, SPLIT_SITE, second), text);
	sites_rest(sites);
	CU_ASSERT_STRING_EQUAL(label(&s, sites, SPLIT_SITE, second), text);
	CU_ASSERT_STRING_EQUAL(label(&s, sites, SPLIT_SITE, 4096), "p2p:?+0x1000");
	sites_free(sites);
	segment_close(&s);
}

/* A file that was not run, or is gone, is not looked into. */
static void other_files(void)
{
	struct segment s = site_segment();
	struct sites *sites = sites_new();
	struct segment_module module = *segment_module_find(&s, here());

	module.build_id[0] ^= 1;
	snprintf(module.path, sizeof(module.path), "%s", "/proc/self/exe");
	CU_ASSERT_STRING_EQUAL(sites_find(sites, &module, 0x1234), "exe+0x1234");
	module.build_id[0] ^= 2;
	snprintf(module.path, sizeof(module.path), "%s", "/nowhere/a b.so");
	CU_ASSERT_STRING_EQUAL(sites_find(sites, &module, 0x1234), "a_b.so+0x1234");
	module.build_id_bytes = 0;
	module.build_id[0] ^= 4;
	module.path[0] = '\0';
	CU_ASSERT_STRING_EQUAL(sites_find(sites, &module, 0x1234), "?+0x1234");
	sites_free(sites);
	segment_close(&s);
}

/* As many as a command may ask for, one in each file of a process, are looked for once. */
static void functions_are_kept(void)
{
	struct segment s = site_segment();
	struct sites *sites = sites_new();
	struct segment_module module = *segment_module_find(&s, here());
	uint64_t address = sites_function(sites, &module, "here");
	struct segment_module other = module;
	char name[32];

	CU_ASSERT(address > 0);
	other.build_id[0] ^= 1;
	snprintf(other.path, sizeof(other.path), "%s", "/nowhere");
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 64 * SITE_FUNCTIONS; i++) {
			snprintf(name, sizeof(name), "no_%u", i);
			CU_ASSERT_EQUAL(sites_function(sites, &other, name), 0);
		}
		CU_ASSERT_EQUAL(sites_function(sites, &module, "here"), address);
		CU_ASSERT_FALSE(sites_limit(sites, 1));
	}
	/* the oldest goes for another one */
	sites_limit(sites, 0);
	for (unsigned i = 0; i < 4096; i++) {
		snprintf(name, sizeof(name), "none_%u", i);
		CU_ASSERT_EQUAL(sites_function(sites, &other, name), 0);
	}
	CU_ASSERT_EQUAL(sites_function(sites, &module, "here"), address);
	sites_free(sites);
	segment_close(&s);
}

/* All symbols of a file are compared with a pattern once, not at each command. */
static void patterns_are_kept(void)
{
	struct segment s = site_segment();
	struct sites *sites = sites_new();
	struct segment_module module = *segment_module_find(&s, here());
	const struct site_function *found = NULL;

	CU_ASSERT_EQUAL(sites_functions(sites, &module, "her?", &found), 1);
	CU_ASSERT_FALSE(sites_limit(sites, 1));
	CU_ASSERT_EQUAL(sites_functions(sites, &module, "her?", &found), 1);
	CU_ASSERT_EQUAL(sites_function(sites, &module, "here"), 0);
	CU_ASSERT_EQUAL(sites_functions(sites, &module, "h*", &found), 0);
	CU_ASSERT_TRUE(sites_limit(sites, 0));
	CU_ASSERT(sites_function(sites, &module, "here") > 0);
	CU_ASSERT_FALSE(sites_limit(sites, 0));
	sites_rest(sites);
	snprintf(module.path, sizeof(module.path), "%s", "/nowhere");
	CU_ASSERT_EQUAL(sites_functions(sites, &module, "no_such_*", &found), 0);
	CU_ASSERT_EQUAL_FATAL(sites_functions(sites, &module, "her?", &found), 1);
	CU_ASSERT_STRING_EQUAL(found->name, "here");
	CU_ASSERT(found->address > 0);
	sites_free(sites);
	segment_close(&s);
}

static void labels(void)
{
	struct segment s = site_segment();

	CU_ASSERT_STRING_EQUAL(label(&s, NULL, SPLIT_THREAD, 0), "p2p");
	CU_ASSERT_STRING_EQUAL(label(&s, NULL, SPLIT_COMM, 99), "p2p@world");
	CU_ASSERT_STRING_EQUAL(label(&s, NULL, SPLIT_COMM, 0xbeef), "p2p@0000beef");
	CU_ASSERT_STRING_EQUAL(label(&s, NULL, SPLIT_OP, op_find("MPI_Send")), "p2p.MPI_Send");
	CU_ASSERT_STRING_EQUAL(label(&s, NULL, SPLIT_OP, 65000), "p2p.op_65000");
	segment_close(&s);
}

static void marks(void)
{
	struct segment s = segments_full();
	struct segment_mark *m = segment_marks_map(&s);
	struct element_writer w;
	struct tuple t = {.op = 5};
	const struct segment_element *element = segment_element(&s, 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	CU_ASSERT_EQUAL(segment_discard(&s, m, 1), SEGMENTS_CAPACITY - 1);
	CU_ASSERT_EQUAL(segment_mark(&s, 1)->below, 3 * SEGMENTS_CAPACITY);
	CU_ASSERT_EQUAL(segment_mark_oldest(3 * SEGMENTS_CAPACITY, SEGMENTS_CAPACITY),
			2 * SEGMENTS_CAPACITY + 1);
	CU_ASSERT_EQUAL(segment_discard(&s, m, 1), 0);
	element_writer_init(&w, (void *)((char *)s.header + element->ring_at), SEGMENTS_CAPACITY);
	element_write(&w, &t);
	CU_ASSERT_EQUAL(segment_discard(&s, m, 1), 1);
	CU_ASSERT_EQUAL(segment_discard(&s, m, 2), 1);
	CU_ASSERT_EQUAL(segment_discard(&s, m, s.layout.elements_max), 0);
	CU_ASSERT_PTR_NULL(segment_mark(&s, s.layout.elements_max));
	segment_marks_unmap(&s, m);
	segment_close(&s);
}

/* Ten thousand sites: each has a name of its own, that its channel's name matches. */
static void many_sites(void)
{
	struct segment s = site_segment();
	struct sites *sites = sites_new();
	uint64_t from = here();
	char name[NAME_BYTES];
	unsigned matched = 0;

	for (uint32_t i = 0; i < ELEMENTS; i++) {
		const struct segment_element like = {
			.capacity = 4, .split = SPLIT_SITE, .key = from + i};

		CU_ASSERT_PTR_NOT_NULL_FATAL(segment_element_add(&s, &like));
		snprintf(name, sizeof(name), "/c/n/rank0/t0/%.200s",
			 label(&s, sites, SPLIT_SITE, like.key));
		matched += pattern_match("/**/p2p", name) && pattern_check(name, NULL) == 0;
	}
	CU_ASSERT_EQUAL(matched, ELEMENTS);
	CU_ASSERT_EQUAL(segment_elements(&s), ELEMENTS + 1);
	sites_free(sites);
	segment_close(&s);
}

/* However many sites there are in all files ever run, they take some memory and no more. */
static void sites_take_turns(void)
{
	static const struct segment_module module = {.path = "/nowhere/a.so"};
	struct sites *sites = sites_new();
	size_t before = mallinfo2().uordblks, taken;
	char text[64];

	for (uint64_t i = 0; i < 200000; i++)
		(void)sites_find(sites, &module, 4096 + i);
	taken = mallinfo2().uordblks - before;
	tap_note("%zu kB", taken / 1024);
	CU_ASSERT(taken < 32u << 20);
	/* the oldest is found again, the newest is there */
	CU_ASSERT_STRING_EQUAL(sites_find(sites, &module, 4096), "a.so+0x1000");
	snprintf(text, sizeof(text), "a.so+0x%x", 4096 + 199999);
	CU_ASSERT_STRING_EQUAL(sites_find(sites, &module, 4096 + 199999), text);
	sites_free(sites);
}

static CU_TestInfo site_cases[] = {
	{"call sites are lines, each with a text of its own", lines},
	{"files that were not run are not looked into", other_files},
	{"functions are kept", functions_are_kept},
	{"patterns of functions are kept", patterns_are_kept},
	{"labels of elements", labels},
	{"marks discard what an element holds, once", marks},
	{"ten thousand sites", many_sites},
	{"more sites than are kept", sites_take_turns},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "site",
		 .pInitFunc = segments_folder_make,
		 .pCleanupFunc = segments_folder_remove,
		 .pTests = site_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
