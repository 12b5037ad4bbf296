/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings: what `evspace map discover` has found, where, and the maps that follow from it. */
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
	char *name;    /* as maps have it */
	char *host;    /* what a launcher or ssh calls it; NULL: the same */
	char *address; /* HOST of its address; NULL: its name */
};

/** A process there. */
struct finding_process {
	int32_t number;	  /* rank or task id */
	uint32_t spawned; /* id of its world, if others have spawned that; else 0 */
	size_t node;	  /* index */
	char *name;	  /* "rank3", "t40003" */
	char *program;	  /* "" if not known */
	char *cpus;	  /* "cpu 3", "cpus 0-1"; "" if not known */
	uint32_t pid;	  /* 0: not known */
	bool sure;	  /* nobody else has a better claim to know where it is */
	uint64_t age_ms;
};

/** Where in its array something with that key is (finding.c). */
struct finding_index;

/** All of it. Zero-initialise; finding_fini() frees. */
struct finding {
	char *what;	   /* in words: "run tunnel, 4 ranks of windtunnel" */
	char *application; /* names in the new maps; made names by finding_texts() */
	char *cluster;
	char *folder; /* that launchers' hosts share; NULL: nothing is said */
	enum engine engine;
	unsigned port;	     /* of addresses */
	unsigned ranks;	     /* of the program; 0: that is open */
	const char *missing; /* what helps where ranks are not found, ": wait ..."; or NULL */
	bool planned; /* nobody has seen the processes: where they would be is told, not mapped */
	struct finding_node *nodes;
	size_t n_nodes;
	struct finding_process *processes;
	size_t n_processes;
	struct finding_index *by_name,
		*by_number;	   /* of nodes; of processes, until they are sorted */
	struct names *comms;	   /* who communicates with whom; NULL: not known */
	bool hidden;		   /* in them nothing says where hosts are */
	struct pathmap_texts maps; /* that there are already, to be changed; or none */
};

void finding_fini(struct finding *f);

/** The node of that name, made when it is new. Returns its index. */
size_t finding_node(struct finding *f, const char *name);

/** Can maps hold so many? Returns 0, or -1 with @e. */
int finding_nodes_check(size_t n, struct error *e);

/** Take a process over, its texts with it. Of two of one number the living, the younger stays. */
void finding_process(struct finding *f, struct finding_process *p);

/** Put processes into the order of their numbers, the program's own first; none comes after that.
 * Returns 0, or -1 with @e: ranks below f->ranks are missing, or there are more than maps hold. */
int finding_order(struct finding *f, struct error *e);

/**
 * The maps: new ones, or those that there are with the ranks where they were found. Returns 0, or
 * -1 with @e: they would not be right.
 */
int finding_texts(struct finding *f, struct pathmap_texts *texts, struct error *e);

/** `place` statements, a line each, as few as there can be. The caller's to
 * free(). */
char *finding_places(const struct finding *f);

/** What a person wants to know beside that, as comments (finding-words.c). The caller's. */
char *finding_words(const struct finding *f);

/** "rank[0-3,7]" of @n numbers in their order; "rank3" of one. The caller's to free(). */
char *finding_ranks(const unsigned *ranks, size_t n);

#endif
