/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers what lasts by hashes of who says it, of what, and its name. */
#include "node-agent/control/lasting.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

static uint32_t key_add(uint32_t key, char kind, const char *text)
{
	char *both = memory_format("%08x%c%s", key, kind, text);

	key = hash_bytes(both, strlen(both));
	free(both);
	return key;
}

/* Who orders it for what: the same name elsewhere is another one. */
static uint32_t key_where(const Evspace__SwitchAsk *ask)
{
	uint32_t key = key_add(0, 'p', ask->who);

	key = key_add(key, 'r', ask->run);
	key = key_add(key, 'v', ask->view);
	for (size_t i = 0; i < ask->n_select; i++)
		key = key_add(key, 's', ask->select[i]);
	for (size_t i = 0; i < ask->n_within; i++)
		key = key_add(key, 'w', ask->within[i]);
	return key;
}

static uint32_t key_lease(const Evspace__SwitchAsk *ask)
{
	char id[32];

	snprintf(id, sizeof(id), "%llu", (unsigned long long)ask->lease->id);
	return key_add(key_where(ask), 'l', id);
}

static bool lasts(const struct lasting *l, uint32_t key, uint64_t now_ns)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->all[i].key == key)
			return l->all[i].until_ns > now_ns;
	return false;
}

static void one_keep(struct lasting *l, uint32_t key, uint64_t until_ns, uint64_t now_ns)
{
	struct lasting_one *first = l->all;
	size_t i;

	for (i = 0; i < l->n && l->all[i].key != key; i++)
		if (l->all[i].until_ns < first->until_ns)
			first = &l->all[i];
	if (i < l->n) {
		first = &l->all[i];
	} else if (l->n < LASTING_MOST && (l->n == 0 || first->until_ns > now_ns)) {
		l->all = memory_room(l->all, l->n, sizeof(*l->all));
		first = &l->all[l->n++];
	}
	*first = (struct lasting_one){key, until_ns};
}

/* Neither lasts longer than the most, whatever was asked for. */
static uint64_t end_of(uint64_t ms, uint64_t now_ns)
{
	return now_ns + (ms < FUNCTIONS_MOST_MS ? ms : FUNCTIONS_MOST_MS) * UINT64_C(1000000);
}

bool lasting_news(const struct lasting *l, const Evspace__SwitchAsk *ask, uint64_t now_ns)
{
	const Evspace__Functions *f = ask->functions;
	uint32_t where;

	if (ask->lease && (ask->lease->ms == 0 || !lasts(l, key_lease(ask), now_ns)))
		return true;
	if (!f)
		return false;
	if (f->ms == 0 || !f->again)
		return true;
	where = key_where(ask);
	for (size_t i = 0; i < f->n_names; i++)
		if (!lasts(l, key_add(where, 'f', f->names[i]), now_ns))
			return true;
	return false;
}

void lasting_keep(struct lasting *l, const Evspace__SwitchAsk *ask, uint64_t now_ns)
{
	const Evspace__Functions *f = ask->functions;
	uint32_t where;

	if ((ask->lease && ask->lease->ms == 0) || (f && f->ms == 0)) {
		lasting_fini(l);
		return;
	}
	if (ask->lease)
		one_keep(l, key_lease(ask), end_of(ask->lease->ms, now_ns), now_ns);
	if (!f)
		return;
	where = key_where(ask);
	for (size_t i = 0; i < f->n_names; i++)
		one_keep(l, key_add(where, 'f', f->names[i]), end_of(f->ms, now_ns), now_ns);
}

void lasting_fini(struct lasting *l)
{
	free(l->all);
	*l = (struct lasting){.n = 0};
}
