/* SPDX-License-Identifier: BSD-3-Clause */
/* Tellers: which host says what about processes, who owns these, and who contradicts whom. */
#ifndef EVSPACE_TELLERS_H
#define EVSPACE_TELLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** This host itself, for what its own programs have recorded; and nobody. */
#define TELLER_SELF   0u
#define TELLER_NOBODY UINT32_MAX

struct arena;
struct tellers;

/** Processes are kept in @memory, which outlives the tellers and grants those of peers. Aborts when
 * there is no memory. */
struct tellers *tellers_new(struct arena *memory);
void tellers_free(struct tellers *tellers);

/** The number of the teller on @node, always the same for the same text. */
uint32_t tellers_number(struct tellers *tellers, const char *node);

/** @teller claims @process. Earlier claims stay, except that nobody shares a process with
 * TELLER_SELF. */
void tellers_own(struct tellers *tellers, uint32_t teller, int32_t process);

/** Who owns a process, from the view of one teller. */
enum tellers_has {
	TELLERS_UNKNOWN,   /* nobody has claimed it */
	TELLERS_OTHERS,	   /* others own it */
	TELLERS_CONTESTED, /* it and others claim it */
	TELLERS_SOLE	   /* it alone owns it */
};

/** Does @teller own @process? O(1). */
enum tellers_has tellers_has(const struct tellers *tellers, uint32_t teller, int32_t process);

/** Does @teller own any process? */
bool tellers_owns(const struct tellers *tellers, uint32_t teller);

/** @a and @b contradict each other about communicator @comm. Notes the first case of each. */
void tellers_contradict(struct tellers *tellers, uint32_t a, uint32_t b, uint32_t comm);

/** Is there anything that tellers_contradicted() has not returned yet? */
bool tellers_contradict_anew(const struct tellers *tellers);

/** The node that @teller first contradicted, and *@comm about which: once, then NULL, as without
 * one. Valid as long as @tellers. */
const char *tellers_contradicted(struct tellers *tellers, uint32_t teller, uint32_t *comm);

#endif
