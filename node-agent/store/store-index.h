/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the store: the known folders and files of the base, and their watches. */
#ifndef EVSPACE_STORE_INDEX_H
#define EVSPACE_STORE_INDEX_H

#include <dirent.h>

#include "node-agent/store/proc.h"
#include "node-agent/store/store.h"
#include "pathmap/base/hash.h"

/* Names of our own folders and files are shorter than this. */
#define RUN_BYTES  sizeof(((struct store_segment *)0)->run)
#define FILE_BYTES sizeof(((struct store_segment *)0)->file)

/** A run's folder. */
struct store_folder {
	char name[64];
	int wd;	       /* its watch, -1: not watched */
	bool dirty;    /* look into it at the next refresh */
	uint64_t turn; /* last scan of the base that found it */
	UT_hash_handle hh;
};

/** A known file in a run's folder (or "RUN/", the folder itself). */
struct store_file {
	char key[64 + 1 + 96]; /* "RUN/FILE" */
	ino_t inode;
	uint64_t turn;		       /* last scan of its folder that found it */
	bool again;		       /* its fault may be temporary: try again */
	struct store_segment *segment; /* one of these four */
	struct store_mirror *mirror;
	struct store_element *element;
	struct store_refusal *refusal;
	UT_hash_handle hh;
};

struct store_index {
	struct store_folder *folders; /* by name */
	struct store_file *files;     /* by key */
	int base_wd;		      /* -1: the base is not watched (it is missing) */
	int above_wd;		      /* nearest folder above a missing base, else -1 */
	bool by_signals;	      /* no inotify: watches are open folders that send SIGIO */
	bool base_dirty;
	struct store_folder *scanned; /* a scan of it is under way */
	DIR *scan;		      /* NULL: there is nothing in it */
	struct proc_apart apart;
	bool changed; /* what there is, since the last refresh */
	uint64_t turn;
};

/** The known file @name of @run, or NULL. */
struct store_file *store_file_find(const struct store *store, const char *run, const char *name);

/** The entry of the file with this inode; *@known says whether it existed before. */
struct store_file *store_file_enter(struct store *store, const char *run, const char *name,
				    ino_t inode, bool *known);

/** Map a new one by the kind that its @name says, or refuse it. It may be forgotten at once. */
void store_file_add(struct store *store, struct store_file *file, const char *run,
		    const char *name);

/** Say why it cannot be used. */
void store_file_refuse(struct store *store, struct store_file *file, const char *run,
		       const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Take it out of the store, with what it is. */
void store_file_forget(struct store *store, struct store_file *file);

/** Map the segment RUN/FILE, find out whether its process lives, and add it to the store's list,
 * which owns it. Returns NULL with errno and @e. */
struct store_segment *store_segment_open(struct store *store, const char *run, const char *file,
					 struct error *e);

/** Take it out of the list; store_segments_end() does the rest. */
void store_segment_close(struct store *store, struct store_segment *s);

/** Call store.gone with all segments that go, then unmap and free them. */
void store_segments_end(struct store *store);

/** Say why a collector could not make a segment, by the reason in its file's name, and what to do.
 */
void store_refusal_say(const struct store *store, const char *reason, char *text, size_t room);

/** Find out which refusals are of processes that do have a file. */
void store_refusals_match(struct store *store);

/** Name all segments: the newest process of a rank in a run gets the rank's name. */
void store_segments_name(struct store *store);

/**
 * Make @store->inotify, which becomes readable when something changes: an inotify instance, or,
 * when this user has no more of those (128 by default), a signalfd for the SIGIO of watched folders
 * (fcntl(2), F_NOTIFY), which has no such limit. Signals do not say what has changed, and a removed
 * base is noticed only at the next change. Returns 0, or -1 with errno.
 */
int store_watch_open(struct store *store);
void store_watch_close(struct store *store);

/** Read all pending events of @store->inotify and mark what they concern. Without a watch, mark
 * everything. */
void store_watch_read(struct store *store);

/** Watch the base, which exists. Returns 0, or -1 with errno. */
int store_watch_base(struct store *store);

/** The base is missing: watch the nearest folder above it. Returns 0, or -1 with errno. */
int store_watch_above(struct store *store);

/** Watch @folder. Returns 0, or -1 with errno. */
int store_watch_folder(struct store *store, struct store_folder *folder);

/** Stop watching @folder. */
void store_unwatch_folder(struct store *store, struct store_folder *folder);

#endif
