/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong in map files: collected in any order, printed in the order of the text. */
#include "pathmap/complaint.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/memory.h"
#include "pathmap/utf8.h"

/* Characters of a line that are shown around a fault, and how many of them before it at most. */
#define EXCERPT_WIDTH  100
#define EXCERPT_BEFORE 70

/* What is wrong in a tree is found once for each view that goes by it. */
static bool complaint_is_known(const struct complaints *complaints,
			       const struct complaint *complaint)
{
	for (size_t i = 0; i < complaints->kept; i++) {
		const struct complaint *known = &complaints->items[i];

		if (known->source == complaint->source && known->line == complaint->line &&
		    known->offset == complaint->offset && strcmp(known->text, complaint->text) == 0)
			return true;
	}
	return false;
}

static void complaint_add(struct complaints *complaints, struct complaint complaint,
			  const char *format, va_list args)
{
	if (vasprintf(&complaint.text, format, args) < 0)
		abort();
	/* A long word may have been cut inside a character. */
	utf8_clean(complaint.text);
	if (complaint_is_known(complaints, &complaint)) {
		free(complaint.text);
		return;
	}
	complaints->total++;
	complaint.order = complaints->kept;
	complaints->items =
		memory_room(complaints->items, complaints->kept, sizeof(*complaints->items));
	complaints->items[complaints->kept++] = complaint;
}

void complain(struct complaints *complaints, const struct mapfile *source, size_t offset,
	      const char *format, ...)
{
	struct complaint complaint = {.source = source, .offset = offset};
	va_list args;

	if (complaints->kept == COMPLAINTS_SHOWN) {
		complaints->total++;
		return;
	}
	complaint.line = mapfile_line(source, offset);
	complaint.column = mapfile_column(source, offset);
	va_start(args, format);
	complaint_add(complaints, complaint, format, args);
	va_end(args);
}

void complain_file(struct complaints *complaints, const struct mapfile *source, const char *format,
		   ...)
{
	va_list args;

	if (complaints->kept == COMPLAINTS_SHOWN) {
		complaints->total++;
		return;
	}
	va_start(args, format);
	complaint_add(complaints, (struct complaint){.source = source}, format, args);
	va_end(args);
}

/* The sources of one pathmap are one array: their addresses have the order of the files. */
static int complaint_compare(const void *left, const void *right)
{
	const struct complaint *a = left, *b = right;

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
static void excerpt_print(const struct complaint *complaint, FILE *out)
{
	const struct mapfile *source = complaint->source;
	const char *from = source->text + source->lines[complaint->line - 1];
	const char *fault = source->text + complaint->offset;
	const char *end = memchr(from, '\n', source->length - (size_t)(from - source->text));
	const char *until;

	if (end == NULL)
		end = source->text + source->length;
	for (size_t column = complaint->column; column > EXCERPT_BEFORE; column--)
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

static void complaint_print(const struct complaint *complaint, FILE *out)
{
	fputs(complaint->source->file, out);
	if (complaint->line > 0)
		fprintf(out, ":%zu:%zu", complaint->line, complaint->column);
	fprintf(out, ": %s\n", complaint->text);
	if (complaint->line > 0)
		excerpt_print(complaint, out);
}

void complaints_sort(struct complaints *complaints)
{
	if (complaints->kept > 0)
		qsort(complaints->items, complaints->kept, sizeof(*complaints->items),
		      complaint_compare);
}

int complaints_error(struct complaints *complaints, struct error *e)
{
	const struct complaint *first;

	complaints_sort(complaints);
	first = &complaints->items[0];
	errno = EINVAL;
	if (first->line > 0)
		return errorf(e, "%s:%zu:%zu: %s", first->source->file, first->line, first->column,
			      first->text);
	return errorf(e, "%s: %s", first->source->file, first->text);
}

void complaints_print(const struct complaints *complaints, FILE *out)
{
	for (size_t i = 0; i < complaints->kept; i++)
		complaint_print(&complaints->items[i], out);
	if (complaints->kept == COMPLAINTS_SHOWN)
		fprintf(out, "more than these %d are not looked for; correct them first\n",
			COMPLAINTS_SHOWN);
}

void complaints_fini(struct complaints *complaints)
{
	for (size_t i = 0; i < complaints->kept; i++)
		free(complaints->items[i].text);
	free(complaints->items);
	*complaints = (struct complaints){0};
}
