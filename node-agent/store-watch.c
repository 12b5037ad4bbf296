/* SPDX-License-Identifier: BSD-3-Clause */
/* The store's inotify watches: on the base, on every run's folder, and above a base that is
 * missing. */
#include "node-agent/store-index.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* What changes the names in a folder; what happens to the files themselves costs no wake-up. */
#define NAMES (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
#define SAME  (IN_ONLYDIR | IN_DONT_FOLLOW)
#define SELF  (IN_DELETE_SELF | IN_MOVE_SELF)

static void mark_all(struct store_index *index)
{
	struct store_folder *folder;

	index->base_dirty = true;
	for (folder = index->folders; folder; folder = folder->hh.next)
		folder->dirty = true;
}

/* The base itself went away: what is made in its place is another folder, with a watch of its own.
 */
static void lose_base(struct store *store)
{
	struct store_index *index = store->index;

	if (index->base_wd >= 0)
		inotify_rm_watch(store->inotify, index->base_wd);
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
	if (index->above_wd >= 0)
		inotify_rm_watch(store->inotify, index->above_wd);
	index->above_wd = -1;
	if (index->base_wd < 0)
		index->base_wd =
			inotify_add_watch(store->inotify, store->base, NAMES | SELF | SAME);
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
		wd = inotify_add_watch(store->inotify, path,
				       IN_CREATE | IN_MOVED_TO | SELF | IN_ONLYDIR);
	} while (wd < 0 && errno == ENOENT && slash && path[1]);
	/* Giving up a watch is an event too: only when it is another, or we would wake ourselves
	 * forever. */
	if (index->above_wd >= 0 && index->above_wd != wd)
		inotify_rm_watch(store->inotify, index->above_wd);
	index->above_wd = wd;
	return wd < 0 ? -1 : 0;
}

int store_watch_folder(struct store *store, struct store_folder *folder)
{
	char path[sizeof(store->base) + sizeof(folder->name) + 1];

	if (store->inotify < 0 || folder->wd >= 0)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", store->base, folder->name);
	folder->wd = inotify_add_watch(store->inotify, path, NAMES | SAME);
	return folder->wd < 0 ? -1 : 0;
}

void store_unwatch_folder(struct store *store, struct store_folder *folder)
{
	if (store->inotify >= 0 && folder->wd >= 0)
		inotify_rm_watch(store->inotify, folder->wd);
	folder->wd = -1;
}
