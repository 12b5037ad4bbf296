/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads /proc. */
#include "tests/bench/census.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pathmap/base/memory.h"
#include "tests/bench/figures.h"

int census_take(struct census *census, pid_t parent, struct error *e)
{
	char path[64];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	file = fopen(path, "re");
	if (!file)
		return errorf(e, "%s: %s", path, strerror(errno));
	census->n = 0;
	while (fscanf(file, "%d", &pid) == 1) {
		census->pids = memory_room(census->pids, census->n, sizeof(*census->pids));
		census->pids[census->n++] = pid;
	}
	fclose(file);
	return 0;
}

void census_fini(struct census *census)
{
	free(census->pids);
	*census = (struct census){0};
}

/* The sum of the numbers on the lines of @path that begin with one of @words, -1: it has none. */
static double number_read(const char *path, const char *const *words)
{
	FILE *file = fopen(path, "re");
	double sum = 0, found = -1;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		for (size_t i = 0; words[i]; i++) {
			if (strncmp(line, words[i], strlen(words[i])) == 0) {
				sum += strtod(line + strlen(words[i]), NULL);
				found = sum;
			}
		}
	}
	if (file)
		fclose(file);
	return found;
}

static double max(double a, double b)
{
	return a > b ? a : b;
}

int census_sizes(const struct census *census, struct census_size *most, struct error *e)
{
	static const char *const pss[] = {"Pss:", NULL}, *const threads[] = {"Threads:", NULL};
	static const char *const own[] = {"Private_Clean:", "Private_Dirty:", NULL};

	double *privates = memory_new(census->n, sizeof(*privates));
	int rc = 0;

	*most = (struct census_size){0};
	for (size_t i = 0; i < census->n; i++) {
		char memory[64], status[64];
		double kb;

		snprintf(memory, sizeof(memory), "/proc/%d/smaps_rollup", (int)census->pids[i]);
		snprintf(status, sizeof(status), "/proc/%d/status", (int)census->pids[i]);
		kb = number_read(memory, pss);
		if (kb < 0) {
			errno = ESRCH;
			rc = errorf(e, "%s says nothing", memory);
			break;
		}
		privates[i] = number_read(memory, own) * 1024e-6;
		most->pss_mb = max(most->pss_mb, kb * 1024e-6);
		most->private_mb = max(most->private_mb, privates[i]);
		most->threads = (unsigned)max(most->threads, number_read(status, threads));
	}
	if (rc == 0)
		most->median_mb = figures_median(privates, census->n);
	free(privates);
	return rc;
}

double census_cpu(const struct census *census)
{
	double sum = 0;

	for (size_t i = 0; i < census->n; i++) {
		struct timespec t;
		clockid_t clock;

		if (clock_getcpuclockid(census->pids[i], &clock) == 0 &&
		    clock_gettime(clock, &t) == 0)
			sum += (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
	}
	return sum;
}
