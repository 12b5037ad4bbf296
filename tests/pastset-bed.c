/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes elements of large tuples in a folder of the test's own. */
#include "tests/pastset-bed.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/tap.h"

char bed_why[300];
static char base[64];

struct evspace_element *bed_make(const char *name, uint32_t capacity, int wait_ms)
{
	const struct evspace_element_plan plan = {.name = name,
						  .fields = LARGE,
						  .bytes = sizeof(struct large),
						  .capacity = capacity,
						  .wait_ms = wait_ms};
	struct evspace_element *e = evspace_element_make(&plan, bed_why, sizeof(bed_why));

	if (!e)
		tap_note("%s", bed_why);
	return e;
}

struct evspace_element *bed_open(const char *name)
{
	const struct evspace_element_plan plan = {.name = name};

	return evspace_element_open(&plan, bed_why, sizeof(bed_why));
}

int bed_put(struct evspace_element *e, uint64_t n)
{
	struct large t;

	for (size_t i = 0; i < FIELDS_BYTES / 8; i++)
		t.word[i] = n * (i + 1);
	return evspace_element_write(e, &t);
}

bool bed_is_whole(const struct large *t, uint64_t n)
{
	for (size_t i = 0; i < FIELDS_BYTES / 8; i++)
		if (t->word[i] != n * (i + 1))
			return false;
	return true;
}

uint64_t bed_written(const char *name)
{
	struct evspace_element_state state = {.written = 0};
	struct evspace_element *e = bed_open(name);

	if (e)
		evspace_element_look(e, &state);
	evspace_element_close(e);
	return state.written;
}

const char *bed_path(const char *name, char path[200])
{
	snprintf(path, 200, "%s/run/%s.elem", base, name);
	return path;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

int bed_run(const CU_SuiteInfo *suites)
{
	int rc;

	snprintf(base, sizeof(base), "/dev/shm/evspace-pastset.XXXXXX");
	if (!mkdtemp(base))
		return 1;
	setenv("EVSPACE_DIR", base, 1);
	setenv("EVSPACE_RUN", "run", 1);
	rc = tap_run(suites);
	nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return rc;
}
