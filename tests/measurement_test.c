/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests measurement documents: the report's examples, and that random ones can be opened again by
 * who knows the request. */
#include "tests/random.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/mir/measurement.h"

static bool is_written(const struct mir_tuple *tuples, size_t n, const char *text)
{
	char *written = NULL;
	size_t bytes;
	FILE *out = open_memstream(&written, &bytes);
	bool same;

	if (!out)
		abort();
	measurement_write(out, tuples, n);
	fclose(out);
	same = strcmp(written, text) == 0;
	if (!same)
		fprintf(stderr, "# %s\n# not %s\n", written, text);
	free(written);
	return same;
}

static struct mir_tuple of_process(const char *comm, bool said, const char *process, double value)
{
	struct mir_tuple t = {.probe = "p1", .known = true, .value = value};

	t.id[MIR_COMMUNICATOR] = comm;
	t.as_requested[MIR_COMMUNICATOR] = said;
	t.id[MIR_PROCESS] = process;
	return t;
}

static void test_report(void)
{
	const struct mir_tuple each[] = {of_process("c1", true, "p2", 3),
					 of_process("c1", true, "p1", 4),
					 of_process("c2", true, "p3", 5)};
	const struct mir_tuple most = of_process("c2", false, "p3", 5);

	CU_ASSERT(is_written(
		each, 3,
		"<measurement><measurement><measurement processId=\"p2\" value=\"3\"/>"
		"<measurement processId=\"p1\" value=\"4\"/></measurement><measurement>"
		"<measurement processId=\"p3\" value=\"5\"/></measurement></measurement>"));
	CU_ASSERT(is_written(&most, 1,
			     "<measurement communicatorId=\"c2\" processId=\"p3\" value=\"5\"/>"));
}

static void test_small(void)
{
	struct mir_tuple two[] = {{.probe = "p1", .known = true, .value = 1e-3},
				  {.probe = "p2", .value = 7}};

	CU_ASSERT(is_written(NULL, 0, "<measurement/>"));
	CU_ASSERT(is_written(two, 1, "<measurement value=\"0.001\"/>"));
	CU_ASSERT(is_written(two, 2,
			     "<measurement><measurement probeId=\"p1\" value=\"0.001\"/>"
			     "<measurement probeId=\"p2\"/></measurement>"));
	two[1].probe = "p1";
	two[1].known = true;
	two[0].value = 1e20;
	CU_ASSERT(is_written(two, 2,
			     "<measurement><measurement value=\"100000000000000000000\"/>"
			     "<measurement value=\"7\"/></measurement>"));
}

/* ---- opened again ---- */

/* A reader: what is said on the way to a value, and the values in their order. */
struct opened {
	const char *at;
	char said[6][16];
	struct {
		char said[6][16];
		double value;
	} tuples[64];
	size_t n;
};

static const char *const keys[] = {"probeId",	     "siteId",	  "nodeId",
				   "communicatorId", "processId", "threadId"};

static void open_element(struct opened *o)
{
	char before[6][16];

	memcpy(before, o->said, sizeof(before));
	o->at += strlen("<measurement");
	while (*o->at == ' ') {
		size_t name = strcspn(++o->at, "="), n;
		const char *value = o->at + name + 2;

		n = strcspn(value, "\"");
		for (size_t k = 0; k < 6; k++)
			if (strncmp(o->at, keys[k], name) == 0)
				snprintf(o->said[k], sizeof(o->said[k]), "%.*s", (int)n, value);
		if (strncmp(o->at, "value", name) == 0) {
			memcpy(o->tuples[o->n].said, o->said, sizeof(o->said));
			o->tuples[o->n++].value = strtod(value, NULL);
		}
		o->at = value + n + 1;
	}
	if (*o->at == '/') {
		o->at += 2;
	} else {
		for (o->at++; strncmp(o->at, "</", 2) != 0;)
			open_element(o);
		o->at += strlen("</measurement>");
	}
	memcpy(o->said, before, sizeof(before));
}

/* Some tuples of one or two probes, each key with a few ids, in their order. */
static size_t random_tuples(uint64_t *random, struct mir_tuple *tuples)
{
	static const char *const ids[] = {"a", "b", "c"};
	size_t n = 1 + random_below(random, 24);
	uint64_t said_ids = random_below(random, 1 << 15);

	for (size_t i = 0; i < n; i++) {
		struct mir_tuple *t = &tuples[i];

		*t = i ? tuples[i - 1] : (struct mir_tuple){.probe = "p1", .known = true};
		t->value = (double)random_below(random, 1000);
		for (unsigned k = 0; k < MIR_LEVELS; k++) {
			bool said = random_below(random, 2);

			if (i > 0 && random_below(random, 3))
				continue;
			t->id[k] = said || i == 0 ? ids[random_below(random, 3)] : NULL;
			/* an id is the request's, or is not */
			t->as_requested[k] =
				t->id[k] && said_ids >> (3 * k + (unsigned)(t->id[k][0] - 'a')) & 1;
		}
		if (i > n / 2 && random_below(random, 4) == 0)
			t->probe = "p2";
	}
	return n;
}

static bool is_opened(const struct mir_tuple *tuples, size_t n)
{
	struct opened o = {.n = 0};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	bool same;

	if (!out)
		abort();
	measurement_write(out, tuples, n);
	fclose(out);
	o.at = text;
	open_element(&o);
	same = o.n == n && *o.at == '\0';
	for (size_t i = 0; same && i < n; i++) {
		same = o.tuples[i].value == tuples[i].value;
		for (unsigned k = 0; same && k < MIR_LEVELS; k++) {
			const char *id = tuples[i].as_requested[k] ? NULL : tuples[i].id[k];

			same = strcmp(o.tuples[i].said[k + 1], id ? id : "") == 0;
		}
	}
	free(text);
	return same;
}

static void test_opened(void)
{
	uint64_t random = 7;
	struct mir_tuple tuples[64];

	for (unsigned round = 0; round < 20000; round++)
		CU_ASSERT_FATAL(is_opened(tuples, random_tuples(&random, tuples)));
}

static CU_TestInfo cases[] = {
	{"the report's examples", test_report},
	{"values, several probes, nothing", test_small},
	{"what is made short can be opened again", test_opened},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "measurement", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
