/* SPDX-License-Identifier: BSD-3-Clause */
/* A hoard: how many bytes of waves that are under way this process holds for one consumer. */
#ifndef EVSPACE_HOARD_H
#define EVSPACE_HOARD_H

#include <stddef.h>

#include "pathmap/error.h"

/** Bytes for one consumer, and for all together; beyond the latter who has little gets that still,
 * for others may hoard. */
#define HOARD_PEER   ((size_t)256 << 20)
#define HOARD_ALL    ((size_t)512 << 20)
#define HOARD_LITTLE ((size_t)1 << 20)

struct hoard;

/** That of @peer, which all its scopes here share. hoard_leave() gives it back. */
struct hoard *hoard_join(const char *peer);

/** All that was taken has been given back. NULL is fine. */
void hoard_leave(struct hoard *h);

/** @bytes more are to be held. Returns 0, or -1 with ENOBUFS and @e: that would be too much. */
int hoard_take(struct hoard *h, size_t bytes, struct error *e);

/** @bytes are not held any more. */
void hoard_give(struct hoard *h, size_t bytes);

#endif
