/* SPDX-License-Identifier: BSD-3-Clause */
/* Cursors: how far a scope has read each element of a leaf, in a file that survives the agent
 * (docs/decisions/0004-leaves-remember.md). */
#ifndef EVSPACE_CURSOR_H
#define EVSPACE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"

/** Waves whose ranges a cursor file remembers. */
#define CURSOR_WAVES 64u

/** An element as it is known over restarts of the agent: its segment's file and its entry in that.
 */
struct cursor_key {
	uint64_t device, inode;
	uint64_t born; /* start of the process: inodes are used again */
	uint32_t element;
	uint32_t zero; /* keys are compared, and kept in the file, as bytes */
};

struct cursor;
struct shelf;

/** For whom cursors are. */
struct cursor_owner {
	const char *peer;    /* the consumer, as its agent calls it */
	uint64_t keep_ns;    /* how long it may come back when it has gone */
	struct shelf *shelf; /* says whether there is room for the file, and keeps it when it was
				left; NULL: nobody does */
};

/**
 * Open the cursors of scope @id (16 bytes) at @node in folder @dir: a file "ID.NODE.cursor", made
 * if missing. One that does not fit this version, or is damaged, is begun anew. All that is read
 * later is a copy in memory. @dir NULL: in memory only, for readings that need only the numbering
 * of rows. @owner may be NULL. Returns NULL with errno (EWOULDBLOCK: another scope has the file in
 * use; it is left as it is) and @e.
 */
struct cursor *cursor_open(const char *dir, const unsigned char id[16], const char *node,
			   const struct cursor_owner *owner, struct error *e);

/** Close; @keep: the file stays. NULL is fine. */
void cursor_close(struct cursor *c, bool keep);

/** What to say when cursors cannot be kept in @dir, by errno. Returns -1, errno stays. */
int cursor_refused(const char *dir, struct error *e);

/** What a cursor file says of its use. */
struct cursor_use {
	char peer[64];
	uint64_t used_ns; /* CLOCK_MONOTONIC when it was used last */
	bool left;	  /* the consumer has gone, else the agent was killed, or has it open */
	uint64_t keep_ns; /* how long it is kept then */
};

/** Read that of the file @fd. Returns 0, or -1: it does not say. */
int cursor_use_read(int fd, struct cursor_use *use);

/** For how many ns more a file of this use is kept. One that was not left is kept for
 * @retention_ns, and none for longer. */
uint64_t cursor_use_rest(const struct cursor_use *use, uint64_t retention_ns);

/** Was the scope's file there already, from before this agent or this connection? */
bool cursor_resumed(const struct cursor *c);

/** Rows so far. */
uint32_t cursor_rows(const struct cursor *c);

/**
 * The row of an element: the one that it has, or the next free one with its position at @start in
 * all waves. Rows never move. Returns UINT32_MAX with errno when there is no more room.
 */
uint32_t cursor_row(struct cursor *c, const struct cursor_key *key, uint64_t start);

/** What to do for a wave that is asked for. */
enum cursor_wave {
	CURSOR_NEW, /* read on from cursor_from(), record with cursor_to(), then cursor_commit() */
	CURSOR_AGAIN, /* give the range cursor_from() to cursor_end() once more */
	CURSOR_NEVER, /* asked again, or after a later one, or after this answer, but never made
			 here: an empty part */
	CURSOR_FULL,  /* 63 waves wait for the consumer's word: an empty part, later waves bring the
			 rest */
};

/** Look up @wave; @again: asked for once more; @have: waves up to it may be forgotten. */
enum cursor_wave cursor_wave(struct cursor *c, uint64_t wave, bool again, uint64_t have);

/** Where the wave looked up last begins and (CURSOR_AGAIN) ends in @row's element. */
uint64_t cursor_from(const struct cursor *c, uint32_t row);
uint64_t cursor_end(const struct cursor *c, uint32_t row);

/** Record where a new wave ends in @row. Every row must be recorded before cursor_commit(). */
void cursor_to(struct cursor *c, uint32_t row, uint64_t to);

/** The new wave stands: from now on it can be asked for again. Returns 0, or -1 with errno (the
 * file cannot be written; EDQUOT: it would be too large): it has not been. */
int cursor_commit(struct cursor *c);

/** Have the file say which rows there are, for who reads on after a kill. Returns 0, or -1. */
int cursor_sync(struct cursor *c);

#endif
