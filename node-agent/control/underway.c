/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds the requests of one connection, and ends them. */
#include "node-agent/control/underway.h"

#include <errno.h>

int underway_check(const struct underway_list *list, const struct underway_kind *kind,
		   struct error *e)
{
	const struct underway *u;
	unsigned n = 0;

	LIST_FOREACH (u, list, entry)
		n += u->kind == kind;
	if (n < kind->most)
		return 0;
	errno = EMFILE;
	return errorf(e, "%u %s already", n, kind->what);
}

void underway_end_all(struct underway_list *list)
{
	struct underway *u;

	while ((u = LIST_FIRST(list)))
		u->kind->end(u);
}
