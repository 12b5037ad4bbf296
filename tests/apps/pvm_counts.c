/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of PVM calls by name: a small table, written to a file of each task. */
#include "tests/apps/pvm_counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPS_MAX 120

static struct count {
	const char *op;
	uint64_t calls, bytes;
} table[OPS_MAX];

static uint64_t polls;

void pvm_counts_call(const char *op, uint64_t bytes)
{
	struct count *c = table;

	while (c->op && strcmp(c->op, op) != 0)
		c++;
	if (c == table + OPS_MAX - 1)
		abort();
	c->op = op;
	c->calls++;
	c->bytes += bytes;
}

void pvm_counts_poll(void)
{
	polls++;
}

static FILE *file_open(const char *dir, const char *name, int tid)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.%x", dir, name, (unsigned)tid);
	file = fopen(path, "we");
	if (!file) {
		perror(path);
		abort();
	}
	return file;
}

void pvm_counts_write(const char *dir, int tid)
{
	FILE *file = file_open(dir, "counts", tid);

	for (const struct count *c = table; c->op; c++)
		fprintf(file,
			"{\"rank\":%d,\"op\":\"%s\",\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64 "}\n",
			tid, c->op, c->calls, c->bytes);
	fclose(file);
	file = file_open(dir, "polls", tid);
	fprintf(file, "%d %" PRIu64 "\n", tid, polls);
	fclose(file);
}
