/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes ended runs, and files without owner. */
#include "node-agent/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/store/cursor.h"
#include "node-agent/segment/folder.h"
#include "node-agent/store/store-index.h"
#include "tree/data/clock.h"

/* An empty folder that is younger may be of a program that is starting. */
#define STARTING_NS 10000000000u

struct store_purge {
	struct store *store;
	uint64_t older_than;
	bool force;
	uint64_t freed;
};

/* Time since the file's name or content changed; 0 if the clock was set back. */
static uint64_t age_of(const struct stat *st)
{
	int64_t then = st->st_mtim.tv_sec * (int64_t)1000000000 + st->st_mtim.tv_nsec;
	int64_t now = clock_real_ns();

	return now > then ? (uint64_t)(now - then) : 0;
}

static bool segment_over(const struct store_purge *p, struct store_segment *s)
{
	uint64_t now;

	if (p->force)
		return true;
	/* A process with a pidfd is watched, and its watcher must see its end first. */
	if (s->alive && (s->pidfd >= 0 || store_check_alive(s)))
		return false;
	now = clock_mono_ns();
	return now - s->died_mono_ns >= p->older_than || now < s->died_mono_ns;
}

static bool element_over(const struct store_purge *p, const struct store_element *m)
{
	uint64_t age = store_element_age(p->store, m);

	/* it stays as long as the map has it */
	if (m->file.said.made_by[0] && !p->force)
		return false;
	return p->force || (age > 0 && age >= p->older_than);
}

static bool mirror_over(const struct store_purge *p, const struct mirror *m)
{
	uint64_t died = mirror_died(m), now = clock_mono_ns();

	return p->force || (died && (now < died || now - died >= p->older_than));
}

/*
 * An agent with an open scope has its cursors locked; those of a dead agent wait for a new one.
 * Valid files say themselves when they were used, so setting the wall clock does not make them old.
 */
static bool cursor_over(const struct store_purge *p, int dir, const char *name,
			const struct stat *st)
{
	struct cursor_use use;
	bool over;
	int fd;

	if (p->force)
		return true;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	over = cursor_use_read(fd, &use) < 0 ? age_of(st) >= p->older_than
					     : cursor_use_rest(&use, p->older_than) == 0;
	over = over && !flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return over;
}

static bool run_lives(const struct store_purge *p, const char *run)
{
	const struct store_segment *s;

	TAILQ_FOREACH (s, &p->store->segments, link)
		if (s->alive && strcmp(s->run, run) == 0)
			return true;
	return false;
}

static bool file_over(const struct store_purge *p, int dir, const char *run, const char *name,
		      const struct stat *st)
{
	struct folder_file file = folder_file(name);
	const struct store_file *known;

	if (file.kind == FOLDER_OTHER || !S_ISREG(st->st_mode) || st->st_uid != geteuid())
		return false;
	if (file.kind == FOLDER_CURSOR)
		return cursor_over(p, dir, name, st);
	if (file.kind == FOLDER_ELEMENT) {
		known = store_file_find(p->store, run, name);
		if (known && known->element && known->inode == st->st_ino)
			return element_over(p, known->element);
	}
	if (file.kind == FOLDER_SEGMENT) {
		known = store_file_find(p->store, run, name);
		if (known && known->segment && known->segment->segment.inode == st->st_ino)
			return segment_over(p, known->segment);
	}
	if (file.kind == FOLDER_MIRROR) {
		known = store_file_find(p->store, run, name);
		if (known && known->mirror && known->mirror->mirror.inode == st->st_ino)
			return mirror_over(p, &known->mirror->mirror);
		return p->force || age_of(st) >= p->older_than;
	}
	if (file.kind == FOLDER_STEERING && !p->force && run_lives(p, run))
		return false;
	/* nobody will finish it, and it is as large as a segment */
	if (file.kind == FOLDER_UNFINISHED && file.pid > 0 && !folder_maker_exists(&file))
		return p->force || folder_file_is_idle(dir, name);
	/* refusals, broken and unfinished segments stay as long as their maker lives */
	return p->force || (age_of(st) >= p->older_than && !folder_maker_exists(&file));
}

/* Returns how many files were removed. */
static unsigned purge_files(struct store_purge *p, DIR *dir, const char *run)
{
	const struct dirent *entry;
	unsigned removed = 0;
	struct stat st;

	while ((entry = folder_next(dir))) {
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !file_over(p, dirfd(dir), run, entry->d_name, &st) ||
		    unlinkat(dirfd(dir), entry->d_name, 0))
			continue;
		removed++;
		p->freed += (uint64_t)st.st_blocks * 512;
	}
	return removed;
}

static void purge_folder(struct store_purge *p, int base, const char *run)
{
	uint64_t young = p->older_than > STARTING_NS ? p->older_than : STARTING_NS;
	int fd = folder_open(base, run, run, NULL);
	struct stat st;
	DIR *dir;

	if (fd < 0)
		return;
	dir = fstat(fd, &st) ? NULL : fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	/* fails on purpose while anything is left in it */
	if (purge_files(p, dir, run) || p->force || age_of(&st) >= young)
		(void)unlinkat(base, run, AT_REMOVEDIR);
	closedir(dir);
}

static uint64_t purge(struct store *store, const char *const *runs, size_t n, uint64_t older_than,
		      bool force)
{
	struct store_purge p = {.store = store, .older_than = older_than, .force = force};
	struct store_folder *folder;
	int base;

	(void)store_refresh(store);
	base = folder_open(AT_FDCWD, store->base, store->base, NULL);
	if (base < 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		HASH_FIND_STR(store->index->folders, runs[i], folder);
		if (folder)
			purge_folder(&p, base, runs[i]);
	}
	for (folder = n ? NULL : store->index->folders; folder; folder = folder->hh.next)
		purge_folder(&p, base, folder->name);
	close(base);
	(void)store_refresh(store);
	return p.freed;
}

uint64_t store_purge(struct store *store, const char *run, uint64_t older_than_ns, bool force)
{
	return purge(store, &run, run != NULL, older_than_ns, force);
}

uint64_t store_purge_runs(struct store *store, const char *const *runs, size_t n,
			  uint64_t older_than_ns, bool force)
{
	return n ? purge(store, runs, n, older_than_ns, force) : 0;
}
