/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of the events of an archive: those that the program says (evspace_block()); of one that
 * does not, what is before the end of a communication call and what is behind it, by call site or
 * operation. */
#ifndef EVSPACE_BLOCKS_OF_EVENTS_H
#define EVSPACE_BLOCKS_OF_EVENTS_H

#include <stdbool.h>

#include "consumers/client/evspace-client.h"
#include "consumers/phase/entries.h"

/** What the blocks are: 0 before the first call, 2k + 1 in a call at site k, 2k + 2 behind it. */
struct block_sites {
	char **names;	/* "solver.c:212", or "MPI_Send" where call sites are not recorded, in order
			 */
	size_t n;	/* 0: the blocks are those that the program says */
	uint64_t apart; /* events of threads other than the first of their process, or of processes
			 * without a rank in the first world: left out */
	uint64_t lost;	/* lost or discarded events of first threads, which would be entries */
	bool known;	/* call sites, not operations, at least some of them */
};

/** Most archives. */
#define BLOCKS_OF_EVENTS_RUNS 64u

/** Blocks of events as they come: of all, sorted in 32 MiB of memory and the rest in a file without
 * a name, or of those that are drained now and then, in memory. */
struct block_making;

/** Nothing has come. @selects: not all processes may, and then it ends with a fault. */
struct block_making *blocks_of_events_new(bool drained, bool selects);

/** An event has come, in any order. */
void blocks_of_events_take(struct block_making *m, const struct evspace_event *ev);

/** Count what the client's wave says is lost. */
void blocks_of_events_lose(struct block_making *m, struct evspace_client *client);

/** All of the @n archives in @folders has come, one run behind the other, of the elements that @of
 * selects. Returns 0, or -1 with @e. */
int blocks_of_events_read(struct block_making *m, const char *const *folders, unsigned n,
			  const struct evspace_options *of, struct error *e);

/** Is there no room for more: on the disk, or for 20 million calls that are still to be drained? */
bool blocks_of_events_full(const struct block_making *m);

/** What has come so far. */
struct blocks_so_far {
	unsigned processes; /* 0: nothing */
	int64_t first_ns;   /* Unix time of the first */
	bool said;	    /* blocks are those that the program says */
};

struct blocks_so_far blocks_of_events_so_far(const struct block_making *m);

/** @process enters @block at a time that is known to @error_ns. */
typedef void block_take(void *arg, int64_t ns, double error_ns, unsigned process, uint32_t block);

/** Call @take with each entry before @until_ns, in order of time, and forget it. Sites are numbered
 * as they come, and their names appended to @sites. */
void blocks_of_events_drain(struct block_making *m, int64_t until_ns, struct block_sites *sites,
			    block_take *take, void *arg);

/** The entries, named @name, of all that has come, which both must outlive them: times in ns since
 * the first of the run. Returns 0, or -1 with @e: no call has come, or there was no room. */
int blocks_of_events_end(struct block_making *m, struct entries *entries, const char *name,
			 struct block_sites *sites, struct error *e);

/** NULL is fine. */
void blocks_of_events_free(struct block_making *m);

void block_sites_fini(struct block_sites *sites);

#endif
