/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks refusals of processes that do have a file. */
#include <stdlib.h>
#include <string.h>

#include "node-agent/store/store-index.h"
#include "pathmap/base/memory.h"

/* A process that has a file. */
struct refusal_owner {
	const char *run;
	pid_t pid;
	int32_t rank;
};

static int compare_owners(const void *a, const void *b)
{
	const struct refusal_owner *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->run, y->run);
}

static struct refusal_owner owner_of(const struct store_refusal *r)
{
	return (struct refusal_owner){r->run, r->pid, r->rank};
}

/* All processes with files, sorted. */
static struct refusal_owner *owners_new(const struct store *store, size_t *n)
{
	const struct store_segment *s;
	const struct store_refusal *r;
	struct refusal_owner *owners;

	*n = 0;
	TAILQ_FOREACH (s, &store->segments, link)
		++*n;
	TAILQ_FOREACH (r, &store->refusals, link)
		*n += r->unreadable;
	owners = memory_new(*n + 1, sizeof(*owners));
	*n = 0;
	TAILQ_FOREACH (s, &store->segments, link)
		owners[(*n)++] = (struct refusal_owner){s->run, s->pid, s->rank};
	TAILQ_FOREACH (r, &store->refusals, link) {
		if (r->unreadable)
			owners[(*n)++] = owner_of(r);
	}
	qsort(owners, *n, sizeof(*owners), compare_owners);
	return owners;
}

void store_refusals_match(struct store *store)
{
	struct refusal_owner *owners, sought;
	struct store_refusal *r;
	size_t n;

	if (TAILQ_EMPTY(&store->refusals))
		return;
	owners = owners_new(store, &n);
	TAILQ_FOREACH (r, &store->refusals, link) {
		sought = owner_of(r);
		r->filed = !r->unreadable &&
			   bsearch(&sought, owners, n, sizeof(*owners), compare_owners);
	}
	free(owners);
}
