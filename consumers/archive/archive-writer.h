/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes frames to an archive: what was synced is there whatever happens then. */
#ifndef EVSPACE_ARCHIVE_WRITER_H
#define EVSPACE_ARCHIVE_WRITER_H

#include "consumers/archive/archive.h"
#include "tree/data/batch.h"

struct archive_writer;
struct names;
struct pathmap_texts;

/** Lock the folder, which is made if there is none. Returns the writer, or NULL with errno and @e:
 * EBUSY if another process writes to it. */
struct archive_writer *archive_writer_new(const char *folder, struct error *e);

/** Begin a new archive in the folder, which has none yet; @chunks are counted as those before it.
 * Returns the writer, or NULL with errno and @e. */
struct archive_writer *archive_writer_fresh(const char *folder, uint64_t chunks, struct error *e);

/** Where an archive ends: in which file, after how many of its bytes and chunks. */
struct archive_end {
	unsigned file; /* 0: there is none */
	uint64_t bytes, chunks;
};

/** Begin to write there: what is behind it is no whole chunk, and is cut off. Returns 0, or -1 with
 * @e. */
int archive_writer_begin(struct archive_writer *w, const struct archive_end *end, struct error *e);

/** What a frame counts for in the head of its chunk. */
struct archive_note {
	uint64_t wave; /* 0: it is none */
	int64_t taken_ns;
	uint64_t tuples, lost, discarded;
};

/** Add a frame; @body may be NULL. It is kept in memory until the next archive_writer_sync(). */
void archive_writer_add(struct archive_writer *w, const Evspace__Frame *header,
			const struct batch *body, const struct archive_note *note);

/** Add answers without a wave that say all names and communicators in @names. */
void archive_writer_names(struct archive_writer *w, struct names *names);

/** Add the pathmap, if there is one, by whose names views are read: without where hosts are. */
void archive_writer_map(struct archive_writer *w, const struct pathmap_texts *texts);

/** Bytes of frames that were added since the last sync, and bytes of this archive that this writer
 * has written. */
size_t archive_writer_waiting(const struct archive_writer *w);
uint64_t archive_writer_written(const struct archive_writer *w);

/** Write all that was added as a chunk, and wait until it is on the disk. Returns 0, or -1 with
 * errno and @e: then what was synced before is whole, and nothing else is there. */
int archive_writer_sync(struct archive_writer *w, struct error *e);

/**
 * Begin a file, if the present one has @most bytes: returns 1, then what is added up to the next
 * sync is its snapshot; 0: not yet; -1 with @e. Call it after a sync.
 */
int archive_writer_turn(struct archive_writer *w, uint64_t most, struct error *e);

/** What is to be kept. 0: all. */
struct archive_bound {
	uint64_t bytes, ns;
};

/** Remove files that are older than the bound, or before others that have as much as it: with one
 * of them more than that stays. */
void archive_writer_drop(struct archive_writer *w, const struct archive_bound *bound);

/** Without a sync. NULL is fine. */
void archive_writer_free(struct archive_writer *w);

#endif
