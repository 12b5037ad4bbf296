/* SPDX-License-Identifier: BSD-3-Clause */
/* Keywords of levels and readings. */
#include "pathmap/model/level.h"

static const char *const levels[LEVEL_COUNT] = {
	[LEVEL_ELEMENT] = "element", [LEVEL_THREAD] = "thread", [LEVEL_NODE] = "node",
	[LEVEL_CLUSTER] = "cluster", [LEVEL_ALL] = "all",
};

const char *level_name(enum level level)
{
	return levels[level];
}

const char *reading_name(enum reading reading)
{
	static const char *const readings[READ_COUNT] = {
		[READ_LATEST] = "latest",
		[READ_STREAM] = "stream",
		[READ_COUNTS] = "counts",
	};

	return readings[reading];
}
