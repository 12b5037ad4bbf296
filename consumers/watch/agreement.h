/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement: whether all members of a communicator call the same collectives in the same order
 * (MPI-3.1 5.12), from one call after the other. Pure. */
#ifndef EVSPACE_AGREEMENT_H
#define EVSPACE_AGREEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A process's call of a collective that is numbered (op_is_numbered()). */
struct agreement_call {
	uint32_t comm, number;
	uint32_t size;	   /* members of the communicator; 0: not known */
	uint32_t world;	   /* of the process, if others spawned it; else 0 */
	int32_t rank;	   /* in that */
	uint16_t op;	   /* tree/data/op.h */
	bool inside;	   /* it has not returned */
	bool one_group;	   /* its communicator is not between two groups, for certain */
	int32_t signature; /* tree/data/signature.h */
	uint64_t bytes;
	int64_t start_ns;
	uint32_t site; /* label of where it was called from; 0: not known (yet) */
};

/** What calls of the same number differ in, the first of these. */
enum agreement_part {
	AGREEMENT_SAME,
	AGREEMENT_OPERATION,
	AGREEMENT_ROOT,
	AGREEMENT_REDUCTION,
	AGREEMENT_TYPE,
	AGREEMENT_SIZE,
};

/** Most sides that are told apart; who is on none of them counts for the last one. */
#define AGREEMENT_SIDES 4

/** Those that have called the same. */
struct agreement_side {
	struct agreement_call call; /* of the first one that was seen */
	int32_t *ranks;		    /* ascending */
	size_t n;
	size_t inside;	  /* how many of them have not returned */
	int64_t since_ns; /* when the first of these entered; 0: none */
	bool mixed;	  /* some have called yet others */
	uint32_t site;	  /* where one of them has called it; 0: not known (yet) */
};

/** Members of a communicator that have called different collectives under the same number. */
struct disagreement {
	uint32_t comm, number, size;
	enum agreement_part part;		      /* of the first two sides */
	struct agreement_side sides[AGREEMENT_SIDES]; /* the largest first */
	size_t n_sides;
	bool majority; /* the first side is more than half of all members, or of those that have
			* called, if nobody else comes: the others are the ones to look at */
};

struct agreement;

/** Nothing yet; at most @most calls are kept, some 150 bytes each. */
struct agreement *agreement_new(size_t most);

/** NULL is fine. */
void agreement_free(struct agreement *agreement);

/** Take @call. The same call may come again, also to say that it has returned. */
void agreement_add(struct agreement *agreement, const struct agreement_call *call);

/** Note the site of a call that was added, if it is still known. */
void agreement_locate(struct agreement *agreement, const struct agreement_call *call);

/** Is the call of this number one that members disagree about? */
bool agreement_is_broken(const struct agreement *agreement, uint32_t comm, uint32_t number);

/** Get the disagreements, of each communicator that with the lowest number: what comes after it is
 * shifted. @ended: nobody else comes. Returns how many there are in *@found, in the order of their
 * coming, valid until the next call of any function. */
size_t agreement_find(struct agreement *agreement, bool ended, const struct disagreement **found);

#endif
