/* SPDX-License-Identifier: BSD-3-Clause */
/* What kinds of destinations share. */
#ifndef EVSPACE_DESTINATION_PRIVATE_H
#define EVSPACE_DESTINATION_PRIVATE_H

#include <event2/event.h>

#include "consumers/mir/destination.h"

/** A document that waits. */
struct destination_text {
	STAILQ_ENTRY(destination_text) link;
	size_t n;
	unsigned count; /* of what it has */
	char text[];
};

struct destination {
	LIST_ENTRY(destination) link;
	struct destinations *all;
	unsigned users;
	char *uri;
	const struct probe_owner *owner; /* who has named it first; NULL: he has gone */
	const char *path;		 /* in it: below the folder, or of the host */
	bool socket;
	struct evspace_element *element; /* NULL: it takes documents */
	int fd;				 /* of a file, or connected socket; -1: none */
	STAILQ_HEAD(, destination_text) texts;
	size_t waiting; /* their bytes */
	size_t sent;	/* bytes of the first one that are sent */
	uint64_t dropped;
	bool told; /* that it takes nothing; until it does */
	struct event *writable, *again;
	struct destination_visit *visit; /* a POST that is not answered yet */
};

/** How many there are, and how many of these are of one owner. */
struct destination_share {
	unsigned n, own;
};

/** Of @most, has he all that he leaves for others? */
static inline bool destination_share_is_full(const struct destination_share *share, unsigned most)
{
	return share->own >= most - share->n;
}

/** The first one is sent, or not to be sent: the next one is. */
void destination_next(struct destination *destination, bool dropped);

/** It takes nothing for now: say why, once, and try again in a while. */
void destination_rest(struct destination *destination, const char *why);

/** The part of @path below @folder; NULL: it is not below it, or not of names alone. */
const char *destination_path(const char *folder, const char *path);

/** Open @path below @folder: no links, and nothing outside. Returns a descriptor, or -1 with errno.
 */
int destination_open(const char *folder, const char *path, uint64_t flags, uint64_t mode);

/** Is it in an archive, or will it be? */
bool destination_is_archived(const struct destination *destination);

/** Are files in the folder of an archive destinations? */
bool destination_has_others(const struct destination *destination);

/** Open the element that it is, or complain. */
bool destination_element_find(struct destination *destination, const struct mir_place *place,
			      struct mir_request *request);

/** POST the first one, if none is under way. */
void destination_post(struct destination *destination);

/** What is under way has no destination any more. */
void destination_post_end(struct destination *destination);

#endif
