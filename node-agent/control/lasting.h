/* SPDX-License-Identifier: BSD-3-Clause */
/* What lasts: leases and functions that a connection has begun, and says again and again so that
 * they go on. Only the first time is news for the audit, whatever the peer says. */
#ifndef EVSPACE_LASTING_H
#define EVSPACE_LASTING_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/wire/wire.h"

/** More than the functions that can be on. */
#define LASTING_MOST 64u

/** Plain data, zeroed at first. */
struct lasting {
	struct lasting_one {
		uint32_t key;
		uint64_t until_ns; /* it ends then */
	} all[LASTING_MOST];
};

/** Does @ask begin a lease or functions that do not last already, or end some? */
bool lasting_news(const struct lasting *lasting, const Evspace__SwitchAsk *ask, uint64_t now_ns);

/** It is carried out: remember what lasts, instead of what ends first if there is much; what is
 * ended may begin anew. */
void lasting_keep(struct lasting *lasting, const Evspace__SwitchAsk *ask, uint64_t now_ns);

#endif
