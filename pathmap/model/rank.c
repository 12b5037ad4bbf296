/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of ranks, "rank[0-11]": the program's threads as maps name them. */
#include "pathmap/model/rank.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/model/hostlist.h"
#include "pathmap/base/memory.h"

/* The rank that @name ("rank3") stands for, or RANKS_MAX. */
static unsigned rank_number(const char *name)
{
	static const char prefix[] = "rank";
	const char *digits = name + strlen(prefix);
	unsigned number = 0;

	if (strncmp(name, prefix, strlen(prefix)) != 0 || *digits == '\0' ||
	    (*digits == '0' && digits[1] != '\0'))
		return RANKS_MAX;
	for (; *digits != '\0'; digits++) {
		if (*digits < '0' || *digits > '9')
			return RANKS_MAX;
		number = number * 10 + (unsigned)(*digits - '0');
		if (number >= RANKS_MAX)
			return RANKS_MAX;
	}
	return number;
}

int rank_list_add(struct rank_list *list, const char *text, size_t *at, struct error *e)
{
	struct hostlist names = {0};
	size_t before = list->n;
	int result = 0;

	if (hostlist_add(&names, text, at, e) < 0)
		return -1;
	for (size_t i = 0; i < names.n && result == 0; i++) {
		unsigned rank = rank_number(names.names[i]);

		if (rank == RANKS_MAX) {
			*at = 0;
			result = errorf(e,
					"`%.60s` is no rank; ranks are `rank0` to `rank%u`, or "
					"several, like `rank[0-11]`",
					names.names[i], RANKS_MAX - 1);
			break;
		}
		list->ranks = memory_room(list->ranks, list->n, sizeof(*list->ranks));
		list->ranks[list->n++] = rank;
	}
	if (result < 0)
		list->n = before;
	hostlist_fini(&names);
	return result;
}
