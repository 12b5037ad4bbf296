/* SPDX-License-Identifier: BSD-3-Clause */
/* Tellers: who says something about processes, whose processes these are, and who contradicts whom.
 */
#ifndef EVSPACE_TELLERS_H
#define EVSPACE_TELLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** This host itself, by what its own programs have recorded; and nobody. */
#define TELLER_SELF   0u
#define TELLER_NOBODY UINT32_MAX

struct arena;
struct tellers;

/** Processes are in @memory, which outlives it; others' are asked for there. Aborts when memory is
 * out. */
struct tellers *tellers_new(struct arena *memory);
void tellers_free(struct tellers *tellers);

/** The number of the teller on @node, the same for the same text. */
uint32_t tellers_number(struct tellers *tellers, const char *node);

/** @process is one of @teller's, says that. Who has said so before has it all the same, but
 * TELLER_SELF alone has what it says to have. */
void tellers_own(struct tellers *tellers, uint32_t teller, int32_t process);

/** Whose a process is, seen from one teller. */
enum tellers_has {
	TELLERS_UNKNOWN,   /* nobody has said anything of it */
	TELLERS_OTHERS,	   /* others' */
	TELLERS_CONTESTED, /* its own, and others say that it is theirs */
	TELLERS_SOLE	   /* its own */
};

/** Whether @process is @teller's. O(1). */
enum tellers_has tellers_has(const struct tellers *tellers, uint32_t teller, int32_t process);

/** Has @teller said of any process that it is its own? */
bool tellers_owns(const struct tellers *tellers, uint32_t teller);

/** @a and @b say different things about communicator @comm. The first of each teller is noted. */
void tellers_contradict(struct tellers *tellers, uint32_t a, uint32_t b, uint32_t comm);

/** Whom @teller has contradicted about *@comm, once; after that, and without, NULL. Lasts as long
 * as @tellers. */
const char *tellers_contradicted(struct tellers *tellers, uint32_t teller, uint32_t *comm);

#endif
