/* SPDX-License-Identifier: BSD-3-Clause */
/* A quota: how many bytes this process holds for one consumer, of what others bring for it. */
#ifndef EVSPACE_QUOTA_H
#define EVSPACE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"
#include "tree/data/names.h"

/** What is held: waves that are under way, and names that children tell, which stay as long as a
 * scope. */
enum quota_kind { QUOTA_WAVES, QUOTA_NAMES, QUOTA_KINDS };

/**
 * Bytes for all consumers together, of which each kind leaves a quarter to the other one. One
 * consumer alone may have half of that, for it leaves as much as it has to all others; who has
 * little gets that in any case.
 */
#define QUOTA_ALL    ((size_t)512 << 20)
#define QUOTA_KIND   (QUOTA_ALL / 4 * 3)
#define QUOTA_LITTLE ((size_t)1 << 20)

struct quota;

/** That of @peer, which all its scopes here share. quota_leave() gives it back. */
struct quota *quota_join(const char *peer);

/** All that was taken has been given back. NULL is fine. */
void quota_leave(struct quota *q);

/** @bytes more are to be held for waves. Returns 0, or -1 with ENOBUFS and @e: that would be too
 * much. */
int quota_take(struct quota *q, size_t bytes, struct error *e);

/** The same for names, and what belongs to them. */
bool quota_grant(void *quota, size_t bytes);

/** Names at @place that take what they are told from @q, until they are freed. */
struct names *quota_names_new(struct quota *q, uint32_t place);
void quota_names_free(struct quota *q, struct names *names);

/** @bytes are not held any more. */
void quota_give(struct quota *q, enum quota_kind kind, size_t bytes);

#endif
