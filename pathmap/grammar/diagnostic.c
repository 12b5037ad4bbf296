/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong in map files: collected in any order, printed in the order of the text. */
#include "pathmap/grammar/diagnostic.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"

/* Characters of a line that are shown around a fault, and how many of them before it at most. */
#define EXCERPT_WIDTH  100
#define EXCERPT_BEFORE 70

/* What is wrong in a tree is found once for each view that goes by it. */
static bool diagnostic_is_known(const struct diagnostics *diagnostics,
				const struct diagnostic *diagnostic)
{
	for (size_t i = 0; i < diagnostics->kept; i++) {
		const struct diagnostic *known = &diagnostics->items[i];

		if (known->source == diagnostic->source && known->line == diagnostic->line &&
		    known->offset == diagnostic->offset &&
		    strcmp(known->text, diagnostic->text) == 0)
			return true;
	}
	return false;
}

static void diagnostic_add(struct diagnostics *diagnostics, struct diagnostic diagnostic,
			   const char *format, va_list args)
{
	if (vasprintf(&diagnostic.text, format, args) < 0)
		abort();
	/* A long word may have been cut inside a character. */
	utf8_clean(diagnostic.text);
	if (diagnostic_is_known(diagnostics, &diagnostic)) {
		free(diagnostic.text);
		return;
	}
	diagnostics->total++;
	diagnostic.order = diagnostics->kept;
	diagnostics->items =
		memory_room(diagnostics->items, diagnostics->kept, sizeof(*diagnostics->items));
	diagnostics->items[diagnostics->kept++] = diagnostic;
}

void complain(struct diagnostics *diagnostics, const struct mapfile *source, size_t offset,
	      const char *format, ...)
{
	struct diagnostic diagnostic = {.source = source, .offset = offset};
	va_list args;

	if (diagnostics->kept == COMPLAINTS_SHOWN) {
		diagnostics->total++;
		return;
	}
	diagnostic.line = mapfile_line(source, offset);
	diagnostic.column = mapfile_column(source, offset);
	va_start(args, format);
	diagnostic_add(diagnostics, diagnostic, format, args);
	va_end(args);
}

void complain_file(struct diagnostics *diagnostics, const struct mapfile *source,
		   const char *format, ...)
{
	va_list args;

	if (diagnostics->kept == COMPLAINTS_SHOWN) {
		diagnostics->total++;
		return;
	}
	va_start(args, format);
	diagnostic_add(diagnostics, (struct diagnostic){.source = source}, format, args);
	va_end(args);
}

/* The sources of one pathmap are one array: their addresses have the order of the files. */
static int diagnostic_compare(const void *left, const void *right)
{
	const struct diagnostic *a = left, *b = right;

	if (a->source != b->source)
		return (uintptr_t)a->source < (uintptr_t)b->source ? -1 : 1;
	if ((a->line == 0) != (b->line == 0))
		return a->line == 0 ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static const char *character_next(const char *text, const char *end)
{
	size_t n = utf8_length(text, (size_t)(end - text));

	return text + (n > 0 ? n : 1);
}

/* The line that the fault is in, cut to what is around it, and a caret under the fault. */
static void excerpt_print(const struct diagnostic *diagnostic, FILE *out)
{
	const struct mapfile *source = diagnostic->source;
	const char *from = source->text + source->lines[diagnostic->line - 1];
	const char *fault = source->text + diagnostic->offset;
	const char *end = memchr(from, '\n', source->length - (size_t)(from - source->text));
	const char *until;

	if (end == NULL)
		end = source->text + source->length;
	for (size_t column = diagnostic->column; column > EXCERPT_BEFORE; column--)
		from = character_next(from, end);
	until = from;
	for (size_t i = 0; i < EXCERPT_WIDTH && until < end; i++)
		until = character_next(until, end);
	fputc('\t', out);
	for (const char *p = from; p < until; p = character_next(p, end)) {
		size_t length = utf8_length(p, (size_t)(end - p));

		if (length == 0 || (utf8_is_control(p, length) && *p != '\t'))
			fputc(*p == '\r' ? ' ' : '?', out);
		else
			fwrite(p, 1, length, out);
	}
	fputs("\n\t", out);
	for (const char *p = from; p < fault && p < end; p = character_next(p, end))
		fputc(*p == '\t' ? '\t' : ' ', out);
	fputs("^\n", out);
}

static void diagnostic_print(const struct diagnostic *diagnostic, FILE *out)
{
	fputs(diagnostic->source->file, out);
	if (diagnostic->line > 0)
		fprintf(out, ":%zu:%zu", diagnostic->line, diagnostic->column);
	fprintf(out, ": %s\n", diagnostic->text);
	if (diagnostic->line > 0)
		excerpt_print(diagnostic, out);
}

void diagnostics_sort(struct diagnostics *diagnostics)
{
	if (diagnostics->kept > 0)
		qsort(diagnostics->items, diagnostics->kept, sizeof(*diagnostics->items),
		      diagnostic_compare);
}

int diagnostics_error(struct diagnostics *diagnostics, struct error *e)
{
	const struct diagnostic *first;

	diagnostics_sort(diagnostics);
	first = &diagnostics->items[0];
	errno = EINVAL;
	if (first->line > 0)
		return errorf(e, "%s:%zu:%zu: %s", first->source->file, first->line, first->column,
			      first->text);
	return errorf(e, "%s: %s", first->source->file, first->text);
}

void diagnostics_print(const struct diagnostics *diagnostics, FILE *out)
{
	for (size_t i = 0; i < diagnostics->kept; i++)
		diagnostic_print(&diagnostics->items[i], out);
	if (diagnostics->kept == COMPLAINTS_SHOWN)
		fprintf(out, "more than these %d are not looked for; correct them first\n",
			COMPLAINTS_SHOWN);
}

void diagnostics_fini(struct diagnostics *diagnostics)
{
	for (size_t i = 0; i < diagnostics->kept; i++)
		free(diagnostics->items[i].text);
	free(diagnostics->items);
	*diagnostics = (struct diagnostics){0};
}
