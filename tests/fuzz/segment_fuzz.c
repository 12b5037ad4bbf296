/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reading of segments: any bytes are a file that is opened and read whole. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "node-agent/segment-mark.h"
#include "node-agent/segment-module.h"
#include "node-agent/segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int segment_look(void *arg)
{
	const struct segment *s = arg;
	struct tuple tuples[8], t;
	struct element_range range;
	uint64_t number;

	for (uint32_t i = 0; i < segment_threads(s); i++)
		if (segment_thread(s, i))
			segment_state(segment_thread(s, i), &t);
	for (uint32_t i = 0; i < segment_comms(s); i++)
		for (uint32_t k = 0; segment_comm(s, i) && k < 3; k++)
			segment_member(s, segment_comm(s, i), k);
	segment_module_find(s, 4096);
	for (uint32_t i = 0; i < segment_elements(s); i++) {
		const struct segment_element *element = segment_element(s, i);
		const struct element_ring *ring = element ? segment_ring(s, element) : NULL;

		if (!ring)
			continue;
		if (atomic_load(&segment_mark(s, i)->below) == 7)
			continue;
		element_read(ring, element->capacity, 0, UINT64_MAX, tuples, 8, &range);
		element_latest(ring, element->capacity, element_inverse(element->capacity), &t,
			       &number);
	}
	return 0;
}

static char folder[] = "/dev/shm/evspace-fuzz-XXXXXX";
static int file = -1;

static void file_remove(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/a.seg", folder);
	unlink(path);
	rmdir(folder);
}

static void file_make(void)
{
	char path[64];

	if (!mkdtemp(folder))
		abort();
	atexit(file_remove);
	snprintf(path, sizeof(path), "%s/a.seg", folder);
	file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		abort();
}

/* The fields that the file itself answers for are made right, so that the others are looked at. */
static void header_mend(uint64_t size)
{
	const uint32_t uid = (uint32_t)geteuid();

	if (pwrite(file, &size, sizeof(size), offsetof(struct segment_header, size)) < 0 ||
	    pwrite(file, &uid, sizeof(uid), offsetof(struct segment_header, uid)) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct segment s;
	struct error e;

	if (file < 0)
		file_make();
	if (ftruncate(file, 0) < 0 || pwrite(file, data, size, 0) < 0)
		abort();
	/* an odd byte more: not what the header says */
	if (size > sizeof(struct segment_header) && size % 2 == 0)
		header_mend(size);
	if (segment_open(&s, folder, "a.seg", &e) < 0)
		return 0;
	if (segment_guarded(segment_look, &s) < 0)
		abort();
	segment_close(&s);
	return 0;
}
