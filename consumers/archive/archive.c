/* SPDX-License-Identifier: BSD-3-Clause */
/* Heads of chunks, their checksums, and the names of files. */
#include "consumers/archive/archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/memory.h"

/* ---- checksums ---- */

static uint64_t sum_add(uint64_t sum, const unsigned char *data, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += sizeof(sum)) {
		size_t n = bytes - at < sizeof(sum) ? bytes - at : sizeof(sum);
		uint64_t word = 0;

		memcpy(&word, data + at, n);
		sum = (sum ^ word) * UINT64_C(0x100000001b3);
		/* else the highest bit of a word would count in the highest bit of the sum alone */
		sum ^= sum >> 32;
	}
	return sum;
}

uint64_t archive_sum(const struct archive_head *head, const unsigned char *stored)
{
	uint64_t sum = sum_add(UINT64_C(0xcbf29ce484222325), (const unsigned char *)head,
			       offsetof(struct archive_head, sum));

	return sum_add(sum, stored, head->stored);
}

/* ---- heads ---- */

int archive_head_check(const struct archive_head *h, struct error *e)
{
	errno = EPROTO;
	if (memcmp(h->magic, ARCHIVE_MAGIC, sizeof(h->magic)) != 0)
		return errorf(e, "has no chunk of an archive there");
	if (h->order != ARCHIVE_ORDER)
		return errorf(e, "was written on a machine of the other byte order; read it there");
	if (h->version != ARCHIVE_VERSION)
		return errorf(e,
			      "has version %u of the format, and this release reads version %u; "
			      "read it with the release that wrote it",
			      h->version, ARCHIVE_VERSION);
	if (h->plain == 0 || h->plain > ARCHIVE_PLAIN_MOST || h->stored == 0 ||
	    h->stored > ARCHIVE_PLAIN_MOST || h->first > h->last)
		return errorf(e, "has a chunk of %u bytes that unpack to %u there, which cannot be",
			      h->stored, h->plain);
	return 0;
}

/* ---- files ---- */

void archive_file(unsigned number, char name[ARCHIVE_FILE_TEXT])
{
	snprintf(name, ARCHIVE_FILE_TEXT, "%08u.evspace", number);
}

static int by_number(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

int archive_files(int folder_fd, unsigned **numbers)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	*numbers = NULL;
	if (!folder) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while ((entry = readdir(folder))) {
		char name[ARCHIVE_FILE_TEXT];
		unsigned long number = strtoul(entry->d_name, NULL, 10);

		if (number == 0 || number > ARCHIVE_FILES_MOST)
			continue;
		archive_file((unsigned)number, name);
		if (strcmp(name, entry->d_name) != 0)
			continue;
		*numbers = memory_room(*numbers, (size_t)n, sizeof(**numbers));
		(*numbers)[n++] = (unsigned)number;
	}
	closedir(folder);
	if (n > 0)
		qsort(*numbers, (size_t)n, sizeof(**numbers), by_number);
	return n;
}

bool archive_is_there(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned *numbers = NULL;
	bool any = fd >= 0 && archive_files(fd, &numbers) > 0;

	free(numbers);
	if (fd >= 0)
		close(fd);
	return any;
}
