/* SPDX-License-Identifier: BSD-3-Clause */
/* Alarms: what is seen look by look is said once when it begins, and once when it is over. Pure. */
#ifndef EVSPACE_ALARM_H
#define EVSPACE_ALARM_H

#include <stdbool.h>
#include <stdint.h>

/** Of one kind of trouble; zeroed at first. Times in ns, of any clock. */
struct alarm {
	bool on;
	uint64_t first_ns; /* when it was first seen, this time; 0: it is not */
	uint64_t last_ns;  /* when it was last seen */
};

/** What is to be said now. */
enum alarm_news { ALARM_NOTHING, ALARM_BEGINS, ALARM_OVER };

/** For so long a trouble may be seen until all is known of it that will be. */
#define ALARM_SURE_NS UINT64_C(500000000)

/** So long it must not be seen to be over. */
#define ALARM_OVER_NS UINT64_C(1000000000)

/** A look at @now_ns: is there trouble, and is known what is to be known of it (@sure)? */
enum alarm_news alarm_take(struct alarm *alarm, bool seen, bool sure, uint64_t now_ns);

#endif
