/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: a mirror's file is changed as the input says, then opened, read, written to and cut
 * short while it is used, as an agent does with what it finds in a run's folder. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/element.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/segment/segment.h"
#include "node-agent/store/mirror.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CAPACITY 8u

static char folder[] = "/dev/shm/evspace-fuzz-XXXXXX";
static char dir[64], path[256], file[MIRROR_FILE];
static unsigned char *good;
static size_t good_bytes;

static const struct mirror_plan plan = {
	.origin = {.run = "run", .node = "n1", .process = "rank3", .rest = "t0/p2p", .pid = 4711},
	.holder = "n0",
	.capacity = CAPACITY,
	.lifetime_ns = 1,
};

static void files_remove(void)
{
	unlink(path);
	rmdir(dir);
	rmdir(folder);
}

static void good_make(void)
{
	struct error e;
	struct stat st;
	int fd;

	if (!mkdtemp(folder))
		abort();
	atexit(files_remove);
	snprintf(dir, sizeof(dir), "%s/run", folder);
	mirror_file(file, &plan.origin, plan.holder);
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (mkdir(dir, 0700) < 0 || mirror_create(dir, &plan, &e) < 0)
		abort();
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		abort();
	good_bytes = (size_t)st.st_size;
	good = malloc(good_bytes);
	if (!good || read(fd, good, good_bytes) != (ssize_t)good_bytes)
		abort();
	close(fd);
}

/* An input is a byte that says where the file is cut, and then: a place in two bytes, a number of
 * bytes, and these bytes. */
static void file_write(const uint8_t *data, size_t size)
{
	unsigned char *bytes = malloc(good_bytes);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (!bytes || fd < 0)
		abort();
	memcpy(bytes, good, good_bytes);
	while (size > 3) {
		size_t at = ((size_t)data[0] << 8 | data[1]) % good_bytes, n = data[2] % 32;

		data += 3;
		size -= 3;
		n = n < size ? n : size;
		n = n < good_bytes - at ? n : good_bytes - at;
		memcpy(bytes + at, data, n);
		data += n;
		size -= n;
	}
	if (pwrite(fd, bytes, good_bytes, 0) != (ssize_t)good_bytes ||
	    ftruncate(fd, (off_t)good_bytes) < 0)
		abort();
	close(fd);
	free(bytes);
}

static int mirror_look(void *arg)
{
	const struct mirror *m = arg;
	struct tuple tuples[CAPACITY], t;
	struct element_range range;
	uint64_t number;

	element_read(m->ring, m->capacity, 0, UINT64_MAX, tuples, CAPACITY, &range);
	if (range.count > CAPACITY)
		abort();
	element_latest(m->ring, m->capacity, element_inverse(m->capacity), &t, &number);
	return 0;
}

static void mirror_use(struct mirror *m)
{
	static const struct tuple tuples[3 * CAPACITY] = {{.start = 1, .end = 2}, {.start = 3}};
	const struct clock_line line = {.ns_per_tick = 1};
	struct mirror_origin now = m->origin;
	uint64_t head = mirror_head(m);
	const struct mirror_news news[] = {
		{.tuples = tuples, .count = 3, .first = head, .line = line, .local = line},
		{.tuples = tuples,
		 .count = 2,
		 .first = head + 5,
		 .gone = 2,
		 .line = line,
		 .local = line},
		{.tuples = tuples, .count = 3 * CAPACITY, .line = line, .local = line},
	};

	now.ended = !now.ended;
	mirror_note(m, &now);
	for (size_t i = 0; i < sizeof(news) / sizeof(news[0]); i++)
		mirror_append(m, &news[i]);
	(void)segment_guarded(mirror_look, m);
	mirror_died(m);
	mirror_discard(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mirror m;
	struct error e;

	if (!good)
		good_make();
	if (size < 1)
		return 0;
	file_write(data + 1, size - 1);
	if (mirror_open(&m, dir, file, &e) < 0)
		return 0;
	if (m.capacity == 0 || !memchr(m.origin.run, '\0', sizeof(m.origin.run)))
		abort();
	mirror_use(&m);
	if (truncate(path, (off_t)(good_bytes * data[0] / 256)) < 0)
		abort();
	mirror_use(&m);
	mirror_close(&m);
	return 0;
}
