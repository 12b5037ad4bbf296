/* SPDX-License-Identifier: BSD-3-Clause */
/* A table in memory of where each of the last waves ended, one row per element; and its file. */
#include "node-agent/store/cursor-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "pathmap/base/hash.h"
#include "node-agent/segment/folder.h"
#include "node-agent/store/shelf.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* Finds the row of a key. */
struct cursor_index {
	struct cursor_key key;
	uint32_t row;
	UT_hash_handle hh;
};

struct cursor {
	struct cursor_head head;
	struct cursor_line *lines;
	uint64_t *ends; /* CURSOR_WAVES columns of `room` rows */
	uint32_t room;
	uint32_t synced;	 /* rows that the file has */
	uint32_t reserved;	 /* rows whose columns have space in it */
	int fd;			 /* -1: in memory only */
	struct shelf_item *item; /* NULL: its size is not limited */
	char path[512];
	uint64_t slot; /* of the wave looked up last */
	uint64_t wave;
	bool resumed;
	struct cursor_index *index;
};

static uint32_t rows_of(const struct cursor *c)
{
	return (uint32_t)c->head.rows;
}

static uint64_t *column(const struct cursor *c, uint64_t slot)
{
	return &c->ends[slot % CURSOR_WAVES * c->room];
}

/* Make room for more rows; rows keep their numbers. */
static void cursor_room(struct cursor *c, uint32_t room)
{
	uint64_t *ends = memory_new((size_t)room * CURSOR_WAVES, sizeof(*ends));

	for (unsigned k = 0; k < CURSOR_WAVES && c->ends; k++)
		memcpy(&ends[(size_t)k * room], column(c, k), rows_of(c) * sizeof(*ends));
	free(c->ends);
	c->ends = ends;
	c->lines = reallocarray(c->lines, room, sizeof(*c->lines));
	if (!c->lines)
		abort();
	c->room = room;
}

static void cursor_index_add(struct cursor *c, uint32_t row)
{
	struct cursor_index *i = memory_new(1, sizeof(*i));

	i->key = c->lines[row].key;
	i->row = row;
	HASH_ADD(hh, c->index, key, sizeof(i->key), i);
}

static void cursor_index_clear(struct cursor *c)
{
	struct cursor_index *i, *next;

	HASH_ITER(hh, c->index, i, next)
	{
		HASH_DEL(c->index, i);
		free(i);
	}
}

/* The row of an element, UINT32_MAX: it has none. */
static uint32_t cursor_find(const struct cursor *c, const struct cursor_key *key)
{
	struct cursor_index *i;

	HASH_FIND(hh, c->index, key, sizeof(*key), i);
	return i ? i->row : UINT32_MAX;
}

/* ---- the file ---- */

/* Ask the shelf for the file's size with all rows, and columns of those below @reserved. */
static int cursor_grow(const struct cursor *c, uint32_t reserved)
{
	return c->item ? shelf_grow(c->item, cursor_file_bytes(rows_of(c), reserved)) : 0;
}

int cursor_sync(struct cursor *c)
{
	if (c->fd < 0 || c->synced == rows_of(c))
		return 0;
	if (cursor_grow(c, c->reserved) < 0)
		return -1;
	/* Rows before the head that counts them, since the agent may be killed at any time. */
	if (cursor_lines_write(c->fd, c->synced, rows_of(c), c->lines) < 0 ||
	    cursor_head_write(c->fd, &c->head) < 0)
		return -1;
	c->synced = rows_of(c);
	return 0;
}

static int cursor_begin(struct cursor *c, const unsigned char id[16])
{
	cursor_index_clear(c);
	c->head = (struct cursor_head){
		.magic = CURSOR_MAGIC,
		.version = CURSOR_VERSION,
		.line_bytes = sizeof(struct cursor_line),
	};
	memcpy(c->head.id, id, sizeof(c->head.id));
	if (!c->room)
		cursor_room(c, ROWS_FIRST);
	if (c->fd < 0)
		return 0;
	return ftruncate(c->fd, 0) < 0 ? -1 : cursor_head_write(c->fd, &c->head);
}

/* Is a row that was read valid? */
static bool line_sound(const struct cursor *c, uint32_t row)
{
	const struct cursor_line *line = &c->lines[row];

	return line->key.born && line->since <= c->head.made && !line->key.zero && !line->zero[0] &&
	       !line->zero[1] && cursor_find(c, &line->key) == UINT32_MAX;
}

/* Set the columns from before the row was made, and check that the later ones only grow. */
static bool line_complete(struct cursor *c, uint32_t row)
{
	const struct cursor_line *line = &c->lines[row];
	uint64_t made = c->head.made, before = line->start;
	uint64_t oldest = made >= CURSOR_WAVES ? made - (CURSOR_WAVES - 1) : 0;

	for (uint64_t i = oldest; i < oldest + CURSOR_WAVES; i++) {
		uint64_t *end = &column(c, i)[row];

		if (i <= line->since || i > made)
			*end = line->start;
		else if (*end < before)
			return false;
		else
			before = *end;
	}
	return true;
}

static bool cursor_load(struct cursor *c, const unsigned char id[16])
{
	struct cursor_head head;

	if (cursor_head_read(c->fd, &head) < 0 || memcmp(head.id, id, sizeof(head.id)) != 0)
		return false;
	cursor_room(c, head.rows > ROWS_FIRST ? (uint32_t)head.rows : ROWS_FIRST);
	c->head = head;
	if (cursor_lines_read(c->fd, rows_of(c), c->lines) < 0)
		return false;
	for (unsigned k = 0; k < CURSOR_WAVES; k++)
		if (cursor_column_read(c->fd, rows_of(c), k, column(c, k)) < 0)
			return false;
	for (uint32_t row = 0; row < rows_of(c); row++) {
		if (!line_sound(c, row) || !line_complete(c, row))
			return false;
		cursor_index_add(c, row);
	}
	c->synced = rows_of(c);
	return true;
}

static int cursor_resume(struct cursor *c, const unsigned char id[16],
			 const struct cursor_owner *owner)
{
	c->resumed = cursor_load(c, id);
	if (!c->resumed && cursor_begin(c, id) < 0)
		return -1;
	c->head.left = 0;
	c->head.keep_ns = owner ? owner->keep_ns : UINT64_MAX;
	snprintf(c->head.peer, sizeof(c->head.peer), "%s", owner ? owner->peer : "");
	return cursor_head_write(c->fd, &c->head);
}

/* Another scope uses the file, so leave it as it is. */
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
			   const struct cursor_owner *owner, struct error *e)
{
	struct cursor *c = memory_new(1, sizeof(*c));
	char name[CURSOR_FILE];

	c->fd = -1;
	if (!dir) {
		(void)cursor_begin(c, id);
		return c;
	}
	cursor_file(name, id, node);
	snprintf(c->path, sizeof(c->path), "%s/%s", dir, name);
	c->fd = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* The lock protects the file from removal, however old it is, and from other scopes. */
	if (c->fd >= 0 && folder_lock(c->fd, LOCK_EX) < 0) {
		cursor_locked(c, dir, e);
		return NULL;
	}
	if (c->fd >= 0 && cursor_resume(c, id, owner) == 0) {
		if (owner && owner->shelf)
			c->item = shelf_open(owner->shelf, c->path, c->fd, owner->peer);
		return c;
	}
	(void)cursor_refused(dir, e);
	cursor_close(c, false);
	return NULL;
}

int cursor_refused(const char *dir, struct error *e)
{
	if (errno == EDQUOT)
		return errorf(e,
			      "cannot keep cursors in %s: those of all open streams may take "
			      "%u MiB (or a sixteenth of a small file system), those of one "
			      "consumer half of that; end some streams, or select fewer elements",
			      dir, SHELF_BYTES >> 20);
	return errorf(e,
		      "cannot keep cursors in %s: %s; free some space there (evspace purge), or "
		      "set EVSPACE_DIR",
		      dir, strerror(errno));
}

void cursor_close(struct cursor *c, bool keep)
{
	int saved = errno;

	if (!c)
		return;
	if (c->fd >= 0) {
		/* keep_ns counts from now on */
		c->head.left = 1;
		keep = keep && cursor_sync(c) == 0 && cursor_head_write(c->fd, &c->head) == 0;
		if (!keep)
			unlink(c->path);
		close(c->fd);
		if (c->item)
			shelf_close(c->item, keep);
	}
	cursor_index_clear(c);
	free(c->lines);
	free(c->ends);
	free(c);
	errno = saved;
}

/* ---- rows ---- */

bool cursor_resumed(const struct cursor *c)
{
	return c->resumed;
}

uint32_t cursor_rows(const struct cursor *c)
{
	return rows_of(c);
}

uint32_t cursor_row(struct cursor *c, const struct cursor_key *key, uint64_t start)
{
	uint32_t row = cursor_find(c, key);

	if (row != UINT32_MAX)
		return row;
	row = rows_of(c);
	if (row == ROWS_MAX) {
		errno = ENOSPC;
		return UINT32_MAX;
	}
	if (row == c->room)
		cursor_room(c, 2 * row);
	c->lines[row] = (struct cursor_line){.key = *key, .start = start, .since = c->head.made};
	for (unsigned k = 0; k < CURSOR_WAVES; k++)
		column(c, k)[row] = start;
	c->head.rows++;
	cursor_index_add(c, row);
	return row;
}

/* ---- waves ---- */

/* A consumer that got an empty answer does not wait for the wave any more: another ask for it
 * that still arrives by another path must not make it. */
static void wave_never(struct cursor *c, uint64_t wave)
{
	if (wave <= c->head.never)
		return;
	c->head.never = wave;
	/* if this fails, the wave could be made only after a kill */
	if (c->fd >= 0 && cursor_sync(c) == 0)
		(void)cursor_head_write(c->fd, &c->head);
}

enum cursor_wave cursor_wave(struct cursor *c, uint64_t wave, bool again, uint64_t have)
{
	const struct cursor_head *h = &c->head;
	uint64_t oldest = h->made >= CURSOR_WAVES - 1 ? h->made - (CURSOR_WAVES - 1) : 0;

	c->wave = wave;
	/* Slot 0 is the beginning, so wave i's range is ends[i] to ends[i + 1]. */
	for (uint64_t i = oldest; i < h->made; i++) {
		if (h->waves[(i + 1) % CURSOR_WAVES] != wave)
			continue;
		c->slot = i;
		return CURSOR_AGAIN;
	}
	c->slot = h->made;
	if (again)
		wave_never(c, wave);
	/* Waves are made in order. If a later ask has overtaken this one by another path, nobody
	 * may be waiting for its answer: its tuples are in the later wave. */
	if (wave <= h->never || (h->made > 0 && wave < h->waves[h->made % CURSOR_WAVES]))
		return CURSOR_NEVER;
	if (h->made >= CURSOR_WAVES - 1 && h->waves[(oldest + 1) % CURSOR_WAVES] > have) {
		wave_never(c, wave);
		return CURSOR_FULL;
	}
	return CURSOR_NEW;
}

uint64_t cursor_from(const struct cursor *c, uint32_t row)
{
	return column(c, c->slot)[row];
}

uint64_t cursor_end(const struct cursor *c, uint32_t row)
{
	return column(c, c->slot + 1)[row];
}

void cursor_to(struct cursor *c, uint32_t row, uint64_t to)
{
	column(c, c->slot + 1)[row] = to;
}

/* Write the wave's column before the head that counts it. The first wave reserves all columns,
 * so that a full file system cannot stop open streams. */
static int commit_write(struct cursor *c, struct cursor_head *head)
{
	uint32_t rows = rows_of(c);

	if ((c->reserved < rows &&
	     (cursor_grow(c, rows) < 0 || cursor_columns_reserve(c->fd, c->reserved, rows) < 0)) ||
	    cursor_sync(c) < 0 ||
	    cursor_column_write(c->fd, rows, head->made % CURSOR_WAVES, column(c, head->made)) < 0)
		return -1;
	c->reserved = rows;
	return cursor_head_write(c->fd, head);
}

int cursor_commit(struct cursor *c)
{
	struct cursor_head head = c->head;

	head.made++;
	head.waves[head.made % CURSOR_WAVES] = c->wave;
	if (c->fd >= 0 && commit_write(c, &head) < 0)
		return -1;
	c->head = head;
	return 0;
}
