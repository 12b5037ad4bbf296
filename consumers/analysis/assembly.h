/* SPDX-License-Identifier: BSD-3-Clause */
/* Assemblies: what is open of operations by communicator and number, in which order it came, and
 * what was given up; what meeting.c and meeting-sum.c have in common. Pure. */
#ifndef EVSPACE_ASSEMBLY_H
#define EVSPACE_ASSEMBLY_H

#include <sys/queue.h>

#include "consumers/analysis/meeting.h"
#include "pathmap/base/hash.h"

/** An open operation: the first member of what is known of it. */
struct assembly {
	uint32_t comm, number;
	struct assembly_circle *circle;
	TAILQ_ENTRY(assembly) of_all, of_circle;
	UT_hash_handle hh;
};

TAILQ_HEAD(assembly_list, assembly);

/** A communicator: the first member of what is known of it. */
struct assembly_circle {
	uint32_t comm;
	struct assembly_list open; /* oldest first */
	bool gave_up;
	uint32_t given_up; /* the highest number of these */
	TAILQ_ENTRY(assembly_circle) of_all;
	UT_hash_handle hh;
};

TAILQ_HEAD(assembly_circles, assembly_circle);

/** All of them. */
struct assemblies {
	struct assembly *open;		 /* by communicator and number */
	struct assembly_list by_age;	 /* oldest first */
	struct assembly_circle *circles; /* by communicator */
	struct assembly_circles by_use;	 /* the one that was met on last is the last */
	struct meetings_counts counts;
};

/** Numbers count up and may wrap. */
static inline bool assembly_is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

void assemblies_init(struct assemblies *all);

/** The circle of @comm, which is in use now; NULL: there is none. */
struct assembly_circle *assembly_circle_find(struct assemblies *all, uint32_t comm);

/** Add a new @circle, all zero, of @comm. */
void assembly_circle_add(struct assemblies *all, struct assembly_circle *circle, uint32_t comm);

/** Take out a @circle with nothing open, for the caller to free. */
void assembly_circle_remove(struct assemblies *all, struct assembly_circle *circle);

/** The circle with nothing open that was not used for longest, but for @keep; NULL: none. */
struct assembly_circle *assembly_circle_idle(const struct assemblies *all,
					     const struct assembly_circle *keep);

/** What is open of operation @number on @comm, or NULL. */
struct assembly *assembly_find(const struct assemblies *all, uint32_t comm, uint32_t number);

/** Open a new @assembly, all zero. */
void assembly_add(struct assemblies *all, struct assembly *assembly, struct assembly_circle *circle,
		  uint32_t number);

/** Was the one with @number given up? Then what still comes of it is too late. */
bool assembly_is_over(const struct assembly_circle *circle, uint32_t number);

/** More of @circle's numbers come again, for other operations. */
void assembly_again(struct assembly_circle *circle);

/** Count the end of @assembly. */
void assembly_end(struct assemblies *all, const struct assembly *assembly, enum meeting_gap gap,
		  bool mixed);

/** Take it out, for the caller to free. */
void assembly_remove(struct assemblies *all, struct assembly *assembly);

#endif
