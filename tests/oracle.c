/* SPDX-License-Identifier: BSD-3-Clause */
/* Says what was written, and looks it up in the segments. */
#include "tests/oracle.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/element.h"
#include "node-agent/segment/segment-read.h"

/* Tuples that are read at once. */
#define READ_AT_ONCE 1000

/* Large enough for a wrong tuple not to go unnoticed, small enough for squares to be exact. */
uint64_t oracle_bytes(int rank, uint64_t n)
{
	return 1 + (n * 7919 + (uint64_t)rank * 104729) % 10007;
}

void oracle_add(struct oracle *t, uint64_t bytes)
{
	t->count++;
	t->sum += bytes;
	t->squares += (double)bytes * (double)bytes;
}

void oracle_take(struct oracle *t, int rank, uint64_t from, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		oracle_add(t, oracle_bytes(rank, from + i));
}

double oracle_variance(const struct oracle *t)
{
	double mean = t->count ? (double)t->sum / (double)t->count : 0;

	return t->count ? t->squares / (double)t->count - mean * mean : 0;
}

/* "rank3.4711.seg" */
static int find_name(const char *folder, int rank, char *name, size_t n)
{
	DIR *d = opendir(folder);
	const struct dirent *entry;
	char prefix[32];

	if (!d)
		return -1;
	snprintf(prefix, sizeof(prefix), "rank%d.", rank);
	name[0] = '\0';
	while ((entry = readdir(d))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
		    strcmp(dot, SEGMENT_SUFFIX) == 0)
			snprintf(name, n, "%s", entry->d_name);
	}
	closedir(d);
	return name[0] ? 0 : -1;
}

int oracle_open(struct oracle_element *t, const char *folder, int rank, struct error *e)
{
	char name[300];

	if (find_name(folder, rank, name, sizeof(name)) < 0)
		return errorf(e, "no segment of rank %d is in %s", rank, folder);
	if (segment_open(&t->segment, folder, name, e) < 0)
		return -1;
	for (uint32_t i = 0; i < segment_elements(&t->segment); i++) {
		const struct segment_element *element = segment_element(&t->segment, i);

		if (!element || element->thread != 0 || element->channel != CHANNEL_P2P)
			continue;
		t->ring = segment_ring(&t->segment, element);
		t->capacity = element->capacity;
		return 0;
	}
	segment_close(&t->segment);
	return errorf(e, "%s has no element of point-to-point operations", name);
}

void oracle_close(struct oracle_element *t)
{
	if (t->ring)
		segment_close(&t->segment);
	t->ring = NULL;
}

uint64_t oracle_written(const struct oracle_element *t)
{
	return element_head(t->ring);
}

int oracle_read(const struct oracle_element *t, int rank, uint64_t end, struct oracle *oracle,
		struct error *e)
{
	uint64_t n = 0;
	struct tuple tuples[READ_AT_ONCE];
	struct element_range range;

	while (n < end) {
		element_read(t->ring, t->capacity, n, end, tuples, READ_AT_ONCE, &range);
		if (range.first != n || range.count == 0)
			return errorf(e, "rank %d: tuple %lu is not there any more", rank,
				      (unsigned long)n);
		for (uint64_t i = 0; i < range.count; i++, n++) {
			if (tuples[i].bytes != oracle_bytes(rank, n))
				return errorf(e, "rank %d: tuple %lu is not what was written", rank,
					      (unsigned long)n);
			oracle_add(oracle, tuples[i].bytes);
		}
	}
	return 0;
}
