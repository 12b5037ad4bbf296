/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what is held for each consumer, and for all together. */
#include "tree/scope/quota.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "pathmap/base/memory.h"

struct quota {
	LIST_ENTRY(quota) entry;
	char *peer;
	unsigned users;
	size_t held[QUOTA_KINDS];
};

static LIST_HEAD(quota_list, quota) quotas = LIST_HEAD_INITIALIZER(quotas);
static size_t all_held[QUOTA_KINDS];

struct quota *quota_join(const char *peer)
{
	struct quota *q;

	LIST_FOREACH (q, &quotas, entry) {
		if (strcmp(q->peer, peer) == 0)
			break;
	}
	if (!q) {
		q = memory_new(1, sizeof(*q));
		q->peer = memory_copy(peer);
		LIST_INSERT_HEAD(&quotas, q, entry);
	}
	q->users++;
	return q;
}

void quota_leave(struct quota *q)
{
	if (!q || --q->users > 0)
		return;
	LIST_REMOVE(q, entry);
	free(q->peer);
	free(q);
}

/* How much all may hold of that kind now. */
static size_t quota_most(enum quota_kind kind)
{
	size_t other = all_held[kind == QUOTA_WAVES ? QUOTA_NAMES : QUOTA_WAVES];
	size_t most = other < QUOTA_ALL ? QUOTA_ALL - other : 0;

	if (kind == QUOTA_QUESTIONS)
		return QUOTA_ASKED;
	return most < QUOTA_KIND ? most : QUOTA_KIND;
}

/* May @q hold @bytes more? QUOTA_LITTLE is granted in any case. */
static bool quota_fits(const struct quota *q, enum quota_kind kind, size_t bytes)
{
	size_t most = quota_most(kind), all = all_held[kind], own = q->held[kind];

	return bytes <= QUOTA_ALL && (own + bytes <= QUOTA_LITTLE ||
				      (all + bytes <= most && own + bytes <= most - all - bytes));
}

static bool quota_add(struct quota *q, enum quota_kind kind, size_t bytes)
{
	if (!quota_fits(q, kind, bytes))
		return false;
	q->held[kind] += bytes;
	all_held[kind] += bytes;
	return true;
}

static int quota_try(struct quota *q, enum quota_kind kind, size_t bytes, struct error *e)
{
	if (quota_add(q, kind, bytes))
		return 0;
	errno = ENOBUFS;
	return errorf(e,
		      "%s that wait for slow hosts hold %zu MiB for %s here "
		      "already, of %zu for all, and one consumer leaves as much as it has to "
		      "others; ask for less at once, or with a shorter deadline",
		      kind == QUOTA_WAVES ? "waves" : "questions", q->held[kind] >> 20, q->peer,
		      all_held[kind] >> 20);
}

int quota_take(struct quota *q, size_t bytes, struct error *e)
{
	return quota_try(q, QUOTA_WAVES, bytes, e);
}

int quota_hold(struct quota_held *held, const char *peer, size_t bytes, struct error *e)
{
	struct quota *quota = held->quota ? held->quota : quota_join(peer);

	if (quota_try(quota, QUOTA_QUESTIONS, bytes, e) < 0) {
		if (!held->quota)
			quota_leave(quota);
		return -1;
	}
	held->quota = quota;
	held->bytes += bytes;
	return 0;
}

void quota_release(struct quota_held *held)
{
	int saved = errno;

	if (held->quota)
		quota_give(held->quota, QUOTA_QUESTIONS, held->bytes);
	quota_leave(held->quota);
	*held = (struct quota_held){NULL, 0};
	errno = saved;
}

bool quota_grant(void *quota, size_t bytes)
{
	return quota_add(quota, QUOTA_NAMES, bytes);
}

struct names *quota_names_new(struct quota *q, uint32_t place)
{
	struct names *names = names_new(place);

	names_grant_set(names, quota_grant, q);
	return names;
}

void quota_names_free(struct quota *q, struct names *names)
{
	quota_give(q, QUOTA_NAMES, names_granted(names));
	names_free(names);
}

void quota_give(struct quota *q, enum quota_kind kind, size_t bytes)
{
	q->held[kind] -= bytes;
	all_held[kind] -= bytes;
}
