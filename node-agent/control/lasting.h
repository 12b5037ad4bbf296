/* SPDX-License-Identifier: BSD-3-Clause */
/* What lasts: leases and functions that a connection has begun, and says again and again so that
 * they go on. Only the first time is news for the audit, whatever the peer says. */
#ifndef EVSPACE_LASTING_H
#define EVSPACE_LASTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node-agent/control/functions.h"
#include "tree/wire/wire.h"

/** Functions of one command, and leases beside them. */
#define LASTING_MOST (FUNCTIONS_ASKED + 64u)

/** Zeroed at first. */
struct lasting {
	struct lasting_one {
		uint32_t key;
		uint64_t until_ns; /* it ends then */
	} * all;
	size_t n;
};

/** Does @ask, whose run is chosen, begin a lease or functions that do not last already for all that
 * it is of, or end some? */
bool lasting_news(const struct lasting *lasting, const Evspace__SwitchAsk *ask, uint64_t now_ns);

/** It is carried out: remember what lasts, instead of what ends first if there is much. Where
 * something is ended, whatever is said from then on is news: a pattern may end what others began.
 */
void lasting_keep(struct lasting *lasting, const Evspace__SwitchAsk *ask, uint64_t now_ns);

void lasting_fini(struct lasting *lasting);

#endif
