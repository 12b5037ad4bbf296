/* SPDX-License-Identifier: BSD-3-Clause */
/* Tellers: who says something about processes, whose processes these are, and who contradicts whom.
 */
#ifndef EVSPACE_TELLERS_H
#define EVSPACE_TELLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** This host itself, by what its own programs have recorded; and what nobody alone says. */
#define TELLER_SELF   0u
#define TELLER_NOBODY UINT32_MAX

struct tellers;

/** Aborts when memory is out. */
struct tellers *tellers_new(void);
void tellers_free(struct tellers *tellers);

/** The number of the teller on @node, the same for the same text. */
uint32_t tellers_number(struct tellers *tellers, const char *node);

/** @process is one of @teller's. What several say so of is nobody's. */
void tellers_own(struct tellers *tellers, uint32_t teller, int32_t process);

/** Whose @process is, or TELLER_NOBODY. O(1). */
uint32_t tellers_of(const struct tellers *tellers, int32_t process);

/** Has @teller said of any process that it is its own? */
bool tellers_owns(const struct tellers *tellers, uint32_t teller);

/** @a and @b say different things about communicator @comm. The first of each teller is noted. */
void tellers_contradict(struct tellers *tellers, uint32_t a, uint32_t b, uint32_t comm);

/** Whom @teller has contradicted about *@comm, once; after that, and without, NULL. Lasts as long
 * as @tellers. */
const char *tellers_contradicted(struct tellers *tellers, uint32_t teller, uint32_t *comm);

#endif
