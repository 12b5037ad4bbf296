/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for stages of others in plans, and says upstream what they have done. */
#include "tree/scope/stage-fault.h"

#include <errno.h>
#include <string.h>

#include "tree/stage/stage-object.h"
#include "tree/wire/wire.h"

/* From which version on peers understand what a stage makes. */
static uint32_t version_of(const char *kind)
{
	return stage_object_is(kind) ? WIRE_FOREIGN : strcmp(kind, "meet") == 0 ? WIRE_MEETS : 0;
}

static const char *beyond(const struct plan_stage *stages, size_t n, uint32_t version)
{
	for (size_t i = 0; i < n; i++)
		if (version_of(stages[i].kind) > version)
			return stages[i].kind;
	return NULL;
}

int stage_fault_expect(const struct plan_place *place, const struct link *up, struct error *e)
{
	const Evspace__Hello *hello = link_hello(up);
	const uint32_t version = hello ? hello->version : 0;

	if (version >= WIRE_VERSION)
		return 0;
	PLAN_FOREACH (walk, (struct plan_place *)(uintptr_t)place) {
		const struct plan_place *p = walk.place;
		const char *local = beyond(p->local, p->n_local, version);
		const char *kind = local ? local : beyond(p->joined, p->n_joined, version);

		if (!kind)
			continue;
		errno = EPROTO;
		return errorf(e,
			      "who asks does not understand what stage \"%.60s\" makes; use this "
			      "release there (wire version %u)",
			      kind, version_of(kind));
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
