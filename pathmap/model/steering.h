/* SPDX-License-Identifier: BSD-3-Clause */
/* Which collective operations of programs run over a tree of the map: `steer` of mapping.map. */
#ifndef EVSPACE_STEERING_H
#define EVSPACE_STEERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Operations that can be steered, and their names in maps. */
enum steer_kind {
	STEER_BARRIER,
	STEER_BCAST,
	STEER_REDUCE,
	STEER_ALLREDUCE,
	STEER_GATHER,
	STEER_SCATTER,
	STEER_ALLGATHER,
	STEER_KINDS
};

#define STEER_NAMES                                                                         \
	{                                                                                   \
		"barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather" \
	}

/** Most of these statements in a map, and ranks of a tree. */
#define STEER_RULES_MAX 8u
#define STEER_RANKS_MAX 65536u

/** What is steered of one member's data if the map does not say it: up to here trees between
 * clusters are as fast as the MPI's own algorithms or faster; what is larger these cut in pieces.
 */
#define STEER_BYTES 4096u

/** Most characters of all trees together: an environment string has room for 131072. */
#define STEER_TEXT_MAX 100000u

/** Stages of a steered collective at one rank: what comes from a neighbour, what is joined there,
 * and what goes to a neighbour. Letters are those in texts of rules. */
enum steer_stage { STEER_ARRIVAL, STEER_JOIN, STEER_SEND, STEER_STAGES };

#define STEER_STAGE_LETTERS "ars"

/** Around which there are collectors if the map does not say it. */
#define STEER_COLLECTED (1u << STEER_ARRIVAL)

/** One statement. */
struct steering {
	uint32_t kinds;	     /* bits of enum steer_kind */
	char *view;	     /* over whose tree; NULL: of `events` */
	bool world;	     /* on MPI_COMM_WORLD only */
	bool in_order;	     /* reductions in the order of ranks, whatever the tree */
	uint32_t collected;  /* collectors are around these: bits of enum steer_stage */
	uint64_t most_bytes; /* of one member's data; 0: any */
	unsigned *leads;     /* ranks that stand for their hosts and more, before all others, */
	size_t n_leads;	     /* the first of these before the next */
	size_t offset;	     /* of the statement in the map */
};

#endif
