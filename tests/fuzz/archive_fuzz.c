/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: files of an archive as they lie on a disk, and chunks with right checksums of frames
 * that nobody has checked. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "consumers/archive/archive-reader.h"

#define FLAG_FRAMES 1 /* what follows is frames of a chunk that is right; else a file */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static char folder[] = "/tmp/archive-fuzz.XXXXXX";
static int folder_fd = -1;

static void must(bool true_always, const char *what)
{
	if (!true_always) {
		fprintf(stderr, "broken: %s\n", what);
		abort();
	}
}

static void folder_end(void)
{
	char name[ARCHIVE_FILE_TEXT];

	archive_file(1, name);
	unlinkat(folder_fd, name, 0);
	rmdir(folder);
}

static void folder_begin(void)
{
	if (folder_fd >= 0)
		return;
	must(mkdtemp(folder) != NULL, "a folder");
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(folder_fd >= 0 && atexit(folder_end) == 0, "its end");
}

static void put(int fd, const void *data, size_t bytes)
{
	must(write(fd, data, bytes) == (ssize_t)bytes, "a disk with room");
}

static void put_chunk(int fd, const uint8_t *data, size_t bytes)
{
	static unsigned char stored[1 << 20];
	struct archive_head head = {.order = ARCHIVE_ORDER,
				    .version = ARCHIVE_VERSION,
				    .plain = (uint32_t)bytes,
				    .number = 1};
	size_t n = ZSTD_compress(stored, sizeof(stored), data, bytes, 1);

	must(!ZSTD_isError(n), "compression");
	memcpy(head.magic, ARCHIVE_MAGIC, sizeof(head.magic));
	head.stored = (uint32_t)n;
	head.sum = archive_sum(&head, stored);
	put(fd, &head, sizeof(head));
	put(fd, stored, n);
}

/* Whatever is there: it ends, and what is wrong is said. */
static void read_all(void)
{
	struct error e = {""};
	struct archive_reader *r = archive_reader_new(folder, &e);
	struct frame frame;
	int rc;

	must(r != NULL, "an archive");
	while ((rc = archive_reader_frame(r, true, &frame, &e)) > 0)
		must(frame.header != NULL, "a frame");
	must(rc == 0 || e.text[0], "a fault that is said");
	must(archive_reader_done(r) <= archive_reader_bytes(r), "no more than there is");
	archive_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char name[ARCHIVE_FILE_TEXT];
	int fd;

	if (bytes < 2)
		return 0;
	folder_begin();
	archive_file(1, name);
	fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0, "a file");
	if (data[0] & FLAG_FRAMES)
		put_chunk(fd, data + 1, bytes - 1);
	else
		put(fd, data + 1, bytes - 1);
	close(fd);
	read_all();
	return 0;
}
