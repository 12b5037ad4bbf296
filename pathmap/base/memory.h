/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is there or the program ends: for what is built once at start-up (CONTRIBUTING.md).
 */
#ifndef EVSPACE_MEMORY_H
#define EVSPACE_MEMORY_H

#include <stddef.h>

/** @count zeroed items of @size bytes, the caller's to free(). Aborts when there is no memory. */
void *memory_new(size_t count, size_t size);

/**
 * The array @items, which has @count items of @size bytes and was grown by this function only
 * (NULL when empty), with room for one more; it may have moved. Aborts when there is no memory.
 */
void *memory_room(void *items, size_t count, size_t size);

/** A copy of @text, the caller's to free(). NULL gives NULL. Aborts when there is no memory. */
char *memory_copy(const char *text);

/** A copy of the @length bytes at @text, with a zero behind them, the caller's to free(). */
char *memory_copy_bytes(const void *text, size_t length);

/** A formatted text, the caller's to free(). Aborts when there is no memory. */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
