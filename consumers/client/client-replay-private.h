/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files that read an archive as a client share. */
#ifndef EVSPACE_CLIENT_REPLAY_PRIVATE_H
#define EVSPACE_CLIENT_REPLAY_PRIVATE_H

#include "consumers/client/client-replay.h"
#include "consumers/client/client-stages.h"
#include "consumers/client/client.h"
#include "pathmap/texts.h"

struct client_replay {
	struct archive_reader *reader;
	bool resumes; /* its end is where the client goes on */
	bool begun;   /* with a chunk that has waves */
	bool beside;  /* the view reads counts, which are in an archive of their own … */
	bool counts;  /* … and this is that one */
	struct pathmap_texts map;
	bool remapped; /* it is another one than that of the stages */
	struct client_stages *stages;
	bool lacks;		    /* no map so far has the view, … */
	struct error lack;	    /* … and why; what comes until one has is passed over */
	uint64_t n_passed, skip_to; /* chunks, and the wave behind the last of them */
	uint64_t newest;	    /* the largest wave that has come */
	bool faulty;
	struct error fault;
	uint64_t began_ns; /* CLOCK_MONOTONIC, with a speed: when the first wave was due … */
	int64_t first_ns;  /* … and taken */
	uint64_t before;   /* bytes of the archive when it was opened */
};

/** The archive has the question @o: is it the client's, or what makes of it what the client asks
 * for? Returns 0, or -1 with @e. (client-replay-view.c) */
int replay_question(struct evspace_client *c, const Evspace__Open *o, struct error *e);

/** It has another map, by which views are from now on. */
void replay_map(struct client_replay *r, const Evspace__Map *map);

/** Has it the same patterns? */
bool replay_same_select(const struct evspace_client *c, const Evspace__Open *o);

#endif
