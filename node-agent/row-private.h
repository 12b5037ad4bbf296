/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of rows share: segments that are followed, mirrors, and what is fetched. */
#ifndef EVSPACE_ROW_PRIVATE_H
#define EVSPACE_ROW_PRIVATE_H

#include "node-agent/row.h"

/* A segment that is followed, in row.c. */
struct follow;

struct rows {
	LIST_ENTRY(rows) fetched; /* if @fetch */
	const struct source_host *host;
	const struct plan_place *place;
	struct names *names;
	char run[64];
	char fetch[64]; /* node that fetches its elements, of all runs; "": they are not fetched */
	unsigned char id[16];
	bool from_now;
	bool begun; /* the first refresh is over: what comes now is new, and read from its first
		       tuple */
	enum reading reading;
	const Evspace__Open *open; /* of the scope; its patterns */
	uint64_t version;	   /* of the store, when its list was last looked at */
	struct follow *follows;
	size_t n_follows, n_mirrors;
	struct row *table;
	uint32_t n, room;
	struct cursor *cursor;
	struct error complaint;	 /* of the cursors, said last */
	struct clock_pair born;	 /* the oldest pair that is known of this host's clock */
	volatile size_t looking; /* the follow that is being looked at under the guard */
};

/** What a row is called. */
struct row_name {
	const char *text;
	int32_t rank;
	uint16_t channel;
};

/** Room for a process's name: that in the store, its pid and end. */
#define ROW_PROCESS 80

/** Give the element @key its row, if its name is selected; @new has what is to be read. */
void rows_put(struct rows *r, const struct cursor_key *key, const struct row_name *name,
	      struct row new, uint64_t head);

/** Have all elements of @s that these rows are of their row? (Call it under the guard.) */
bool rows_have_all(const struct rows *r, const struct store_segment *s);

/** Rows of the mirrors that this node holds of the run; those that went have nothing to be read.
 * (row-mirror.c) */
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
