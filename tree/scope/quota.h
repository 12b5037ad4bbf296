/* SPDX-License-Identifier: BSD-3-Clause */
/* A quota: how many bytes this process holds for one consumer, of what peers send for it. */
#ifndef EVSPACE_QUOTA_H
#define EVSPACE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"
#include "tree/data/names.h"

/** What is held: waves under way; names from children, which stay as long as a scope; questions and
 * commands under way, which waves shall not shut out. */
enum quota_kind { QUOTA_WAVES, QUOTA_NAMES, QUOTA_QUESTIONS, QUOTA_KINDS };

/**
 * Bytes for all consumers together: of waves and names, each of which leaves a quarter to the other
 * one; and of questions, beside these. A single consumer may have half of what a kind has, as it
 * must leave as much as it has to all others; QUOTA_LITTLE is granted in any case.
 */
#define QUOTA_ALL    ((size_t)512 << 20)
#define QUOTA_KIND   (QUOTA_ALL / 4 * 3)
#define QUOTA_ASKED  (QUOTA_ALL / 4)
#define QUOTA_LITTLE ((size_t)1 << 20)

struct quota;

/** The quota of @peer, shared by all its scopes here. Leave it with quota_leave(). */
struct quota *quota_join(const char *peer);

/** Call it when all was given back. NULL is fine. */
void quota_leave(struct quota *q);

/** Count @bytes more for waves. Returns 0, or -1 with ENOBUFS and @e: that is too much. */
int quota_take(struct quota *q, size_t bytes, struct error *e);

/** The same for names and what belongs to them: a names_granter. */
bool quota_grant(void *quota, size_t bytes);

/** What one question holds of a quota; zeroed it is nothing. */
struct quota_held {
	struct quota *quota;
	size_t bytes;
};

/** The same for questions and commands, of the quota of @peer. */
int quota_hold(struct quota_held *held, const char *peer, size_t bytes, struct error *e);

/** It holds nothing any more. Keeps errno. */
void quota_release(struct quota_held *held);

/** Names at @place whose memory is counted in @q until they are freed. */
struct names *quota_names_new(struct quota *q, uint32_t place);
void quota_names_free(struct quota *q, struct names *names);

/** @bytes are not held any more. */
void quota_give(struct quota *q, enum quota_kind kind, size_t bytes);

#endif
