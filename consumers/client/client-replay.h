/* SPDX-License-Identifier: BSD-3-Clause */
/* Waves from an archive instead of a connection. */
#ifndef EVSPACE_CLIENT_REPLAY_H
#define EVSPACE_CLIENT_REPLAY_H

#include <stdbool.h>

#include "consumers/archive/archive-reader.h"
#include "consumers/client/evspace-client.h"

struct delivery;
struct evspace_client;
struct client_answer;
struct client_replay;

/** Archives of all events have one of counts in this folder in theirs, which is of this view: what
 * each class of each thread has counted. */
#define CLIENT_REPLAY_COUNTS	  "counts"
#define CLIENT_REPLAY_COUNTS_VIEW "rates@element"

/** Addresses of archives begin so: "archive:DIR". */
#define CLIENT_REPLAY "archive:"

/** The folder of such an address, else NULL. */
const char *client_replay_folder(const char *address);

/** Open the archive as a view. Returns 0, or -1 with @e. */
int client_replay_begin(struct evspace_client *c, const char *folder, struct error *e);

/** Waves of all archives come so many times as fast as they were taken from now on; 0: as fast as
 * they are read. Returns what it was before. */
double client_replay_speed_set(double speed);

/** What an archive, or the disk that it is on, has failed with, by errno. */
enum evspace_failure client_replay_failure(void);

/** NULL is fine. */
void client_replay_free(struct client_replay *replay);

/** As evspace_next(), which does not wait. */
int client_replay_next(struct evspace_client *c);

/** Make of what has come in an answer what the client's view makes of it. */
void client_replay_stages(struct evspace_client *c, struct client_answer *to);

/** The share of the archive that was read so far; -1: it is a run. */
double client_replay_share(const struct evspace_client *c);

/** What an archive of events has, for who writes another one. */
struct client_replayed {
	struct batch *batch; /* the present wave, whose tuples may be changed */
	struct names *names;
	const struct delivery *delivery; /* whose leaves the parts name */
	const struct pathmap_texts *map; /* without texts: it has none; NULL: it is a run */
	int64_t epoch_ns;
	bool whole; /* each element from its first tuple on */
};

struct client_replayed client_replayed(struct evspace_client *c);

/** Bring the new client @c where the one was that wrote the archive in @folder, if there is one.
 * Returns 0 with where it ends in *@end, and how much there is no chunk in *@torn; or -1 with @e.
 */
int client_replay_resume(struct evspace_client *c, const char *folder, struct archive_end *end,
			 uint64_t *torn, struct error *e);

#endif
