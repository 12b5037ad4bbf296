/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the cursor files that were left, oldest first, and removes those that are over or too many.
 */
#include "node-agent/shelf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/cursor-private.h"
#include "node-agent/folder.h"
#include "pathmap/memory.h"

struct item {
	TAILQ_ENTRY(item) entry;
	char *path; /* below the base */
	uint64_t bytes;
	struct cursor_use use;
};

struct shelf {
	char *base, *node;
	uint64_t retention_ns;
	TAILQ_HEAD(items, item) items; /* the one that was used first comes first */
	unsigned n;
	uint64_t bytes;
};

static void item_drop(struct shelf *s, struct item *i)
{
	TAILQ_REMOVE(&s->items, i, entry);
	s->n--;
	s->bytes -= i->bytes;
	free(i->path);
	free(i);
}

static int item_open(const struct shelf *s, const char *path)
{
	char *whole = memory_format("%s/%s", s->base, path);
	int fd = open(whole, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	free(whole);
	return fd;
}

/* Remove the file, but for one that somebody has come back for. */
static void item_remove(struct shelf *s, struct item *i)
{
	int fd = item_open(s, i->path);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		char *whole = memory_format("%s/%s", s->base, i->path);

		unlink(whole);
		free(whole);
	}
	if (fd >= 0)
		close(fd);
	item_drop(s, i);
}

/* Unless somebody has it in use. */
static void item_add(struct shelf *s, const char *path)
{
	int fd = item_open(s, path);
	struct item *new, *after;
	struct cursor_use use;
	struct stat st;

	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
	    cursor_use_read(fd, &use) == 0) {
		new = memory_new(1, sizeof(*new));
		new->path = memory_copy(path);
		new->bytes = (uint64_t)st.st_blocks * 512;
		new->use = use;
		TAILQ_FOREACH_REVERSE(after, &s->items, items, entry)
		if (after->use.used_ns <= use.used_ns)
			break;
		if (after)
			TAILQ_INSERT_AFTER(&s->items, after, new, entry);
		else
			TAILQ_INSERT_HEAD(&s->items, new, entry);
		s->n++;
		s->bytes += new->bytes;
	}
	close(fd);
}

/* ---- what is too much ---- */

static struct item *peer_oldest(const struct shelf *s, const char *peer)
{
	struct item *i, *oldest = NULL;
	unsigned n = 0;

	TAILQ_FOREACH (i, &s->items, entry) {
		if (strcmp(i->use.peer, peer) != 0)
			continue;
		oldest = oldest ? oldest : i;
		n++;
	}
	return n > SHELF_PEER ? oldest : NULL;
}

static void shelf_fit(struct shelf *s)
{
	const struct item *last = TAILQ_LAST(&s->items, items);
	struct item *much = last ? peer_oldest(s, last->use.peer) : NULL;

	if (much)
		item_remove(s, much);
	while (s->n > SHELF_FILES || s->bytes > SHELF_BYTES)
		item_remove(s, TAILQ_FIRST(&s->items));
}

/* ---- */

static void run_load(struct shelf *s, int base, const char *run)
{
	int fd = openat(base, run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	char *end = memory_format(".%s" CURSOR_SUFFIX, s->node);
	const struct dirent *entry;

	while (dir && (entry = folder_next(dir))) {
		size_t length = strlen(entry->d_name), tail = strlen(end);
		char *path;

		if (length != tail + CURSOR_SCOPE - 2 ||
		    strcmp(entry->d_name + length - tail, end) != 0)
			continue;
		path = memory_format("%s/%s", run, entry->d_name);
		item_add(s, path);
		free(path);
		shelf_fit(s);
	}
	free(end);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

struct shelf *shelf_new(const char *base, const char *node, uint64_t retention_ns)
{
	struct shelf *s = memory_new(1, sizeof(*s));
	DIR *dir = opendir(base);
	const struct dirent *entry;

	s->base = memory_copy(base);
	s->node = memory_copy(node);
	s->retention_ns = retention_ns;
	TAILQ_INIT(&s->items);
	while (dir && (entry = folder_next(dir)))
		run_load(s, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
	(void)shelf_tidy(s);
	return s;
}

void shelf_free(struct shelf *s)
{
	struct item *i;

	if (!s)
		return;
	while ((i = TAILQ_FIRST(&s->items)))
		item_drop(s, i);
	free(s->base);
	free(s->node);
	free(s);
}

void shelf_put(struct shelf *s, const char *run, const unsigned char id[16])
{
	char file[CURSOR_FILE], *path;
	struct item *i;

	if (!s)
		return;
	cursor_file(file, id, s->node);
	path = memory_format("%s/%s", run, file);
	/* it may have been left before */
	TAILQ_FOREACH (i, &s->items, entry) {
		if (strcmp(i->path, path) == 0)
			break;
	}
	if (i)
		item_drop(s, i);
	item_add(s, path);
	free(path);
	shelf_fit(s);
}

uint64_t shelf_tidy(struct shelf *s)
{
	struct item *i = TAILQ_FIRST(&s->items), *after;
	uint64_t next = UINT64_MAX, rest;

	for (; i; i = after) {
		after = TAILQ_NEXT(i, entry);
		rest = cursor_use_rest(&i->use, s->retention_ns);
		if (rest == 0)
			item_remove(s, i);
		else if (rest < next)
			next = rest;
	}
	return next;
}
