/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the library as a program of others sees it: its header, and what it exports. */
#include "consumers/client/evspace-client.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static void a_program_can_use_it(void)
{
	const struct evspace_options options = {.view = "heartbeat", .rate_hz = 1};
	enum evspace_failure failure = EVSPACE_FINE;
	char why[200] = "";

	setenv("EVSPACE_DIR", "/nowhere/at/all", 1);
	unsetenv("EVSPACE_CONNECT");
	CU_ASSERT_PTR_NULL(evspace_open(&options, &failure, why, sizeof(why)));
	CU_ASSERT_EQUAL(failure, EVSPACE_NO_CONNECTION);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "no agent runs on this host"));
	evspace_close(NULL);
}

/* What a program does not say, variables do, as for commands. */
static void variables_say_where(void)
{
	const struct evspace_options options = {.view = "heartbeat"};
	enum evspace_failure failure = EVSPACE_FINE;
	char why[200] = "";

	setenv("EVSPACE_CONNECT", "unix:/nowhere/said.sock", 1);
	CU_ASSERT_PTR_NULL(evspace_open(&options, &failure, why, sizeof(why)));
	CU_ASSERT_EQUAL(failure, EVSPACE_NO_CONNECTION);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "/nowhere/said.sock"));
	unsetenv("EVSPACE_CONNECT");
}

/* A stage's records may have operations for keys. */
static void operations_have_names(void)
{
	CU_ASSERT_STRING_EQUAL(evspace_op_name(0), "unknown");
	CU_ASSERT_STRING_EQUAL(evspace_op_name(1), "MPI_Send");
}

/* A message that is cut must not be written behind its end. */
static void messages_are_cut(void)
{
	const struct evspace_options options = {.connect = "unix:/nowhere/agent.sock"};
	enum evspace_failure failure;
	char why[16];

	memset(why, 'x', sizeof(why));
	CU_ASSERT_PTR_NULL(evspace_open(&options, &failure, why, 8));
	CU_ASSERT_EQUAL(strlen(why), 7);
	CU_ASSERT_EQUAL(why[8], 'x');
}

static void only_its_own_names_are_exported(void)
{
	static const char *const inside[] = {
		"link_dial",	 "batch_add",		"client_pump", "store_init",   "memory_new",
		"delivery_take", "evspace__open__init", "names_new",   "pathmap_load",
	};

	CU_ASSERT_PTR_NOT_NULL(dlsym(RTLD_DEFAULT, "evspace_open"));
	CU_ASSERT_PTR_NOT_NULL(dlsym(RTLD_DEFAULT, "evspace_loss"));
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
		CU_ASSERT_PTR_NULL(dlsym(RTLD_DEFAULT, inside[i]));
}

static int is_dwarf_reader(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	return strstr(info->dlpi_name, "libdw") != NULL;
}

/* What agents alone need, such as libdw, no program of others has to have. */
static void it_brings_nothing_of_the_agent(void)
{
	const struct evspace_options options = {.connect = "unix:/nowhere/agent.sock",
						.monitored = 1};
	enum evspace_failure failure = EVSPACE_FINE;
	char why[200] = "";

	CU_ASSERT_EQUAL(dl_iterate_phdr(is_dwarf_reader, NULL), 0);
	CU_ASSERT_PTR_NULL(evspace_open(&options, &failure, why, sizeof(why)));
	CU_ASSERT_EQUAL(failure, EVSPACE_WRONG);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "cannot be monitored"));
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"a program can use it", a_program_can_use_it},
		{"variables say where", variables_say_where},
		{"operations have names", operations_have_names},
		{"messages are cut", messages_are_cut},
		{"only its own names are exported", only_its_own_names_are_exported},
		{"it brings nothing of the agent", it_brings_nothing_of_the_agent},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "library", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
