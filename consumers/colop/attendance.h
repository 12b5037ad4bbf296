/* SPDX-License-Identifier: BSD-3-Clause */
/* Attendance: numbers for processes, hosts and call sites, by the names of elements, and the places
 * of processes in communicators. */
#ifndef EVSPACE_ATTENDANCE_H
#define EVSPACE_ATTENDANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attendance;

struct attendance *attendance_new(void);

/** NULL is fine. */
void attendance_free(struct attendance *attendance);

/** What an element's name says: numbers from 0, but 0 is no call site. */
struct attendance_entry {
	uint32_t process, host, site, thread, element;
	bool split;  /* by call site, operation or communicator: its thread has others like it */
	bool shared; /* by threads that have no elements of their own */
};

/** That of the element @name ("/cluster/node/rank/thread/channel:file.c:12") of the process with
 * this rank. Names with the same address as the last one are taken to be the same until
 * attendance_turn(). */
const struct attendance_entry *attendance_find(struct attendance *attendance, const char *name,
					       int32_t rank);

/** Names may be others now, at the same addresses. */
void attendance_turn(struct attendance *attendance);

/** Get the members of a communicator as world ranks; returns how many, 0 if unknown. */
typedef size_t attendance_members(void *arg, uint32_t comm, int32_t *members, size_t room);

/** The place of the process with this world rank in @comm; -1: not known. */
int32_t attendance_place(struct attendance *attendance, uint32_t comm, int32_t rank,
			 attendance_members *members, void *arg);

/** How many processes there are. */
uint32_t attendance_processes(const struct attendance *attendance);

/** The process's rank, -1 if it has none, and "/cluster/node/rank". */
int32_t attendance_rank(const struct attendance *attendance, uint32_t process);
const char *attendance_process(const struct attendance *attendance, uint32_t process);

/** "/cluster/node". */
const char *attendance_host(const struct attendance *attendance, uint32_t host);

/** "file.c:12", "" for 0. */
const char *attendance_site(const struct attendance *attendance, uint32_t site);

#endif
