/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks asks, and looks leaves up in them. */
#include "tree/scope/ask.h"

#include <errno.h>

#include "tree/scope/gather.h"

int ask_check(const Evspace__Ask *ask, struct error *e)
{
	if (ask->n_only > PLAN_PLACES || ask->n_owing > PLAN_PLACES) {
		errno = EPROTO;
		return errorf(e, "an ask of %zu leaves that owes %zu; there are at most %u",
			      ask->n_only, ask->n_owing, PLAN_PLACES);
	}
	if (ask->count == 0 || ask->count > GATHER_WINDOW || ask->wave == 0 ||
	    ask->wave > UINT64_MAX - GATHER_WINDOW || ask->deadline_ms == 0) {
		errno = EPROTO;
		return errorf(e,
			      "an ask for %u waves from %lu within %u ms; 1 to %u waves from 1 on "
			      "within at least 1 ms are possible",
			      ask->count, (unsigned long)ask->wave, ask->deadline_ms,
			      GATHER_WINDOW);
	}
	return 0;
}

uint32_t ask_deadline(const Evspace__Ask *ask)
{
	return ask->deadline_ms < ASK_DEADLINE_MOST_MS ? ask->deadline_ms : ASK_DEADLINE_MOST_MS;
}

bool ask_names(const Evspace__Ask *ask, uint32_t leaf)
{
	for (size_t i = 0; i < ask->n_only; i++) {
		if (ask->only[i] == leaf)
			return true;
	}
	return ask->n_only == 0;
}

uint64_t ask_have(const Evspace__Ask *ask, uint32_t leaf)
{
	uint64_t have = ask->have;

	for (size_t i = 0; i < ask->n_owing; i++) {
		const Evspace__Owing *o = ask->owing[i];

		if (o->leaf == leaf && o->wave > 0 && o->wave - 1 < have)
			have = o->wave - 1;
	}
	return have;
}
