/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments for tests, in a folder of their own, and a reader that looks at everything. */
#ifndef EVSPACE_TESTS_SEGMENTS_H
#define EVSPACE_TESTS_SEGMENTS_H

#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment.h"

/** Tuples that each element of these segments has room for. */
#define SEGMENTS_CAPACITY 50

/** The base folder and the run's folder, in memory like real ones; set by segments_folder_make().
 */
extern char segments_base[64], segments_dir[96];

/** Make the folders, or remove them with all files in them; for CUnit's init and cleanup. 0 or not.
 */
int segments_folder_make(void);
int segments_folder_remove(void);

/** Remove the files in @path. */
void segments_folder_empty(const char *path);

/** Rank 2 of 4 in world 99, two threads. */
struct segment_plan segments_plan(void);

/** The segment's file name. */
const char *segments_name(const struct segment *s);

/**
 * A new segment, the only file in its folder: a thread, two elements of which one has wrapped
 * twice, the communicators 99 (the world), 100 (members unknown) and 101 (ranks 3 and 1).
 */
struct segment segments_full(void);

/** Read all that is in the segment @arg, as agents do; for segment_guarded(). Returns 0. */
int segments_read(void *arg);

#endif
