/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of processes: world ranks of MPI from 0, or PVM's task ids, which are larger than any
 * rank. */
#ifndef EVSPACE_PROCESS_H
#define EVSPACE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/** The first task id: task 0 on host 1 (PVM 3.4: bits 18 to 29 are the host, from 1). */
#define PROCESS_TASKS 0x40000

/** The numbers of monitors: agents, and consumers that are watched (tree/data/span.h). */
#define PROCESS_AGENT	 (-2)
#define PROCESS_CONSUMER (-3)

/** Room for a process's name. */
#define PROCESS_NAME 20

static inline bool process_is_task(int32_t number)
{
	return number >= PROCESS_TASKS;
}

static inline bool process_is_monitor(int32_t number)
{
	return number == PROCESS_AGENT || number == PROCESS_CONSUMER;
}

/** "rank3", or "t40003" as PVM calls its tasks; "agent", "consumer". Returns @buf. */
static inline const char *process_name(char buf[PROCESS_NAME], int32_t number)
{
	if (process_is_monitor(number))
		snprintf(buf, PROCESS_NAME, "%s", number == PROCESS_AGENT ? "agent" : "consumer");
	else if (process_is_task(number))
		snprintf(buf, PROCESS_NAME, "t%x", (unsigned)number);
	else
		snprintf(buf, PROCESS_NAME, "rank%d", number);
	return buf;
}

/** The length of a process's name without the ".PID" that it has if a newer process has its rank.
 */
static inline int process_own(const char *name, int pid)
{
	char behind[16];
	int n = snprintf(behind, sizeof(behind), ".%d", pid), all = (int)strlen(name);

	return all > n && strcmp(name + all - n, behind) == 0 ? all - n : all;
}

/** The same for people: "rank 3", "task t40003". Returns @buf. */
static inline const char *process_words(char buf[PROCESS_NAME], int32_t number)
{
	if (process_is_monitor(number))
		return process_name(buf, number);
	if (process_is_task(number))
		snprintf(buf, PROCESS_NAME, "task t%x", (unsigned)number);
	else
		snprintf(buf, PROCESS_NAME, "rank %d", number);
	return buf;
}

#endif
