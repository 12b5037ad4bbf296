/* SPDX-License-Identifier: BSD-3-Clause */
/* Says what was written, and looks it up in the segments. */
#include "tests/truth.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/element.h"

/* Tuples that are read at once. */
#define READ_AT_ONCE 1000

/* Large enough for a wrong tuple not to go unnoticed, small enough for squares to be exact. */
uint64_t truth_bytes(int rank, uint64_t n)
{
	return 1 + (n * 7919 + (uint64_t)rank * 104729) % 10007;
}

void truth_add(struct truth *t, uint64_t bytes)
{
	t->count++;
	t->sum += bytes;
	t->squares += (double)bytes * (double)bytes;
}

void truth_take(struct truth *t, int rank, uint64_t from, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		truth_add(t, truth_bytes(rank, from + i));
}

double truth_variance(const struct truth *t)
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

int truth_open(struct truth_element *t, const char *folder, int rank, struct error *e)
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

void truth_close(struct truth_element *t)
{
	if (t->ring)
		segment_close(&t->segment);
	t->ring = NULL;
}

uint64_t truth_written(const struct truth_element *t)
{
	return element_head(t->ring);
}

int truth_read(const struct truth_element *t, int rank, struct truth *truth, struct error *e)
{
	uint64_t end = truth_written(t), n = 0;
	struct tuple tuples[READ_AT_ONCE];
	struct element_range range;

	while (n < end) {
		element_read(t->ring, t->capacity, n, end, tuples, READ_AT_ONCE, &range);
		if (range.first != n || range.count == 0)
			return errorf(e, "rank %d: tuple %lu is not there any more", rank,
				      (unsigned long)n);
		for (uint64_t i = 0; i < range.count; i++, n++) {
			if (tuples[i].bytes != truth_bytes(rank, n))
				return errorf(e, "rank %d: tuple %lu is not what was written", rank,
					      (unsigned long)n);
			truth_add(truth, tuples[i].bytes);
		}
	}
	return 0;
}
