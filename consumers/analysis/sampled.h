/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampled: whether the operations of a communicator that have come are a fair sample of all, by
 * their numbers. Pure. */
#ifndef EVSPACE_SAMPLED_H
#define EVSPACE_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>

struct sampled;

struct sampled *sampled_new(void);

/** NULL is fine. */
void sampled_free(struct sampled *sampled);

/** Operation @number of @comm has come, in whatever order. */
void sampled_add(struct sampled *sampled, uint32_t comm, uint32_t number);

/** Are those of @comm a fair sample if they are this @share of all: as many of the numbers from the
 * first to the last one, and spread evenly over these? */
bool sampled_is_fair(const struct sampled *sampled, uint32_t comm, double share);

#endif
