/* SPDX-License-Identifier: BSD-3-Clause */
/* Evenness: whether the operations of a communicator that have come are a fair sample of all, by
 * their numbers. Pure. */
#ifndef EVSPACE_EVENNESS_H
#define EVSPACE_EVENNESS_H

#include <stdbool.h>
#include <stdint.h>

struct evenness;

struct evenness *evenness_new(void);

/** NULL is fine. */
void evenness_free(struct evenness *evenness);

/** Operation @number of @comm has come, in whatever order. */
void evenness_add(struct evenness *evenness, uint32_t comm, uint32_t number);

/** Are those of @comm a fair sample if they are this @share of all: as many of the numbers from the
 * first to the last one, and spread evenly over these? */
bool evenness_is_fair(const struct evenness *evenness, uint32_t comm, double share);

#endif
