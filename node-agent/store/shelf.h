/* SPDX-License-Identifier: BSD-3-Clause */
/* The shelf: the cursor files of a node, both those that scopes have open and those left by
 * consumers that may come back. */
#ifndef EVSPACE_SHELF_H
#define EVSPACE_SHELF_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Limits: left files of one consumer, and of all; bytes of all files, half of which the open scopes
 * of one consumer may take. On a small file system, all files may take a sixteenth of it.
 */
#define SHELF_PEER  32u
#define SHELF_FILES 256u
#define SHELF_BYTES (256u << 20)

struct shelf;
struct shelf_item;

/**
 * The shelf of @node for all runs below @base (which need not exist), with files of earlier agents.
 * A file is kept as long as its consumer may come back, at most for @retention_ns; if its agent was
 * killed, for @retention_ns. Aborts when memory is out.
 */
struct shelf *shelf_new(const char *base, const char *node, uint64_t retention_ns);

/** All items must be closed before. NULL is fine. */
void shelf_free(struct shelf *shelf);

/** Add the file @path, which a scope of @peer has open as @fd, until shelf_close(). */
struct shelf_item *shelf_open(struct shelf *shelf, const char *path, int fd, const char *peer);

/**
 * Let the file grow to @bytes; left files are removed for it, those of the consumer that has most
 * first. Returns 0, or -1 with EDQUOT: the files of all, or of its consumer, would be too large.
 */
int shelf_grow(struct shelf_item *item, uint64_t bytes);

/** The scope has closed it; @left: keep the file, within the limits. */
void shelf_close(struct shelf_item *item, bool left);

/** Remove expired files. Returns in how many ns the next one expires, UINT64_MAX: there is none. */
uint64_t shelf_tidy(struct shelf *shelf);

#endif
