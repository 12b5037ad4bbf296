/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists cursor files, left ones by age, and removes those that are expired or too many. */
#include "node-agent/store/shelf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "node-agent/store/cursor-private.h"
#include "node-agent/segment/folder.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

struct shelf_item {
	TAILQ_ENTRY(shelf_item) entry;
	struct shelf *shelf;
	char *path;
	uint64_t bytes;
	struct cursor_use use; /* only the peer if it is open */
	bool in_use;	       /* by another process, as found while making room */
	unsigned nth;	       /* its number among its consumer's at the start, newest first */
};

TAILQ_HEAD(items, shelf_item);

struct shelf {
	char *node;
	uint64_t retention_ns, most; /* bytes */
	struct items open, left;     /* left ones are sorted by last use, oldest first */
	unsigned n_left;
	uint64_t bytes; /* of all */
};

static struct shelf_item *item_new(struct shelf *s, const char *path)
{
	struct shelf_item *i = memory_new(1, sizeof(*i));

	i->shelf = s;
	i->path = memory_copy(path);
	return i;
}

static void item_free(struct shelf_item *i)
{
	i->shelf->bytes -= i->bytes;
	free(i->path);
	free(i);
}

static void item_bytes(struct shelf_item *i, uint64_t bytes)
{
	i->shelf->bytes += bytes - i->bytes;
	i->bytes = bytes;
}

static void item_drop(struct shelf *s, struct shelf_item *i)
{
	TAILQ_REMOVE(&s->left, i, entry);
	s->n_left--;
	item_free(i);
}

/* Insert it into the left ones, by its time. */
static void item_sort_in(struct shelf *s, struct shelf_item *i)
{
	struct shelf_item *after;

	TAILQ_FOREACH_REVERSE(after, &s->left, items, entry)
	if (after->use.used_ns <= i->use.used_ns)
		break;
	if (after)
		TAILQ_INSERT_AFTER(&s->left, after, i, entry);
	else
		TAILQ_INSERT_HEAD(&s->left, i, entry);
}

static int file_open(const char *path)
{
	return open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

/* Remove the file. If another process uses it, treat it as left now. */
static void item_remove(struct shelf *s, struct shelf_item *i)
{
	int fd = file_open(i->path);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		i->in_use = true;
		i->use.used_ns = clock_mono_ns();
		TAILQ_REMOVE(&s->left, i, entry);
		item_sort_in(s, i);
	} else {
		if (fd >= 0)
			unlink(i->path);
		item_drop(s, i);
	}
	if (fd >= 0)
		close(fd);
}

/* ---- limits ---- */

struct shelf_share {
	unsigned left;
	uint64_t open, bytes;
};

static struct shelf_share share_of(const struct shelf *s, const char *peer)
{
	struct shelf_share share = {0};
	const struct shelf_item *i;

	TAILQ_FOREACH (i, &s->open, entry) {
		if (strcmp(i->use.peer, peer) == 0)
			share.open += i->bytes;
	}
	share.bytes = share.open;
	TAILQ_FOREACH (i, &s->left, entry) {
		if (strcmp(i->use.peer, peer) != 0)
			continue;
		share.left++;
		share.bytes += i->bytes;
	}
	return share;
}

/* The oldest left file of the consumer that has most files or, with @by_bytes, most bytes. */
static struct shelf_item *item_next(const struct shelf *s, bool by_bytes)
{
	struct shelf_item *i, *best = NULL;
	uint64_t most = 0;

	TAILQ_FOREACH (i, &s->left, entry) {
		struct shelf_share share;

		if (i->in_use)
			continue;
		if (best && strcmp(best->use.peer, i->use.peer) == 0)
			continue;
		share = share_of(s, i->use.peer);
		if (!best || (by_bytes ? share.bytes : share.left) > most) {
			best = i;
			most = by_bytes ? share.bytes : share.left;
		}
	}
	return best;
}

/* Files that were locked before may be free now. */
static void shelf_ask_again(struct shelf *s)
{
	struct shelf_item *i;

	TAILQ_FOREACH (i, &s->left, entry)
		i->in_use = false;
}

/* The oldest left file of @peer. */
static struct shelf_item *item_of(const struct shelf *s, const char *peer)
{
	struct shelf_item *i;

	TAILQ_FOREACH (i, &s->left, entry) {
		if (!i->in_use && strcmp(i->use.peer, peer) == 0)
			break;
	}
	return i;
}

/* Remove left files until all files take at most @bytes and at most SHELF_FILES are left. */
static void shelf_shrink(struct shelf *s, uint64_t bytes)
{
	struct shelf_item *i;

	while (s->n_left > SHELF_FILES && (i = item_next(s, false)))
		item_remove(s, i);
	while (s->bytes > bytes && (i = item_next(s, true)))
		item_remove(s, i);
}

/* Apply the limits after @peer has left one more. */
static void shelf_fit(struct shelf *s, const char *peer)
{
	struct shelf_item *i;

	shelf_ask_again(s);
	while (share_of(s, peer).left > SHELF_PEER && (i = item_of(s, peer)))
		item_remove(s, i);
	shelf_shrink(s, s->most);
}

/* ---- left files ---- */

/* Read its size and its consumer, or free it. Also for a file that another process uses, which
 * no other list has. */
static int item_look(struct shelf_item *i)
{
	int fd = file_open(i->path), rc = -1;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && cursor_use_read(fd, &i->use) == 0) {
		item_bytes(i, (uint64_t)st.st_blocks * 512);
		rc = 0;
	} else {
		item_free(i);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

static void item_left(struct shelf *s, struct shelf_item *i)
{
	char peer[sizeof(i->use.peer)];

	if (item_look(i) < 0)
		return;
	memcpy(peer, i->use.peer, sizeof(peer));
	item_sort_in(s, i);
	s->n_left++;
	shelf_fit(s, peer);
}

static int newer_first(const struct shelf_item *a, const struct shelf_item *b)
{
	return (a->use.used_ns < b->use.used_ns) - (a->use.used_ns > b->use.used_ns);
}

static int compare_peers(const void *a, const void *b)
{
	const struct shelf_item *x = *(struct shelf_item *const *)a;
	const struct shelf_item *y = *(struct shelf_item *const *)b;
	int peers = strcmp(x->use.peer, y->use.peer);

	return peers ? peers : newer_first(x, y);
}

static int compare_turns(const void *a, const void *b)
{
	const struct shelf_item *x = *(struct shelf_item *const *)a;
	const struct shelf_item *y = *(struct shelf_item *const *)b;

	return x->nth != y->nth ? (x->nth > y->nth) - (x->nth < y->nth) : newer_first(x, y);
}

/* Files were found in any order: keep those that would be kept if they had been left one by one. */
static void shelf_sort(struct shelf *s)
{
	struct shelf_item **found = memory_new(s->n_left + 1, sizeof(struct shelf_item *)), *i;
	size_t n = 0;

	TAILQ_FOREACH (i, &s->left, entry)
		found[n++] = i;
	qsort(found, n, sizeof(struct shelf_item *), compare_peers);
	for (size_t k = 1; k < n; k++) {
		if (strcmp(found[k]->use.peer, found[k - 1]->use.peer) == 0)
			found[k]->nth = found[k - 1]->nth + 1;
	}
	qsort(found, n, sizeof(struct shelf_item *), compare_turns);
	TAILQ_INIT(&s->left);
	for (size_t k = 0; k < n; k++) {
		if (k < SHELF_FILES && found[k]->nth < SHELF_PEER) {
			item_sort_in(s, found[k]);
		} else {
			TAILQ_INSERT_TAIL(&s->left, found[k], entry);
			item_remove(s, found[k]);
		}
	}
	free(found);
	shelf_shrink(s, s->most);
}

static void run_load(struct shelf *s, int base, const char *above, const char *run)
{
	int fd = openat(base, run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	char *end = memory_format(".%s" CURSOR_SUFFIX, s->node);
	const struct dirent *entry;
	struct shelf_item *i;

	while (dir && (entry = folder_next(dir))) {
		size_t length = strlen(entry->d_name), tail = strlen(end);
		char *path;

		if (length != tail + CURSOR_SCOPE - 2 ||
		    strcmp(entry->d_name + length - tail, end) != 0)
			continue;
		path = memory_format("%s/%s/%s", above, run, entry->d_name);
		i = item_new(s, path);
		if (item_look(i) == 0) {
			TAILQ_INSERT_TAIL(&s->left, i, entry);
			s->n_left++;
		}
		free(path);
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
	struct statvfs fs;

	s->node = memory_copy(node);
	s->retention_ns = retention_ns;
	s->most = SHELF_BYTES;
	if (statvfs(base, &fs) == 0 && (uint64_t)fs.f_blocks * fs.f_frsize / 16 < s->most)
		s->most = (uint64_t)fs.f_blocks * fs.f_frsize / 16;
	TAILQ_INIT(&s->open);
	TAILQ_INIT(&s->left);
	while (dir && (entry = folder_next(dir)))
		run_load(s, dirfd(dir), base, entry->d_name);
	if (dir)
		closedir(dir);
	shelf_sort(s);
	(void)shelf_tidy(s);
	return s;
}

void shelf_free(struct shelf *s)
{
	struct shelf_item *i;

	if (!s)
		return;
	while ((i = TAILQ_FIRST(&s->left)))
		item_drop(s, i);
	free(s->node);
	free(s);
}

/* Remove it, unless it is in use after all. */
static bool item_goes(struct shelf *s, struct shelf_item *i)
{
	unsigned n = s->n_left;

	item_remove(s, i);
	return s->n_left < n;
}

uint64_t shelf_tidy(struct shelf *s)
{
	struct shelf_item *i = TAILQ_FIRST(&s->left), *after;
	uint64_t next = UINT64_MAX, rest;

	/* a file in use moves to the end */
	for (unsigned n = s->n_left; n > 0; n--, i = after) {
		after = TAILQ_NEXT(i, entry);
		if (cursor_use_rest(&i->use, s->retention_ns) == 0 && item_goes(s, i))
			continue;
		rest = cursor_use_rest(&i->use, s->retention_ns);
		next = rest < next ? rest : next;
	}
	return next;
}

/* ---- open files ---- */

struct shelf_item *shelf_open(struct shelf *s, const char *path, int fd, const char *peer)
{
	struct shelf_item *i;
	struct stat st;

	/* it may be on the list of left files */
	TAILQ_FOREACH (i, &s->left, entry) {
		if (strcmp(i->path, path) == 0)
			break;
	}
	if (i)
		item_drop(s, i);
	i = item_new(s, path);
	snprintf(i->use.peer, sizeof(i->use.peer), "%s", peer);
	if (fstat(fd, &st) == 0)
		item_bytes(i, (uint64_t)st.st_blocks * 512);
	TAILQ_INSERT_TAIL(&s->open, i, entry);
	return i;
}

int shelf_grow(struct shelf_item *i, uint64_t bytes)
{
	struct shelf *s = i->shelf;
	uint64_t more = bytes > i->bytes ? bytes - i->bytes : 0;

	if (more == 0)
		return 0;
	if (share_of(s, i->use.peer).open + more <= s->most / 2) {
		shelf_ask_again(s);
		shelf_shrink(s, s->most - more);
		if (s->bytes + more <= s->most) {
			item_bytes(i, bytes);
			return 0;
		}
	}
	errno = EDQUOT;
	return -1;
}

void shelf_close(struct shelf_item *i, bool left)
{
	TAILQ_REMOVE(&i->shelf->open, i, entry);
	if (left)
		item_left(i->shelf, i);
	else
		item_free(i);
}
