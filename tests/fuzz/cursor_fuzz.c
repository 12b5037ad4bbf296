/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: the input is a cursor file that an agent finds; it is used as a scope uses it, and
 * what it says then must be what the next agent finds. */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/store/cursor-private.h"
#include "node-agent/store/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned char id[16] = {1, 2, 3};
static char dir[] = "/dev/shm/evspace-fuzz-XXXXXX";
static char path[sizeof(dir) + CURSOR_FILE];

static void must(bool true_always, const char *what)
{
	if (!true_always) {
		fprintf(stderr, "broken: %s\n", what);
		abort();
	}
}

static void files_remove(void)
{
	unlink(path);
	rmdir(dir);
}

static void folder_make(void)
{
	char name[CURSOR_FILE];

	must(mkdtemp(dir) != NULL, "no folder");
	atexit(files_remove);
	cursor_file(name, id, "n");
	snprintf(path, sizeof(path), "%s/%s", dir, name);
}

/* Unless the first byte says otherwise, the head is one that may be: so all else is looked at. */
static void head_mend(struct cursor_head *head, uint8_t by)
{
	if (by % 8 == 0)
		return;
	head->magic = CURSOR_MAGIC;
	head->version = CURSOR_VERSION;
	head->line_bytes = sizeof(struct cursor_line);
	memcpy(head->id, id, sizeof(id));
	head->left &= 1;
	head->peer[sizeof(head->peer) - 1] = '\0';
	if (by & 8)
		head->rows %= 3 * ROWS_FIRST;
	if (by & 16)
		head->made %= 2 * CURSOR_WAVES;
}

/* The input is a head, lines behind it, and whatever columns that makes. */
static void file_write(const uint8_t *data, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct cursor_head head = {0};
	const uint8_t *in = data + 2;
	size_t left = size - 2, n = left < sizeof(head) ? left : sizeof(head);

	memcpy(&head, in, n);
	head_mend(&head, data[0]);
	must(fd >= 0 && pwrite(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head), "no head");
	left -= n;
	must(pwrite(fd, in + n, left, CURSOR_HEAD) == (ssize_t)left, "no lines");
	if (data[0] & 32)
		must(ftruncate(fd, (off_t)data[1] << 10) == 0, "no size");
	close(fd);
}

static void wave(struct cursor *c, uint64_t number, bool again, uint64_t have)
{
	enum cursor_wave what = cursor_wave(c, number, again, have);

	for (uint32_t i = 0; i < cursor_rows(c); i++) {
		if (what == CURSOR_NEW)
			cursor_to(c, i, cursor_from(c, i) + i);
		else if (what == CURSOR_AGAIN)
			(void)(cursor_from(c, i) + cursor_end(c, i));
	}
	if (what == CURSOR_NEW)
		must(cursor_commit(c) == 0, "a wave is not kept");
}

/* Positions and waves are as they were left. */
static void resumed(uint32_t rows, uint64_t number, uint64_t from, uint64_t end)
{
	struct cursor *c = cursor_open(dir, id, "n", NULL, NULL);

	must(c != NULL && cursor_resumed(c) && cursor_rows(c) == rows, "nothing is resumed");
	must(cursor_wave(c, number, true, 0) == CURSOR_AGAIN, "a wave is forgotten");
	must(cursor_from(c, rows - 1) == from && cursor_end(c, rows - 1) == end,
	     "a wave has another range");
	cursor_close(c, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct cursor_key key = {.device = 1, .inode = size, .born = 3};
	struct cursor_use use;
	struct cursor *c;
	uint64_t from, end, number = UINT64_MAX / 2;
	uint32_t row;
	int fd;

	if (!path[0])
		folder_make();
	if (size < 2)
		return 0;
	file_write(data, size);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	(void)cursor_use_read(fd, &use);
	close(fd);
	c = cursor_open(dir, id, "n", NULL, NULL);
	must(c != NULL, "a file that is not sound is not replaced");
	for (uint64_t i = 1; i < 4; i++)
		wave(c, i + (size > 8 ? data[8] : 0), data[1] >> i & 1, data[size - 1]);
	row = cursor_row(c, &key, 7);
	if (row != UINT32_MAX && cursor_wave(c, number, false, number - 1) == CURSOR_NEW) {
		for (uint32_t i = 0; i < cursor_rows(c); i++) {
			from = cursor_from(c, i);
			cursor_to(c, i, from < UINT64_MAX - 5 ? from + 5 : from);
		}
		row = cursor_rows(c) - 1;
		from = cursor_from(c, row);
		end = from < UINT64_MAX - 5 ? from + 5 : from;
		must(cursor_sync(c) == 0 && cursor_commit(c) == 0, "a wave is not kept");
		cursor_close(c, true);
		resumed(row + 1, number, from, end);
		return 0;
	}
	cursor_close(c, false);
	return 0;
}
