/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of one map file, read whole and checked to be text. */
#include "pathmap/grammar/mapfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/grammar/diagnostic.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/utf8.h"

/* Complain of the first byte that is not text. Returns whether all is text. */
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
	/* Not blocking: a fifo of this name must not hold us up. */
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

size_t mapfile_column(const struct mapfile *mapfile, size_t offset)
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
