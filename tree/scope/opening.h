/* SPDX-License-Identifier: BSD-3-Clause */
/* An opening: what a scope says upstream when it is open, which leaves there are and who is not
 * ready. */
#ifndef EVSPACE_OPENING_H
#define EVSPACE_OPENING_H

#include <stddef.h>
#include <stdint.h>

#include "tree/scope/failover.h"
#include "tree/link/link.h"

/** Hosts that have not opened their parts, as messages. Begin with {0}. */
struct opening {
	Evspace__Unready **unready;
	size_t n_unready;
};

/** Note one of them: a failover_report whose argument is the opening. The texts are copied. */
void opening_unready(void *opening, const struct unready *who);

/** Say `Opened` of the scope @number at @place to @up, and free what was noted. */
void opening_say(struct opening *opening, struct link *up, uint32_t number,
		 const Evspace__Open *open, const struct plan_place *place);

#endif
