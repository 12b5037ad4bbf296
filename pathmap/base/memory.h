/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation that aborts when there is no memory (CONTRIBUTING.md). */
#ifndef EVSPACE_MEMORY_H
#define EVSPACE_MEMORY_H

#include <stddef.h>

/** @count zeroed items of @size bytes, for the caller to free(). Aborts when there is no memory. */
void *memory_new(size_t count, size_t size);

/**
 * Grow the array @items of @count items of @size bytes for one more, and return it, perhaps moved.
 * Only this function may have grown it (NULL when empty). Aborts when there is no memory.
 */
void *memory_room(void *items, size_t count, size_t size);

/** A copy of @text, for the caller to free(). NULL gives NULL. Aborts when there is no memory. */
char *memory_copy(const char *text);

/** A copy of the @length bytes at @text, with a final 0, for the caller to free(). */
char *memory_copy_bytes(const void *text, size_t length);

/** A formatted text, for the caller to free(). Aborts when there is no memory. */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
