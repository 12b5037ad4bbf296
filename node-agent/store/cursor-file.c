/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes cursor files: a head, then blocks of rows. A block has its rows' lines and a
 * column for each of the last waves, so that a wave takes one write per block. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/store/cursor-private.h"
#include "tree/data/clock.h"

/* Files take memory in units of this. */
#define PAGE 4096u

#define ROW_BYTES (sizeof(struct cursor_line) + CURSOR_WAVES * sizeof(uint64_t))

struct cursor_file_block {
	uint32_t first, rows; /* its first row, and how many fit */
	off_t at;
};

static struct cursor_file_block block_first(void)
{
	return (struct cursor_file_block){.rows = ROWS_FIRST, .at = CURSOR_HEAD};
}

static struct cursor_file_block block_next(struct cursor_file_block b)
{
	uint32_t first = b.first + b.rows;

	return (struct cursor_file_block){first, first,
					  (off_t)(CURSOR_HEAD + (uint64_t)first * ROW_BYTES)};
}

static off_t block_column(const struct cursor_file_block *b, unsigned slot)
{
	return b->at + (off_t)(b->rows * (sizeof(struct cursor_line) + slot * sizeof(uint64_t)));
}

/* How many rows of the block are below @rows. */
static uint32_t block_used(const struct cursor_file_block *b, uint32_t rows)
{
	return rows - b->first < b->rows ? rows - b->first : b->rows;
}

static int read_all(int fd, void *to, size_t n, off_t at)
{
	ssize_t got = pread(fd, to, n, at);

	if (got == (ssize_t)n)
		return 0;
	errno = got < 0 ? errno : EINVAL;
	return -1;
}

static int write_all(int fd, const void *from, size_t n, off_t at)
{
	ssize_t put = pwrite(fd, from, n, at);

	if (put == (ssize_t)n)
		return 0;
	errno = put < 0 ? errno : ENOSPC;
	return -1;
}

int cursor_head_read(int fd, struct cursor_head *head)
{
	struct cursor_head h;

	if (read_all(fd, &h, sizeof(h), 0) < 0)
		return -1;
	if (h.magic != CURSOR_MAGIC || h.version != CURSOR_VERSION ||
	    h.line_bytes != sizeof(struct cursor_line) || h.rows > ROWS_MAX || h.made > INT64_MAX ||
	    h.left > 1 || !memchr(h.peer, '\0', sizeof(h.peer))) {
		errno = EINVAL;
		return -1;
	}
	*head = h;
	return 0;
}

int cursor_head_write(int fd, struct cursor_head *head)
{
	head->used_ns = clock_mono_ns();
	return write_all(fd, head, sizeof(*head), 0);
}

int cursor_lines_read(int fd, uint32_t rows, struct cursor_line *lines)
{
	for (struct cursor_file_block b = block_first(); b.first < rows; b = block_next(b)) {
		if (read_all(fd, &lines[b.first], block_used(&b, rows) * sizeof(*lines), b.at) < 0)
			return -1;
	}
	return 0;
}

int cursor_lines_write(int fd, uint32_t from, uint32_t rows, const struct cursor_line *lines)
{
	for (struct cursor_file_block b = block_first(); b.first < rows; b = block_next(b)) {
		uint32_t skip = from > b.first ? from - b.first : 0, used = block_used(&b, rows);

		if (skip < used &&
		    write_all(fd, &lines[b.first + skip], (used - skip) * sizeof(*lines),
			      b.at + (off_t)(skip * sizeof(*lines))) < 0)
			return -1;
	}
	return 0;
}

int cursor_column_read(int fd, uint32_t rows, unsigned slot, uint64_t *ends)
{
	for (struct cursor_file_block b = block_first(); b.first < rows; b = block_next(b)) {
		if (pread(fd, &ends[b.first], block_used(&b, rows) * sizeof(*ends),
			  block_column(&b, slot)) < 0)
			return -1;
	}
	return 0;
}

int cursor_column_write(int fd, uint32_t rows, unsigned slot, const uint64_t *ends)
{
	for (struct cursor_file_block b = block_first(); b.first < rows; b = block_next(b)) {
		if (write_all(fd, &ends[b.first], block_used(&b, rows) * sizeof(*ends),
			      block_column(&b, slot)) < 0)
			return -1;
	}
	return 0;
}

uint64_t cursor_file_bytes(uint32_t rows, uint32_t reserved)
{
	uint64_t bytes = PAGE;

	for (struct cursor_file_block b = block_first(); b.first < rows; b = block_next(b))
		bytes += b.first < reserved
				 ? b.rows * ROW_BYTES
				 : block_used(&b, rows) * sizeof(struct cursor_line) + PAGE;
	return bytes;
}

int cursor_columns_reserve(int fd, uint32_t from, uint32_t rows)
{
	for (struct cursor_file_block b = block_first(); b.first < rows; b = block_next(b)) {
		int err = b.first + b.rows > from
				  ? posix_fallocate(fd, b.at, (off_t)(b.rows * ROW_BYTES))
				  : 0;

		if (err) {
			errno = err;
			return -1;
		}
	}
	return 0;
}

/* ---- its use ---- */

int cursor_use_read(int fd, struct cursor_use *use)
{
	struct cursor_head head;

	/* a time of another boot, or a forged one */
	if (cursor_head_read(fd, &head) < 0 || head.used_ns > clock_mono_ns())
		return -1;
	*use = (struct cursor_use){
		.used_ns = head.used_ns,
		.left = head.left,
		.keep_ns = head.keep_ns,
	};
	memcpy(use->peer, head.peer, sizeof(use->peer));
	return 0;
}

uint64_t cursor_use_rest(const struct cursor_use *use, uint64_t retention_ns)
{
	bool short_lived = use->left && use->keep_ns < retention_ns;
	uint64_t keep = short_lived ? use->keep_ns : retention_ns;
	uint64_t unused = clock_mono_ns() - use->used_ns;

	return keep > unused ? keep - unused : 0;
}
