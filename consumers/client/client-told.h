/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the program what a client with a budget spends, for evspace_budget() of evspace.h. */
#ifndef EVSPACE_CLIENT_TOLD_H
#define EVSPACE_CLIENT_TOLD_H

#include <stdbool.h>
#include <stdint.h>

struct evspace_client;

/** What is told, by a client that has a budget. */
struct client_told {
	struct evspace_question *question; /* NULL: not now */
	uint64_t last_ns;		   /* when it was said last */
	bool refused;			   /* it may not be said */
};

/** A wave is taken: say it once a second. An agent that does not let it is not asked again. */
void client_told_wave(struct evspace_client *c);

/** The client is closed. */
void client_told_end(struct evspace_client *c);

#endif
