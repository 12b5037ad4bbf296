/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings: what `evspace map discover` has found, and the maps that follow from it. */
#ifndef EVSPACE_FINDING_H
#define EVSPACE_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/model/deployment.h"
#include "pathmap/base/error.h"
#include "pathmap/texts.h"
#include "tree/data/names.h"

/** A host that runs something, or may. */
struct finding_node {
	char *name;    /* in maps */
	char *host;    /* for a launcher or ssh; NULL: the same */
	char *address; /* HOST of its address; NULL: its name */
};

/** A process on a host. */
struct finding_process {
	int32_t number;	  /* rank or task id */
	uint32_t spawned; /* id of its world, if that was spawned; else 0 */
	size_t node;	  /* index */
	char *name;	  /* "rank3", "t40003" */
	char *program;	  /* "" if unknown */
	char *cpus;	  /* "cpu 3", "cpus 0-1"; "" if unknown */
	uint32_t pid;	  /* 0: unknown */
	bool sure;	  /* no other host has a better claim to know where it is */
	uint64_t age_ms;
};

/** Index of an array by some key (finding.c). */
struct finding_index;

/** All findings. Zero-initialise; finding_fini() frees. */
struct finding {
	char *what;	   /* in words: "run tunnel, 4 ranks of windtunnel" */
	char *application; /* names in the new maps; finding_texts() makes them valid */
	char *cluster;
	char *folder; /* shared by the launcher's hosts; NULL: not given */
	enum engine engine;
	unsigned port;	     /* of addresses */
	unsigned ranks;	     /* of the program; 0: left open */
	const char *missing; /* what to do if ranks are not found, ": wait ..."; or NULL */
	bool planned; /* the processes do not run yet: where they would be is a comment, not a
		       * statement */
	struct finding_node *nodes;
	size_t n_nodes;
	struct finding_process *processes;
	size_t n_processes;
	struct finding_index *by_name,
		*by_number;	   /* of nodes; of processes, until these are sorted */
	struct names *comms;	   /* who communicates with whom; NULL: unknown */
	bool hidden;		   /* the maps do not show where hosts are */
	struct pathmap_texts maps; /* existing maps to change, if any */
};

void finding_fini(struct finding *f);

/** The index of the node with that name, which is added if it is new. */
size_t finding_node(struct finding *f, const char *name);

/** Can maps have @n nodes? Returns 0, or -1 with @e. */
int finding_nodes_check(size_t n, struct error *e);

/** Add a process, taking ownership of its texts. Of two with one number the live one stays, then
 * the younger. */
void finding_process(struct finding *f, struct finding_process *p);

/** Sort processes by their numbers, the program's own first; none may be added after that. Returns
 * 0, or -1 with @e: ranks below f->ranks are missing, or there are more than maps allow. */
int finding_order(struct finding *f, struct error *e);

/** The maps: new ones, or the existing ones with the ranks where they were found. Returns 0, or -1
 * with @e: they would not be valid. */
int finding_texts(struct finding *f, struct pathmap_texts *texts, struct error *e);

/** As few `place` statements as possible, a line each, for the caller to free(). */
char *finding_places(const struct finding *f);

/** Further information for the user, as comments, for the caller to free(). (finding-words.c) */
char *finding_words(const struct finding *f);

/** "rank[0-3,7]" for @n sorted numbers; "rank3" for one. For the caller to free(). */
char *finding_ranks(const unsigned *ranks, size_t n);

#endif
