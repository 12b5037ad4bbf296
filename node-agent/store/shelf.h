/* SPDX-License-Identifier: BSD-3-Clause */
/* The shelf: the cursor files of a node, those that scopes have open and those that consumers have
 * left, and may come back for. */
#ifndef EVSPACE_SHELF_H
#define EVSPACE_SHELF_H

#include <stdbool.h>
#include <stdint.h>

/** Files that are kept of one consumer and of all who have left; bytes of all files, of which those
 * of one consumer's open scopes may have half. Of a small file system all have a sixteenth. */
#define SHELF_PEER  32u
#define SHELF_FILES 256u
#define SHELF_BYTES (256u << 20)

struct shelf;
struct shelf_item;

/**
 * That of @node for all runs below @base (which need not exist), with what an agent before has left
 * there. A file is kept for as long as its consumer may come back, one that an agent which was
 * killed had open for @retention_ns, and none for longer. Aborts when memory is out.
 */
struct shelf *shelf_new(const char *base, const char *node, uint64_t retention_ns);

/** All items are closed before. NULL is fine. */
void shelf_free(struct shelf *shelf);

/** A scope of @peer has the file @path open, @fd, until shelf_close(). */
struct shelf_item *shelf_open(struct shelf *shelf, const char *path, int fd, const char *peer);

/** It is to take @bytes. What was left makes way, of who has most first. Returns 0, or -1 with
 * EDQUOT: all, or its consumer, would have too much. */
int shelf_grow(struct shelf_item *item, uint64_t bytes);

/** The scope has closed it; @left: it stays, unless these are too many now. */
void shelf_close(struct shelf_item *item, bool left);

/** Remove what is over. Returns in how many ns the next one is, UINT64_MAX: there is none. */
uint64_t shelf_tidy(struct shelf *shelf);

#endif
