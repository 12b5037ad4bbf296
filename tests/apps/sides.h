/* SPDX-License-Identifier: BSD-3-Clause */
/* What two groups of processes do that have met, counted as tests/apps/calls counts. */
#ifndef EVSPACE_SIDES_H
#define EVSPACE_SIDES_H

#include <mpi.h>

#include "tests/apps/calls.h"

/**
 * Talk to the other side of *@inter, merge with it, and part. @gets: this side gets what the first
 * of the other gives, and comes second; @on is this side.
 */
void sides_use(const struct calls *on, MPI_Comm *inter, int gets);

#endif
