/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of rows share: segments that are followed, mirrors, and what is fetched. */
#ifndef EVSPACE_ROW_PRIVATE_H
#define EVSPACE_ROW_PRIVATE_H

#include "node-agent/source/row-names.h"
#include "node-agent/source/row.h"

/** Room for a process's name: that in the store, its pid and end. */
#define ROW_PROCESS 80

/** A segment that this source reads, and how much of its tables has been taken in. */
struct follow {
	uint64_t serial;
	const struct store_segment *segment;
	char name[ROW_PROCESS];
	uint32_t elements, threads;
	/* elements that were there before: "from now on" is from where their heads were then, which
	   is known until all of these are taken in */
	uint32_t older;
	uint64_t *heads;
	struct row_comms comms;
	struct row_labels labels;
	bool changed, broken;
	bool going;   /* its file goes */
	bool held;    /* with a hold of the store */
	bool fetched; /* where it is fetched: it has ended, and all of it has come */
	bool off_map; /* the map does not have it here any more: what waves had is told again */
};

struct rows {
	LIST_ENTRY(rows) fetched; /* if @fetch */
	LIST_ENTRY(rows) stream;  /* if it is one, and the host has a list */
	const struct source_host *host;
	const struct plan_place *place;
	struct names *names;
	char run[64];
	char fetch[64]; /* node that fetches its elements, of all runs; "": they are not fetched */
	unsigned char id[16];
	bool from_now;
	bool begun;   /* what was there has been looked at: what comes now is new, and read from its
			 first tuple */
	bool resting; /* nothing is left to be taken in; else with a hold of the sites */
	enum reading reading;
	const Evspace__Open *open; /* of the scope; its patterns */
	uint64_t version;	   /* of the store, when its list was last looked at */
	uint32_t unreadable;	   /* files and processes without one, as of then */
	struct follow *follows;
	size_t n_follows, n_mirrors;
	size_t n_heads; /* of all follows */
	struct row *table;
	uint32_t n, room;
	struct cursor *cursor;
	int refused;		 /* why there are no cursors, an errno; 0: no reason */
	struct error diagnostic; /* of that, said last */
	struct clock_pair born;	 /* the oldest pair that is known of this host's clock */
	volatile size_t looking; /* the follow that is being looked at under the guard */
	bool crowded, told;	 /* more elements than rows, which has been said */
	bool replaced;		 /* the place is another one since the last refresh */
};

/** What a row is called. */
struct row_name {
	const char *text;
	int32_t rank;
	uint16_t channel;
};

/**
 * Give the element @key its row, if its name is selected; @new has what is to be read, a new one
 * from number @start.
 */
void rows_put(struct rows *r, const struct cursor_key *key, const struct row_name *name,
	      struct row new, uint64_t start);

/** What a look comes to. */
enum news { NEWS_NONE, NEWS_SOME, NEWS_MORE };

/** Take in what is new in segments, until it is @until_ns (CLOCK_MONOTONIC), at least one element.
 * NEWS_MORE: there is more. (row-take.c) */
enum news rows_take_all(struct rows *r, uint64_t until_ns);

/** Take in what is new of @f alone. */
enum news rows_take(struct rows *r, struct follow *f, uint64_t until_ns);

/** Row @number, with room for it. */
struct row *rows_room(struct rows *r, uint32_t number);

/** Has no table of a segment grown? Costs a few loads per segment. (row-take.c) */
bool rows_look(struct rows *r);

/** What is there now was there before: note up to where it is written, if that is not read.
 * (row-take.c) */
void rows_note_older(struct rows *r);

/** That is not needed any more. */
void follow_forget_heads(struct rows *r, struct follow *f);

/** There is nothing to be read of the segment of this serial any more. */
void rows_drop(struct rows *r, uint64_t serial);

/** Its file cannot be read any more. */
void rows_lose(struct rows *r, struct follow *f);

/** Have all elements of @s that these rows are of their row? (Call it under the guard.) */
bool rows_have_all(const struct rows *r, const struct store_segment *s);

/** Rows of the mirrors that this node holds of the run; those that went have nothing to be read.
 * (row-fetch.c) */
void rows_take_mirrors(struct rows *r);

/** How many of them there are. */
size_t rows_count_mirrors(const struct rows *r);

/** Is the element read with these rows, or with others because of where it is fetched to?
 * (row-fetch.c) */
bool rows_read_here(const struct rows *r, const struct segment_element *e);

/** What @s is called: where it is fetched, its pid and whether it has ended are in that. */
void rows_process(const struct rows *r, const struct store_segment *s, char *buf, size_t n);

/** Make of the element's @name (NAME_BYTES) what it is called where it is fetched:
 * "/RUN/NODE/PROCESS/tT/LABEL". Returns 0, or -1 when it is too long. */
int rows_fetch_name(const struct rows *r, const struct store_segment *s, char *name);

#endif
