/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what waves hold until the slowest of their leaves has answered, by consumer and in all. */
#include "tree/scope/wave-quota.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "pathmap/base/memory.h"

struct wave_quota {
	LIST_ENTRY(wave_quota) entry;
	char *peer;
	unsigned users;
	size_t bytes;
};

static LIST_HEAD(hoard_list, wave_quota) quotas = LIST_HEAD_INITIALIZER(quotas);
static size_t all_bytes;

struct wave_quota *wave_quota_join(const char *peer)
{
	struct wave_quota *h;

	LIST_FOREACH (h, &quotas, entry) {
		if (strcmp(h->peer, peer) == 0)
			break;
	}
	if (!h) {
		h = memory_new(1, sizeof(*h));
		h->peer = memory_copy(peer);
		LIST_INSERT_HEAD(&quotas, h, entry);
	}
	h->users++;
	return h;
}

void wave_quota_leave(struct wave_quota *h)
{
	if (!h || --h->users > 0)
		return;
	LIST_REMOVE(h, entry);
	free(h->peer);
	free(h);
}

int wave_quota_take(struct wave_quota *h, size_t bytes, struct error *e)
{
	errno = ENOBUFS;
	if (bytes > WAVE_QUOTA_PEER - h->bytes)
		return errorf(
			e,
			"waves that wait for slow hosts hold %zu MiB for %s here already, and "
			"one consumer may have %zu; ask for fewer waves at once, or with a "
			"shorter deadline",
			h->bytes >> 20, h->peer, WAVE_QUOTA_PEER >> 20);
	if (all_bytes + bytes > WAVE_QUOTA_ALL && h->bytes + bytes > WAVE_QUOTA_LITTLE)
		return errorf(e,
			      "waves that wait for slow hosts hold %zu MiB here already, and all "
			      "consumers together may have %zu; try again later",
			      all_bytes >> 20, WAVE_QUOTA_ALL >> 20);
	h->bytes += bytes;
	all_bytes += bytes;
	return 0;
}

void wave_quota_give(struct wave_quota *h, size_t bytes)
{
	h->bytes -= bytes;
	all_bytes -= bytes;
}
