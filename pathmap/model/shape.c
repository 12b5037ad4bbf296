/* SPDX-License-Identifier: BSD-3-Clause */
/* The shapes of trees, as maps and consumers name them. */
#include "pathmap/model/shape.h"

#include <stdio.h>
#include <string.h>

#include "pathmap/base/quantity.h"
#include "pathmap/grammar/directive.h"

const char *const tree_kinds[TREE_KINDS] = {
	[TREE_BY_CLUSTER] = "by-cluster",
	[TREE_FLAT] = "flat",
	[TREE_FANOUT] = "fanout",
	[TREE_BY_HAND] = "by-hand",
};

static int shape_unknown(const char *kind, struct error *e)
{
	const char *nearest = word_nearest(kind, tree_kinds, TREE_BY_HAND);

	if (nearest != NULL)
		return errorf(e, "there is no tree `%.60s`; did you mean `%s`?", kind, nearest);
	return errorf(e, "there is no tree `%.60s`; there are `by-cluster`, `flat`, `fanout 8`",
		      kind);
}

int shape_read(const char *text, struct shape *shape, struct error *e)
{
	size_t length = strcspn(text, " ");
	struct shape read = {TREE_BY_CLUSTER, 0};
	char kind[32];

	snprintf(kind, sizeof(kind), "%.*s", length < sizeof(kind) ? (int)length : 31, text);
	while (read.kind < TREE_BY_HAND && strcmp(tree_kinds[read.kind], kind) != 0)
		read.kind++;
	if (read.kind == TREE_BY_HAND)
		return shape_unknown(kind, e);
	text += length + strspn(text + length, " ");
	if (read.kind == TREE_FANOUT && quantity_count(text, 2, FANOUT_MAX, &read.fanout, e) < 0)
		return error_prefix(e, "the most children of a host, as in `fanout 8`");
	if (read.kind != TREE_FANOUT && *text)
		return errorf(e, "`%.60s` cannot follow `%s`", text, kind);
	*shape = read;
	return 0;
}

int shape_concurrency(const char *text, unsigned *concurrency, struct error *e)
{
	if (strcmp(text, "all") == 0)
		*concurrency = 0;
	else if (strcmp(text, "sequential") == 0)
		*concurrency = 1;
	else if (quantity_count(text, 1, FANOUT_MAX, concurrency, e) < 0)
		return errorf(e,
			      "`%.60s` is not a number from 1 to %u, as a concurrency has to be; "
			      "or write `sequential` or `all`",
			      text, FANOUT_MAX);
	return 0;
}
