/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps what comes to a client in an archive (docs/archives.md): agents are told that a wave has
 * come when it is on the disk, and not before. */
#ifndef EVSPACE_CLIENT_KEEP_H
#define EVSPACE_CLIENT_KEEP_H

#include "consumers/client/delivery.h"
#include "consumers/client/evspace-loop.h"
#include "tree/wire/deframer.h"

struct client_answer;
struct archive_bound;
struct client_keep;

/** evspace_open(), and keep what comes in the folder @folder. If it has an archive, that must have
 * the answer to the same question: the client goes on behind it. */
struct evspace_client *client_keep_open(const struct evspace_options *options, const char *folder,
					enum evspace_failure *failure, char *why, size_t n);

/** What was written. */
struct client_kept {
	uint64_t bytes;	   /* on the disk, by this client */
	uint64_t tuples;   /* there, with those of before */
	uint64_t resumed;  /* tuples that the archive had before */
	uint64_t torn;	   /* bytes at its end that were no whole chunk, and were cut off */
	const char *fault; /* why nothing more can be written; NULL: it can */
};

struct client_kept client_kept(const struct evspace_client *c);

/** From now on remove what is beyond the bound, file by file. */
void client_keep_bound(struct evspace_client *c, const struct archive_bound *bound);

/** What is kept is all events of a run, which is known by now: keep what its classes count, too,
 * in an archive within that one (consumers/client/client-replay.h), as often as a second. Once;
 * does nothing if it is not as said. Returns 0, or -1 with @e. */
int client_keep_counts(struct evspace_client *c, const struct evspace_options *options,
		       struct error *e);

/** If another map was applied since the last time, ask for it and keep it, too: what comes from now
 * on is by its views. Call it between waves. */
void client_keep_remap(struct evspace_client *c);

/** An element was named in the answer that comes to client_keep_answer(). That fails if the archive
 * has another execution of the run alone: what came from before is then no part of this one. */
void client_keep_named(struct evspace_client *c, enum intervals_known known);

/** Wait until that has what is counted now; not longer than a wave may take. */
void client_keep_counted(struct evspace_client *c);

/** Wait until all that has come is on the disk. */
void client_keep_sync(struct evspace_client *c);

/* ---- for the client ---- */

/** evspace_open_on(), and keep what comes likewise. Returns NULL with @e. */
struct evspace_client *client_keep_on(struct evspace_connection *on,
				      const struct evspace_options *options, const char *folder,
				      evspace_notify *notify, struct error *e);

/** Lock the archive and bring the client where it was; then client_keep_free(). NULL with @e. */
struct client_keep *client_keep_new(struct evspace_client *c, const char *folder, struct error *e);

/** Sync what is not yet on the disk, and close it. NULL is fine. */
void client_keep_free(struct evspace_client *c);

/** Before that: ask the entry for its map, which the archive says. */
void client_keep_map(struct evspace_client *c);

/** The scope was opened. */
void client_keep_opened(struct evspace_client *c, const Evspace__Opened *o);

/** An answer has come in @frame; @taken (NULL: it was not expected) is where it is. */
void client_keep_answer(struct evspace_client *c, const struct frame *frame,
			const struct client_answer *taken, uint64_t latency_ns);

/** Say in @ask which waves are on the disk; the list is valid until the next answer. */
void client_keep_ask(const struct client_keep *keep, Evspace__Ask *ask);

#endif
