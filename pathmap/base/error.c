/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats failures into fixed-size texts without disturbing errno. */
#include "pathmap/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pathmap/base/utf8.h"

int errorf(struct error *e, const char *format, ...)
{
	int saved = errno;
	va_list args;

	if (e) {
		va_start(args, format);
		vsnprintf(e->text, sizeof(e->text), format, args);
		va_end(args);
		utf8_clean(e->text);
	}
	errno = saved;
	return -1;
}

int error_prefix(struct error *e, const char *format, ...)
{
	int saved = errno;
	struct error old;
	va_list args;
	size_t n;

	if (e) {
		old = *e;
		va_start(args, format);
		vsnprintf(e->text, sizeof(e->text), format, args);
		va_end(args);
		n = strlen(e->text);
		snprintf(e->text + n, sizeof(e->text) - n, ": %s", old.text);
		utf8_clean(e->text);
	}
	errno = saved;
	return -1;
}

bool error_is_disk(int number)
{
	return number == EPROTO || number == EIO || number == ENOSPC || number == EDQUOT ||
	       number == EFBIG;
}
