/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the segments of a user on this host: scans the run folders of the base, and keeps in
 * step. */
#include "node-agent/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/folder.h"
#include "node-agent/store/store-index.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/process.h"

/* Names of our own files are shorter than this. */
#define FILE_BYTES sizeof(((struct store_segment *)0)->file)

/* How many files to look at before looking at the clock. */
#define FILES_AT_ONCE 64u

/* ---- folders ---- */

static void folder_drop_files(struct store *store, const char *run, uint64_t seen)
{
	struct store_file *file, *next;
	size_t n = strlen(run);

	for (file = store->index->files; file; file = next) {
		next = file->hh.next;
		if (file->turn != seen && !strncmp(file->key, run, n) && file->key[n] == '/')
			store_file_forget(store, file);
	}
}

static void folder_forget(struct store *store, struct store_folder *folder)
{
	store_unwatch_folder(store, folder);
	folder_drop_files(store, folder->name, 0);
	HASH_DEL(store->index->folders, folder);
	free(folder);
}

/* A segment that its process, killed meanwhile, has not finished. */
static bool is_left(const char *name, const struct folder_file *file)
{
	char whole[FILE_BYTES], who[PROCESS_NAME];

	if (file->kind != FOLDER_UNFINISHED || !file->pid || folder_maker_exists(file))
		return false;
	snprintf(whole, sizeof(whole), "%s.%d.tmp", process_name(who, file->rank), (int)file->pid);
	return strcmp(name, whole) == 0;
}

static void scan_file(struct store *store, const char *run, const struct dirent *entry)
{
	struct folder_file name = folder_file(entry->d_name);
	struct store_file *file;
	bool known;

	if ((name.kind != FOLDER_SEGMENT && name.kind != FOLDER_MIRROR &&
	     name.kind != FOLDER_ELEMENT && name.kind != FOLDER_REFUSED &&
	     !is_left(entry->d_name, &name)) ||
	    strlen(entry->d_name) >= FILE_BYTES)
		return;
	file = store_file_enter(store, run, entry->d_name, entry->d_ino, &known);
	if (!known)
		store_file_add(store, file, run, entry->d_name);
}

static void folder_refuse(struct store *store, struct store_folder *folder, const char *why)
{
	bool known;
	struct store_file *file = store_file_enter(store, folder->name, "", 0, &known);

	if (!known)
		store_file_refuse(store, file, folder->name, "%.250s", why);
}

/* Begin to look into @folder. Returns NULL if it cannot be read, or is not there. */
static DIR *scan_open(struct store *store, int base, struct store_folder *folder)
{
	char path[sizeof(store->base) + sizeof(folder->name) + 1];
	struct error e = {""};
	DIR *dir = NULL;
	int fd;

	folder->dirty = false;
	store->index->turn++;
	snprintf(path, sizeof(path), "%s/%s", store->base, folder->name);
	fd = folder_open(base, folder->name, path, &e);
	/* Watch before scanning: what is made in between is seen twice rather than never. */
	if (fd >= 0 && store_watch_folder(store, folder))
		folder_refuse(
			store, folder,
			"changes in this run are not noticed, since inotify has no watch left: "
			"raise the sysctl fs.inotify.max_user_watches");
	if (fd >= 0)
		dir = fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	else if (fd < 0 && errno != ENOENT)
		folder_refuse(store, folder, e.text);
	return dir;
}

static void scan_close(struct store_index *index)
{
	if (index->scan)
		closedir(index->scan);
	index->scan = NULL;
	index->scanned = NULL;
}

/* Go on with the folder that is scanned, or begin with the first one that is to be. Returns it when
 * it is done, NULL if there is none, or at @until_ns. */
static struct store_folder *scan_folder(struct store *store, int base, struct store_folder *from,
					uint64_t until_ns)
{
	struct store_index *index = store->index;
	struct store_folder *folder = index->scanned;
	struct dirent *entry;

	if (!folder) {
		while (from && !from->dirty)
			from = from->hh.next;
		if (!from)
			return NULL;
		folder = index->scanned = from;
		index->scan = scan_open(store, base, from);
	}
	for (unsigned n = 1; index->scan && (entry = folder_next(index->scan)); n++) {
		scan_file(store, folder->name, entry);
		if (n % FILES_AT_ONCE == 0 && clock_mono_ns() >= until_ns)
			return NULL;
	}
	folder_drop_files(store, folder->name, index->turn);
	scan_close(index);
	return folder;
}

/* Returns false if some remain at @until_ns. Who changes one folder all the time does not keep the
 * others from being scanned: they come after it. */
static bool scan_folders(struct store *store, int base, uint64_t until_ns)
{
	struct store_index *index = store->index;
	struct store_folder *folder = index->folders;

	while ((folder = scan_folder(store, base, folder, until_ns))) {
		folder = folder->hh.next;
		if (clock_mono_ns() >= until_ns)
			break;
	}
	for (folder = index->folders; folder && !folder->dirty; folder = folder->hh.next) {
	}
	return !folder && !index->scanned;
}

static bool is_folder(int base, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !fstatat(base, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

static void enter_folder(struct store *store, const char *name)
{
	struct store_folder *folder;

	HASH_FIND_STR(store->index->folders, name, folder);
	if (!folder) {
		folder = memory_new(1, sizeof(*folder));
		snprintf(folder->name, sizeof(folder->name), "%.*s", (int)RUN_BYTES - 1, name);
		folder->wd = -1;
		HASH_ADD_STR(store->index->folders, name, folder);
	}
	folder->turn = store->index->turn;
	if (folder->wd < 0)
		folder->dirty = true;
}

/* List the run folders. @fd is the base's, -1: it is missing, and so are they. */
static void scan_base(struct store *store, int fd)
{
	struct store_index *index = store->index;
	struct store_folder *folder, *next;
	struct dirent *entry;
	DIR *dir = NULL;
	int copy = fd >= 0 ? openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	index->base_dirty = false;
	index->turn++;
	if (copy >= 0)
		dir = fdopendir(copy);
	while (dir && (entry = folder_next(dir)))
		if (strlen(entry->d_name) < RUN_BYTES && is_folder(copy, entry))
			enter_folder(store, entry->d_name);
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
	for (folder = index->folders; folder; folder = next) {
		next = folder->hh.next;
		if (folder->turn != index->turn)
			folder_forget(store, folder);
	}
}

/* ---- the store ---- */

/* Open the base and watch it, or the folder above it if it is missing. */
static int open_base(struct store *store, struct error *e)
{
	int fd, tries;

	for (tries = 0; tries < 3; tries++) {
		fd = folder_open(AT_FDCWD, store->base, store->base, e);
		if (fd >= 0) {
			if (!store_watch_base(store))
				return fd;
			close(fd);
			errorf(e,
			       "%s cannot be watched: %s; raise the sysctl "
			       "fs.inotify.max_user_watches",
			       store->base, strerror(errno));
			if (errno != ENOENT)
				return -1;
		} else if (errno != ENOENT || store->inotify < 0) {
			return -1;
		}
		/* try again: the base may have been made before the folder above was watched */
		if (store_watch_above(store))
			return errorf(e, "the folder above %s cannot be watched: %s", store->base,
				      strerror(errno));
	}
	errno = ENOENT;
	return -1;
}

/* Tell what has changed. Segments have names at any time, the rest when a folder is done. */
static void refreshed(struct store *store)
{
	struct store_index *index = store->index;

	store_segments_end(store);
	if (!index->changed)
		return;
	store_segments_name(store);
	if (index->scanned)
		return;
	store_refusals_match(store);
	store->version++;
	index->changed = false;
}

/* Returns 1 if some remains to be done at @until_ns. */
static int refresh(struct store *store, uint64_t until_ns, struct error *e)
{
	struct store_index *index = store->index;
	bool whole;
	int fd, saved;

	store_watch_read(store);
	fd = open_base(store, e);
	saved = errno;
	if (fd < 0 || (index->base_dirty && !index->scanned)) {
		scan_close(index);
		scan_base(store, fd);
	}
	whole = scan_folders(store, fd, until_ns) && !index->base_dirty;
	refreshed(store);
	if (fd >= 0)
		close(fd);
	errno = saved;
	if (fd < 0 && saved != ENOENT)
		return -1;
	return whole ? 0 : 1;
}

int store_refresh(struct store *store)
{
	int rc;

	do {
		rc = refresh(store, UINT64_MAX, NULL);
	} while (rc > 0);
	return rc;
}

bool store_refresh_part(struct store *store, uint64_t until_ns)
{
	return refresh(store, until_ns, NULL) > 0;
}

int store_init(struct store *store, const char *base, bool watch, struct error *e)
{
	int saved;

	memset(store, 0, sizeof(*store));
	TAILQ_INIT(&store->segments);
	TAILQ_INIT(&store->going);
	TAILQ_INIT(&store->mirrors);
	TAILQ_INIT(&store->elements);
	TAILQ_INIT(&store->elements_going);
	TAILQ_INIT(&store->refusals);
	store->inotify = -1;
	if (strlen(base) >= sizeof(store->base)) {
		errno = ENAMETOOLONG;
		return errorf(e, "%s: the path is too long", base);
	}
	snprintf(store->base, sizeof(store->base), "%s", base);
	store->index = memory_new(1, sizeof(*store->index));
	store->index->base_wd = store->index->above_wd = -1;
	store->index->base_dirty = true;
	if (watch && mkdir(base, 0700) && errno != EEXIST) {
		errorf(e, "%s cannot be made: %s", base, strerror(errno));
		goto fail;
	}
	if (watch && store_watch_open(store) < 0) {
		errorf(e, "%s cannot be watched: %s", base, strerror(errno));
		goto fail;
	}
	if (refresh(store, UINT64_MAX, e) >= 0)
		return 0;
fail:
	saved = errno;
	store_fini(store);
	errno = saved;
	return -1;
}

void store_fini(struct store *store)
{
	struct store_file *file, *next_file;
	struct store_folder *folder, *next;

	if (!store || !store->index)
		return;
	scan_close(store->index);
	for (file = store->index->files; file; file = next_file) {
		next_file = file->hh.next;
		store_file_forget(store, file);
	}
	for (folder = store->index->folders; folder; folder = next) {
		next = folder->hh.next;
		folder_forget(store, folder);
	}
	store_segments_end(store);
	store_watch_close(store);
	proc_apart_fini(&store->index->apart);
	free(store->index);
	store->index = NULL;
}
