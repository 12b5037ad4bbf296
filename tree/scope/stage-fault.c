/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for stages of others in plans, and says upstream what they have done. */
#include "tree/scope/stage-fault.h"

#include <errno.h>

#include "tree/stage/stage-object.h"
#include "tree/wire/wire.h"

static const char *object_of(const struct plan_stage *stages, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (stage_object_is(stages[i].kind))
			return stages[i].kind;
	return NULL;
}

int stage_fault_expect(const struct plan_place *place, const struct link *up, struct error *e)
{
	if (link_takes_columns(up))
		return 0;
	PLAN_FOREACH (walk, (struct plan_place *)(uintptr_t)place) {
		const struct plan_place *p = walk.place;
		const char *local = object_of(p->local, p->n_local);
		const char *object = local ? local : object_of(p->joined, p->n_joined);

		if (!object)
			continue;
		errno = EPROTO;
		return errorf(e,
			      "who asks does not understand what stage \"%.60s\" makes; use this "
			      "release there (wire version %u)",
			      object, WIRE_FOREIGN);
	}
	return 0;
}

int stage_fault_samples(const Evspace__Open *open, const struct link *down, struct error *e)
{
	if (!open->sample[0] || link_takes_samples(down))
		return 0;
	errno = EPROTONOSUPPORT;
	return errorf(e, "it takes no samples; put this release there (wire version %u)",
		      WIRE_SAMPLES);
}

bool stage_fault_is(const struct chain *chain, struct error *e)
{
	if (chain->failed)
		errorf(e, "stage \"%.60s\" %s", chain->failed->ops->name, chain->failed->fault);
	return chain->failed;
}
