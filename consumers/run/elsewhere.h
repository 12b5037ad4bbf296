/* SPDX-License-Identifier: BSD-3-Clause */
/* What the agents of other hosts hold of a run, as the entry agent hears it from them. */
#ifndef EVSPACE_ELSEWHERE_H
#define EVSPACE_ELSEWHERE_H

#include "tree/wire/wire.pb-c.h"

/** Their answers; zeroes: nobody was asked. */
struct elsewhere {
	Evspace__Frame *reply; /* NULL: there is no agent here, or it is no entry */
	const char *run;
};

/** Of one host. */
enum elsewhere_state {
	ELSEWHERE_UNKNOWN, /* it is not on the map, or there is none */
	ELSEWHERE_SILENT,  /* its agent has not answered */
	ELSEWHERE_HELD,	   /* its agent holds so many processes, or none */
};

/** Ask the agent of this host for all hosts of its map. elsewhere_fini() frees. @run is kept. */
void elsewhere_ask(struct elsewhere *elsewhere, const char *run);
void elsewhere_fini(struct elsewhere *elsewhere);

/** What is known of @host; *@processes that it holds, *@why it is silent (not NULL then). */
enum elsewhere_state elsewhere_of(const struct elsewhere *elsewhere, const char *host,
				  unsigned *processes, const char **why);

#endif
