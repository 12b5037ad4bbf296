/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: files of an archive as they lie on a disk, and chunks with right checksums of frames
 * and indexes that nobody has checked, which are passed over or not. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "consumers/archive/archive-reader.h"

#define FLAG_CHUNKS                                                                  \
	1 /* what follows are chunks that are right, each with what is in it; else a \
	   * file */

/* Of each chunk, before what is in it: how much that is, its kind, and its first and last wave
 * after the one before. */
struct piece {
	uint8_t bytes[2], kind, first, last;
};

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

static void put_chunk(int fd, struct archive_head head, const uint8_t *data, size_t bytes)
{
	static unsigned char stored[1 << 20];
	size_t n = ZSTD_compress(stored, sizeof(stored), data, bytes, 1);

	head.order = ARCHIVE_ORDER;
	head.version = ARCHIVE_VERSION;
	head.plain = (uint32_t)bytes;

	must(!ZSTD_isError(n), "compression");
	memcpy(head.magic, ARCHIVE_MAGIC, sizeof(head.magic));
	head.stored = (uint32_t)n;
	head.sum = archive_sum(&head, stored);
	put(fd, &head, sizeof(head));
	put(fd, stored, n);
}

static void put_chunks(int fd, const uint8_t *data, size_t bytes)
{
	struct archive_head head = {.number = 1};
	struct piece piece;

	while (bytes > sizeof(piece)) {
		size_t n;

		memcpy(&piece, data, sizeof(piece));
		data += sizeof(piece);
		bytes -= sizeof(piece);
		n = (size_t)(piece.bytes[0] | piece.bytes[1] << 8) % bytes + 1;
		head.kind = piece.kind % 4;
		head.first = head.last + piece.first % 4;
		head.last = head.first + piece.last % 4;
		put_chunk(fd, head, data, n);
		head.number += head.kind != ARCHIVE_INDEX;
		data += n;
		bytes -= n;
	}
}

/* What is wanted: all, nothing, or what has an odd element. */
enum wanted { ALL, NONE, ODD };

/* What one reading has found. */
struct found {
	int rc;
	uint64_t frames, chunks, passed, asked, refused;
	enum wanted wanted;
};

static bool wants(void *arg, const struct archive_head *head,
		  const struct archive_elements *elements, size_t n)
{
	struct found *f = arg;
	bool odd = false;

	must(head->kind == ARCHIVE_INDEX && n * sizeof(*elements) <= head->plain,
	     "elements that are there");
	for (size_t i = 0; i < n; i++)
		odd |= elements[i].from & 1;
	f->asked++;
	odd = f->wanted == ALL || (f->wanted == ODD && odd);
	f->refused += !odd;
	return odd;
}

/* Whatever is there: it ends, and what is wrong is said. */
static struct found read_all(bool select, enum wanted wanted)
{
	struct found f = {.wanted = wanted};
	struct error e = {""};
	struct archive_reader *r = archive_reader_new(folder, &e);
	struct frame frame;
	uint64_t wave;

	must(r != NULL, "an archive");
	if (select)
		archive_reader_select(r, wants, &f);
	while ((f.rc = archive_reader_frame(r, true, &frame, &e)) > 0) {
		must(frame.header != NULL, "a frame");
		f.frames++;
	}
	f.passed = archive_reader_passed(r, &wave);
	f.chunks = archive_reader_end(r).chunks;
	must(f.rc == 0 || e.text[0], "a fault that is said");
	must(archive_reader_done(r) <= archive_reader_bytes(r), "no more than there is");
	must(f.passed <= f.refused, "nothing passed over that is wanted");
	archive_reader_free(r);
	return f;
}

/* What is passed over makes no difference to the rest. */
static void read_each(void)
{
	struct found plain = read_all(false, ALL), all = read_all(true, ALL);
	struct found odd = read_all(true, ODD), none = read_all(true, NONE);

	must(plain.rc == all.rc && plain.frames == all.frames && all.passed == 0,
	     "all if all is wanted");
	if (plain.rc < 0)
		return;
	must(odd.rc == 0 && odd.frames <= plain.frames && odd.chunks == plain.chunks,
	     "no more than there is, to the same end");
	must(none.rc == 0 && none.frames <= odd.frames && none.chunks == plain.chunks,
	     "nothing that is not wanted, to the same end");
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
	if (data[0] & FLAG_CHUNKS)
		put_chunks(fd, data + 1, bytes - 1);
	else
		put(fd, data + 1, bytes - 1);
	close(fd);
	read_each();
	return 0;
}
