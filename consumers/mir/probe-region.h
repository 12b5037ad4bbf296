/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions that probes are of, by their names in requests. */
#ifndef EVSPACE_PROBE_REGION_H
#define EVSPACE_PROBE_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/client/evspace-client.h"

/** What names have before them that may be those of operations, too: of regions of evspace.h, of
 * functions, of call sites. */
#define REGION_USER	"user:"
#define REGION_FUNCTION "function:"
#define REGION_CALL	"call:"

/** How long the name of a function may be, and how many there are in a list. */
#define REGION_FUNCTION_BYTES 55u
#define REGION_FUNCTIONS      48u

/** One of them. Its texts are those of the name. */
struct probe_region {
	uint16_t op;	      /* an operation; 0: none */
	int channel;	      /* or a group of them; -1: none */
	const char *label;    /* or the region of evspace.h, or function, with this name */
	const char *function; /* then this is the same, a list of names, which may have wildcards;
			       * else NULL */
	const char *site;     /* or a call site, "solver.c:212" */
};

/** Read a name. Returns false if it is that of no region. */
bool probe_region_read(struct probe_region *region, const char *name);

/** What has come: a call, or a total of several. */
struct probe_call {
	const struct evspace_event *event; /* NULL: it is a total */
	const struct evspace_total *total;
	uint16_t op;
	const char *name;    /* of that */
	const char *element; /* that it is recorded in */
	const char *label;   /* of a region of the program; NULL: it is none, or not known */
	char *thread;	     /* whose element that is, "/cluster/node/rank3/t0" */
};

/** Is it the region of this? */
bool probe_region_has(const struct probe_region *region, const struct probe_call *call);

/** The call site in the name of an element; NULL: it is not recorded. */
const char *probe_region_site(const char *element);

#endif
