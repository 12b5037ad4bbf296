/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation that aborts on failure (CONTRIBUTING.md). */
#include "pathmap/base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *memory_or_abort(void *memory)
{
	if (memory == NULL) {
		fputs("evspace: out of memory\n", stderr);
		abort();
	}
	return memory;
}

void *memory_new(size_t count, size_t size)
{
	return memory_or_abort(calloc(count > 0 ? count : 1, size));
}

void *memory_room(void *items, size_t count, size_t size)
{
	size_t room = count > 0 ? 2 * count : 4;

	/* The array is full exactly when its count is a power of two of at least four. */
	if (count > 0 && (count < 4 || (count & (count - 1)) != 0))
		return items;
	if (room > SIZE_MAX / size)
		return memory_or_abort(NULL);
	return memory_or_abort(realloc(items, room * size));
}

char *memory_copy(const char *text)
{
	return text != NULL ? memory_or_abort(strdup(text)) : NULL;
}

char *memory_copy_bytes(const void *text, size_t length)
{
	char *copy = memory_new(length + 1, 1);

	memcpy(copy, text, length);
	return copy;
}

char *memory_format(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	return memory_or_abort(length < 0 ? NULL : text);
}
