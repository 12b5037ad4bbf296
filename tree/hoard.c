/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what waves hold until the slowest of their leaves has answered, by consumer and in all. */
#include "tree/hoard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "pathmap/memory.h"

struct hoard {
	LIST_ENTRY(hoard) entry;
	char *peer;
	unsigned users;
	size_t bytes;
};

static LIST_HEAD(hoard_list, hoard) hoards = LIST_HEAD_INITIALIZER(hoards);
static size_t all_bytes;

struct hoard *hoard_join(const char *peer)
{
	struct hoard *h;

	LIST_FOREACH (h, &hoards, entry) {
		if (strcmp(h->peer, peer) == 0)
			break;
	}
	if (!h) {
		h = memory_new(1, sizeof(*h));
		h->peer = memory_copy(peer);
		LIST_INSERT_HEAD(&hoards, h, entry);
	}
	h->users++;
	return h;
}

void hoard_leave(struct hoard *h)
{
	if (!h || --h->users > 0)
		return;
	LIST_REMOVE(h, entry);
	free(h->peer);
	free(h);
}

int hoard_take(struct hoard *h, size_t bytes, struct error *e)
{
	errno = ENOBUFS;
	if (bytes > HOARD_PEER - h->bytes)
		return errorf(
			e,
			"waves that wait for slow hosts hold %zu MiB for %s here already, and "
			"one consumer may have %zu; ask for fewer waves at once, or with a "
			"shorter deadline",
			h->bytes >> 20, h->peer, HOARD_PEER >> 20);
	if (all_bytes + bytes > HOARD_ALL && h->bytes + bytes > HOARD_LITTLE)
		return errorf(e,
			      "waves that wait for slow hosts hold %zu MiB here already, and all "
			      "consumers together may have %zu; try again later",
			      all_bytes >> 20, HOARD_ALL >> 20);
	h->bytes += bytes;
	all_bytes += bytes;
	return 0;
}

void hoard_give(struct hoard *h, size_t bytes)
{
	h->bytes -= bytes;
	all_bytes -= bytes;
}
