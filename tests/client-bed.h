/* SPDX-License-Identifier: BSD-3-Clause */
/* A client at a fake agent, and which tuples have come to it. */
#ifndef EVSPACE_TESTS_CLIENT_BED_H
#define EVSPACE_TESTS_CLIENT_BED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "consumers/client/evspace-client.h"
#include "tests/fake.h"

#define CLIENT_BED_TIMEOUT_MS 20000

/** Numbers that an element may reach. */
#define CLIENT_BED_NUMBERS 8192

/** Which tuples have come. */
extern struct client_bed_seen {
	bool came[FAKE_LEAVES][FAKE_ELEMENTS][CLIENT_BED_NUMBERS];
	uint64_t next[FAKE_LEAVES][FAKE_ELEMENTS];
	uint64_t events, wrong, twice, out_of_order;
} client_bed_seen;

/** The client, its agent, and where that listens. */
extern struct evspace_client *client_bed;
extern pid_t client_bed_agent;
extern const char *client_bed_address;

/** Start an agent, and open a scope there. NULL: it has not opened one. */
struct evspace_client *client_bed_open(const struct fake_script *script,
				       struct evspace_options options,
				       enum evspace_failure *failure, char why[1024]);

/** The same for client_bed. */
void client_bed_begin(const struct fake_script *script, struct evspace_options options);

/** Close it and stop the agent, which nobody has asked what no client may. */
void client_bed_end(void);

/** Take the next wave, and see what is in it. */
bool client_bed_next(void);

#endif
