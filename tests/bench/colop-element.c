/* SPDX-License-Identifier: BSD-3-Clause */
/* What a write to an element of a program takes, by the bench of elements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/colop.h"

/* The number after @name in what the bench has said of its case @wanted; -1: it has not. */
static double said(const char *path, const char *wanted, const char *name)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	double value = -1;

	while (file && getline(&line, &size, file) > 0) {
		const char *at = strstr(line, wanted) ? strstr(line, name) : NULL;

		if (at)
			value = strtod(at + strlen(name), NULL);
	}
	free(line);
	if (file)
		fclose(file);
	return value;
}

int colop_element(const struct bench_options *o, struct error *e)
{
	char program[4096], path[] = "/dev/shm/colop-element.XXXXXX";
	char json[] = "--json", quick[] = "--quick";
	char *argv[] = {program, json, o->quick ? quick : NULL, NULL};
	int file = mkstemp(path), result;
	double ns, ratio;

	if (file < 0)
		return errorf(e, "cannot make %s", path);
	close(file);
	bench_built("tests/bench/element", program, sizeof(program));
	result = bench_run(argv, path, e);
	ns = said(path, "\"case\":\"element\"", "\"ns\":");
	ratio = said(path, "\"case\":\"wake\"", "\"ratio\":");
	unlink(path);
	if (result < 0)
		return -1;
	if (ns < 0 || ratio < 0)
		return errorf(e, "%s has not said what a write takes", program);
	if (o->json)
		printf("{\"case\":\"element\",\"ns\":%.2f,"
		       "\"wake_ratio\":%.3f}\n",
		       ns, ratio);
	else
		printf("element: a write of 16 bytes %.1f ns; waking a reader %.2f times a bare "
		       "futex\n",
		       ns, ratio);
	return 0;
}
