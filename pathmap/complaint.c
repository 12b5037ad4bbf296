/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong in map files: collected in any order, printed in the order of the text. */
#include "pathmap/source.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/memory.h"
#include "pathmap/utf8.h"

/* Characters of a line that are shown around a fault, and how many of them before it at most. */
#define EXCERPT_WIDTH  100
#define EXCERPT_BEFORE 70

static void complaint_add(struct complaints *complaints, struct complaint complaint,
			  const char *format, va_list args)
{
	char *text = NULL;

	complaints->total++;
	if (complaints->kept == COMPLAINTS_SHOWN)
		return;
	if (vasprintf(&text, format, args) < 0)
		abort();
	complaint.text = text;
	complaint.order = complaints->kept;
	complaints->items =
		memory_room(complaints->items, complaints->kept, sizeof(*complaints->items));
	complaints->items[complaints->kept++] = complaint;
}

void complain(struct complaints *complaints, const struct source *source, size_t offset,
	      const char *format, ...)
{
	struct complaint complaint = {.source = source, .has_place = true, .offset = offset};
	va_list args;

	va_start(args, format);
	complaint_add(complaints, complaint, format, args);
	va_end(args);
}

void complain_file(struct complaints *complaints, const struct source *source, const char *format,
		   ...)
{
	va_list args;

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
	if (a->has_place != b->has_place)
		return a->has_place ? 1 : -1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Print @text without anything that a terminal would obey. Returns the characters printed. */
static size_t text_print(const char *text, size_t length, size_t most, FILE *out)
{
	size_t shown = 0;

	for (size_t i = 0; i < length && shown < most; shown++) {
		size_t n = utf8_length(text + i, length - i);

		if (n == 0 || (utf8_is_control(text + i, n) && text[i] != '\t')) {
			fputc('?', out);
			i += n > 0 ? n : 1;
		} else {
			fwrite(text + i, 1, n, out);
			i += n;
		}
	}
	return shown;
}

static const char *character_next(const char *text, const char *end)
{
	size_t n = utf8_length(text, (size_t)(end - text));

	return text + (n > 0 ? n : 1);
}

static void excerpt_print(const char *line, const char *fault, const char *end, size_t column,
			  FILE *out)
{
	const char *from = line;

	for (; column > EXCERPT_BEFORE; column--)
		from = character_next(from, end);
	fputs("\t", out);
	text_print(from, (size_t)(end - from), EXCERPT_WIDTH, out);
	fputs("\n\t", out);
	for (const char *p = from; p < fault; p = character_next(p, end))
		fputc(*p == '\t' ? '\t' : ' ', out);
	fputs("^\n", out);
}

static void complaint_print(const struct complaint *complaint, FILE *out)
{
	const struct source *source = complaint->source;
	const char *fault = source->text + complaint->offset;
	const char *line = fault, *end;
	size_t column = 1;

	text_print(source->file, strlen(source->file), SIZE_MAX, out);
	if (complaint->has_place) {
		while (line > source->text && line[-1] != '\n')
			line--;
		end = memchr(line, '\n', source->length - (size_t)(line - source->text));
		if (end == NULL)
			end = source->text + source->length;
		if (end > line && end[-1] == '\r')
			end--;
		fault = fault < end ? fault : end;
		for (const char *p = line; p < fault; p = character_next(p, end))
			column++;
		fprintf(out, ":%zu:%zu", source_line(source, complaint->offset), column);
	}
	fputs(": ", out);
	text_print(complaint->text, strlen(complaint->text), SIZE_MAX, out);
	fputc('\n', out);
	if (complaint->has_place)
		excerpt_print(line, fault, end, column, out);
}

void complaints_print(struct complaints *complaints, FILE *out)
{
	if (complaints->kept > 0)
		qsort(complaints->items, complaints->kept, sizeof(*complaints->items),
		      complaint_compare);
	for (size_t i = 0; i < complaints->kept; i++)
		complaint_print(&complaints->items[i], out);
	if (complaints->total > complaints->kept)
		fprintf(out, "and %zu more\n", complaints->total - complaints->kept);
}

void complaints_fini(struct complaints *complaints)
{
	for (size_t i = 0; i < complaints->kept; i++)
		free(complaints->items[i].text);
	free(complaints->items);
	*complaints = (struct complaints){0};
}
