/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests shared parts: parts of one scope share one, parts that are of other elements do not. */
#include "tree/scope/scope-shared.h"

#include <errno.h>
#include <string.h>

#include "tests/tap.h"

static char run[] = "one", node[] = "w0";
static char all_p2p[] = "/**/p2p", all_wait[] = "/**/wait", name_ann[] = "ann", name_bob[] = "bob";
static char *p2p[] = {all_p2p}, *wait[] = {all_wait}, *ann[] = {name_ann}, *bob[] = {name_bob};
static uint8_t id[16];
static struct scope_shared_list scopes_shared;
static const struct plan_place place = {.node = node};

static Evspace__Open opened(void)
{
	Evspace__Open open = EVSPACE__OPEN__INIT;

	open.id = (ProtobufCBinaryData){sizeof(id), id};
	open.run = run;
	open.n_select = open.n_users = 1;
	open.select = p2p;
	open.users = ann;
	return open;
}

/* Is the scope joined by one that opens it so? */
static bool joins(const Evspace__Open *open)
{
	struct error e = {""};
	struct scope_shared *scope_shared;

	errno = 0;
	scope_shared = scope_shared_join(NULL, &scopes_shared, open, &place, &e);
	CU_ASSERT_EQUAL(errno, scope_shared ? 0 : EEXIST);
	CU_ASSERT_EQUAL(!scope_shared, strstr(e.text, "for other elements") != NULL);
	CU_ASSERT_TRUE(!scope_shared || scope_shared == LIST_FIRST(&scopes_shared));
	scope_shared_leave(scope_shared, open->generation, false);
	return scope_shared != NULL;
}

static void is_of_the_same_elements(void)
{
	Evspace__Open first = opened(), other = opened();
	struct error e;
	struct scope_shared *scope_shared =
		scope_shared_join(NULL, &scopes_shared, &first, &place, &e);

	CU_ASSERT_PTR_NOT_NULL_FATAL(scope_shared);
	CU_ASSERT_TRUE(joins(&other));
	other.select = wait;
	CU_ASSERT_FALSE(joins(&other));
	other = opened();
	other.within = p2p;
	other.n_within = 1;
	CU_ASSERT_FALSE(joins(&other));
	other = opened();
	other.reading = first.reading + 1;
	CU_ASSERT_FALSE(joins(&other));
	other = opened();
	other.view = node;
	CU_ASSERT_FALSE(joins(&other));
	scope_shared_leave(scope_shared, first.generation, false);
	CU_ASSERT_TRUE(LIST_EMPTY(&scopes_shared));
}

/* Only the entry knows the text of a view that its consumer defines, and has parts without it where
 * it stands in for others. */
static void is_of_the_same_definition(void)
{
	Evspace__Open first = opened(), other = opened();
	uint8_t text[] = "all sort";
	struct error e;
	struct scope_shared *scope_shared;

	first.define = (ProtobufCBinaryData){sizeof(text), text};
	scope_shared = scope_shared_join(NULL, &scopes_shared, &first, &place, &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(scope_shared);
	CU_ASSERT_TRUE(joins(&first));
	CU_ASSERT_TRUE(joins(&other));
	other.define = (ProtobufCBinaryData){sizeof(id), id};
	CU_ASSERT_FALSE(joins(&other));
	scope_shared_leave(scope_shared, first.generation, false);
	CU_ASSERT_TRUE(LIST_EMPTY(&scopes_shared));
}

/* A consumer has so many scopes at most, but those that it has can go over to another tree. */
static void all_can_go_over(void)
{
	Evspace__Open open = opened();
	struct error e;
	struct scope_shared *s = scope_shared_join(NULL, &scopes_shared, &open, &place, &e);
	unsigned n = 1;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	while (n <= SCOPE_SHARED_PEER && scope_shared_more(s, &scopes_shared, &e) == 0)
		n++;
	CU_ASSERT_EQUAL(n, SCOPE_SHARED_PEER);
	CU_ASSERT_EQUAL(errno, EMFILE);
	for (unsigned i = 1; i < n; i++)
		CU_ASSERT_EQUAL(scope_shared_more(s, NULL, &e), 0);
	for (unsigned i = 1; i < n; i++)
		scope_shared_less(s);
	CU_ASSERT_EQUAL(scope_shared_more(s, &scopes_shared, &e), -1);
	scope_shared_less(s);
	CU_ASSERT_EQUAL(scope_shared_more(s, &scopes_shared, &e), 0);
	scope_shared_leave(s, open.generation, false);
	CU_ASSERT_TRUE(LIST_EMPTY(&scopes_shared));
}

static void is_of_the_same_users(void)
{
	Evspace__Open first = opened(), other = opened();
	struct error e;
	struct scope_shared *scope_shared =
		scope_shared_join(NULL, &scopes_shared, &first, &place, &e);

	CU_ASSERT_PTR_NOT_NULL_FATAL(scope_shared);
	other.users = bob;
	CU_ASSERT_FALSE(joins(&other));
	other.n_users = 0; /* all users' */
	CU_ASSERT_FALSE(joins(&other));
	scope_shared_leave(scope_shared, first.generation, false);
	CU_ASSERT_TRUE(LIST_EMPTY(&scopes_shared));
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"parts are of the same elements", is_of_the_same_elements},
		{"... and of the same users", is_of_the_same_users},
		{"... and of the same definition, where it is known", is_of_the_same_definition},
		{"all that are open can go over to another tree", all_can_go_over},
		CU_TEST_INFO_NULL,
	};
	const CU_SuiteInfo suites[] = {{.pName = "stems", .pTests = cases}, CU_SUITE_INFO_NULL};

	return tap_run(suites);
}
