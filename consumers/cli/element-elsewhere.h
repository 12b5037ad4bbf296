/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of programs on other hosts, by their agents. */
#ifndef EVSPACE_ELEMENT_ELSEWHERE_H
#define EVSPACE_ELEMENT_ELSEWHERE_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/client/evspace-client.h"

/** What is asked for. */
struct element_asked {
	const struct evspace_options *look; /* the entry agent */
	const char *run, *node;		    /* NULL: any that has it */
	const char *name;		    /* NULL: a list of all */
	bool waits, newest, follow;	    /* as `evspace element wait`, `read` with options */
	bool json;
	uint64_t timeout_ns; /* for a tuple; 0: for ever */
};

/** List elements, or print tuples of one. Returns the exit code. */
int element_elsewhere(const struct element_asked *asked);

#endif
