/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers what lasts by hashes of the run and its name. */
#include "node-agent/control/lasting.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/control/functions.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* A lease, by its id, or a function, by its name. */
static uint32_t key_of(const Evspace__SwitchAsk *ask, const char *function)
{
	char *text =
		function ? memory_format("%s/%s", ask->run, function)
			 : memory_format("%s %llu", ask->run, (unsigned long long)ask->lease->id);
	uint32_t key = hash_bytes(text, strlen(text));

	free(text);
	return key;
}

static bool lasts(const struct lasting *l, uint32_t key, uint64_t now_ns)
{
	for (size_t i = 0; i < LASTING_MOST; i++)
		if (l->all[i].key == key && l->all[i].until_ns > now_ns)
			return true;
	return false;
}

static void one_keep(struct lasting *l, uint32_t key, uint64_t until_ns)
{
	struct lasting_one *place = &l->all[0];

	for (size_t i = 0; i < LASTING_MOST; i++) {
		if (l->all[i].key == key) {
			place = &l->all[i];
			break;
		}
		if (l->all[i].until_ns < place->until_ns)
			place = &l->all[i];
	}
	*place = (struct lasting_one){key, until_ns};
}

/* Neither lasts longer than the most, whatever was asked for. */
static uint64_t end_of(uint64_t ms, uint64_t now_ns)
{
	return now_ns + (ms < FUNCTIONS_MOST_MS ? ms : FUNCTIONS_MOST_MS) * UINT64_C(1000000);
}

bool lasting_news(const struct lasting *l, const Evspace__SwitchAsk *ask, uint64_t now_ns)
{
	const Evspace__Functions *f = ask->functions;

	if (ask->lease && (ask->lease->ms == 0 || !lasts(l, key_of(ask, NULL), now_ns)))
		return true;
	if (f && (f->ms == 0 || !f->again))
		return true;
	for (size_t i = 0; f && i < f->n_names; i++)
		if (!lasts(l, key_of(ask, f->names[i]), now_ns))
			return true;
	return false;
}

void lasting_keep(struct lasting *l, const Evspace__SwitchAsk *ask, uint64_t now_ns)
{
	const Evspace__Functions *f = ask->functions;

	if (ask->lease)
		one_keep(l, key_of(ask, NULL), end_of(ask->lease->ms, now_ns));
	for (size_t i = 0; f && i < f->n_names; i++)
		one_keep(l, key_of(ask, f->names[i]), end_of(f->ms, now_ns));
}
