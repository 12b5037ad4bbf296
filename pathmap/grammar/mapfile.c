/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of one map file, read whole and checked to be text; diagnostics, collected in any
 * order and shown in the order of the text. */
#include "pathmap/grammar/mapfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"

/* Report the first byte that is not text. Returns whether all is text. */
static bool mapfile_is_text(const struct mapfile *mapfile, struct diagnostics *diagnostics)
{
	const char *p = mapfile->text, *end = p + mapfile->length;

	while (p < end) {
		size_t length = utf8_length(p, (size_t)(end - p));
		size_t offset = (size_t)(p - mapfile->text);
		unsigned char c = (unsigned char)*p;

		if (length == 0) {
			complain(diagnostics, mapfile, offset,
				 "the byte 0x%02x is not UTF-8; save the file as UTF-8 text", c);
			return false;
		}
		if (utf8_is_control(p, length) && strchr("\t\n\r\f\v", c) == NULL) {
			complain(diagnostics, mapfile, offset,
				 "a control character (0x%02x); a map is plain text", c);
			return false;
		}
		if (c == '\0') {
			complain(diagnostics, mapfile, offset, "a zero byte; a map is plain text");
			return false;
		}
		p += length;
	}
	return true;
}

static void lines_find(struct mapfile *mapfile)
{
	mapfile->lines = memory_room(NULL, 0, sizeof(*mapfile->lines));
	mapfile->lines[mapfile->n_lines++] = 0;
	for (size_t i = 0; i < mapfile->length; i++) {
		if (mapfile->text[i] != '\n')
			continue;
		mapfile->lines =
			memory_room(mapfile->lines, mapfile->n_lines, sizeof(*mapfile->lines));
		mapfile->lines[mapfile->n_lines++] = i + 1;
	}
}

void mapfile_set(struct mapfile *mapfile, const char *file, const char *text, size_t length,
		 struct diagnostics *diagnostics)
{
	*mapfile = (struct mapfile){
		.file = memory_copy(file),
		.text = memory_copy_bytes(text, length),
		.length = length,
	};
	utf8_clean(mapfile->file);
	lines_find(mapfile);
	if (length > MAPFILE_MAX)
		complain_file(diagnostics, mapfile, "larger than %u bytes; is this a map?",
			      MAPFILE_MAX);
	else
		mapfile->usable = mapfile_is_text(mapfile, diagnostics);
}

/* Read at most @room bytes of @fd. Returns how many, or -1 with errno. */
static ssize_t mapfile_fill(int fd, char *text, size_t room)
{
	size_t length = 0;

	while (length < room) {
		ssize_t n = read(fd, text + length, room - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		length += (size_t)n;
	}
	return (ssize_t)length;
}

void mapfile_read(struct mapfile *mapfile, const char *dir, const char *name,
		  struct diagnostics *diagnostics)
{
	char *file = memory_format("%s/%s", dir, name);
	char *text = memory_new(MAPFILE_MAX + 2, 1);
	/* O_NONBLOCK: opening a fifo of this name must not block */
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	ssize_t length = -1;

	if (fd >= 0 && fstat(fd, &status) == 0) {
		if (S_ISREG(status.st_mode))
			length = mapfile_fill(fd, text, MAPFILE_MAX + 1);
		else
			errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
	}
	if (length >= 0) {
		mapfile_set(mapfile, file, text, (size_t)length, diagnostics);
	} else {
		int error = errno;

		*mapfile = (struct mapfile){.file = memory_copy(file), .text = memory_copy("")};
		utf8_clean(mapfile->file);
		complain_file(diagnostics, mapfile,
			      "cannot be read: %s; a pathmap is a directory with application.map, "
			      "cluster.map and mapping.map",
			      strerror(error));
	}
	if (fd >= 0)
		close(fd);
	free(text);
	free(file);
}

size_t mapfile_line(const struct mapfile *mapfile, size_t offset)
{
	size_t low = 0, high = mapfile->n_lines;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (mapfile->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low + 1;
}

/* The column of @offset, from 1, in characters. */
static size_t mapfile_column(const struct mapfile *mapfile, size_t offset)
{
	size_t start = mapfile->lines[mapfile_line(mapfile, offset) - 1];
	size_t column = 1;

	while (start < offset && start < mapfile->length) {
		size_t length = utf8_length(mapfile->text + start, mapfile->length - start);

		start += length > 0 ? length : 1;
		column++;
	}
	return column;
}

void mapfile_fini(struct mapfile *mapfile)
{
	free(mapfile->file);
	free(mapfile->text);
	free(mapfile->lines);
	*mapfile = (struct mapfile){0};
}

/* ---- diagnostics ---- */

/* Characters of a line to show around a fault, and before it at most. */
#define EXCERPT_WIDTH  100
#define EXCERPT_BEFORE 70

/* A fault of a tree is found once for each view that uses it. */
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
	/* a long word may have been cut inside a character */
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

/* The sources of a pathmap are one array: their addresses have the order of the files. */
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

/* Where line @n of the text begins; @end: there is none. */
static const char *line_find(const char *text, const char *end, size_t n)
{
	while (--n > 0 && text < end) {
		text = memchr(text, '\n', (size_t)(end - text));
		text = text != NULL ? text + 1 : end;
	}
	return text;
}

void excerpt_print(const char *text, size_t length, size_t line, size_t column, FILE *out)
{
	const char *end = text + length, *from = line_find(text, end, line), *fault, *until;

	if (memchr(from, '\n', (size_t)(end - from)) != NULL)
		end = memchr(from, '\n', (size_t)(end - from));
	fault = from;
	for (size_t i = 1; i < column && fault < end; i++)
		fault = character_next(fault, end);
	for (; column > EXCERPT_BEFORE && from < end; column--)
		from = character_next(from, end);
	until = from;
	for (size_t i = 0; i < EXCERPT_WIDTH && until < end; i++)
		until = character_next(until, end);
	fputc('\t', out);
	for (const char *p = from; p < until; p = character_next(p, end)) {
		size_t bytes = utf8_length(p, (size_t)(end - p));

		if (bytes == 0 || (utf8_is_control(p, bytes) && *p != '\t'))
			fputc(*p == '\r' ? ' ' : '?', out);
		else
			fwrite(p, 1, bytes, out);
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
		excerpt_print(diagnostic->source->text, diagnostic->source->length,
			      diagnostic->line, diagnostic->column, out);
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
