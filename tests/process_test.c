/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the names of processes: ranks and tasks, for people, in names and in file names. */
#include "tree/data/process.h"

#include "node-agent/segment/folder.h"
#include "tests/tap.h"

static void names(void)
{
	char name[PROCESS_NAME];

	CU_ASSERT_STRING_EQUAL(process_name(name, 0), "rank0");
	CU_ASSERT_STRING_EQUAL(process_name(name, 65535), "rank65535");
	CU_ASSERT_STRING_EQUAL(process_name(name, PROCESS_TASKS), "t40000");
	CU_ASSERT_STRING_EQUAL(process_name(name, 0x40003), "t40003");
	CU_ASSERT_STRING_EQUAL(process_name(name, INT32_MAX), "t7fffffff");
	CU_ASSERT_STRING_EQUAL(process_name(name, -1), "rank-1");
	CU_ASSERT_STRING_EQUAL(process_words(name, 3), "rank 3");
	CU_ASSERT_STRING_EQUAL(process_words(name, 0xc0001), "task tc0001");
}

static void file_is(const char *name, int32_t rank, pid_t pid, enum folder_kind kind)
{
	struct folder_file file = folder_file(name);

	CU_ASSERT_EQUAL(file.rank, rank);
	CU_ASSERT_EQUAL(file.pid, pid);
	CU_ASSERT_EQUAL(file.kind, kind);
}

static void files(void)
{
	file_is("rank3.4711.seg", 3, 4711, FOLDER_SEGMENT);
	file_is("steering", -1, 0, FOLDER_STEERING);
	file_is(".steering.4711", -1, 0, FOLDER_UNFINISHED);
	file_is("residual.3.elem", -1, 0, FOLDER_ELEMENT);
	file_is("consumer.4711.residual.3.tmp", PROCESS_CONSUMER, 4711, FOLDER_UNFINISHED);
	file_is("t40003.4711.seg", 0x40003, 4711, FOLDER_SEGMENT);
	file_is("tc001f.4711.refused-quota", 0xc001f, 4711, FOLDER_REFUSED);
	file_is("t40003.4711.tmp", 0x40003, 4711, FOLDER_UNFINISHED);
	/* no host has the number 0, and a task id is no negative number */
	file_is("t3.4711.seg", -1, 0, FOLDER_SEGMENT);
	file_is("tffffffff.4711.seg", -1, 0, FOLDER_SEGMENT);
	file_is("tx.4711.seg", -1, 0, FOLDER_SEGMENT);
	file_is("t40003.seg", -1, 0, FOLDER_SEGMENT);
}

static CU_TestInfo process_cases[] = {
	{"ranks and tasks have names", names},
	{"files are known by them", files},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "process", .pTests = process_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
