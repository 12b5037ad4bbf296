/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of programs that a map has agents make: `element NAME { ... }` of application.map. */
#ifndef EVSPACE_MADE_H
#define EVSPACE_MADE_H

#include <stddef.h>

/** Most of these in a map, and of nodes and fields of each; bytes of a tuple. */
#define MADE_MAX	64u
#define MADE_NODES_MAX	256u
#define MADE_FIELDS_MAX 32u
#define MADE_BYTES_MAX	256u

/** One element. */
struct made_element {
	char *name;
	char *run;    /* that it belongs to; NULL: one of the application's name */
	char **nodes; /* on each of which one is made; none: on the entry's */
	size_t n_nodes;
	char *fields;		       /* its type as evspace-element.h has it */
	size_t n_fields, bytes, align; /* of a tuple, so far */
	unsigned capacity;	       /* 0: not said */
	unsigned wait_ms;	       /* of its writer for readers */
	size_t offset;		       /* of its name in the map */
};

#endif
