/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides when an alarm begins and when it is over. */
#include "consumers/watchdog/alarm.h"

enum alarm_news alarm_take(struct alarm *a, bool seen, bool sure, uint64_t now_ns)
{
	if (seen) {
		a->last_ns = now_ns;
		a->first_ns = a->first_ns ? a->first_ns : now_ns;
		if (a->on || (!sure && now_ns - a->first_ns < ALARM_SURE_NS))
			return ALARM_NOTHING;
		a->on = true;
		return ALARM_BEGINS;
	}
	if (!a->on) {
		a->first_ns = 0;
		return ALARM_NOTHING;
	}
	if (now_ns - a->last_ns < ALARM_OVER_NS)
		return ALARM_NOTHING;
	*a = (struct alarm){0};
	return ALARM_OVER;
}
