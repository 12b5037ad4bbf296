/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources as text with regions. */
#include "consumers/code/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/base/memory.h"

/* All of a file; NULL with errno. */
static char *file_read(int fd, size_t n)
{
	char *text = memory_new(n + 1, 1);
	size_t got = 0;
	ssize_t more;

	while (got < n && (more = read(fd, text + got, n - got)) > 0)
		got += (size_t)more;
	if (got == n)
		return text;
	free(text);
	errno = EIO;
	return NULL;
}

int code_load(struct code_text *code, const char *path, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = -1;
	struct stat file;
	char *text;

	if (fd < 0 || fstat(fd, &file) < 0)
		errorf(e, "%.200s: %s", path, strerror(errno));
	else if (!S_ISREG(file.st_mode))
		errorf(e, "%.200s is no file", path);
	else if (file.st_size < 0 || (size_t)file.st_size > CODE_MAX)
		errorf(e, "%.200s is larger than %zu MiB", path, CODE_MAX >> 20);
	else if (!(text = file_read(fd, (size_t)file.st_size)))
		errorf(e, "%.200s: %s", path, strerror(errno));
	else
		rc = 0;
	if (fd >= 0)
		close(fd);
	if (rc == 0)
		*code = (struct code_text){
			.path = memory_copy(path), .text = text, .n = (size_t)file.st_size};
	return rc;
}

struct code_region *code_add(struct code_text *code, const struct code_region *region)
{
	struct code_region *r;

	code->regions = memory_room(code->regions, code->n_regions, sizeof(*code->regions));
	r = &code->regions[code->n_regions++];
	*r = *region;
	r->name = memory_copy(region->name);
	return r;
}

/* ---- order ---- */

static int regions_compare(const void *a, const void *b)
{
	const struct code_region *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

static int lines_compare(const void *a, const void *b)
{
	const struct code_region *x = *(struct code_region *const *)a;
	const struct code_region *y = *(struct code_region *const *)b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x > y) - (x < y);
}

static void lines_number(struct code_text *code)
{
	struct code_region **by_line = memory_new(code->n_regions, sizeof(*by_line));

	for (size_t i = 0; i < code->n_regions; i++)
		by_line[i] = &code->regions[i];
	qsort(by_line, code->n_regions, sizeof(struct code_region *), lines_compare);
	for (size_t i = 0; i < code->n_regions; i++)
		by_line[i]->nth = i > 0 && by_line[i - 1]->line == by_line[i]->line
					  ? by_line[i - 1]->nth + 1
					  : 0;
	free(by_line);
}

void code_settle(struct code_text *code)
{
	size_t *ends;
	unsigned depth = 0;

	if (code->n_regions == 0)
		return;
	ends = memory_new(code->n_regions, sizeof(*ends));
	qsort(code->regions, code->n_regions, sizeof(*code->regions), regions_compare);
	for (size_t i = 0; i < code->n_regions; i++) {
		while (depth > 0 && ends[depth - 1] <= code->regions[i].begin)
			depth--;
		code->regions[i].depth = depth;
		ends[depth++] = code->regions[i].end;
	}
	free(ends);
	lines_number(code);
}

char *code_path(const char *path)
{
	char *clean = memory_new(strlen(path) + 2, 1), *to = clean;

	/* each part is written with the slash before it */
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (to > clean && *--to != '/')
				;
		} else if (n > 0 && !(n == 1 && path[0] == '.')) {
			*to++ = '/';
			memcpy(to, path, n);
			to += n;
		}
		path += n + (path[n] == '/');
	}
	if (to == clean)
		*to++ = '/';
	*to = '\0';
	return clean;
}

uint32_t code_source_id(const char *path)
{
	uint32_t hash = 2166136261u;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619u;
	return hash;
}

void code_id(const struct code_text *code, const struct code_region *region, char id[CODE_ID])
{
	int n = snprintf(id, CODE_ID, "%08x-%u", code_source_id(code->path), region->line);

	if (region->nth > 0)
		snprintf(id + n, CODE_ID - (size_t)n, "-%u", region->nth + 1);
}

const struct code_region *code_region_find(const struct code_text *code, const char *id)
{
	char its[CODE_ID];

	for (size_t i = 0; i < code->n_regions; i++) {
		code_id(code, &code->regions[i], its);
		if (strcmp(its, id) == 0)
			return &code->regions[i];
	}
	return NULL;
}

void code_fini(struct code_text *code)
{
	for (size_t i = 0; i < code->n_regions; i++)
		free(code->regions[i].name);
	free(code->regions);
	free(code->path);
	free(code->text);
	free(code->doubt);
	*code = (struct code_text){.n = 0};
}
