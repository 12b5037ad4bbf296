/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the files of rows: followed segments, mirrors, and what is fetched. */
#ifndef EVSPACE_ROW_PRIVATE_H
#define EVSPACE_ROW_PRIVATE_H

#include "node-agent/source/row-names.h"
#include "node-agent/source/row.h"

/** Room for a process's name: that in the store, its pid and end. */
#define ROW_PROCESS 80

/** A segment that this source reads, and how much of its tables has been read. */
struct follow {
	uint64_t serial;
	const struct store_segment *segment;
	char name[ROW_PROCESS];
	uint32_t elements, threads;
	/* elements that existed at the opening: "from now on" starts at their heads then, which
	 * are noted until all these elements have rows */
	uint32_t older;
	uint64_t *heads;
	struct row_comms comms;
	struct row_labels labels;
	bool changed, broken;
	bool going;   /* its file is removed */
	bool held;    /* by store_hold() */
	bool fetched; /* if it is fetched: it has ended, and all of it has arrived */
	bool off_map; /* the map does not have it here any more: earlier waves can still be asked
			 for again */
	bool asks;    /* it is told what waves read of it: */
	struct row_tale *tale;
};

struct rows {
	LIST_ENTRY(rows) fetched; /* if @fetch */
	LIST_ENTRY(rows) stream;  /* if it is a stream, and the host has a list */
	const struct source_host *host;
	const struct plan_place *place;
	struct names *names;
	char run[64];
	char fetch[64]; /* node that fetches elements from here, of all runs; "": they are not
			   fetched */
	unsigned char id[16];
	bool from_now;
	bool samples; /* only what the sampler keeps is read */
	bool sampled; /* and it was asked to */
	bool begun;   /* existing segments were noted: those that come now are read from their first
			 tuple on */
	bool resting; /* nothing is new; else with sites_hold() */
	enum reading reading;
	const Evspace__Open *open; /* of the scope; its patterns */
	uint64_t version;	   /* of the store, when its list was last read */
	uint32_t unreadable;	   /* unreadable files and uncollected processes, as of then */
	struct follow *follows;
	size_t n_follows, n_mirrors; /* n_mirrors: and elements of programs */
	size_t n_heads;		     /* of all follows */
	struct row *table;
	uint32_t n, room;
	uint32_t site_labels; /* of call sites, learnt so far */
	struct cursor *cursor;
	int refused;		 /* why there are no cursors, an errno; 0: no reason */
	struct error diagnostic; /* the last one of that */
	struct clock_pair born;	 /* the oldest known pair of this host's clock */
	volatile size_t looking; /* the follow of the current guarded read */
	bool crowded, told;	 /* more elements than rows; reported */
	bool tells;		 /* a process asks for what waves read of it */
	bool replaced;		 /* the place has changed since the last refresh */
};

/** The name of a row. */
struct row_name {
	const char *text;
	int32_t rank;
	uint16_t channel;
	uint64_t born; /* as struct name's */
};

/** Give the element @key a row, filled from @new, if its name is selected. A new element is read
 * from number @start on. Returns whether it has one. */
bool rows_put(struct rows *r, const struct cursor_key *key, const struct row_name *name,
	      struct row new, uint64_t start);

/** Result of a look for new entries. */
enum news { NEWS_NONE, NEWS_SOME, NEWS_MORE };

/** Make rows of new elements until @until_ns (CLOCK_MONOTONIC), but at least one. NEWS_MORE:
 * there are more. (row-take.c) */
enum news rows_take_all(struct rows *r, uint64_t until_ns);

/** The same for @f only. */
enum news rows_take(struct rows *r, struct follow *f, uint64_t until_ns);

/** Row @number, for which room is made. */
struct row *rows_room(struct rows *r, uint32_t number);

/** Is no table of any segment larger than before? Costs a few loads per segment. (row-take.c) */
bool rows_look(struct rows *r);

/** Note the elements that exist at the opening, and their heads if what they hold is not to be
 * read. (row-take.c) */
void rows_note_older(struct rows *r);

/** Free these heads. */
void follow_forget_heads(struct rows *r, struct follow *f);

/** Report why there are no cursors, or samples, by @e and errno; waves say it, too. */
void rows_complain(struct rows *r, const struct error *e);

/** Have the run's threads sampled as soon as it is there, if samples are read; and no longer
 * (@lost: the reader may come back). (row-sample.c) */
void rows_sample(struct rows *r);
void rows_sample_end(struct rows *r, bool lost);

/** Do not tell the process any more. (row-tell.c) */
void follow_tell_end(struct follow *f);

/** Stop reading the segment of this serial. */
void rows_drop(struct rows *r, uint64_t serial);

/** Stop reading a segment whose file cannot be read any more. */
void rows_lose(struct rows *r, struct follow *f);

/** Do all elements of @s that these rows are for have one? (For guarded reads.) */
bool rows_have_all(const struct rows *r, const struct store_segment *s);

/** Make rows of this node's mirrors of the run; those of removed mirrors are no longer read.
 * (row-fetch.c) */
void rows_take_mirrors(struct rows *r);

/** The number of these mirrors. */
size_t rows_count_mirrors(const struct rows *r);

/** Do these rows read the element? Others do if another node fetches it. (row-fetch.c) */
bool rows_read_here(const struct rows *r, const struct store_segment *s,
		    const struct segment_element *e);

/** Write the process name of @s; if it is fetched, with its pid and whether it has ended. */
void rows_process(const struct rows *r, const struct store_segment *s, char *buf, size_t n);

/** Change the element's @name (NAME_BYTES) to its name at the node that fetches it:
 * "/RUN/NODE/PROCESS/tT/LABEL". Returns 0, or -1 when it is too long. */
int rows_fetch_name(const struct rows *r, const struct store_segment *s, char *name);

#endif
