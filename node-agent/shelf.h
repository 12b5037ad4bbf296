/* SPDX-License-Identifier: BSD-3-Clause */
/* The shelf: cursor files of a node that consumers have left, and may come back for. */
#ifndef EVSPACE_SHELF_H
#define EVSPACE_SHELF_H

#include <stdint.h>

/** Files that are kept of one consumer and of all, and bytes of all: what is left first goes first.
 */
#define SHELF_PEER  32u
#define SHELF_FILES 256u
#define SHELF_BYTES (32u << 20)

struct shelf;

/**
 * That of @node for all runs below @base (which need not exist), with what an agent before has left
 * there. A file is kept for as long as its consumer may come back, one that an agent which was
 * killed had open for @retention_ns, and none for longer. Aborts when memory is out.
 */
struct shelf *shelf_new(const char *base, const char *node, uint64_t retention_ns);
void shelf_free(struct shelf *shelf);

/** Scope @id of @run has been left, its file closed. Files that are too many now are removed. NULL
 * is fine. */
void shelf_put(struct shelf *shelf, const char *run, const unsigned char id[16]);

/** Remove what is over. Returns in how many ns the next one is, UINT64_MAX: there is none. */
uint64_t shelf_tidy(struct shelf *shelf);

#endif
