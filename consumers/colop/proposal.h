/* SPDX-License-Identifier: BSD-3-Clause */
/* What colop proposes for the map: which collectives to steer, and which ranks are to lead. */
#ifndef EVSPACE_PROPOSAL_H
#define EVSPACE_PROPOSAL_H

#include "consumers/colop/colop.h"

/** Say it on stdout, as statements of mapping.map or as JSON; with colop->apply put it into the map
 * in effect, in the place of what was put there so before. Returns the exit code: EXIT_BAD_NEWS if
 * there is nothing to propose. */
int proposal_tell(const struct colop *colop);

#endif
