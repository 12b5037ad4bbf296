/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of one map file, read whole and checked to be text. */
#include "pathmap/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/complaint.h"
#include "pathmap/memory.h"
#include "pathmap/utf8.h"

/* Complain of the first byte that is not text. Returns whether all is text. */
static bool source_is_text(const struct source *source, struct complaints *complaints)
{
	const char *p = source->text, *end = p + source->length;

	while (p < end) {
		size_t length = utf8_length(p, (size_t)(end - p));
		size_t offset = (size_t)(p - source->text);
		unsigned char c = (unsigned char)*p;

		if (length == 0) {
			complain(complaints, source, offset,
				 "the byte 0x%02x is not UTF-8; save the file as UTF-8 text", c);
			return false;
		}
		if (utf8_is_control(p, length) && strchr("\t\n\r\f\v", c) == NULL) {
			complain(complaints, source, offset,
				 "a control character (0x%02x); a map is plain text", c);
			return false;
		}
		if (c == '\0') {
			complain(complaints, source, offset, "a zero byte; a map is plain text");
			return false;
		}
		p += length;
	}
	return true;
}

static void lines_find(struct source *source)
{
	source->lines = memory_room(NULL, 0, sizeof(*source->lines));
	source->lines[source->n_lines++] = 0;
	for (size_t i = 0; i < source->length; i++) {
		if (source->text[i] != '\n')
			continue;
		source->lines = memory_room(source->lines, source->n_lines, sizeof(*source->lines));
		source->lines[source->n_lines++] = i + 1;
	}
}

void source_set(struct source *source, const char *file, const char *text, size_t length,
		struct complaints *complaints)
{
	*source = (struct source){
		.file = memory_copy(file),
		.text = memory_copy_bytes(text, length),
		.length = length,
	};
	utf8_clean(source->file);
	lines_find(source);
	if (length > SOURCE_MAX)
		complain_file(complaints, source, "larger than %u bytes; is this a map?",
			      SOURCE_MAX);
	else
		source->usable = source_is_text(source, complaints);
}

/* Read at most @room bytes of @fd. Returns how many, or -1 with errno. */
static ssize_t source_fill(int fd, char *text, size_t room)
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

void source_read(struct source *source, const char *dir, const char *name,
		 struct complaints *complaints)
{
	char *file = memory_format("%s/%s", dir, name);
	char *text = memory_new(SOURCE_MAX + 2, 1);
	/* Not blocking: a fifo of this name must not hold us up. */
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	ssize_t length = -1;

	if (fd >= 0 && fstat(fd, &status) == 0) {
		if (S_ISREG(status.st_mode))
			length = source_fill(fd, text, SOURCE_MAX + 1);
		else
			errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
	}
	if (length >= 0) {
		source_set(source, file, text, (size_t)length, complaints);
	} else {
		int error = errno;

		*source = (struct source){.file = memory_copy(file), .text = memory_copy("")};
		utf8_clean(source->file);
		complain_file(complaints, source,
			      "cannot be read: %s; a pathmap is a directory with application.map, "
			      "cluster.map and mapping.map",
			      strerror(error));
	}
	if (fd >= 0)
		close(fd);
	free(text);
	free(file);
}

size_t source_line(const struct source *source, size_t offset)
{
	size_t low = 0, high = source->n_lines;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (source->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low + 1;
}

size_t source_column(const struct source *source, size_t offset)
{
	size_t start = source->lines[source_line(source, offset) - 1];
	size_t column = 1;

	while (start < offset && start < source->length) {
		size_t length = utf8_length(source->text + start, source->length - start);

		start += length > 0 ? length : 1;
		column++;
	}
	return column;
}

void source_fini(struct source *source)
{
	free(source->file);
	free(source->text);
	free(source->lines);
	*source = (struct source){0};
}
