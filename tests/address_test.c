/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how addresses are read and printed, and that names are looked up once. */
#include <errno.h>
#include <string.h>

#include "tests/tap.h"
#include "tree/address.h"

/** Reading @text and printing it gives @want; NULL: it is refused. */
static void reads(const char *text, bool listen, const char *want)
{
	struct address a;
	struct error e = {""};
	char printed[256] = "";

	if (address_parse(&a, text, listen, &e) == 0)
		address_format(&a.at[0], printed, sizeof(printed));
	else
		CU_ASSERT_TRUE(e.text[0] && (errno == EINVAL || errno == EHOSTUNREACH));
	CU_ASSERT_STRING_EQUAL(printed, want ? want : "");
	if (strcmp(printed, want ? want : "") != 0)
		tap_note("%s: %s%s", text, printed, e.text);
}

static void addresses_are_read_and_printed(void)
{
	char longest[200] = "unix:/";
	struct address a;
	size_t most = sizeof(a.path) - 1;

	reads("127.0.0.1:7440", false, "127.0.0.1:7440");
	reads("[::1]:7440", false, "[::1]:7440");
	reads("[::ffff:10.1.2.3]:7440", false, "10.1.2.3:7440");
	reads("unix:/run/agent.sock", false, "unix:/run/agent.sock");
	reads(":7440", true, "0.0.0.0:7440");
	reads("127.0.0.1:0", true, "127.0.0.1:0");
	memset(longest + 6, 'x', most - 1);
	reads(longest, true, longest);
	longest[5 + most] = 'x';
	reads(longest, true, NULL);
}

static void what_is_no_address_is_refused(void)
{
	static const char *const wrong[] = {"",
					    "w0",
					    ":7440",
					    "w0:",
					    "w0:0",
					    "127.0.0.1:65536",
					    "127.0.0.1:123456",
					    "127.0.0.1:-1",
					    "127.0.0.1:http",
					    "::1:7440",
					    "[::1:7440",
					    "[]:",
					    "unix:",
					    "no-such-host.invalid:7440"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		reads(wrong[i], false, NULL);
}

static void names_are_looked_up_once(void)
{
	struct address_book book = {0};
	struct address first, again;
	struct error e = {""}, e2 = {""};

	CU_ASSERT_EQUAL(address_find(&book, &first, "localhost:7440", &e), 0);
	CU_ASSERT_EQUAL(address_find(&book, &again, "localhost:7440", &e), 0);
	CU_ASSERT_EQUAL(memcmp(&first, &again, sizeof(first)), 0);
	CU_ASSERT_EQUAL(address_find(&book, &first, "no-such-host.invalid:1", &e), -1);
	CU_ASSERT_EQUAL(address_find(&book, &first, "no-such-host.invalid:1", &e2), -1);
	CU_ASSERT_EQUAL(errno, EHOSTUNREACH);
	CU_ASSERT_STRING_EQUAL(e.text, e2.text);
	CU_ASSERT_EQUAL(address_find(&book, &first, "127.0.0.1:1", &e), 0);
	address_book_fini(&book);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"addresses are read and printed", addresses_are_read_and_printed},
		{"what is no address is refused", what_is_no_address_is_refused},
		{"names are looked up once", names_are_looked_up_once},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "address", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
