/* SPDX-License-Identifier: BSD-3-Clause */
/* The store's watches: on the base, on every run's folder, and above a missing base. By inotify,
 * or by signals when no inotify instance is left. */
#include "node-agent/store/store-index.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Changes of names in a folder; changes of the files themselves cause no wake-up. */
#define NAMES (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
#define SAME  (IN_ONLYDIR | IN_DONT_FOLLOW)
#define SELF  (IN_DELETE_SELF | IN_MOVE_SELF)

/* ---- watches of either kind ---- */

int store_watch_open(struct store *store)
{
	sigset_t set;

	store->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (store->inotify >= 0 || errno != EMFILE)
		return store->inotify < 0 ? -1 : 0;
	store->index->by_signals = true;
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	store->inotify = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return store->inotify < 0 ? -1 : 0;
}

static void watch_remove(const struct store *store, int wd)
{
	if (wd < 0)
		return;
	if (store->index->by_signals)
		close(wd);
	else
		inotify_rm_watch(store->inotify, wd);
}

void store_watch_close(struct store *store)
{
	if (store->inotify < 0)
		return;
	/* inotify's own watches are closed with it */
	if (store->index->by_signals) {
		watch_remove(store, store->index->base_wd);
		watch_remove(store, store->index->above_wd);
	}
	close(store->inotify);
	store->inotify = -1;
}

/* Open a folder that sends SIGIO for changes in @mask. */
static int folder_watch(const char *path, uint32_t mask)
{
	int no_follow = mask & IN_DONT_FOLLOW ? O_NOFOLLOW : 0, saved;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | no_follow);
	unsigned long what = DN_CREATE | DN_RENAME | DN_MULTISHOT;

	if (mask & IN_DELETE)
		what |= DN_DELETE;
	if (fd < 0 || fcntl(fd, F_NOTIFY, what) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static int watch_add(const struct store *store, const char *path, uint32_t mask)
{
	return store->index->by_signals ? folder_watch(path, mask)
					: inotify_add_watch(store->inotify, path, mask);
}

/* ---- what they say ---- */

static void mark_all(struct store_index *index)
{
	struct store_folder *folder;

	index->base_dirty = true;
	for (folder = index->folders; folder; folder = folder->hh.next)
		folder->dirty = true;
}

/* The base was removed: a new one is another folder, and needs a new watch. */
static void lose_base(struct store *store)
{
	struct store_index *index = store->index;

	watch_remove(store, index->base_wd);
	index->base_wd = -1;
	mark_all(index);
}

static void take_event(struct store *store, const struct inotify_event *event)
{
	struct store_index *index = store->index;
	struct store_folder *folder;

	if (event->mask & IN_Q_OVERFLOW) {
		mark_all(index);
		return;
	}
	if (event->wd == index->base_wd) {
		index->base_dirty = true;
		if (event->mask & (SELF | IN_IGNORED))
			lose_base(store);
		return;
	}
	if (event->wd == index->above_wd) {
		index->base_dirty = true;
		if (event->mask & IN_IGNORED)
			index->above_wd = -1;
		return;
	}
	for (folder = index->folders; folder; folder = folder->hh.next) {
		if (folder->wd != event->wd)
			continue;
		folder->dirty = true;
		if (event->mask & IN_IGNORED)
			folder->wd = -1;
		return;
	}
}

/* Does the base's name still mean the watched folder? Signals do not tell, inotify does. */
static bool base_is_same(const struct store *store)
{
	struct stat watched, named;

	return !store->index->by_signals || store->index->base_wd < 0 ||
	       (fstat(store->index->base_wd, &watched) == 0 && stat(store->base, &named) == 0 &&
		watched.st_dev == named.st_dev && watched.st_ino == named.st_ino);
}

static void read_signals(struct store *store)
{
	struct signalfd_siginfo signals[4];

	while (read(store->inotify, signals, sizeof(signals)) > 0)
		mark_all(store->index);
	if (!base_is_same(store))
		lose_base(store);
}

void store_watch_read(struct store *store)
{
	_Alignas(struct inotify_event) char buf[4096];
	const struct inotify_event *event;
	ssize_t n;
	size_t at;

	if (store->inotify < 0) {
		mark_all(store->index);
		return;
	}
	if (store->index->by_signals) {
		read_signals(store);
		return;
	}
	for (;;) {
		n = read(store->inotify, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		for (at = 0; at < (size_t)n; at += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)(const void *)(buf + at);
			take_event(store, event);
		}
	}
}

int store_watch_base(struct store *store)
{
	struct store_index *index = store->index;

	if (store->inotify < 0)
		return 0;
	watch_remove(store, index->above_wd);
	index->above_wd = -1;
	if (index->base_wd < 0)
		index->base_wd = watch_add(store, store->base, NAMES | SELF | SAME);
	return index->base_wd < 0 ? -1 : 0;
}

int store_watch_above(struct store *store)
{
	struct store_index *index = store->index;
	char path[sizeof(store->base)];
	char *slash;
	int wd;

	if (store->inotify < 0)
		return 0;
	if (index->base_wd >= 0)
		lose_base(store);
	snprintf(path, sizeof(path), "%s", store->base);
	do {
		slash = strrchr(path, '/');
		if (!slash)
			snprintf(path, sizeof(path), ".");
		else
			slash[slash == path] = 0; /* of "/x" the slash stays */
		wd = watch_add(store, path, IN_CREATE | IN_MOVED_TO | SELF | IN_ONLYDIR);
	} while (wd < 0 && errno == ENOENT && slash && path[1]);
	/* Removing a watch causes an event: do it only if the watch is another one, or this
	 * would wake the agent forever. */
	if (index->above_wd >= 0 && index->above_wd != wd)
		watch_remove(store, index->above_wd);
	index->above_wd = wd;
	return wd < 0 ? -1 : 0;
}

int store_watch_folder(struct store *store, struct store_folder *folder)
{
	char path[sizeof(store->base) + sizeof(folder->name) + 1];

	if (store->inotify < 0 || folder->wd >= 0)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", store->base, folder->name);
	folder->wd = watch_add(store, path, NAMES | SAME);
	return folder->wd < 0 ? -1 : 0;
}

void store_unwatch_folder(struct store *store, struct store_folder *folder)
{
	if (store->inotify >= 0)
		watch_remove(store, folder->wd);
	folder->wd = -1;
}
