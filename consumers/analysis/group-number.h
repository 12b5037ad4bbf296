/* SPDX-License-Identifier: BSD-3-Clause */
/* Group numbers: which operation of a group of PVM it is, where some tasks have had barriers
 * without the others. Each task counts its own calls, so that what comes after has other numbers
 * than for the others. Pure. */
#ifndef EVSPACE_GROUP_NUMBER_H
#define EVSPACE_GROUP_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A call of one member. */
struct group_call {
	uint32_t group, process;
	uint32_t number; /* by the member's count, from its joining on */
	uint32_t tasks;	 /* that its barrier waits for; 0: it is for all */
	uint32_t size;	 /* members that are known */
};

enum group_numbered {
	GROUP_NUMBERED,
	GROUP_PARTED,  /* it is for some members alone */
	GROUP_UNKNOWN, /* events are missing, among which may have been such ones */
	GROUP_CROWDED, /* there are too many members */
};

struct group_numbers;

/** Of at most @most members of groups. */
struct group_numbers *group_numbers_new(size_t most);

/** NULL is fine. */
void group_numbers_free(struct group_numbers *numbers);

/** Find the number that @call has for all members: *@number, if it is GROUP_NUMBERED. Those of one
 * member of a group come in order. */
enum group_numbered group_number(struct group_numbers *numbers, const struct group_call *call,
				 uint32_t *number);

#endif
