/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes into elements without waiting. */
#include "consumers/cli/element-into.h"

#include <errno.h>
#include <stdio.h>

#include "node-agent/segment/segment-read.h"

/* A tuple on its way. */
struct into_tuple {
	struct evspace_element *element;
	const void *tuple;
};

struct evspace_element *element_into(const struct evspace_element_plan *plan, char *why, size_t n)
{
	struct evspace_element *element = evspace_element_make(plan, why, n);
	struct evspace_element_state state;

	if (!element)
		return NULL;
	evspace_element_look(element, &state);
	if (state.wait_ms == 0)
		return element;
	evspace_element_close(element);
	snprintf(why, n, "%s was made to wait for its readers; take another name", plan->name);
	errno = EPROTOTYPE;
	return NULL;
}

static int tuple_write(void *arg)
{
	const struct into_tuple *t = arg;

	return evspace_element_write(t->element, t->tuple);
}

int element_into_put(struct evspace_element *element, const void *tuple)
{
	struct into_tuple t = {element, tuple};

	return segment_guarded(tuple_write, &t);
}
