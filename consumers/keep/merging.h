/* SPDX-License-Identifier: BSD-3-Clause */
/* Archives while they are made one, and what elements, hosts and communicators are called there. */
#ifndef EVSPACE_MERGING_H
#define EVSPACE_MERGING_H

#include "consumers/keep/merged.h"
#include "consumers/keep/progress.h"
#include "pathmap/base/hash.h"
#include "pathmap/texts.h"
#include "tree/data/names-comm.h"
#include "tree/data/names.h"

struct archive_writer;
struct evspace_client;

/* An element of one archive: an id may become another one's. */
struct merged_known {
	uint32_t id;
	struct merged_element *of;
	char *text;
	UT_hash_handle hh;
};

struct merged_archive {
	const char *folder;
	struct evspace_client *client;
	char *run;	/* of the archive */
	bool other;	/* than the first one's: names and communicators say which */
	uint64_t waves; /* of the first reading; of these, in the second one, which are to come */
	struct merged_known *known;
	bool here; /* its next wave */
	bool read; /* once to its end */
};

/* A host, in the merged archive. */
struct merged_host {
	char *text, *key; /* its name; that without its cluster */
	uint32_t index, names;
	struct part part; /* what was said last */
	bool owes;	  /* waves, at the end of an archive */
	bool lined;	  /* the runs have tuples, by the part's clock */
	struct batch runs;
	UT_hash_handle hh;
};

/** What is made of all. */
struct merging {
	struct merged_archive *sources;
	unsigned n;
	const char *view; /* that they are of: "events", … */
	unsigned reading; /* … which reads so (enum reading) */
	bool runs;	  /* there are several, … */
	char run[64];	  /* … as "solver-1+solver-2" */
	struct merged merged;
	struct names *names;
	struct names_talk talk;
	struct merged_host *hosts, **by_index;
	uint32_t n_hosts;
	struct archive_writer *to;
	struct pathmap_texts map;
	int64_t epoch_ns, taken_ns;
	uint64_t wave, tuples, came, looked;
	struct read_progress shown;
	size_t bytes;
	bool whole;
	struct error *e;
	int rc;
};

/** Open an archive, or its next wave, as evspace_next() does it but for Ctrl-C; close it. Return -1
 * with m->e. */
int merging_open(struct merging *m, struct merged_archive *s);
int merging_next(struct merging *m, struct merged_archive *s);
void merging_close(struct merged_archive *s);

/** Begin the new archive: what is in it, with all hosts and names. */
void merging_begin(struct merging *m);

/** Write a wave of what hosts have, with a part of each; @last: those that owe are not in it. */
void merging_wave(struct merging *m, bool last);

/** Close all that is open. */
void merging_fini(struct merging *m);

/** The host of a part, which it says something of. */
struct merged_host *merging_part(struct merging *m, const struct merged_archive *s,
				 const struct run_view *view);

/** The host of the part with this index in the present wave of the archive. */
struct merged_host *merging_host(struct merging *m, const struct merged_archive *s, uint32_t index);

/** The element of a run in the archive, NULL if it has no name; @h: the host that it was read on.
 * If there are too many, m->rc is -1. */
struct merged_element *merging_element(struct merging *m, struct merged_archive *s, uint32_t id,
				       struct merged_host *h);

/** The id of the archive's communicator @comm. */
uint32_t merging_comm(const struct merged_archive *s, uint32_t comm);

/** Learn all communicators of the archive. */
void merging_comms(struct merging *m, const struct merged_archive *s);

#endif
