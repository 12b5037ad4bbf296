/* SPDX-License-Identifier: BSD-3-Clause */
/* Signatures: what the call of a collective says beside its bytes, in the tuple's `peer`, which
 * collectives have none of. */
#ifndef EVSPACE_SIGNATURE_H
#define EVSPACE_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/signature-table.h"
#include "tree/data/tuple.h"

/*
 * 32 bits: root (a rank of the communicator), reduction, datatype, from the highest. They mean the
 * same in every process, so that nobody need ask or translate; all bits set, TUPLE_NO_PEER, is a
 * collective that says nothing, such as a barrier.
 *
 * A reduction is its place in SIGNATURE_REDUCTIONS, or one of the program's own. A datatype is its
 * place in SIGNATURE_TYPES; one that the program has made is known by its size alone, if that is
 * small.
 *
 * Those of PVM: a root is an instance of the group, of which each task knows only its own, so the
 * root's own call says that it is the one (SIGNATURE_HERE). A barrier has the number of tasks that
 * it waits for instead. A datatype is its number in pvm3.h.
 */

/** Not rooted, no reduction, no datatype. A root as large as this is not told apart from none. */
#define SIGNATURE_NO_ROOT      0xfffffu
#define SIGNATURE_NO_REDUCTION 0xfu
#define SIGNATURE_NO_TYPE      0xffu

/** In a root of PVM, which is less than this less 1. */
#define SIGNATURE_HERE 0x80000u

/** A reduction that the program has made (MPI_Op_create). */
#define SIGNATURE_OWN 0u

/** From here on types that the program has made: this plus the size, up to SIGNATURE_MADE_MOST
 * bytes; that plus 1 for larger ones. */
#define SIGNATURE_MADE	    64u
#define SIGNATURE_MADE_MOST (SIGNATURE_NO_TYPE - 2 - SIGNATURE_MADE)

/** A signature, opened. */
struct signature {
	int32_t root;	       /* rank in the communicator, instance in the group; -1: none */
	const char *reduction; /* "MPI_SUM", "own" if the program has made it; NULL: none */
	const char *type;      /* "MPI_INT", "made" by the program; NULL: none, or several */
	uint32_t type_bytes;   /* of one; 0: not known */
	bool here;	       /* of PVM: this call is the root's own */
	uint32_t tasks;	       /* that pvm_barrier waits for; 0: all of the group, or no such */
};

/** The `peer` of a collective: fields are below or as their SIGNATURE_NO_. */
static inline int32_t signature_word(uint32_t root, unsigned reduction, unsigned type)
{
	return (int32_t)(root << 12 | reduction << 8 | type);
}

/** The same of PVM: of a call whose root is the instance @root, and the caller @own. */
static inline int32_t signature_instances(int root, int own, int type)
{
	uint32_t word = root == own ? (uint32_t)root | SIGNATURE_HERE : (uint32_t)root;
	bool fits = root >= 0 && (uint32_t)root < SIGNATURE_HERE - 1;

	return signature_word(fits ? word : SIGNATURE_NO_ROOT, SIGNATURE_NO_REDUCTION,
			      type >= 0 && (unsigned)type < SIGNATURE_NO_TYPE ? (unsigned)type
									      : SIGNATURE_NO_TYPE);
}

/** The same of pvm_barrier, which waits for @tasks of the group. */
static inline int32_t signature_tasks(int tasks)
{
	return tasks > 0 ? signature_instances(tasks, -1, -1) : TUPLE_NO_PEER;
}

/** The datatype of @bytes that the program has made. */
static inline unsigned signature_made(uint64_t bytes)
{
	return SIGNATURE_MADE +
	       (unsigned)(bytes <= SIGNATURE_MADE_MOST ? bytes : SIGNATURE_MADE_MOST + 1);
}

/** Open the signature of @t, which is anything that was read: empty if @t is no collective. */
struct signature signature_of(const struct tuple *t);

/** The signature of @t, without what differs between members that call the same. */
int32_t signature_common(const struct tuple *t);

/** The peer of @t: TUPLE_NO_PEER if it is a collective. */
int32_t signature_peer(const struct tuple *t);

#endif
