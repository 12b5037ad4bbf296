/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes through the files of an archive; a chunk is in memory whole before anything of it is used.
 */
#include "consumers/archive/archive-reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "pathmap/base/memory.h"
#include "tree/data/arena.h"

/* What the header of one frame may take. */
#define HEADER_MEMORY (64u << 20)

struct archive_reader {
	char *folder;
	int folder_fd, fd;
	unsigned *files;
	int n_files, at; /* the present one; n_files: at the end */
	char file[ARCHIVE_FILE_TEXT];
	uint64_t offset;	/* of the next chunk in it */
	uint64_t before;	/* bytes of the files before it */
	bool begun;		/* a chunk was read */
	uint64_t torn;		/* bytes at the end that are no chunk */
	uint64_t index_at;	/* where an index is whose chunk was not read yet … */
	bool indexed, unwanted; /* … if there is one; its chunk is not needed */
	archive_wants *wants;
	void *wants_arg;
	uint64_t n_passed, passed, newest; /* the last wave of these, and of all so far */
	struct archive_head head;
	struct archive_end end;
	unsigned char *stored, *plain;
	size_t stored_room, plain_room;
	size_t fed; /* bytes of plain that are in the deframer */
	struct arena arena;
	struct deframer deframer;
};

/* ---- life ---- */

static void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

struct archive_reader *archive_reader_new(const char *folder, struct error *e)
{
	struct archive_reader *r = memory_new(1, sizeof(*r));

	r->folder = memory_copy(folder);
	r->fd = -1;
	arena_init(&r->arena, HEADER_MEMORY);
	deframer_init(&r->deframer, &r->arena, &wire_child_limits);
	r->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r->n_files = r->folder_fd < 0 ? -1 : archive_files(r->folder_fd, &r->files);
	if (r->n_files > 0)
		return r;
	if (r->n_files < 0) {
		errorf(e, "%s: %m", folder);
	} else {
		errno = ENODATA;
		errorf(e, "%s: there is no archive in it", folder);
	}
	archive_reader_free(r);
	return NULL;
}

void archive_reader_free(struct archive_reader *r)
{
	int saved = errno;

	if (!r)
		return;
	fd_close(&r->fd);
	fd_close(&r->folder_fd);
	deframer_fini(&r->deframer);
	arena_fini(&r->arena);
	free(r->files);
	free(r->stored);
	free(r->plain);
	free(r->folder);
	free(r);
	errno = saved;
}

/* ---- chunks ---- */

static int fault(const struct archive_reader *r, struct error *e, const struct error *what)
{
	return errorf(e, "%s/%s, byte %llu: %s", r->folder, r->file, (unsigned long long)r->offset,
		      what->text);
}

static uint64_t file_bytes(const struct archive_reader *r)
{
	struct stat s;

	return fstat(r->fd, &s) < 0 || s.st_size < 0 ? 0 : (uint64_t)s.st_size;
}

static int file_open(struct archive_reader *r, struct error *e)
{
	archive_file(r->files[r->at], r->file);
	r->fd = openat(r->folder_fd, r->file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	r->offset = 0;
	return r->fd < 0 ? errorf(e, "%s/%s: %m", r->folder, r->file) : 0;
}

/* Read @bytes at @at of the file, or as many as there are. */
static size_t read_at(const struct archive_reader *r, void *to, size_t bytes, uint64_t at)
{
	size_t got = 0;

	while (got < bytes) {
		ssize_t n = pread(r->fd, (char *)to + got, bytes - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

static void room(unsigned char **buffer, size_t *has, size_t needs)
{
	if (*has >= needs)
		return;
	free(*buffer);
	*buffer = memory_new(needs, 1);
	*has = needs;
}

/* Read the bytes behind the head, as many as the file has. Returns 0; 1: it ends before; -1 with
 * @e: they are not what was written. */
static int stored_read(struct archive_reader *r, const struct archive_head *head, struct error *e)
{
	uint64_t at = r->offset + sizeof(*head), bytes = file_bytes(r);

	/* before there is memory for it */
	if (bytes < at || bytes - at < head->stored)
		return 1;
	room(&r->stored, &r->stored_room, head->stored);
	if (read_at(r, r->stored, head->stored, at) < head->stored)
		return 1;
	if (archive_sum(head, r->stored) == head->sum)
		return 0;
	/* nobody has waited for its end */
	if (bytes == at + head->stored && r->at + 1 == r->n_files)
		return 1;
	errno = EPROTO;
	return errorf(e, "chunk %llu is damaged: its checksum is another one",
		      (unsigned long long)head->number);
}

static int unpack(struct archive_reader *r, const struct archive_head *head, struct error *e)
{
	size_t got;

	if (ZSTD_getFrameContentSize(r->stored, head->stored) != head->plain) {
		errno = EPROTO;
		return errorf(e, "chunk %llu unpacks to another size than it says",
			      (unsigned long long)head->number);
	}
	room(&r->plain, &r->plain_room, head->plain);
	got = ZSTD_decompress(r->plain, r->plain_room, r->stored, head->stored);
	if (!ZSTD_isError(got) && got == head->plain)
		return 0;
	errno = EPROTO;
	return errorf(e, "chunk %llu cannot be unpacked", (unsigned long long)head->number);
}

void archive_reader_select(struct archive_reader *r, archive_wants *wants, void *arg)
{
	r->wants = wants;
	r->wants_arg = arg;
}

uint64_t archive_reader_passed(const struct archive_reader *r, uint64_t *wave)
{
	*wave = r->passed;
	return r->n_passed;
}

/* Do ranges ascend, and leave no id to two of them? */
static bool is_ascending(const struct archive_elements *elements, size_t n)
{
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++) {
		if (elements[i].count > 0 && elements[i].from < end)
			return false;
		if (elements[i].count > 0)
			end = (uint64_t)elements[i].from + elements[i].count;
	}
	return true;
}

/* The present chunk is an index: is the next one needed? Of waves that come in another order, and
 * of an index that nobody has written so, all are. */
static void index_take(struct archive_reader *r, const struct archive_head *head)
{
	const struct archive_elements *elements =
		(const struct archive_elements *)(const void *)r->plain;
	size_t n = head->plain / sizeof(*elements);

	r->indexed = true;
	r->unwanted = r->wants && head->first > r->newest && n > 0 &&
		      head->plain <= ARCHIVE_INDEX_MOST && is_ascending(elements, n) &&
		      !r->wants(r->wants_arg, head, elements, n);
}

/* The chunk with the head @head is whole, and is in the archive. */
static void chunk_end(struct archive_reader *r, const struct archive_head *head)
{
	r->head = *head;
	r->offset += sizeof(*head) + head->stored;
	r->end = (struct archive_end){r->files[r->at], r->offset, head->number};
	r->newest = head->last > r->newest ? head->last : r->newest;
	r->indexed = r->unwanted = false;
}

/* Pass over the chunk with this head. Returns whether it is not needed. */
static bool pass_over(struct archive_reader *r, const struct archive_head *head)
{
	uint64_t behind = r->offset + sizeof(*head);

	/* what is not all there is judged as ever */
	if (!r->unwanted || head->kind != ARCHIVE_CAME || file_bytes(r) - behind < head->stored)
		return false;
	chunk_end(r, head);
	r->fed = r->head.plain = 0;
	r->n_passed++;
	r->passed = head->last;
	return true;
}

#define PASSED 2

/* The next chunk of the present file. Returns 1, PASSED: it is nothing to read, 0 at its end, or -1
 * with @e. */
static int chunk_read(struct archive_reader *r, struct error *e)
{
	bool last = r->at + 1 == r->n_files;
	struct archive_head head;
	struct error what;
	size_t got = read_at(r, &head, sizeof(head), r->offset);
	int rc;

	if (got == 0 && !r->indexed)
		return 0;
	rc = got < sizeof(head) ? 1 : archive_head_check(&head, &what);
	if (rc == 0 && pass_over(r, &head))
		return PASSED;
	if (rc == 0)
		rc = stored_read(r, &head, &what);
	if (rc == 1 && last) {
		r->offset = r->indexed ? r->index_at : r->offset;
		r->torn = file_bytes(r) - r->offset;
		return 0;
	}
	if (rc == 1) {
		errno = EPROTO;
		errorf(&what, "the file ends within a chunk");
	}
	if (rc != 0 || unpack(r, &head, &what) < 0)
		return fault(r, e, &what);
	if (head.kind == ARCHIVE_INDEX) {
		index_take(r, &head);
		r->index_at = r->offset;
		r->offset += sizeof(head) + head.stored;
		return PASSED;
	}
	chunk_end(r, &head);
	r->fed = 0;
	return head.kind == ARCHIVE_SNAPSHOT && r->begun ? PASSED : 1;
}

int archive_reader_chunk(struct archive_reader *r, struct error *e)
{
	int rc;

	for (; r->at < r->n_files; r->at++) {
		if (r->fd < 0 && file_open(r, e) < 0)
			return -1;
		while ((rc = chunk_read(r, e)) == PASSED)
			;
		r->begun |= rc > 0;
		if (rc != 0)
			return rc;
		/* where a writer goes on, also if there is nothing in it */
		r->end.file = r->files[r->at];
		r->end.bytes = r->offset;
		r->before += r->offset;
		fd_close(&r->fd);
	}
	r->fed = r->head.plain = 0;
	return 0;
}

const struct archive_head *archive_reader_head(const struct archive_reader *r)
{
	return &r->head;
}

struct archive_end archive_reader_end(const struct archive_reader *r)
{
	return r->end;
}

uint64_t archive_reader_torn(const struct archive_reader *r)
{
	return r->torn;
}

uint64_t archive_reader_done(const struct archive_reader *r)
{
	return r->before + (r->fd < 0 ? 0 : r->offset);
}

uint64_t archive_reader_bytes(const struct archive_reader *r)
{
	uint64_t bytes = 0;
	struct stat s;

	for (int i = 0; i < r->n_files; i++) {
		char name[ARCHIVE_FILE_TEXT];

		archive_file(r->files[i], name);
		if (fstatat(r->folder_fd, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && s.st_size > 0)
			bytes += (uint64_t)s.st_size;
	}
	return bytes;
}

/* ---- frames ---- */

/* Give the deframer more of the chunk. Returns whether there was any. */
static bool feed(struct archive_reader *r)
{
	size_t free_bytes, n = r->head.plain - r->fed;
	unsigned char *to;

	if (n == 0)
		return false;
	to = deframer_room(&r->deframer, &free_bytes);
	n = n < free_bytes ? n : free_bytes;
	memcpy(to, r->plain + r->fed, n);
	deframer_filled(&r->deframer, n);
	r->fed += n;
	return true;
}

int archive_reader_frame(struct archive_reader *r, bool on, struct frame *frame, struct error *e)
{
	struct error what;
	int rc;

	for (;;) {
		rc = deframer_next(&r->deframer, frame, &what);
		if (rc > 0)
			return rc;
		if (rc == 0 && feed(r))
			continue;
		if (rc == 0 && deframer_partial(&r->deframer)) {
			errno = EPROTO;
			rc = errorf(&what, "a frame goes on behind its chunk");
		}
		if (rc < 0) {
			errno = EPROTO;
			return errorf(e, "%s/%s, chunk %llu: %s", r->folder, r->file,
				      (unsigned long long)r->head.number, what.text);
		}
		rc = on ? archive_reader_chunk(r, e) : 0;
		if (rc <= 0)
			return rc;
	}
}
