/* SPDX-License-Identifier: BSD-3-Clause */
/* How far long work is, on the terminal that stderr is. */
#ifndef EVSPACE_PROGRESS_H
#define EVSPACE_PROGRESS_H

#include <stdint.h>

struct evspace_client;

/** Zeroed at first. */
struct read_progress {
	uint64_t begun_ns, said_ns;
};

/** Show, now and then, how much of the archive that @client reads was read, how many @events a
 * second that is, and how long the rest takes; of a run how many there were. */
void progress_show(struct read_progress *p, const struct evspace_client *client, uint64_t events);

#endif
