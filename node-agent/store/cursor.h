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

/** An element's identity over restarts of the agent: its segment's file and its entry there. */
struct cursor_key {
	uint64_t device, inode;
	uint64_t born; /* start of the process, since inodes are reused */
	uint32_t element;
	uint32_t zero; /* padding: keys are compared and stored as bytes */
};

struct cursor;
struct shelf;

/** The consumer of cursors. */
struct cursor_owner {
	const char *peer;    /* its name at the agent */
	uint64_t keep_ns;    /* how long it may come back after it has gone */
	struct shelf *shelf; /* limits the file's size, and keeps it after the consumer has gone;
				may be NULL */
};

/**
 * Open the cursors of scope @id (16 bytes) at @node in folder @dir: a file "ID.NODE.cursor", made
 * if missing. A file of another version, or a damaged one, is replaced. Later reads use a copy in
 * memory. @dir NULL: in memory only, for scopes that need only row numbers. @owner may be NULL.
 * Returns NULL with errno (EWOULDBLOCK: another scope uses the file, which is left as it is) and
 * @e.
 */
struct cursor *cursor_open(const char *dir, const unsigned char id[16], const char *node,
			   const struct cursor_owner *owner, struct error *e);

/** Close; @keep: the file stays. NULL is fine. */
void cursor_close(struct cursor *c, bool keep);

/** Set @e to why cursors cannot be kept in @dir, by errno. Returns -1 with errno unchanged. */
int cursor_refused(const char *dir, struct error *e);

/** The use of a cursor file. */
struct cursor_use {
	char peer[64];
	uint64_t used_ns; /* CLOCK_MONOTONIC of its last use */
	bool left;	  /* the consumer has gone; else an agent has it open, or was killed */
	uint64_t keep_ns; /* how long it is kept after that */
};

/** Read the use of the file @fd. Returns 0, or -1: it is not valid. */
int cursor_use_read(int fd, struct cursor_use *use);

/** How many ns more a file of this use is kept: at most @retention_ns, and exactly that if its
 * agent was killed. */
uint64_t cursor_use_rest(const struct cursor_use *use, uint64_t retention_ns);

/** Was the scope's file there already, from before this agent or this connection? */
bool cursor_resumed(const struct cursor *c);

/** Rows so far. */
uint32_t cursor_rows(const struct cursor *c);

/** The row of an element: its own, or a new one with position @start in all waves. Rows never
 * move. Returns UINT32_MAX with errno when there is no room. */
uint32_t cursor_row(struct cursor *c, const struct cursor_key *key, uint64_t start);

/** What to do about an ask for a wave. */
enum cursor_wave {
	CURSOR_NEW, /* read from cursor_from() on, record with cursor_to(), then cursor_commit() */
	CURSOR_AGAIN, /* give the range cursor_from() to cursor_end() again */
	CURSOR_NEVER, /* asked again, or overtaken, and never made here: answer an empty part */
	CURSOR_FULL,  /* 63 waves are not acknowledged: answer an empty part, later waves bring the
			 rest */
};

/** Look up @wave; @again: it was asked for before; @have: waves up to this may be forgotten. */
enum cursor_wave cursor_wave(struct cursor *c, uint64_t wave, bool again, uint64_t have);

/** Where the last wave looked up begins and (CURSOR_AGAIN) ends in the element of @row. */
uint64_t cursor_from(const struct cursor *c, uint32_t row);
uint64_t cursor_end(const struct cursor *c, uint32_t row);

/** Record where a new wave ends in @row. Every row must be recorded before cursor_commit(). */
void cursor_to(struct cursor *c, uint32_t row, uint64_t to);

/** Make the new wave permanent: it can be asked for again. Returns 0, or -1 with errno (the file
 * cannot be written; EDQUOT: it would be too large), and the wave is not made. */
int cursor_commit(struct cursor *c);

/** Write new rows to the file, to resume after a kill. Returns 0, or -1. */
int cursor_sync(struct cursor *c);

#endif
