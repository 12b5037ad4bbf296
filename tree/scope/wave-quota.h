/* SPDX-License-Identifier: BSD-3-Clause */
/* A hoard: how many bytes of waves that are under way this process holds for one consumer. */
#ifndef EVSPACE_WAVE_QUOTA_H
#define EVSPACE_WAVE_QUOTA_H

#include <stddef.h>

#include "pathmap/base/error.h"

/** Bytes for one consumer, and for all together; beyond the latter who has little gets that still,
 * for others may hoard. */
#define WAVE_QUOTA_PEER	  ((size_t)256 << 20)
#define WAVE_QUOTA_ALL	  ((size_t)512 << 20)
#define WAVE_QUOTA_LITTLE ((size_t)1 << 20)

struct wave_quota;

/** That of @peer, which all its scopes here share. wave_quota_leave() gives it back. */
struct wave_quota *wave_quota_join(const char *peer);

/** All that was taken has been given back. NULL is fine. */
void wave_quota_leave(struct wave_quota *h);

/** @bytes more are to be held. Returns 0, or -1 with ENOBUFS and @e: that would be too much. */
int wave_quota_take(struct wave_quota *h, size_t bytes, struct error *e);

/** @bytes are not held any more. */
void wave_quota_give(struct wave_quota *h, size_t bytes);

#endif
