/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how documents are found in a stream of bytes: however it is cut, and without searching
 * again what was searched. */
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "consumers/mir/framing.h"

#define BYTES	(1u << 20)
#define SECONDS 10

/* All documents, each with a line's end behind it, if pieces of @step bytes come. */
static char *documents(const char *text, size_t bytes, size_t step)
{
	struct framing framing = {.text = NULL};
	struct framed framed;
	char *said = NULL;
	size_t n;
	FILE *out = open_memstream(&said, &n);

	CU_ASSERT_FATAL(out != NULL);
	for (size_t at = 0; at < bytes; at += step) {
		size_t left = bytes - at;

		framing_add(&framing, text + at, left < step ? left : step);
		while (framing_next(&framing, left <= step, &framed))
			fprintf(out, "%.*s\n", (int)framed.n, framed.text);
	}
	framing_fini(&framing);
	fclose(out);
	return said;
}

static void pieces_are_the_whole(void)
{
	static const char text[] =
		"<a b='>' c=\"'<\"/><!-- > -- --><?x ?y?><![CDATA[ ]] > ]]><sirreq><![CDATA[ "
		"</sirreq> "
		"]]><b c='/>'></b></sirreq><!-x > <q '><snapshotreq/>\0<ctrlreq a='\0<!DOCTYPE "
		"a><x>"
		"<x/><instrreq><!-- <? ]]> --\0 --></instrreq> stray<snapshotreq "
		"named='true'/><!--x-->stray<?xml "
		"?><sirreq/><!DOCTYPE a [<!ENTITY b 'c'> d]><snapshotreq "
		"stack='1'/>\xef\xbb\xbf<?xml ?><ctrlreq/><?xml ?><y></z></y> <";
	char *whole = documents(text, sizeof(text) - 1, sizeof(text));

	CU_ASSERT(strstr(whole, "\n<snapshotreq/>\n") != NULL);
	CU_ASSERT(strstr(whole, "\nstray\n<snapshotreq named='true'/>\n") != NULL);
	CU_ASSERT(strstr(whole, "\n<!--x-->stray\n<?xml ?><sirreq/>\n") != NULL);
	CU_ASSERT(strstr(whole, "\n<!DOCTYPE a [<!ENTITY b 'c'> d]><snapshotreq stack='1'/>\n") !=
		  NULL);
	CU_ASSERT(strstr(whole, "\n\xef\xbb\xbf<?xml ?><ctrlreq/>\n") != NULL);
	for (size_t step = 1; step < 40; step++) {
		char *pieces = documents(text, sizeof(text) - 1, step);

		CU_ASSERT_STRING_EQUAL(pieces, whole);
		free(pieces);
	}
	free(whole);
}

/* What does not end comes byte by byte, after @begin. */
static void drip(const char *begin, char byte)
{
	struct framing framing = {.text = NULL};
	clock_t since = clock();
	struct framed framed;
	size_t n = 0;

	framing_add(&framing, begin, strlen(begin));
	for (; n < BYTES && clock() - since < SECONDS * CLOCKS_PER_SEC; n++) {
		framing_add(&framing, &byte, 1);
		CU_ASSERT_FATAL(!framing_next(&framing, false, &framed));
	}
	CU_ASSERT_EQUAL(n, BYTES);
	framing_fini(&framing);
}

static void nothing_is_searched_again(void)
{
	static const struct {
		const char *begin;
		char byte;
	} endless[] = {{"", ' '}, {"<a ", 'b'}, {"<a b='", '>'}, {"<!--", '-'}, {"<![CDATA[", ']'}};

	for (size_t i = 0; i < sizeof(endless) / sizeof(endless[0]); i++)
		drip(endless[i].begin, endless[i].byte);
}

static CU_TestInfo cases[] = {
	{"documents are the same however they are cut", pieces_are_the_whole},
	{"what has no end is searched once, however it comes", nothing_is_searched_again},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "framing", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
