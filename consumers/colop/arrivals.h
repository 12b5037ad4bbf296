/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrivals: events of calls as parts of collective operations, and of messages. */
#ifndef EVSPACE_ARRIVALS_H
#define EVSPACE_ARRIVALS_H

#include "consumers/analysis/meeting.h"
#include "consumers/client/evspace-client.h"
#include "consumers/colop/attendance.h"

/** The part that @ev, of @who, was in what all take part in. Its place is not known. */
struct arrival arrival_of(const struct evspace_event *ev, const struct attendance_entry *who);

/** Events that are in no operation. */
struct arrivals_counts {
	uint64_t unnumbered; /* without a number that all members have, or failed */
	uint64_t parted;     /* of pvm_barrier for some of a group alone */
};

struct arrivals;

/** @attendance and @meetings are borrowed. At most @most events are kept until all that elements
 * hold is read, to bring them in order (arrival-order.h). */
struct arrivals *arrivals_new(struct attendance *attendance, struct meetings *meetings,
			      size_t most);
void arrivals_free(struct arrivals *arrivals);

/** Has all come, with the wave of @client, that elements held when they were looked at? Of a
 * backlog that no wave has room for each element's own part comes first. Else nothing that is open
 * is to be given up yet. */
bool arrivals_are_read(struct evspace_client *client);

/** Take all events of the wave of @client to their meetings. Returns whether there were any. */
bool arrivals_take(struct arrivals *arrivals, struct evspace_client *client);

/** Nothing more comes. */
void arrivals_end(struct arrivals *arrivals);

const struct arrivals_counts *arrivals_counts(const struct arrivals *arrivals);

#endif
