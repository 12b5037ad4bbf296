/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps for agents what they may write of a segment. */
#include "node-agent/segment/segment-read.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/segment-function.h"
#include "node-agent/segment/segment-told.h"

void *segment_map(const struct segment *s, uint64_t at, size_t bytes)
{
	int fd = open(s->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), saved;
	void *map = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0) {
		if (st.st_dev == s->device && st.st_ino == s->inode)
			map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
		else
			errno = ESTALE; /* another file has got the name */
	}
	saved = errno;
	close(fd);
	errno = saved;
	return map == MAP_FAILED ? NULL : map;
}

struct segment_control *segment_control_map(const struct segment *s)
{
	return segment_map(s, s->layout.control_at, SEGMENT_PAGE);
}

void segment_control_unmap(struct segment_control *control)
{
	if (control)
		munmap(control, SEGMENT_PAGE);
}

struct segment_told *segment_told_map(const struct segment *s)
{
	uint64_t at = segment_told_place(&s->layout);

	if (s->said.told_at == at && at + SEGMENT_PAGE <= s->size)
		return segment_map(s, at, SEGMENT_PAGE);
	errno = ENOTSUP;
	return NULL;
}

struct segment_functions *segment_functions_map(const struct segment *s)
{
	uint64_t at = segment_functions_place(&s->layout);

	if (s->said.functions_at == at && at + SEGMENT_PAGE <= s->size)
		return segment_map(s, at, SEGMENT_PAGE);
	errno = ENOTSUP;
	return NULL;
}

void segment_functions_unmap(struct segment_functions *functions)
{
	if (functions)
		munmap(functions, SEGMENT_PAGE);
}

void segment_told_unmap(struct segment_told *told)
{
	if (told)
		munmap(told, SEGMENT_PAGE);
}
