/* SPDX-License-Identifier: BSD-3-Clause */
/* A mapped table, one row an element: where each of the last waves ended. */
#include "node-agent/cursor-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "tree/clock.h"

#define TOUCH_NS 500000000u

/* The index over keys; `row` numbers lines. */
struct cursor_index {
	struct cursor_key key;
	uint32_t row;
	UT_hash_handle hh;
};

struct cursor {
	struct cursor_head *head;
	struct cursor_line *lines; /* behind the head, in the same mapping */
	size_t bytes;
	int fd; /* -1: in memory only */
	char path[512];
	uint64_t slot; /* of the wave looked up last */
	uint64_t wave;
	bool resumed;
	uint64_t touched_ns; /* when the file was last marked as in use */
	struct cursor_index *index;
};

static int cursor_map(struct cursor *c, size_t bytes)
{
	int flags = c->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, c->fd, 0);

	if (p == MAP_FAILED)
		return -1;
	c->head = p;
	c->lines = (struct cursor_line *)(c->head + 1);
	c->bytes = bytes;
	return 0;
}

/* Room for twice as many rows; rows keep their numbers. */
static int cursor_grow(struct cursor *c)
{
	uint64_t room = c->head->room * 2;
	size_t bytes = cursor_bytes(room);
	void *p;
	int err;

	if (room > ROWS_MAX) {
		errno = ENOSPC;
		return -1;
	}
	if (c->fd >= 0) {
		/* A hole in a full file system would be a SIGBUS later. */
		err = posix_fallocate(c->fd, 0, (off_t)bytes);
		if (err) {
			errno = err;
			return -1;
		}
	}
	p = mremap(c->head, c->bytes, bytes, MREMAP_MAYMOVE);
	if (p == MAP_FAILED)
		return -1;
	c->head = p;
	c->lines = (struct cursor_line *)(c->head + 1);
	c->bytes = bytes;
	c->head->room = room;
	return 0;
}

static void cursor_index_add(struct cursor *c, uint32_t row)
{
	struct cursor_index *i = calloc(1, sizeof(*i));

	if (!i)
		abort();
	i->key = c->lines[row].key;
	i->row = row;
	HASH_ADD(hh, c->index, key, sizeof(i->key), i);
}

static int cursor_begin(struct cursor *c, const unsigned char id[16])
{
	size_t bytes = cursor_bytes(ROWS_FIRST);
	int err;

	if (c->fd >= 0) {
		if (ftruncate(c->fd, 0) < 0)
			return -1;
		err = posix_fallocate(c->fd, 0, (off_t)bytes);
		if (err) {
			errno = err;
			return -1;
		}
	}
	if (cursor_map(c, bytes) < 0)
		return -1;
	memcpy(c->head->id, id, sizeof(c->head->id));
	c->head->version = CURSOR_VERSION;
	c->head->row_bytes = sizeof(struct cursor_line);
	c->head->room = ROWS_FIRST;
	c->head->magic = CURSOR_MAGIC;
	return 0;
}

static int cursor_resume(struct cursor *c, const unsigned char id[16])
{
	struct stat st;

	if (fstat(c->fd, &st) < 0)
		return -1;
	if ((size_t)st.st_size >= sizeof(struct cursor_head)) {
		if (cursor_map(c, (size_t)st.st_size) < 0)
			return -1;
		if (cursor_sound(c->head, c->bytes, id)) {
			for (uint32_t i = 0; i < c->head->rows; i++)
				cursor_index_add(c, i);
			c->resumed = true;
			return 0;
		}
		munmap(c->head, c->bytes);
		c->head = NULL;
	}
	return cursor_begin(c, id);
}

/* Another scope counts in the file: it stays as it is. */
static void cursor_locked(struct cursor *c, const char *dir, struct error *e)
{
	if (errno == EWOULDBLOCK)
		errorf(e,
		       "another scope with the same id has %s in use: one of a connection that is "
		       "not given up yet, or of a second agent with this node's name",
		       c->path);
	else
		errorf(e, "cannot lock cursors in %s: %s", dir, strerror(errno));
	close(c->fd);
	c->fd = -1;
	cursor_close(c, false);
}

struct cursor *cursor_open(const char *dir, const unsigned char id[16], const char *node,
			   struct error *e)
{
	struct cursor *c = calloc(1, sizeof(*c));
	char name[CURSOR_FILE];

	if (!c)
		abort();
	c->fd = -1;
	if (!dir) {
		if (cursor_begin(c, id) < 0)
			goto fail;
		return c;
	}
	cursor_file(name, id, node);
	snprintf(c->path, sizeof(c->path), "%s/%s", dir, name);
	c->fd = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* The lock: in use, however old it is; and one scope alone may count in it. */
	if (c->fd >= 0 && flock(c->fd, LOCK_EX | LOCK_NB) < 0) {
		cursor_locked(c, dir, e);
		return NULL;
	}
	if (c->fd < 0 || cursor_resume(c, id) < 0)
		goto fail;
	return c;
fail:
	errorf(e, "cannot keep cursors in %s: %s; free some space there, or set EVSPACE_DIR",
	       dir ? dir : "memory", strerror(errno));
	cursor_close(c, false);
	return NULL;
}

void cursor_close(struct cursor *c, bool keep)
{
	struct cursor_index *i, *next;
	int saved = errno;

	if (!c)
		return;
	HASH_ITER(hh, c->index, i, next)
	{
		HASH_DEL(c->index, i);
		free(i);
	}
	if (c->head)
		munmap(c->head, c->bytes);
	if (c->fd >= 0) {
		/* What is kept is kept for so long from now on. */
		if (keep)
			futimens(c->fd, NULL);
		else
			unlink(c->path);
		close(c->fd);
	}
	free(c);
	errno = saved;
}

bool cursor_resumed(const struct cursor *c)
{
	return c->resumed;
}

uint32_t cursor_rows(const struct cursor *c)
{
	return (uint32_t)c->head->rows;
}

uint32_t cursor_find(const struct cursor *c, const struct cursor_key *key)
{
	struct cursor_index *i;

	HASH_FIND(hh, c->index, key, sizeof(*key), i);
	return i ? i->row : UINT32_MAX;
}

static uint32_t line_add(struct cursor *c, const struct cursor_key *key, uint64_t start, bool given)
{
	struct cursor_line *line;
	uint32_t row;

	if (c->head->rows == c->head->room && cursor_grow(c) < 0)
		return UINT32_MAX;
	row = (uint32_t)c->head->rows;
	line = &c->lines[row];
	line->key = *key;
	for (unsigned k = 0; k < CURSOR_WAVES; k++)
		line->ends[k] = start;
	atomic_store_explicit(&line->given, given, memory_order_relaxed);
	/* The row counts only once it is whole: we may be killed at any instruction. */
	__atomic_store_n(&c->head->rows, row + 1, __ATOMIC_RELEASE);
	cursor_index_add(c, row);
	return row;
}

uint32_t cursor_row(struct cursor *c, const struct cursor_key *key, uint64_t start)
{
	uint32_t row = cursor_find(c, key);

	return row == UINT32_MAX ? line_add(c, key, start, false) : row;
}

uint32_t cursor_row_given(struct cursor *c, const struct cursor_key *key, uint64_t start)
{
	return line_add(c, key, start, true);
}

uint64_t cursor_position(const struct cursor *c, uint32_t row)
{
	return c->lines[row].ends[c->head->made % CURSOR_WAVES];
}

bool cursor_is_given(const struct cursor *c, uint32_t row)
{
	return atomic_load_explicit(&c->lines[row].given, memory_order_acquire) != 0;
}

void cursor_give(struct cursor *c, uint32_t row)
{
	atomic_store_explicit(&c->lines[row].given, 1, memory_order_release);
}

enum cursor_wave cursor_wave(struct cursor *c, uint64_t wave, bool again, uint64_t have)
{
	struct cursor_head *h = c->head;
	uint64_t oldest = h->made >= CURSOR_WAVES - 1 ? h->made - (CURSOR_WAVES - 1) : 0;

	c->wave = wave;
	/* Slot 0 of the count stands for the beginning, so wave i's range is ends[i] to ends[i +
	 * 1]. */
	for (uint64_t i = oldest; i < h->made; i++) {
		if (h->waves[(i + 1) % CURSOR_WAVES] != wave)
			continue;
		c->slot = i;
		return CURSOR_AGAIN;
	}
	c->slot = h->made;
	/* Who is told that there is nothing of a wave waits for it no longer: another ask for it
	 * may still be on its way, by another way, and must not make it. */
	if (again && wave > h->never)
		h->never = wave;
	/* Waves are made in order. An ask that a later one has overtaken, by another way, may be
	 * answered to somebody who waits for it no longer: its tuples are in the later one. */
	if (wave <= h->never || (h->made > 0 && wave < h->waves[h->made % CURSOR_WAVES]))
		return CURSOR_NEVER;
	if (h->made >= CURSOR_WAVES - 1 && h->waves[(oldest + 1) % CURSOR_WAVES] > have) {
		h->never = wave;
		return CURSOR_FULL;
	}
	return CURSOR_NEW;
}

uint64_t cursor_from(const struct cursor *c, uint32_t row)
{
	return c->lines[row].ends[c->slot % CURSOR_WAVES];
}

uint64_t cursor_end(const struct cursor *c, uint32_t row)
{
	return c->lines[row].ends[(c->slot + 1) % CURSOR_WAVES];
}

void cursor_to(struct cursor *c, uint32_t row, uint64_t to)
{
	c->lines[row].ends[(c->slot + 1) % CURSOR_WAVES] = to;
}

/*
 * Writing through a mapping leaves a file as old as it was. Were its agent killed, others and its
 * next one would take it for one that has been given up long ago.
 */
static void cursor_touch(struct cursor *c)
{
	uint64_t now = clock_mono_ns();

	if (c->fd < 0 || now - c->touched_ns < TOUCH_NS)
		return;
	futimens(c->fd, NULL);
	c->touched_ns = now;
}

void cursor_commit(struct cursor *c)
{
	struct cursor_head *h = c->head;

	h->waves[(h->made + 1) % CURSOR_WAVES] = c->wave;
	__atomic_store_n(&h->made, h->made + 1, __ATOMIC_RELEASE);
	cursor_touch(c);
}
