/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of a group of processes: numbers in ascending order, each once. */
#ifndef EVSPACE_MEMBERS_H
#define EVSPACE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Are the @n numbers at @list in ascending order, each once? */
bool members_ordered(const int32_t *list, size_t n);

/** Where @number is, or would be, among the @n at @list, when not before @from. The time it takes
 * is the logarithm of how far that is from @from. */
size_t members_place(const int32_t *list, size_t n, size_t from, int32_t number);

/** How many of the @n at @list change their places when @more, which has some and is not in
 * @list, comes to them. */
size_t members_moved(const int32_t *list, size_t n, const int32_t *more);

/** Put the @n_more at @more, of which none is there, among the @n at @list, which has room. */
void members_merge(int32_t *list, size_t n, const int32_t *more, size_t n_more);

#endif
