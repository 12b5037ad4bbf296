/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches sorted lists of members, and merges them in place. */
#include "tree/data/names-comm.h"

bool members_ordered(const int32_t *list, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (list[i] <= list[i - 1])
			return false;
	}
	return true;
}

size_t members_place(const int32_t *list, size_t n, size_t from, int32_t number)
{
	size_t step = 1, end;

	while (from < n && step < n - from && list[from + step] < number) {
		from += step;
		step *= 2;
	}
	end = step < n - from ? from + step : n;
	while (from < end) {
		size_t middle = from + (end - from) / 2;

		if (list[middle] < number)
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

size_t members_moved(const int32_t *list, size_t n, const int32_t *more)
{
	return n - members_place(list, n, 0, more[0]);
}

void members_merge(int32_t *list, size_t n, const int32_t *more, size_t n_more)
{
	/* from the end, so that no member is overwritten before it moves */
	while (n_more > 0) {
		if (n > 0 && list[n - 1] > more[n_more - 1]) {
			list[n + n_more - 1] = list[n - 1];
			n--;
		} else {
			list[n + n_more - 1] = more[n_more - 1];
			n_more--;
		}
	}
}
