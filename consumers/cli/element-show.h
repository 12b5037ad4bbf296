/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of programs and their tuples, as `evspace element` shows them. */
#ifndef EVSPACE_ELEMENT_SHOW_H
#define EVSPACE_ELEMENT_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "node-agent/pastset/evspace-element.h"
#include "pathmap/base/table.h"
#include "tree/data/fields.h"

/** A tuple, and whose it is. */
struct element_tuple {
	const char *node; /* NULL: this host */
	const char *run, *element;
	const struct fields *fields;
	const void *tuple;
	uint64_t number, lost;
	int64_t time_ns; /* 0: not known */
};

/** Print it on a line of its own, and on stderr how many before it are lost. */
void element_tuple_show(const struct element_tuple *tuple, bool json);

/** A list of elements on its way to stdout. */
struct element_list {
	struct table table;
	bool json, elsewhere;
};

/** Begin one, of hosts @elsewhere or of this one. */
void element_list_begin(struct element_list *list, bool json, bool elsewhere);

/** Add an element, of @node if it is elsewhere: then who writes and reads it is not known. */
void element_list_add(struct element_list *list, const struct evspace_element_state *state,
		      const char *node);

void element_list_end(struct element_list *list);

#endif
